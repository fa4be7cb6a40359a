// SPDX-License-Identifier: Apache-2.0
#include "enter.h"

#include <math.h>

#include <ringmaster/s_curve.h>

#include "ask.h"
#include "law/shape.h"

static double const TURN_RAD = 6.283185307179586476925286766559;

/** An action while it begins. */
struct entering {
    struct sequence_run *run;
    struct sequence_step *step;
    struct sequence_frame *frame;
    struct sequence_act const *act;
    struct sequence_motion *motion;
    /** Steps that its supplies take at their fastest; of a sine the turns of its rise. */
    double steps, rise_turns;
    double rad_per_turn;
    /** Least, greatest and last share of the way. */
    double least, most, last;
};

static double value_of(struct entering const *it, struct sequence_value value) {
    return sequence_value_of(it->run, it->step->program, value);
}

static bool is_within(struct entering const *it, uint32_t member, double value) {
    return value >= it->step->program->low[member] && value <= it->step->program->high[member];
}

/** A supply's way. Where it stood when the sequence began is always allowed; a table may lead beyond both ends. */
static bool add_way(struct entering *it, uint32_t member, uint32_t channel, double from, double to) {
    struct sequence_channels *const channels = &it->run->channels;
    uint32_t const actuator = channels->actuator[channel];
    double const delta = to - from;
    if (!is_within(it, member, to) && to != it->run->base[actuator])
        return false;
    if ((it->least < 0.0 && !is_within(it, member, from + it->least * delta)) ||
        (it->most > 1.0 && !is_within(it, member, from + it->most * delta)))
        return false;
    channels->delta[channel] = delta;
    channels->last[channel] = it->last == 1.0 ? to : from + it->last * delta;
    it->steps = fmax(it->steps, fabs(delta) / it->step->setup->actuator_slew_per_step[actuator]);
    return isfinite(it->steps);
}

/** A supply's sine around where it stands. Its slope, that of the envelope included, keeps the slew. */
static bool add_sine(struct entering *it, uint32_t member, uint32_t channel, double from, double amplitude) {
    struct sequence_channels *const channels = &it->run->channels;
    struct rm_application_setup const *const setup = it->step->setup;
    double const most = fabs(amplitude);
    double const slew = setup->actuator_slew_per_step[channels->actuator[channel]] / (double)setup->period_turns;
    double const room = slew - most * it->rad_per_turn;
    if (!is_within(it, member, from - most) || !is_within(it, member, from + most) || !(room > 0.0 || most == 0.0))
        return false;
    if (most > 0.0)
        it->rise_turns = fmax(it->rise_turns, most / room);
    channels->delta[channel] = amplitude;
    channels->last[channel] = from;
    return true;
}

/** All supplies of the action's group. */
static enum sequence_cause add_channels(struct entering *it) {
    struct sequence_program const *const program = it->step->program;
    struct sequence_members const group = program->group[it->act->group];
    struct sequence_channels *const channels = &it->run->channels;
    bool const is_sine = it->act->kind == SEQUENCE_ACT_EXCITE;
    it->motion->channel = it->frame->channel + it->frame->channels;
    it->motion->channels = group.count;
    for (uint32_t i = 0; i < group.count; ++i) {
        uint32_t const channel = it->motion->channel + i, actuator = program->member[group.first + i];
        double const from = it->step->command->setpoint[actuator];
        it->run->cause_of = actuator;
        if (!isfinite(from))
            return SEQUENCE_CAUSE_SUPPLY;
        it->run->cell[SEQUENCE_CELL_BASE] = it->run->base[actuator];
        it->run->cell[SEQUENCE_CELL_HERE] = from;
        channels->actuator[channel] = actuator;
        channels->from[channel] = from;
        double const value = value_of(it, is_sine ? it->act->amplitude : it->act->to);
        if (!(is_sine ? add_sine : add_way)(it, group.first + i, channel, from, value))
            return SEQUENCE_CAUSE_VALUE;
    }
    it->frame->channels += group.count;
    it->run->cause_of = SEQUENCE_NONE;
    return SEQUENCE_CAUSE_NONE;
}

/** A ramp by its table: how far it goes, and its fastest part. Returns the peak of its speed. */
static double use_table(struct entering *it) {
    struct sequence_table const *const table = &it->step->program->file->table[it->act->table];
    for (uint32_t i = 0; i < table->points; ++i) {
        it->least = fmin(it->least, table->point[i]);
        it->most = fmax(it->most, table->point[i]);
    }
    it->last = table->point[table->points - 1];
    it->motion->table = it->act->table;
    it->motion->kind = SEQUENCE_MOTION_TABLE;
    return sequence_table_peak(table->point, table->points);
}

/** The kind of the motion, and the peak of its speed over the mean one. */
static double choose_kind(struct entering *it) {
    if (it->act->kind == SEQUENCE_ACT_RAMP && it->act->table != SEQUENCE_NONE)
        return use_table(it);
    it->last = it->act->kind == SEQUENCE_ACT_PULSE ? 0.0 : 1.0;
    it->motion->kind = it->act->kind == SEQUENCE_ACT_EXCITE  ? SEQUENCE_MOTION_SINE
                       : it->act->kind == SEQUENCE_ACT_PULSE ? SEQUENCE_MOTION_PULSE
                       : it->act->kind == SEQUENCE_ACT_RAMP && it->act->shape == SEQUENCE_S_CURVE
                           ? SEQUENCE_MOTION_S_CURVE
                           : SEQUENCE_MOTION_LINEAR;
    return it->motion->kind == SEQUENCE_MOTION_S_CURVE ? RM_S_CURVE_PEAK : 1.0;
}

/** How long it takes. In turns. */
static void set_times(struct entering *it, double in_turns, double peak) {
    struct sequence_motion *const motion = it->motion;
    double const period = (double)it->step->setup->period_turns;
    double const fastest = fmax(1.0, ceil(it->steps * peak)) * period;
    motion->inverse_rise = 1.0 / (it->act->kind == SEQUENCE_ACT_EXCITE ? it->rise_turns : fastest);
    if (it->act->kind == SEQUENCE_ACT_SET)
        motion->total_turns = fastest;
    else if (it->act->kind == SEQUENCE_ACT_RAMP)
        motion->total_turns = fmax(in_turns, fastest);
    else if (it->act->kind == SEQUENCE_ACT_PULSE)
        motion->total_turns = fmax(in_turns, fastest) + fastest;
    else
        motion->total_turns = in_turns + 2.0 * it->rise_turns;
    motion->inverse_turns = 1.0 / motion->total_turns;
}

static enum sequence_cause enter_motion(struct entering *it) {
    struct rm_application_setup const *const setup = it->step->setup;
    double const in_turns = it->act->in_s.ops > 0 ? value_of(it, it->act->in_s) * setup->turn_rate_hz : 0.0;
    it->motion = &it->run->motion[it->frame->motion + it->frame->motions];
    *it->motion = (struct sequence_motion){.table = 0};
    it->most = it->last = 1.0;
    it->least = it->steps = 0.0;
    if (!(in_turns >= 0.0 && isfinite(in_turns)))
        return SEQUENCE_CAUSE_VALUE;
    double const peak = choose_kind(it);
    if (it->act->kind == SEQUENCE_ACT_EXCITE) {
        double const phase = it->act->phase.ops > 0 ? value_of(it, it->act->phase) : 0.0;
        it->rad_per_turn = TURN_RAD * value_of(it, it->act->hz) / setup->turn_rate_hz;
        it->rise_turns = fmax(it->act->ramp_s * setup->turn_rate_hz, (double)setup->period_turns);
        bool const is_seen = it->rad_per_turn * (double)setup->period_turns <= TURN_RAD / 2.0; /* not as a slower one */
        if (!(it->rad_per_turn >= 0.0 && is_seen && isfinite(phase)))
            return SEQUENCE_CAUSE_VALUE;
        sequence_sine_begin(&it->motion->sine, it->rad_per_turn, phase, (uint32_t)setup->period_turns);
    }
    enum sequence_cause const cause = add_channels(it);
    if (cause != SEQUENCE_CAUSE_NONE)
        return cause;
    set_times(it, in_turns, peak);
    ++it->frame->motions;
    return SEQUENCE_CAUSE_NONE;
}

/** Actions behind it in the list have the new value. */
static enum sequence_cause enter_let(struct entering *it) {
    struct sequence_counter const *const counter = &it->step->program->file->counter[it->act->counter];
    double const value = value_of(it, it->act->to);
    if (!isfinite(value) || value < counter->low || value > counter->high) /* limits that are NaN are none */
        return SEQUENCE_CAUSE_VALUE;
    it->run->cell[SEQUENCE_CELL_COUNTER + it->act->counter] = value;
    return SEQUENCE_CAUSE_NONE;
}

/** An action that moves nothing is judged here; requests are made where all are good. */
static enum sequence_cause enter_act(struct entering *it) {
    if (sequence_act_moves(it->act))
        return enter_motion(it);
    if (it->act->kind == SEQUENCE_ACT_LET)
        return enter_let(it);
    if (it->act->kind == SEQUENCE_ACT_PUT && !isfinite(value_of(it, it->act->to)))
        return SEQUENCE_CAUSE_VALUE;
    if (it->act->kind != SEQUENCE_ACT_WAIT)
        return SEQUENCE_CAUSE_NONE;
    double const turns = value_of(it, it->act->in_s) * it->step->setup->turn_rate_hz;
    it->frame->wait_turns = fmax(it->frame->wait_turns, turns);
    return turns >= 0.0 && isfinite(turns) ? SEQUENCE_CAUSE_NONE : SEQUENCE_CAUSE_VALUE;
}

/** What is asked of others, and what is marked. */
static void make_requests(struct sequence_run *run, struct sequence_step *step, struct sequence_node const *node) {
    for (uint32_t a = node->act; a < node->act + node->acts; ++a) {
        struct sequence_act const *const act = &step->program->act[a];
        run->marks += act->kind == SEQUENCE_ACT_RECORD;
        if (act->ask == SEQUENCE_NONE || step->asks->asked >= step->given->allowed.asked)
            continue;
        sequence_ask_want(step->asks, act->ask,
                          act->kind == SEQUENCE_ACT_PUT ? sequence_value_of(run, step->program, act->to) : 0.0);
        ++step->asks->asked;
    }
}

enum sequence_cause sequence_enter(struct sequence_run *run, struct sequence_step *step, struct sequence_frame *frame,
                                   uint32_t node) {
    struct sequence_node const *const entered = &step->program->node[node];
    struct entering it = {.run = run, .step = step, .frame = frame};
    enum sequence_cause cause = SEQUENCE_CAUSE_NONE;
    frame->node = node;
    frame->state_turns = 0;
    frame->wait_turns = 0.0;
    frame->motions = frame->channels = 0;
    run->cause_of = SEQUENCE_NONE;
    for (uint32_t a = 0; a < entered->acts && cause == SEQUENCE_CAUSE_NONE; ++a) {
        it.act = &step->program->act[entered->act + a];
        cause = enter_act(&it);
    }
    ++run->transitions;
    if (cause == SEQUENCE_CAUSE_NONE)
        make_requests(run, step, entered);
    else
        frame->motions = frame->channels = 0;
    return cause;
}
