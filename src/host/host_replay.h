// SPDX-License-Identifier: Apache-2.0
/** Replays an application from recorded streams, and obeys its decision record (ringmaster/decision.h).
 *
 *     struct rm_host_replay *replay;
 *     if (rm_host_replay_open(&setup, &recorded, &replay, &error) != RM_OK) …
 *     struct rm_host_replayed step;
 *     while (rm_host_replay_step(replay, &step, &error) == RM_OK && step.differs == RM_REPLAY_SAME)
 *         … rm_host_replay_program(replay)
 *     rm_host_replay_close(replay);
 *
 * It steps exactly when the application stepped, with the inputs that had come, the settings that were adopted, what
 * had been sent as the step saw it, and results of `work` when the step took them over. Then it makes the decision
 * record of its own step and compares the two: equal checksums say that the step was the same to the bit.
 *
 * It begins at the first step 0 of the recording. What an application keeps in `memory` from one grant to the next,
 * such as a matrix that `work` has solved, is known only where that is the first step of its process.
 */
#ifndef RM_HOST_HOST_REPLAY_H
#define RM_HOST_HOST_REPLAY_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "host/host_obey.h"
#include "host/host_program.h"
#include "host/host_recorded.h"

struct rm_host_replay;

/** Loads the code, finds its streams in `*recorded`, which outlives the replay, and the first step 0. RM_E_NOT_FOUND
 * where a stream is not there, or no step 0; RM_E_CONFIG where code, configuration and recording do not fit. */
enum rm_code rm_host_replay_open(struct rm_host_setup const *setup, struct rm_recorded_source const *recorded,
                                 struct rm_host_replay **replay, struct rm_error *error);

/** Makes the next step. RM_OK; RM_E_ABSENT behind the last one; an error of the medium, or of `init`. Call it no more
 * after a step that differs. */
enum rm_code rm_host_replay_step(struct rm_host_replay *replay, struct rm_host_replayed *step, struct rm_error *error);

/** Its program, for what the step was given and told. Another one after a step that opened the application anew. */
struct rm_host_program const *rm_host_replay_program(struct rm_host_replay const *replay);

/** NULL is allowed. */
void rm_host_replay_close(struct rm_host_replay *replay);

#endif
