// SPDX-License-Identifier: Apache-2.0
#include "file.h"

#include <ringmaster/stream.h>

enum { NAME_LONGEST = 31, OBJECT_LONGEST = RM_NAME_BYTES - 1, EXPRESSION_LONGEST = 1000, WORDS_LONGEST = 63 };

static double const LONGEST_S = 1e6;

static char const *const shapes[] = {"s_curve", "linear", NULL};
static char const *const feedbacks[] = {"none", "off", "on", "hold", NULL};
static char const *const ends[] = {"none", "done", "failed", NULL};

#define EXPRESSION(type, member, key, text, ...)                                                                       \
    RM_KEY_TEXT(type, member, key, text, .or_number = true, RM_BETWEEN(1, EXPRESSION_LONGEST), ##__VA_ARGS__)
#define NAME(type, member, key, text, ...)                                                                             \
    RM_KEY_TEXT(type, member, key, text, RM_BETWEEN(1, NAME_LONGEST), ##__VA_ARGS__)

static struct rm_key const input_keys[] = {
    NAME(struct sequence_input, name, "name", "Its name in expressions.", .example = "x1", .required = true),
    RM_KEY_TEXT(struct sequence_input, lane, "lane", "INPUT.LANE, of the application's inputs.",
                .example = "bpm01/fast.x1", RM_BETWEEN(3, OBJECT_LONGEST)),
    RM_KEY_TEXT(struct sequence_input, supply, "supply", "Or what was sent last to this one of its supplies.",
                .example = "sr/ps/ch_s01_01", .apart = true, RM_BETWEEN(1, OBJECT_LONGEST)),
    RM_KEYS_END,
};

static struct rm_key const parameter_keys[] = {
    NAME(struct sequence_parameter, name, "name", "Its name in expressions.", .example = "current", .required = true),
    RM_KEY_TEXT(struct sequence_parameter, parameter, "parameter", "Of another owner: read ten times a second.",
                .example = "machine/current_ma", .required = true, RM_BETWEEN(1, OBJECT_LONGEST)),
    RM_KEYS_END,
};

static struct rm_key const variable_keys[] = {
    NAME(struct sequence_variable, name, "name", "Its name in expressions.", .example = "amplitude", .required = true),
    RM_KEY_NUMBER(struct sequence_variable, value, "value", "The first one.", .example = "1", .required = true),
    RM_KEY_NUMBER(struct sequence_variable, low, "low", "Least that it may be put to.", .example = "0",
                  .required = true),
    RM_KEY_NUMBER(struct sequence_variable, high, "high", "Most that it may be put to.", .example = "2",
                  .required = true),
    RM_KEY_TEXT(struct sequence_variable, unit, "unit", "Its unit.", .otherwise = "none", .example = "A",
                RM_BETWEEN(1, 15)),
    RM_KEY_TEXT(struct sequence_variable, description, "description", "What it is.", .otherwise = "none",
                .example = "of the ramp", RM_BETWEEN(1, 255)),
    RM_KEYS_END,
};

static struct rm_key const counter_keys[] = {
    NAME(struct sequence_counter, name, "name", "Its name in expressions.", .example = "shot", .required = true),
    RM_KEY_NUMBER(struct sequence_counter, value, "value", "When a sequence begins.", .fallback = "0"),
    RM_KEY_NUMBER(struct sequence_counter, low, "low", "A lesser value aborts.", .otherwise = "none", .example = "0"),
    RM_KEY_NUMBER(struct sequence_counter, high, "high", "A greater value aborts.", .otherwise = "none",
                  .example = "100"),
    RM_KEYS_END,
};

static struct rm_key const group_keys[] = {
    NAME(struct sequence_group, name, "name", "Its name in actions.", .example = "ch", .required = true),
    RM_KEY_TEXTS(struct sequence_group, supply, supplies, "supplies", "Supplies of the application: names or patterns.",
                 .example = "[\"sr/ps/ch_*\"]", .required = true, RM_BETWEEN(1, 256)),
    RM_KEY_NUMBER(struct sequence_group, low, "low", "Least that sequences set them to.",
                  .otherwise = "the limit of each supply", .example = "-4"),
    RM_KEY_NUMBER(struct sequence_group, high, "high", "Most that sequences set them to.",
                  .otherwise = "the limit of each supply", .example = "4"),
    RM_KEYS_END,
};

static struct rm_key const table_keys[] = {
    NAME(struct sequence_table, name, "name", "Its name in ramps.", .example = "hump", .required = true),
    RM_KEY_NUMBERS(struct sequence_table, point, points, "points",
                   "Share of the way at equal parts of its time, with straight lines between.",
                   .example = "[0, 0.5, 1.1, 1]", .required = true, RM_BETWEEN(2, SEQUENCE_POINTS_MAX)),
    RM_KEYS_END,
};

static struct rm_key const action_keys[] = {
    NAME(struct sequence_action, ramp, "ramp", "Group that goes to `to` within `in_s`.", .example = "ch"),
    NAME(struct sequence_action, set, "set", "Group that goes to `to` as fast as its supplies may.", .example = "ch",
         .apart = true),
    NAME(struct sequence_action, pulse, "pulse", "Group that goes to `to`, and back after `in_s`.", .example = "ch",
         .apart = true),
    NAME(struct sequence_action, excite, "excite", "Group that is moved by a sine for `in_s`.", .example = "ch",
         .apart = true),
    EXPRESSION(struct sequence_action, to, "to", "ramp, set, pulse: where to, in the unit of the supplies.",
               .example = "\"base + amplitude\""),
    EXPRESSION(struct sequence_action, in_s, "in_s", "ramp, pulse, excite: how long.", .unit = "s", .example = "0.5"),
    RM_KEY_WORD(struct sequence_action, shape, "shape", "ramp: how.", .words = shapes, .fallback = "s_curve"),
    NAME(struct sequence_action, table, "table", "ramp: by this table instead.", .example = "hump", .apart = true),
    EXPRESSION(struct sequence_action, amplitude, "amplitude", "excite: in the unit of the supplies.", .example = "0.1",
               .apart = true),
    EXPRESSION(struct sequence_action, hz, "hz", "excite: its frequency.", .unit = "Hz", .example = "7", .apart = true),
    EXPRESSION(struct sequence_action, phase, "phase", "excite: at the state's first step.", .unit = "rad",
               .otherwise = "0", .example = "0", .apart = true),
    RM_KEY_NUMBER(struct sequence_action, ramp_s, "ramp_s", "excite: its envelope rises and falls in so long.",
                  .unit = "s", .fallback = "0.1", RM_BETWEEN(0, 1e4)),
    EXPRESSION(struct sequence_action, wait, "wait", "So long.", .unit = "s", .example = "0.1", .apart = true),
    NAME(struct sequence_action, call, "call", "A sequence of this file, which runs meanwhile.", .example = "cycle",
         .apart = true),
    NAME(struct sequence_action, let, "let", "A counter that becomes `value`.", .example = "shot", .apart = true),
    RM_KEY_TEXT(struct sequence_action, put, "put", "Parameter of another owner, which is requested to be `value`.",
                .example = "feedback/gain", .apart = true, RM_BETWEEN(1, OBJECT_LONGEST)),
    EXPRESSION(struct sequence_action, value, "value", "let, put: to what.", .example = "0.5", .apart = true),
    RM_KEY_WORD(struct sequence_action, feedback, "feedback", "What feedback/loop is put to.", .words = feedbacks,
                .fallback = "none"),
    RM_KEY_TEXT(struct sequence_action, trigger, "trigger", "Words that postmortem/trigger is put to.",
                .example = "injection", .apart = true, RM_BETWEEN(1, WORDS_LONGEST)),
    RM_KEY_TEXT(struct sequence_action, record, "record", "A mark in the trace, for people.", .example = "begun",
                .apart = true, RM_BETWEEN(1, WORDS_LONGEST)),
    RM_KEYS_END,
};

static struct rm_key const way_keys[] = {
    EXPRESSION(struct sequence_way, when, "when", "A condition.", .fallback = "done"),
    NAME(struct sequence_way, to, "to", "The state that is entered.", .example = "finished", .required = true),
    RM_KEYS_END,
};

static struct rm_key const state_keys[] = {
    NAME(struct sequence_state, name, "name", "Its name.", .example = "up", .required = true),
    RM_KEY_MAPPINGS(
        struct sequence_state, action, actions, "do",
        "Actions, which begin together; each has exactly one of set, ramp, pulse, excite, wait, call, let, put, "
        "feedback, trigger, record.",
        action_keys, .otherwise = "none", RM_BETWEEN(0, SEQUENCE_ACTIONS_MAX)),
    RM_KEY_MAPPINGS(struct sequence_state, way, ways, "then", "Ways out: the first whose condition is true.", way_keys,
                    .otherwise = "none", RM_BETWEEN(0, SEQUENCE_WAYS_MAX)),
    RM_KEY_NUMBER(struct sequence_state, timeout_s, "timeout_s", "So long it may take.", .unit = "s",
                  .otherwise = "that of the sequence", .example = "5", RM_BETWEEN(1e-6, LONGEST_S)),
    NAME(struct sequence_state, on_timeout, "on_timeout", "The state that is entered then.",
         .otherwise = "the abort of the sequence", .example = "finished", .apart = true),
    RM_KEY_WORD(struct sequence_state, end, "end", "The sequence ends here, so there is neither `do` nor `then`.",
                .words = ends, .fallback = "none"),
    RM_KEYS_END,
};

static struct rm_key const sequence_sequence_keys[] = {
    NAME(struct sequence_sequence, name, "name", "Its name.", .example = "cycle", .required = true),
    RM_KEY_TEXT(struct sequence_sequence, description, "description", "What it is for.", .otherwise = "none",
                .example = "there and back", RM_BETWEEN(1, 255)),
    NAME(struct sequence_sequence, begin, "begin", "Its first state.", .otherwise = "the first one", .example = "up"),
    EXPRESSION(struct sequence_sequence, enable, "enable", "Enable condition, watched in every state; false: abort.",
               .otherwise = "none", .example = "\"current > 10\""),
    RM_KEY_NUMBER(struct sequence_sequence, timeout_s, "timeout_s", "So long the whole may take; then it aborts.",
                  .unit = "s", .otherwise = "none", .example = "60", RM_BETWEEN(1e-6, LONGEST_S)),
    NAME(struct sequence_sequence, abort, "abort", "The state that is entered when it aborts.",
         .otherwise = "it ends at once, and supplies stay where they are", .example = "finished"),
    RM_KEY_MAPPINGS(struct sequence_sequence, state, states, "states", "Its states.", state_keys, .required = true,
                    .example = "{name: finished, end: done}", RM_BETWEEN(1, SEQUENCE_STATES_MAX)),
    RM_KEYS_END,
};

struct rm_key const sequence_keys[] = {
    RM_KEY_MAPPINGS(struct sequence_file, input, inputs, "inputs", "What conditions look at.", input_keys,
                    .otherwise = "none", RM_BETWEEN(0, SEQUENCE_INPUTS_MAX)),
    RM_KEY_MAPPINGS(struct sequence_file, parameter, parameters, "parameters", "And of other owners.", parameter_keys,
                    .otherwise = "none", RM_BETWEEN(0, SEQUENCE_PARAMETERS_MAX)),
    RM_KEY_MAPPINGS(struct sequence_file, variable, variables, "variables", "What people may set.", variable_keys,
                    .otherwise = "none", RM_BETWEEN(0, SEQUENCE_VARIABLES_MAX)),
    RM_KEY_MAPPINGS(struct sequence_file, counter, counters, "counters", "What sequences remember while they run.",
                    counter_keys, .otherwise = "none", RM_BETWEEN(0, SEQUENCE_COUNTERS_MAX)),
    RM_KEY_MAPPINGS(struct sequence_file, group, groups, "supplies", "Groups of supplies.", group_keys,
                    .otherwise = "none", RM_BETWEEN(0, SEQUENCE_GROUPS_MAX)),
    RM_KEY_MAPPINGS(struct sequence_file, table, tables, "tables", "Shapes of ramps.", table_keys, .otherwise = "none",
                    RM_BETWEEN(0, SEQUENCE_TABLES_MAX)),
    EXPRESSION(struct sequence_file, beam_lost, "beam_lost", "A condition: true, and what runs aborts.",
               .otherwise = "none", .example = "\"current < 1\""),
    RM_KEY_WHOLE(struct sequence_file, missing_steps, "missing_steps",
                 "Steps in a row that an input may be missing before what runs aborts.", .unit = "steps",
                 .fallback = "10", RM_BETWEEN(1, 1000000)),
    RM_KEY_WHOLE(struct sequence_file, follow_steps, "follow_steps",
                 "Steps in a row that a supply may not follow before what runs aborts.", .unit = "steps",
                 .fallback = "10", RM_BETWEEN(1, 1000000)),
    RM_KEY_MAPPINGS(struct sequence_file, sequence, sequences, "sequences", "Sequences; the first is number 1.",
                    sequence_sequence_keys, .required = true, RM_BETWEEN(1, SEQUENCE_SEQUENCES_MAX)),
    RM_KEYS_END,
};
