// SPDX-License-Identifier: Apache-2.0
/** One run of a ring or of a replay, from opening the ports to the summary. */
#ifndef RM_INSTRUMENTS_SESSION_H
#define RM_INSTRUMENTS_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "fellows.h"
#include "kicks.h"
#include "machine.h"
#include "responses.h"
#include "ring_config.h"
#include "sender.h"

/** What to send, and how. */
struct rm_session {
    struct rm_ring_config const
        *ring; /**< of a replay: network, core, workspace and its instruments; no faults, no supplies */
    struct rm_turn_source source;
    bool simulated;                   /**< the ring's beam is what is sent */
    struct rm_kicks *kicks;           /**< that the source gives; NULL where it gives none */
    struct rm_responses *responses;   /**< filled in for the source, which gives them; NULL where it gives none */
    struct rm_machine *machine;       /**< whose knobs are published, and which is refreshed; or NULL */
    struct rm_fellows const *fellows; /**< other rings of the workspace */
    bool joined;                      /**< the ring's turns are those of `joins`, the time of another */
    struct rm_ring_time joins;
    double turn_rate_hz; /**< of sending; 0: as fast as the link takes it */
    uint64_t turns;      /**< UINT64_MAX: no end */
    double seconds;      /**< 0: no end */
    bool json;           /**< the summary is a JSON object, else a line for people */
};

/** Runs to its end, by turns, seconds, SIGINT or SIGTERM, and prints the summary to standard output. SIGUSR1 kicks the
 * beam, SIGUSR2 resets supplies. */
enum rm_code rm_session_run(struct rm_session const *session, struct rm_error *error);

#endif
