// SPDX-License-Identifier: Apache-2.0
#include "watch.h"

#include <math.h>

#include "base/per_instruction_set.h"

/** What was sent may be so many steps behind; and it is a float. */
static double const STEPS_UNDER_WAY = 4.0;
static double const ROUNDING = 1e-6;

void sequence_watch_inputs(struct sequence_run *run, struct sequence_step *step) {
    struct rm_step const *const given = step->given;
    struct sequence_binding const *const binding = step->binding;
    run->most_missing = 0;
    for (uint32_t u = 0; u < binding->used_count; ++u) {
        uint32_t const i = binding->used[u];
        struct sequence_source const source = binding->source[i];
        double *const value = &run->cell[SEQUENCE_CELL_INPUT + i];
        if (source.lane == SEQUENCE_NONE) {
            *value = given->sent[source.index];
            continue;
        }
        struct rm_record const *const record = &given->record[source.index];
        bool const has_come = !given->is_missing[source.index] && record->turn == given->turn;
        run->missing[i] = has_come ? 0 : run->missing[i] + 1;
        run->most_missing = run->missing[i] > run->most_missing ? run->missing[i] : run->most_missing;
        *value = record->turn == RM_TURN_NONE ? (double)NAN
                                              : rm_lane_value(step->setup->input[source.index], record, source.lane);
    }
}

/** Whether one is off, or not known. Counted in the width of what is compared, and without traps: so the compiler takes
 * several at once. */
RM_PER_INSTRUCTION_SET
static bool is_any_off(double const *sent, double const *commanded, double const *tolerance, uint32_t count) {
    int64_t within = 0;
    for (uint32_t a = 0; a < count; ++a)
        within += islessequal(fabs(sent[a] - commanded[a]), tolerance[a]);
    return within != count;
}

void sequence_watch_supplies(struct sequence_run *run, struct sequence_step *step) {
    uint32_t const count = step->setup->actuator_count;
    double const *const sent = step->given->sent, *const commanded = step->command->setpoint;
    if (!is_any_off(sent, commanded, run->tolerance, count) && !run->has_unfollowed)
        return;
    run->has_unfollowed = false;
    for (uint32_t a = 0; a < count; ++a) {
        bool const is_off = isfinite(run->tolerance[a]) && !(fabs(sent[a] - commanded[a]) <= run->tolerance[a]);
        run->unfollowed[a] = is_off ? run->unfollowed[a] + 1 : 0;
        run->has_unfollowed |= is_off;
    }
}

static bool finds_supply(struct sequence_run *run, struct sequence_step const *step) {
    for (uint32_t a = 0; run->has_unfollowed && a < step->setup->actuator_count; ++a)
        if (run->unfollowed[a] >= step->program->file->follow_steps) {
            run->cause_of = a;
            return true;
        }
    return false;
}

static bool finds_input(struct sequence_run *run, struct sequence_step const *step) {
    uint32_t const most = step->program->file->missing_steps;
    for (uint32_t i = 0; run->most_missing >= most && i < step->program->file->inputs; ++i)
        if (run->missing[i] >= most) {
            run->cause_of = i;
            return true;
        }
    return false;
}

static bool is_true(struct sequence_run *run, struct sequence_step const *step, struct sequence_value value) {
    return sequence_value_of(run, step->program, value) != 0.0;
}

/** Of all frames: enable conditions and timeouts. */
static enum sequence_cause watch_frames(struct sequence_run *run, struct sequence_step *step) {
    double const rate_hz = step->setup->turn_rate_hz;
    for (uint32_t f = 0; f < run->depth; ++f) {
        struct sequence_frame const *const frame = &run->frame[f];
        struct sequence_chart const *const chart = &step->program->chart[frame->chart];
        if (chart->enable.ops > 0 && !is_true(run, step, chart->enable))
            return SEQUENCE_CAUSE_ENABLE;
        if ((double)frame->turns >= chart->timeout_s * rate_hz)
            return SEQUENCE_CAUSE_TIMEOUT;
        if (f + 1 < run->depth && (double)frame->state_turns >= step->program->node[frame->node].timeout_s * rate_hz)
            return SEQUENCE_CAUSE_STATE_TIMEOUT;
    }
    return SEQUENCE_CAUSE_NONE;
}

enum sequence_cause sequence_watch(struct sequence_run *run, struct sequence_step *step) {
    run->cause_of = SEQUENCE_NONE;
    if (sequence_setting(step, SEQUENCE_ABORT) >= 0.5)
        return SEQUENCE_CAUSE_ABORT;
    if (step->program->beam_lost.ops > 0 && is_true(run, step, step->program->beam_lost))
        return SEQUENCE_CAUSE_BEAM;
    if (finds_supply(run, step))
        return SEQUENCE_CAUSE_SUPPLY;
    if (finds_input(run, step) || sequence_setting(step, SEQUENCE_SET_LOST) > 0.0)
        return SEQUENCE_CAUSE_INPUT;
    if (sequence_setting(step, SEQUENCE_SET_REFUSED) != run->refused)
        return SEQUENCE_CAUSE_REFUSED;
    return watch_frames(run, step);
}

enum sequence_cause sequence_watch_begin(struct sequence_run *run, struct sequence_step *step, uint32_t chart) {
    struct rm_application_setup const *const setup = step->setup;
    bool const *const uses = step->binding->uses + (size_t)chart * setup->actuator_count;
    enum sequence_cause cause = SEQUENCE_CAUSE_NONE;
    run->cause_of = SEQUENCE_NONE;
    run->has_unfollowed = false;
    for (uint32_t i = 0; i < step->program->file->inputs; ++i)
        run->missing[i] = 0;
    for (uint32_t a = 0; a < setup->actuator_count; ++a) {
        double const range = setup->actuator_high[a] - setup->actuator_low[a];
        run->base[a] = step->command->setpoint[a];
        run->unfollowed[a] = 0;
        run->tolerance[a] =
            uses[a] ? STEPS_UNDER_WAY * setup->actuator_slew_per_step[a] + ROUNDING * range : (double)INFINITY;
        if (uses[a] && !(isfinite(run->base[a]) && isfinite(step->given->sent[a]))) {
            run->cause_of = a;
            cause = SEQUENCE_CAUSE_SUPPLY;
        }
    }
    return cause;
}
