// SPDX-License-Identifier: Apache-2.0
/** One run of a ring or of a replay, from opening the ports to the summary. */
#ifndef RM_INSTRUMENTS_SESSION_H
#define RM_INSTRUMENTS_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "event_schedule.h"
#include "fellows.h"
#include "machine.h"
#include "responses.h"
#include "ring_config.h"
#include "sender.h"

/** What to send, and how. */
struct rm_session {
    /** For a replay it has network, core, workspace and instruments, but no faults and no supplies. */
    struct rm_ring_config const *ring;

    struct rm_turn_source source;
    /** What is sent is the ring's own beam, simulated. */
    bool simulated;
    /** What happens to the ring; NULL: nothing. The source reaches the turns; without instruments the session does. */
    struct rm_event_schedule *schedule;
    /** Filled in for the source, which adds them; NULL where it adds none. */
    struct rm_responses *responses;
    /** The machine whose knobs are published, and which is refreshed; or NULL. */
    struct rm_machine *machine;
    /** At the instruments; NULL without a machine. It is told where the tunes go. */
    struct rm_machine_lanes *lanes;
    /** Other rings of the workspace. */
    struct rm_fellows const *fellows;
    /** The ring's turns follow `joins`, the time of another ring. */
    bool joined;

    struct rm_ring_time joins;
    /** Turn rate of sending; 0: as fast as the link takes the turns. */
    double turn_rate_hz;
    /** UINT64_MAX: no end. */
    uint64_t turns;
    /** 0: no end. */
    double seconds;
    /** The summary is a JSON object; else it is a line for people. */
    bool json;
};

/** Runs until its turns or seconds are over, or SIGINT or SIGTERM comes, and prints the summary to standard output.
 * SIGUSR1 kicks the beam, SIGUSR2 resets supplies. */
enum rm_code rm_session_run(struct rm_session const *session, struct rm_error *error);

#endif
