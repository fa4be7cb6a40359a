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
    /** Of a replay: network, core, workspace and its instruments; no faults, no supplies. */
    struct rm_ring_config const *ring;

    struct rm_turn_source source;
    /** The ring's beam is what is sent. */
    bool simulated;
    /** Kicks that the source gives. NULL where it gives none. */
    struct rm_kicks *kicks;
    /** Filled in for the source, which gives them; NULL where it gives none. */
    struct rm_responses *responses;
    /** Whose knobs are published, and which is refreshed; or NULL. */
    struct rm_machine *machine;
    /** Other rings of the workspace. */
    struct rm_fellows const *fellows;
    /** The ring's turns are those of `joins`, the time of another. */
    bool joined;

    struct rm_ring_time joins;
    /** Of sending; 0: as fast as the link takes it. */
    double turn_rate_hz;
    /** UINT64_MAX: no end. */
    uint64_t turns;
    /** 0: no end. */
    double seconds;
    /** The summary is a JSON object, else a line for people. */
    bool json;
};

/** Runs to its end, by turns, seconds, SIGINT or SIGTERM, and prints the summary to standard output. SIGUSR1 kicks the
 * beam, SIGUSR2 resets supplies. */
enum rm_code rm_session_run(struct rm_session const *session, struct rm_error *error);

#endif
