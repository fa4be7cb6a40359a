// SPDX-License-Identifier: Apache-2.0
/** Values that can be known: of numbers and variables alone, at all corners of the variables' limits. What depends on the
 * machine is judged when a state is entered; here it is remarked where it may come out of the limits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "evaluate.h"
#include "interval.h"

/** Variables of an expression whose corners are tried; more of them have their first values. */
enum { CORNER_VARIABLES_MAX = 8, WITNESS_BYTES = 160 };

static double const NO_END = (double)INFINITY;
static double const TURN_RAD = 6.283185307179586476925286766559;

/** What a value must keep, and what it is that must. */
struct bounds {
    double low, high;
    char const *what;
};

static struct sequence_interval limits_of(struct sequence_compiling const *it, uint32_t group) {
    struct sequence_program const *const program = it->program;
    struct sequence_group const *const own = &it->file->group[group];
    struct sequence_interval limits = {isnan(own->low) ? -NO_END : own->low, isnan(own->high) ? NO_END : own->high};
    for (uint32_t i = 0; program->group != NULL && i < program->group[group].count; ++i) {
        limits.low = fmax(limits.low, program->low[program->group[group].first + i]);
        limits.high = fmin(limits.high, program->high[program->group[group].first + i]);
    }
    return limits;
}

/** The variables that an expression has, in whatever order. */
static uint32_t find_variables(struct sequence_program const *program, struct sequence_value value,
                               uint32_t found[CORNER_VARIABLES_MAX]) {
    uint32_t count = 0;
    for (uint32_t i = value.first; i < value.first + value.ops; ++i) {
        if (program->op[i].code != SEQUENCE_VARIABLE)
            continue;
        uint32_t k = 0;
        while (k < count && found[k] != program->op[i].index)
            ++k;
        if (k == CORNER_VARIABLES_MAX)
            return k;
        found[k] = program->op[i].index;
        count = k == count ? count + 1 : count;
    }
    return count;
}

static void write_witness(struct sequence_file const *file, double const *variable, uint32_t const *found,
                          uint32_t count, char witness[WITNESS_BYTES]) {
    size_t used = 0;
    witness[0] = '\0';
    for (uint32_t k = 0; k < count && used < WITNESS_BYTES; ++k)
        used += (size_t)snprintf(witness + used, WITNESS_BYTES - used, "%s%s = %g", k == 0 ? " with " : ", ",
                                 file->variable[found[k]].name, variable[found[k]]);
}

/** Tries the corners. Returns the value that is farthest out of the bounds, or one within. */
static double worst_corner(struct sequence_compiling *it, struct sequence_value value, struct bounds const *bounds,
                           char witness[WITNESS_BYTES]) {
    struct sequence_file const *const file = it->file;
    double variable[SEQUENCE_VARIABLES_MAX] = {0}, worst = bounds->low, distance = 0.0;
    uint32_t found[CORNER_VARIABLES_MAX];
    uint32_t const count = find_variables(it->program, value, found);
    struct sequence_values const values = {.variable = variable};
    witness[0] = '\0';
    for (uint32_t i = 0; i < file->variables; ++i)
        variable[i] = file->variable[i].value;
    for (uint32_t corner = 0; corner < 1u << count; ++corner) {
        for (uint32_t k = 0; k < count; ++k)
            variable[found[k]] = corner >> k & 1u ? file->variable[found[k]].high : file->variable[found[k]].low;
        double const found_value = sequence_evaluate(it->program->op + value.first, value.ops, &values);
        double const out = isnan(found_value) ? NO_END : fmax(bounds->low - found_value, found_value - bounds->high);
        if (!(out > distance))
            continue;
        distance = out;
        worst = found_value;
        write_witness(file, variable, found, count, witness);
    }
    return worst;
}

/** A value that must keep its bounds; `supply` is where `base` and `here` may be. */
static void check_value(struct sequence_compiling *it, char const *key, struct sequence_value value,
                        struct bounds bounds, struct sequence_interval supply) {
    char witness[WITNESS_BYTES];
    if (value.ops == 0)
        return;
    if (sequence_value_is_known(it->program, value)) {
        double const worst = worst_corner(it, value, &bounds, witness);
        if (!(worst >= bounds.low && worst <= bounds.high))
            sequence_refuse(it, key, "it comes to %g%s, expected %g to %g, %s", worst, witness, bounds.low, bounds.high,
                            bounds.what);
        return;
    }
    struct sequence_interval const all = sequence_interval_of(it->program, value, supply);
    if (all.high < bounds.low || all.low > bounds.high)
        sequence_refuse(it, key, "it comes to %g to %g, expected %g to %g, %s", all.low, all.high, bounds.low,
                        bounds.high, bounds.what);
    else if (all.low < bounds.low || all.high > bounds.high)
        sequence_remark(it, key, "it may come to %g to %g; out of %g to %g, %s, the sequence aborts before it moves",
                        all.low, all.high, bounds.low, bounds.high, bounds.what);
}

/** A table that goes beyond its ends crosses limits midway where the way is long enough. */
static void check_table(struct sequence_compiling *it, struct sequence_act const *act,
                        struct sequence_interval limits) {
    struct sequence_table const *const table = &it->file->table[act->table];
    struct sequence_interval const to = sequence_interval_of(it->program, act->to, limits);
    double least = 0.0, most = 0.0, low = NO_END, high = -NO_END;
    for (uint32_t i = 0; i < table->points; ++i) {
        least = fmin(least, table->point[i]);
        most = fmax(most, table->point[i]);
    }
    if (!isfinite(limits.low) || !isfinite(limits.high) || !isfinite(to.low) || !isfinite(to.high))
        return;
    for (int corner = 0; corner < 8; ++corner) {
        double const from = (corner & 1) != 0 ? limits.low : limits.high;
        double const share = (corner & 2) != 0 ? least : most;
        double const end = (corner & 4) != 0 ? to.low : to.high;
        low = fmin(low, from + share * (end - from));
        high = fmax(high, from + share * (end - from));
    }
    if (low < limits.low || high > limits.high)
        sequence_remark(it, "table",
                        "midway it may come to %g to %g, as %s goes from %g to %g of the way; out of %g to %g the "
                        "sequence aborts before it moves",
                        low, high, table->name, least, most, limits.low, limits.high);
}

/** What the steepest sine that is known takes, per step. */
static void check_slope(struct sequence_compiling *it, struct sequence_act const *act) {
    struct sequence_program const *const program = it->program;
    if (program->group == NULL || !sequence_value_is_known(program, act->amplitude) ||
        !sequence_value_is_known(program, act->hz))
        return;
    struct sequence_interval const none = {-NO_END, NO_END};
    struct sequence_interval const amplitude = sequence_interval_of(program, act->amplitude, none);
    struct sequence_interval const hz = sequence_interval_of(program, act->hz, none);
    double const most = fmax(fabs(amplitude.low), fabs(amplitude.high));
    double slew = NO_END;
    for (uint32_t i = 0; i < program->group[act->group].count; ++i)
        slew = fmin(slew, it->slew_per_s[program->member[program->group[act->group].first + i]]);
    if (TURN_RAD * most * hz.high > slew)
        sequence_refuse(it, "hz",
                        "%g Hz and an amplitude of %g take a slew of %g per second, expected at most the %g of "
                        "the group's slowest supply",
                        hz.high, most, TURN_RAD * most * hz.high, slew);
}

static void check_act(struct sequence_compiling *it, struct sequence_act const *act) {
    struct sequence_interval const any = {-NO_END, NO_END};
    struct bounds const times = {0.0, 1e6, "seconds"};
    check_value(it, act->kind == SEQUENCE_ACT_WAIT ? "wait" : "in_s", act->in_s, times, any);
    if (act->kind == SEQUENCE_ACT_PUT)
        check_value(it, "value", act->to, (struct bounds){-1e300, 1e300, "a number"}, any);
    if (act->group == SEQUENCE_NONE)
        return;
    struct sequence_interval const limits = limits_of(it, act->group);
    struct bounds const bounds = {limits.low, limits.high, "the limits of its supplies"};
    double const half = 0.5 * (limits.high - limits.low);
    struct bounds const sines = {-half, half, "half of the range of its supplies"};
    if (!(limits.low <= limits.high))
        sequence_refuse(it, sequence_act_name(act->kind), "the group's supplies have no value in common: %g to %g",
                        limits.low, limits.high);
    check_value(it, "to", act->to, bounds, limits);
    if (act->table != SEQUENCE_NONE)
        check_table(it, act, limits);
    if (act->kind != SEQUENCE_ACT_EXCITE)
        return;
    check_value(it, "amplitude", act->amplitude, sines, limits);
    check_value(it, "hz", act->hz,
                (struct bounds){0.0, it->steps_hz > 0 ? 0.5 * it->steps_hz : 1e12,
                                "below half of "
                                "the steps' rate"},
                any);
    check_slope(it, act);
}

static void check_condition(struct sequence_compiling *it, char const *key, struct sequence_value value) {
    struct sequence_interval const any = {-NO_END, NO_END};
    if (value.ops > 0 && sequence_interval_of(it->program, value, any).high == 0.0)
        sequence_refuse(it, key, "the condition is never true, whatever is measured or set");
}

static void check_node(struct sequence_compiling *it, uint32_t chart, uint32_t index) {
    struct sequence_node const *const node = &it->program->node[index];
    sequence_place_state(it, chart, index);
    size_t const length = strlen(it->place);
    for (uint32_t a = 0; a < node->acts; ++a) {
        snprintf(it->place + length, sizeof it->place - length, ".do[%u]", a);
        check_act(it, &it->program->act[node->act + a]);
    }
    for (uint32_t a = 0; a < node->arcs; ++a) {
        snprintf(it->place + length, sizeof it->place - length, ".then[%u]", a);
        check_condition(it, "when", it->program->arc[node->arc + a].when);
    }
    it->place[length] = '\0';
}

void sequence_check_limits(struct sequence_compiling *it) {
    struct sequence_program const *const program = it->program;
    it->place[0] = '\0';
    check_condition(it, "beam_lost", program->beam_lost);
    for (uint32_t c = 0; c < program->charts; ++c) {
        snprintf(it->place, sizeof it->place, "sequences[%u]", c);
        check_condition(it, "enable", program->chart[c].enable);
        for (uint32_t n = 0; n < program->chart[c].nodes; ++n)
            check_node(it, c, program->chart[c].node + n);
    }
    it->place[0] = '\0';
}
