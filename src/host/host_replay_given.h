// SPDX-License-Identifier: Apache-2.0
/** What a replay gives to a step: settings, what had been sent, and inputs, as the recording has them. The files of a
 * replay share this. */
#ifndef RM_HOST_HOST_REPLAY_GIVEN_H
#define RM_HOST_HOST_REPLAY_GIVEN_H

#include "host/host_decision.h"
#include "host/host_replay.h"
#include "host/host_replay_stream.h"

struct rm_host_replay {
    /** The decision record of the step that was made. */
    struct rm_record own;

    struct rm_replay_stream decision, adopted;
    /** [mask], [group], [end], [input]. */
    struct rm_replay_stream *mask, *sent, *end, *input;
    /** Of an application that takes runs. */
    struct rm_host_runs runs;
    struct rm_host_setup setup;
    struct rm_host_program *program;
    /** Makes `own`, which is compared with the recorded one. */
    struct rm_host_decisions decisions;
    /** Turn behind the last step. */
    rm_turn next;
    /** Turn of the next record of settings. */
    rm_turn next_adopted;
    /** [input] the last record that came. */
    struct rm_record *record;
    bool *missing;
    /** [actuator] the last command. */
    double *setpoint;

    uint32_t masks, groups, ends;
    /** Generation of the settings. */
    uint32_t generation;
    /** Some step was made. */
    bool has_begun;
};

/** What one step is replayed from, and what comes of it. */
struct rm_replay_step {
    struct rm_record decision;
    struct rm_host_replayed *told;
    /** Of a read that failed. */
    enum rm_code code;
    struct rm_error *error;
};

static inline uint32_t rm_replay_lane(struct rm_record const *record, unsigned lane) {
    return (uint32_t)record->lane[lane].i;
}

/** Says what differs, unless a read has failed. Returns false. */
__attribute__((format(printf, 3, 4))) bool
rm_replay_differs(struct rm_replay_step *step, enum rm_replay_difference differs, char const *format, ...);

/* Each returns false where something is not there, or not as it was; the step says what. */

/** Reads on until all values of the step's generation are there. */
bool rm_replay_adopt_settings(struct rm_host_replay *replay, struct rm_replay_step *step);

/** What had been sent, where it had changed. */
bool rm_replay_take_sent(struct rm_host_replay *replay, struct rm_replay_step *step);

/** The inputs that had come, and which had not. */
bool rm_replay_take_inputs(struct rm_host_replay *replay, struct rm_replay_step *step);

#endif
