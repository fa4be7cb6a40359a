// SPDX-License-Identifier: Apache-2.0
/** Makes a step again, by its decision record (ringmaster/decision.h): the one account of what makes it the same.
 *
 *     struct rm_host_obey obey = {.source = …, .program = program, .decisions = &decisions, …};
 *     if (rm_host_obey_open(&obey) …
 *     each step:
 *         switch (rm_host_obey_give(&obey, &step)) {
 *         case RM_OBEY_WAITS:   … something is still to come: call it again
 *         case RM_OBEY_DIFFERS: … something is not there, or not as it was: step.told says what
 *         case RM_OBEY_GIVEN:   … settings, what had been sent, and inputs are the step's
 *         }
 *         rm_host_obey_make_step(&obey, &step);        // or the caller makes it, as the record says
 *         rm_host_obey_compare(&step, &own_record);
 *     rm_host_obey_close(&obey);
 *
 * A replay (host_replay.h) reads its records from an archive, where all are there or will never be. A follower
 * (host_follow.h) reads them while they come. What is read has no effect before all of the step is there, but that the
 * last records of inputs are newer: a follower that has to lead in the midst of waiting goes on from its last step.
 */
#ifndef RM_HOST_HOST_OBEY_H
#define RM_HOST_HOST_OBEY_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "host/host_decision.h"
#include "host/host_program.h"

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

/** The difference in one word: "inputs", "settings". Constant. */
char const *rm_replay_difference_text(enum rm_replay_difference differs);

/** A step that was made again. */
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

/** The streams that a step is made from. */
enum rm_obey_stream {
    RM_OBEY_DECISION,
    RM_OBEY_ADOPTED,
    /** Number: that of the mask, of the group, of the part. */
    RM_OBEY_MISSING,
    RM_OBEY_SENT,
    RM_OBEY_UNFINISHED,
    /** Number: that of the input. */
    RM_OBEY_INPUT,
};

enum rm_obey_look {
    RM_OBEY_IS_THERE,
    /** There is none, and there will be none. */
    RM_OBEY_IS_NOWHERE,
    /** Nor is there a later one. */
    RM_OBEY_HAS_ENDED,
    /** It may still come. */
    RM_OBEY_COMES,
};

/** Where records come from. A record that is handed out is valid until the next look. */
struct rm_obey_source {
    /** The record of a turn. */
    enum rm_obey_look (*at)(void *context, enum rm_obey_stream stream, uint32_t number, rm_turn turn,
                            struct rm_record const **record);
    /** The first record at or behind `*turn`, of `decision` or `settings_adopted`. `*turn` becomes its turn; where it is
     * still to come, the first turn that it may have. */
    enum rm_obey_look (*next)(void *context, enum rm_obey_stream stream, rm_turn *turn,
                              struct rm_record const **record);
    /** True when a call of `work` that began after the last step has returned. NULL: it always has. */
    bool (*has_worked)(void *context);
    void *context;
};

struct rm_host_obey {
    /* Set by the caller, before it is opened. */

    struct rm_obey_source source;
    /** The caller may put others in their place, of the same setup. */
    struct rm_host_program *program;
    struct rm_host_decisions *decisions;
    /** With room for all inputs, of an application that takes runs. */
    struct rm_host_runs *runs;
    /** [input] the last record that came, and whether that of the step is missing. */
    struct rm_record *record;
    bool *missing;

    /* Its own. */

    /** Turn behind the last step. */
    rm_turn next;
    /** Turn of the next record of settings. */
    rm_turn next_adopted;
    /** Generation of the settings: of the program's, and of those that are being read. */
    uint32_t generation, reads_generation;
    /** Settings as they are read; the program has them when all of a generation are there. */
    double *reads;
    /** Some step was made. */
    bool has_begun;
    /** Inputs of the next step that are read already. */
    uint32_t inputs_read;
    /** Of a source that failed: why, is the caller's. */
    enum rm_code code;
};

/** What one step is made from, and what comes of it. */
struct rm_obey_step {
    struct rm_record decision;
    struct rm_host_replayed *told;
    struct rm_host_obey *obey;
};

enum rm_obeyed {
    RM_OBEY_GIVEN,
    RM_OBEY_WAITS,
    RM_OBEY_DIFFERS,
};

/** False without memory. */
bool rm_host_obey_open(struct rm_host_obey *obey);
void rm_host_obey_close(struct rm_host_obey *obey);

/** Begins behind a step that the program was restored at: its turn, and the settings' generation. */
void rm_host_obey_begin(struct rm_host_obey *obey, rm_turn turn, uint32_t generation);

/** Finds the decision record of the next step. GIVEN, WAITS; DIFFERS where steps are missing between. Clears
 * `*step->told`. */
enum rm_obeyed rm_host_obey_find(struct rm_host_obey *obey, struct rm_obey_step *step);

/** Of a step 0, behind rm_host_obey_find. */
static inline bool rm_host_obey_is_first(struct rm_obey_step const *step) {
    return step->decision.lane[RM_DECISION_STEP].i == 0;
}

/** True where `open` was called before the step. */
static inline bool rm_host_obey_is_opened(struct rm_obey_step const *step) {
    return (step->decision.lane[RM_DECISION_FLAGS].i & RM_DECISION_OPENED) != 0;
}

/** Gives the program what the step had; of a step 0 it is initialised. `error` is that of `init`, whose code is in
 * `obey->code`. */
enum rm_obeyed rm_host_obey_give(struct rm_host_obey *obey, struct rm_obey_step *step, struct rm_error *error);

/** Makes the step, and its decision record. `setpoint` takes the command, of all actuators. `work` is the caller's to
 * call. */
void rm_host_obey_make_step(struct rm_host_obey *obey, struct rm_obey_step *step, double *setpoint);

/** Call it when the step was made: the next one is behind it. */
void rm_host_obey_go_on(struct rm_host_obey *obey, struct rm_obey_step const *step);

/** The first lane of `own` that is not as it was recorded is in `*step->told`. */
void rm_host_obey_compare(struct rm_obey_step *step, struct rm_record const *own);

/** Says what differs, unless a source has failed. Returns RM_OBEY_DIFFERS. */
__attribute__((format(printf, 3, 4))) enum rm_obeyed
rm_obey_differs(struct rm_obey_step *step, enum rm_replay_difference differs, char const *format, ...);

static inline uint32_t rm_obey_lane(struct rm_record const *record, unsigned lane) {
    return (uint32_t)record->lane[lane].i;
}

#endif
