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

#include "host/host_program.h"
#include "host/host_recorded.h"

/** What of a step is not as it was recorded: the first of these. */
enum rm_replay_difference {
    RM_REPLAY_SAME = 0,
    /** A decision record is missing: the step before is not there. */
    RM_REPLAY_DECISION,
    /** Values of settings are not there, or others. */
    RM_REPLAY_SETTINGS,
    /** What had been sent is not there. */
    RM_REPLAY_SENT,
    /** A record or a mask is not there, or the checksum of inputs is another. It is also of what had been sent. */
    RM_REPLAY_INPUTS,
    /** `work` was asked, or its result adopted, in another step. */
    RM_REPLAY_RESULT,
    /** The setpoints are others, or were committed in the one and not in the other. */
    RM_REPLAY_SETPOINTS,
    /** Readings or streams are others. */
    RM_REPLAY_VISIBLE,
};

/** A step that was replayed. */
struct rm_host_replayed {
    rm_turn turn;
    /** Steps since init. */
    uint64_t step;
    enum rm_replay_difference differs;
    /** What differs, in words: "bpm03/raw has no record of this turn". Empty where nothing does. */
    char text[160];
    /** The step's command, of all actuators, as it was committed. Valid until the next step. */
    double const *setpoint;
    bool committed;
};

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

/** The difference in one word: "inputs", "settings". Constant. */
char const *rm_replay_difference_text(enum rm_replay_difference differs);

/** NULL is allowed. */
void rm_host_replay_close(struct rm_host_replay *replay);

#endif
