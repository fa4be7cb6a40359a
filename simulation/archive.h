// SPDX-License-Identifier: Apache-2.0
/** `--archive`: an application is replayed from recorded streams, and obeys its decision record (host/host_replay.h).
 * Neither ring nor server is needed, only the server's configuration and the application's code and file.
 */
#ifndef RM_SIMULATION_ARCHIVE_H
#define RM_SIMULATION_ARCHIVE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "host/host_replay.h"
#include "options.h"

struct rm_archive_result {
    /** Steps that were the same to the bit. */
    uint64_t same;
    /** Among them steps 0: grants. */
    uint64_t grants;
    rm_turn first_turn, last_turn;
    double turn_rate_hz, wall_s;
    /** The step that was not the same; RM_REPLAY_SAME: all were. */
    struct rm_host_replayed differs;
};

/** Replays until a step differs, all are done, `options->cycles` are, or `*stop`. */
enum rm_code rm_archive_replay(struct rm_simulate_options const *options, volatile sig_atomic_t const *stop,
                               struct rm_archive_result *result, struct rm_error *error);

/** Tells people, or with --json a script. */
void rm_archive_tell(struct rm_simulate_options const *options, struct rm_archive_result const *result);

#endif
