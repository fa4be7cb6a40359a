// SPDX-License-Identifier: Apache-2.0
/** The application's own file: sequences, as IEC 61131-3 has sequential function charts and EPICS its state notation.
 *
 *     inputs:       [{name: x1, lane: bpm01/raw.x1}, {name: i_q, supply: sr/ps/qf1_01}]
 *                   # lane: INPUT.LANE of the application's inputs; supply: what was sent to one of its supplies last
 *     parameters:   [{name: current, parameter: machine/current_ma}]
 *                   # of others: read ten times a second, and on record as the setting NAME/parameter[i]
 *     variables:    [{name: amplitude, value: 4, low: 0, high: 8, unit: A}]   # the setting NAME/variable[i]
 *     counters:     [{name: shot, value: 0, low: 0, high: 100}]
 *                   # what sequences remember, set by `let`; `value` again when the outermost one begins
 *     supplies:     [{name: qf, supplies: ["sr/ps/qf1_*"], low: -5, high: 5}]
 *                   # groups, with limits that are narrower than those of the supplies
 *     tables:       [{name: hump, points: [0, 0.5, 1.1, 1]}]   # share of a way at equal parts of its time
 *     beam_lost: "current < 1"                # true in any step: abort
 *     sequences:                              # numbers 1, 2, …: what NAME/run is put to
 *       - name: degauss
 *         begin: up                           # the first state, unless it is said
 *         enable: "current > 10"              # watched in every state; false: abort
 *         timeout_s: 60                       # of the whole; then abort
 *         abort: back                         # the state for abort, timeout, lost enable or beam, a supply that does
 *                                             # not follow; without it an abort ends at once, supplies stay
 *         states:
 *           - name: up
 *             timeout_s: 5                    # then on_timeout, or abort
 *             do:                             # all begin when the state is entered, and go on side by side
 *               - {ramp: qf, to: "base + amplitude", in_s: 0.5, shape: s_curve}
 *             then:                           # the first that is true; looked at from the state's second step on
 *               - {when: "abs(i_q - 4) > 1", to: back}
 *               - {to: down}                  # when: done, unless it is said
 *           - {name: finished, end: done}     # or failed
 *
 * Actions, each with exactly one of these keys:
 *
 *     set: GROUP, to: VALUE              each supply as fast as it may; all arrive together
 *     ramp: GROUP, to: VALUE, in_s: VALUE
 *                                        and no faster than supplies may. shape: s_curve (a polynomial of fifth order), or
 *                                        linear; or table: NAME
 *     pulse: GROUP, to: VALUE, in_s: VALUE
 *                                        there as fast as it may; stays until in_s have passed; and back
 *     excite: GROUP, amplitude: VALUE, hz: VALUE, in_s: VALUE
 *                                        a sine around where each stands: amplitude · sin(2π hz t + phase), t from the
 *                                        state's first step. in_s at full height, ramp_s before and behind
 *     wait: VALUE                        seconds
 *     let: COUNTER, value: VALUE         worked out in the order of the list, before the actions behind it
 *     call: SEQUENCE                     of this file; at most one in a state, whose `then` is looked at when the called
 *                                        one has ended. A called one that fails aborts the caller
 *     put: PARAMETER, value: VALUE       of another owner; a thread beside asks it, milliseconds later. One that is
 *                                        refused aborts
 *     feedback: hold, on or off          puts feedback/loop to 2, 1 or 0
 *     trigger: WORDS                     puts postmortem/trigger: an event of the post-mortem, of this moment
 *     record: WORDS                      a mark: counts NAME/marks, a lane of NAME/trace
 *
 * VALUE, `when`, `enable` and `beam_lost` are expressions (expression.h): numbers, names of the above, + - * /, < <= >
 * >= == !=, and or not, abs min max sqrt sin cos, parentheses; `seconds` and `turns` in this state; `done`: all its
 * actions are complete; in `to` and `amplitude` also `base`, where the supply stood when the outermost sequence began,
 * and `here`, where it stood when this state was entered. Values are worked out once, when the state is entered;
 * conditions in each step.
 *
 * The keys as a table, with defaults and ranges: file_keys.c, configs/all-keys.yaml, configs/schema/sequence.schema.json.
 */
#ifndef SEQUENCE_FILE_H
#define SEQUENCE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/configuration.h>

enum {
    SEQUENCE_SEQUENCES_MAX = 64,
    /** Of one sequence. */
    SEQUENCE_STATES_MAX = 64,
    /** Of one state. */
    SEQUENCE_ACTIONS_MAX = 256,
    /** Out of one state. */
    SEQUENCE_WAYS_MAX = 32,
    SEQUENCE_INPUTS_MAX = 256,
    SEQUENCE_PARAMETERS_MAX = 64,
    SEQUENCE_VARIABLES_MAX = 64,
    SEQUENCE_COUNTERS_MAX = 64,
    SEQUENCE_GROUPS_MAX = 256,
    SEQUENCE_TABLES_MAX = 32,
    SEQUENCE_POINTS_MAX = 1024,
    /** Sequences that stand on each other: one that calls one that calls one … */
    SEQUENCE_DEPTH_MAX = 4,
};

struct sequence_input {
    char *name;
    /** Exactly one of them: INPUT.LANE, or a supply. */
    char *lane, *supply;
};

struct sequence_parameter {
    char *name, *parameter;
};

struct sequence_variable {
    char *name, *unit, *description;
    double value, low, high;
};

struct sequence_counter {
    char *name;
    /** A value beyond `low` and `high` aborts; NaN: there is none. */
    double value, low, high;
};

struct sequence_group {
    char *name;
    /** Names or patterns. */
    char **supply;
    uint32_t supplies;
    /** NaN: those of its supplies. */
    double low, high;
};

struct sequence_table {
    char *name;
    double *point;
    uint32_t points;
};

/** In the order of the words. */
enum sequence_shape {
    SEQUENCE_S_CURVE,
    SEQUENCE_LINEAR,
};

/** In the order of the words; the others are one more than the value that feedback/loop is put to. */
enum sequence_feedback {
    SEQUENCE_FEEDBACK_NOT,
    SEQUENCE_FEEDBACK_OFF,
    SEQUENCE_FEEDBACK_ON,
    SEQUENCE_FEEDBACK_HOLD,
};

struct sequence_action {
    /** Groups. */
    char *set, *ramp, *pulse, *excite;
    /** Expressions. */
    char *to, *in_s, *amplitude, *hz, *phase, *wait, *value;
    char *table, *call, *let, *put, *trigger, *record;
    double ramp_s;
    /** enum sequence_shape, enum sequence_feedback */
    uint32_t shape, feedback;
};

struct sequence_way {
    char *when, *to;
};

/** In the order of the words. */
enum sequence_end {
    SEQUENCE_END_NOT,
    SEQUENCE_END_DONE,
    SEQUENCE_END_FAILED,
};

struct sequence_state {
    char *name, *on_timeout;
    struct sequence_action *action;
    struct sequence_way *way;
    /** NaN: none of its own. */
    double timeout_s;
    uint32_t actions, ways;
    /** enum sequence_end */
    uint32_t end;
    uint32_t reserved;
};

struct sequence_sequence {
    char *name, *description, *begin, *enable, *abort;
    struct sequence_state *state;
    /** NaN: none. */
    double timeout_s;
    uint32_t states;
    uint32_t reserved;
};

struct sequence_program;

struct sequence_file {
    struct sequence_input *input;
    struct sequence_parameter *parameter;
    struct sequence_variable *variable;
    struct sequence_counter *counter;
    struct sequence_group *group;
    struct sequence_table *table;
    struct sequence_sequence *sequence;
    char *beam_lost;
    uint32_t inputs, parameters, variables, counters, groups, tables, sequences, reserved;
    /** Steps in a row that an input may be missing, and that a supply may not follow, before the sequence aborts. */
    uint32_t missing_steps, follow_steps;

    /** Where what the check compiles goes. */
    struct sequence_program *made;
    /** And its remarks; NULL: none are wanted. */
    struct rm_errors *remarks;
};

extern struct rm_key const sequence_keys[];

#endif
