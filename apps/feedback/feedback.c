// SPDX-License-Identifier: Apache-2.0
/** The orbit feedback, cycle by cycle.
 *
 *     arrive    each record as it comes: errors of its rows, which are watched, and added to the product
 *     step      what is missing is substituted; permits; the state; if it is ON, the setpoints
 *     prepare   errors of the channels, their laws, what goes ahead of the next cycle, what people see
 *     work      matrices are solved
 *
 * Sums are of whole numbers, so the order of arrivals leaves no trace; all else is computed in a fixed order.
 */
#include "feedback.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "fail.h"
#include "gap.h"
#include "open.h"
#include "tell.h"
#include "within.h"

/** All is in `memory`. */
struct state {
    uint64_t unused;
};

static bool is_on(double setting) { return setting >= 0.5; }

static double setting_of(struct rm_application_setup const *setup, struct rm_step const *given,
                         enum feedback_setting number) {
    return given->setting[setup->setting_at[number]];
}

/* Arriving */

static void use_row(struct feedback *feedback, uint32_t row, int32_t error_nm) {
    struct feedback_answer const *answer = feedback->loop.answer;
    feedback->cycle.error[row] = error_nm;
    if (answer != NULL && answer->row_in[row])
        feedback_product_add(&answer->solution->product, feedback->loop.sum, row, error_nm);
}

static int32_t error_of(int32_t golden_nm, int32_t reading_nm) {
    int64_t const error = (int64_t)golden_nm - reading_nm;
    if (error > FEEDBACK_ERROR_MOST)
        return FEEDBACK_ERROR_MOST;
    return error < -FEEDBACK_ERROR_MOST ? -FEEDBACK_ERROR_MOST : (int32_t)error;
}

/** Most send whole nm. False: it is no number. */
static bool read_nm(struct feedback_lane const *lane, struct rm_record const *record, int32_t *reading_nm) {
    if (!lane->is_float && lane->to_unit == 1.0) {
        *reading_nm = record->lane[lane->at].i;
        return true;
    }
    double const reading = feedback_lane_value(lane, record) * lane->to_unit;
    bool const is_number = isfinite(reading);
    *reading_nm = is_number ? (int32_t)feedback_within(rint(reading), INT32_MIN, INT32_MAX) : INT32_MAX;
    return is_number;
}

static void take_row(struct feedback *feedback, struct feedback_lane const *lane, struct rm_record const *record,
                     bool is_valid) {
    int32_t reading_nm = 0;
    bool const is_number = read_nm(lane, record, &reading_nm);
    int32_t const error_nm = error_of(feedback->golden.whole[lane->what], reading_nm);
    enum feedback_verdict const verdict = feedback_watch_take(&feedback->watch_limits, &feedback->watched[lane->what],
                                                              reading_nm, error_nm, is_valid && is_number);
    if (verdict == FEEDBACK_GOOD)
        use_row(feedback, lane->what, error_nm);
    else
        feedback_cycle_pend(&feedback->cycle, lane->what, error_nm, verdict == FEEDBACK_LEAP);
}

/** Inputs that are still to come when what they need is brought near: it has left the innermost cache since the cycle
 * before, pushed out by the weights of those that came. */
enum { LAST_INPUTS = 2 };

static void bring_rows_near(struct feedback const *feedback, uint32_t number) {
    struct feedback_input const *input = &feedback->input[number];
    for (uint32_t k = 0; k < input->rows; ++k) {
        uint32_t const row = input->row[k].what;
        __builtin_prefetch(&feedback->watched[row], 1);
        __builtin_prefetch(&feedback->golden.whole[row]);
        __builtin_prefetch(&feedback->cycle.error[row], 1);
        feedback_product_near(&feedback->loop.answer->solution->product, row);
    }
}

static void bring_near(struct feedback const *feedback, uint32_t input_count) {
    if (feedback->loop.answer == NULL)
        return;
    uint32_t left = input_count - feedback->arrived;
    for (uint32_t i = 0; left > 0 && i < input_count; ++i) {
        if (feedback->has_come[i])
            continue;
        bring_rows_near(feedback, i);
        --left;
    }
    if (input_count - feedback->arrived == 1)
        feedback_loop_near(&feedback->loop);
}

static void count_in(struct feedback *feedback, uint32_t number, uint32_t input_count) {
    feedback->has_come[number] = true;
    ++feedback->arrived;
    if (feedback->arrived + LAST_INPUTS >= input_count && feedback->arrived < input_count)
        bring_near(feedback, input_count);
}

static void arrive(struct rm_application_setup const *setup, void *state, uint32_t number,
                   struct rm_record const *record) {
    (void)state;
    struct feedback *feedback = setup->memory;
    struct feedback_input const *input = &feedback->input[number];
    if (!feedback->has_begun)
        feedback_gap_cross(feedback, record->turn / setup->period_turns);
    bool const is_valid = (rm_tag_status(record->tag) & feedback->configuration.watch.invalid_status) == 0;
    for (uint32_t i = 0; i < input->rows; ++i)
        take_row(feedback, &input->row[i], record, is_valid);
    for (uint32_t i = 0; i < input->sums; ++i)
        feedback_beam_add(&feedback->beam, feedback_lane_value(&input->sum[i], record));
    for (uint32_t i = 0; i < input->tables; ++i)
        feedback->table_value[input->table[i].what] = feedback_lane_value(&input->table[i], record);
    for (uint32_t i = 0; i < input->others; ++i)
        feedback->other[input->other[i].what] = feedback_lane_value(&input->other[i], record);
    if (input->gate_lane >= 0)
        feedback_gate_see(&feedback->gate,
                          (record->lane[input->gate_lane].i >> feedback->configuration.gate.bit & 1) != 0);
    count_in(feedback, number, setup->input_count);
}

/* The step */

static void substitute(struct feedback *feedback, uint32_t row) {
    int32_t error_nm = 0;
    if (feedback_watch_substitute(&feedback->watch_limits, &feedback->watched[row], &error_nm))
        use_row(feedback, row, error_nm);
    ++feedback->substituted;
}

/** When so many rows leap at once, or have one after the other, it is the beam that does. */
static bool is_of_beam(struct feedback const *feedback, uint32_t leaps) { return leaps > feedback->layout.rows / 4; }

/** Rows that came, and were not used as they came. */
static void settle_pending(struct feedback *feedback) {
    struct feedback_cycle *cycle = &feedback->cycle;
    bool const beam = is_of_beam(feedback, cycle->leaps);
    for (uint32_t i = 0; i < cycle->pendings; ++i) {
        uint32_t const row = cycle->pending[i];
        if (cycle->is_leap[i] && beam) {
            feedback_watch_believe(&feedback->watched[row], cycle->leapt[i]);
            use_row(feedback, row, cycle->leapt[i]);
            continue;
        }
        if (cycle->is_leap[i])
            feedback_watch_condemn(&feedback->watched[row]);
        substitute(feedback, row);
    }
}

static void settle_missing(struct feedback *feedback, struct rm_application_setup const *setup,
                           struct rm_step const *given) {
    for (uint32_t i = 0; i < setup->input_count; ++i)
        for (uint32_t k = 0; given->is_missing[i] && k < feedback->input[i].rows; ++k)
            substitute(feedback, feedback->input[i].row[k].what);
}

/** What did not come, or leapt, in a cycle in which too much did not come, says nothing of itself. */
static void settle(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_step const *given) {
    feedback->is_partial = given->missing > feedback->configuration.permits.missing * setup->input_count;
    if (feedback->is_partial)
        return;
    if (feedback->cycle.pendings > 0)
        settle_pending(feedback);
    if (given->missing > 0)
        settle_missing(feedback, setup, given);
}

static uint32_t missing_permits(struct feedback *feedback, struct rm_application_setup const *setup,
                                struct rm_step const *given) {
    uint32_t missing = feedback->slow_permits;
    if (!feedback_beam_judge(&feedback->beam))
        missing |= FEEDBACK_NO_BEAM;
    if (feedback_gate_judge(&feedback->gate) && is_on(setting_of(setup, given, FEEDBACK_GATE)))
        missing |= FEEDBACK_GATED;
    if (feedback->is_partial)
        missing |= FEEDBACK_LATE;
    if (!feedback->is_sent)
        missing |= FEEDBACK_NOT_SENT;
    return missing;
}

static void send_outputs(struct feedback *feedback, struct rm_wish *wish) {
    for (uint32_t i = 0; i < feedback->runs; ++i)
        memcpy(wish->setpoint + feedback->run[i].actuator, feedback->loop.setpoint + feedback->run[i].output,
               feedback->run[i].count * sizeof *wish->setpoint);
    if (feedback->rf_actuator >= 0)
        wish->setpoint[feedback->rf_actuator] = feedback->rf_setpoint;
}

static void close_loop(struct feedback *feedback, struct rm_wish *wish, bool is_shadow) {
    struct feedback_loop *loop = &feedback->loop;
    feedback_product_end(&loop->answer->solution->product, loop->sum, loop->scale, loop->ahead, loop->low, loop->high,
                         loop->setpoint, loop->cut);
    if (!is_shadow)
        send_outputs(feedback, wish);
}

/** Who was another system's shadow begins where that has left the actuators. */
static void step_out_of_shadow(struct feedback *feedback, struct rm_application_setup const *setup,
                               struct rm_step const *given, struct rm_wish *wish) {
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        if (isfinite(given->sent[i]))
            wish->setpoint[i] = given->sent[i];
    feedback_forget_standing(feedback);
}

static enum rm_step_result step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                struct rm_wish *wish) {
    (void)state;
    struct feedback *feedback = setup->memory;
    if (!feedback->has_begun)
        feedback_gap_cross(feedback, given->turn / setup->period_turns);
    settle(feedback, setup, given);
    bool const is_shadow = is_on(setting_of(setup, given, FEEDBACK_SHADOW));
    bool const another = is_shadow != feedback->was_shadow;
    if (another && !is_shadow)
        step_out_of_shadow(feedback, setup, given, wish);
    struct feedback_state_wishes wishes = {(uint32_t)lrint(setting_of(setup, given, FEEDBACK_LOOP)),
                                           setting_of(setup, given, FEEDBACK_RESET)};
    feedback->begins_anew = another;
    if (another && wishes.loop == 1) /* a cycle of HOLD: it begins anew */
        wishes.loop = 2;
    feedback->missing = missing_permits(feedback, setup, given);
    enum feedback_state const now = feedback_states_next(&feedback->states, &wishes, feedback->missing);
    if (now == FEEDBACK_ON)
        close_loop(feedback, wish, is_shadow);
    else if (feedback->poked != UINT32_MAX && !is_shadow)
        wish->setpoint[feedback->actuator_of[feedback->poked]] = feedback->poke;
    feedback->was_shadow = is_shadow;
    return is_shadow ? RM_STEP_QUIET : RM_STEP_SEND;
}

/* Preparing the next cycle */

/** What was sent last may be known so many cycles late. */
static double const LATE_STEPS = 4.0;

/** Where each output stands while the loop is not on: where it was left; or where it is, if it is elsewhere. */
static void find_standing(struct feedback *feedback, struct rm_step const *given, bool is_shadow) {
    struct feedback_loop const *loop = &feedback->loop;
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output) {
        uint32_t const actuator = feedback->actuator_of[output];
        if (actuator == UINT32_MAX)
            continue;
        double const left = loop->setpoint[output], is = given->sent[actuator], other = feedback->other[actuator];
        double at = left;
        if (is_shadow && isfinite(other))
            at = other;
        else if (output != feedback->poked && isfinite(is) && !(fabs(is - left) <= LATE_STEPS * loop->slew[output]))
            at = is;
        feedback->standing[output] = at;
    }
}

/** While the loop is on, or would be, and sends: does somebody send its rows on? */
static void watch_delivery(struct feedback *feedback, struct rm_step const *given, struct rm_wish const *wish,
                           bool is_shadow) {
    enum feedback_state const state = feedback->states.state;
    bool const counts = (state == FEEDBACK_ON || state == FEEDBACK_HOLD) && !is_shadow;
    if (!counts)
        feedback_delivery_begin(&feedback->delivery, wish->setpoint);
    feedback->is_sent = !counts || feedback_delivery_judge(&feedback->delivery, given->sent, wish->setpoint);
}

/** Actuators: who is lost, who has been at its limit for long, and who is back. While the loop does not act, nobody is
 * where it is because of it: it begins from there, and may bring it back. */
static void watch_actuators(struct feedback *feedback, struct rm_step const *given) {
    struct feedback_loop *loop = &feedback->loop;
    enum feedback_state const state = feedback->states.state;
    bool const acts = state == FEEDBACK_ON || state == FEEDBACK_HOLD;
    feedback->saturated = 0;
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output) {
        uint32_t const number = feedback->actuator_of[output];
        if (number == UINT32_MAX)
            continue;
        uint32_t const column = feedback->actuator_column[number];
        struct feedback_actuator *actuator = &feedback->actuator[column];
        double const at = loop->setpoint[output], sent = given->sent[number];
        bool const is_at = at >= loop->most_high[output] || at <= loop->most_low[output];
        feedback->saturated += is_at;
        if (!acts)
            feedback_actuator_forgive(actuator);
        bool const was_lost = (actuator->fault & FEEDBACK_ACTUATOR_LOST) != 0;
        if (feedback_actuator_watch(&feedback->actuator_limits, actuator, isfinite(sent), acts && is_at))
            feedback->worst_column = (int32_t)column;
        bool const lost = (actuator->fault & FEEDBACK_ACTUATOR_LOST) != 0;
        if (lost)
            loop->is_in[output] = false;
        if (was_lost && isfinite(sent)) {
            loop->setpoint[output] = sent;
            loop->base[output] = sent - loop->forward[output];
        }
    }
}

static void feed_forward(struct feedback *feedback) {
    struct feedback_loop *loop = &feedback->loop;
    if (feedback->configuration.table_count == 0)
        return;
    memset(loop->forward, 0, feedback->layout.outputs * sizeof *loop->forward);
    for (uint32_t t = 0; t < feedback->configuration.table_count; ++t)
        feedback_forward_add(&feedback->table[t], feedback->table_value[t], loop->forward);
}

static void soften(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_step const *given) {
    double const gain = setting_of(setup, given, FEEDBACK_GAIN);
    double const start_s = feedback->configuration.soft_start_s;
    double const most = start_s > 0.0 ? feedback->passed * gain / (start_s * feedback->rate_hz) : gain;
    double const more = gain - feedback->loop.scale;
    feedback->loop.scale = fabs(more) <= most ? gain : feedback->loop.scale + copysign(most, more);
}

static void map_other(struct feedback *feedback) {
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output) {
        uint32_t const actuator = feedback->actuator_of[output];
        feedback->of_other[output] = actuator == UINT32_MAX ? NAN : feedback->other[actuator];
    }
    feedback->shadow_rms = feedback_shadow_rms(feedback->loop.setpoint, feedback->of_other, feedback->layout.outputs);
}

static void control_rf(struct feedback *feedback, struct rm_application_setup const *setup,
                       struct rm_step const *given) {
    double const *dispersion = feedback->loop.answer->solution->dispersion;
    if (feedback->rf_actuator < 0 || dispersion == NULL || !is_on(setting_of(setup, given, FEEDBACK_RF)))
        return;
    double sum = 0.0;
    for (uint32_t row = 0; row < feedback->layout.rows; ++row)
        sum += dispersion[row] * feedback->cycle.error[row];
    feedback->rf_setpoint = feedback_rf_step(&feedback->rf, sum, setup->actuator_low[feedback->rf_actuator],
                                             setup->actuator_high[feedback->rf_actuator]);
}

static void after_on(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_step const *given,
                     bool is_shadow) {
    struct feedback_loop *loop = &feedback->loop;
    if (is_shadow)
        map_other(feedback);
    feedback_loop_learn(loop, is_shadow && feedback->configuration.shadow_inputs > 0 ? feedback->of_other : NULL);
    soften(feedback, setup, given);
    if (is_on(setting_of(setup, given, FEEDBACK_UNLOAD)))
        feedback_loop_unload(loop);
    control_rf(feedback, setup, given);
    if (is_on(setting_of(setup, given, FEEDBACK_TRACK)))
        feedback_mains_follow(&feedback->mains, &feedback->configuration, &feedback->layout, loop->answer);
}

/** A HOLD that may be over soon is gone on from as if nothing had been. */
static bool is_held(struct feedback *feedback) {
    bool const holds = feedback->states.state == FEEDBACK_HOLD;
    feedback->held = holds ? feedback->held + feedback->passed : 0;
    return holds && !feedback->begins_anew && !feedback->loop.is_clear && feedback->held <= feedback->keep_cycles &&
           (feedback->missing & (FEEDBACK_NO_BEAM | FEEDBACK_NO_MATRIX)) == 0;
}

static void hold_on(struct feedback *feedback) {
    feedback_loop_hold(&feedback->loop, 1);
    ++feedback->mains.count;
}

static void after_off(struct feedback *feedback, struct rm_step const *given, bool is_shadow) {
    enum feedback_state const state = feedback->states.state;
    bool const is_home = state == FEEDBACK_OFF || state == FEEDBACK_READY;
    find_standing(feedback, given, is_shadow);
    feedback_loop_rest(&feedback->loop, feedback->standing, is_home);
    feedback_mains_forget(&feedback->mains, &feedback->layout);
    if (feedback->rf_actuator >= 0) {
        if (!isfinite(feedback->rf_setpoint))
            feedback->rf_setpoint = given->sent[feedback->rf_actuator];
        feedback_rf_begin(&feedback->rf, feedback->rf_setpoint);
    }
}

/** The part and channel, or output, that settings ask to excite. */
static void aim(struct feedback *feedback, bool at_output, double number) {
    struct feedback_probe *probe = &feedback->loop.probe;
    struct feedback_layout const *layout = &feedback->layout;
    uint32_t const wanted = number >= 0.0 && number < 1e6 ? (uint32_t)number : UINT32_MAX;
    uint32_t const output = at_output && wanted < layout->actuators ? layout->output_of[wanted] : UINT32_MAX;
    probe->part = -1;
    probe->at_output = at_output;
    for (uint32_t p = 0; p < layout->part_count; ++p) {
        struct feedback_part const *part = &layout->part[p];
        uint32_t const first = at_output ? part->first : part->channel;
        uint32_t const count = at_output ? part->columns : part->channels_most;
        uint32_t const it = at_output ? output : wanted;
        if (it == UINT32_MAX || it < first || it >= first + count)
            continue;
        probe->part = (int32_t)p;
        probe->number = at_output ? output : wanted - first;
    }
    if (probe->part >= 0 && !at_output &&
        (feedback->loop.answer == NULL || probe->number >= feedback->loop.answer->bank[probe->part].channels))
        probe->part = -1;
}

/** While the loop is not on, an actuator is excited about where it stands; afterwards it is put back there. */
static void poke(struct feedback *feedback) {
    struct feedback_probe const *probe = &feedback->loop.probe;
    enum feedback_state const state = feedback->states.state;
    bool const pokes = probe->part >= 0 && probe->at_output && feedback->excite.wish.kind != FEEDBACK_QUIET &&
                       (state == FEEDBACK_OFF || state == FEEDBACK_READY) &&
                       (feedback->poked == UINT32_MAX || feedback->poked == probe->number);
    if (pokes) {
        feedback->poked = probe->number;
        feedback->poke = feedback_poke_at(&feedback->loop);
    } else if (feedback->poked != UINT32_MAX) {
        double const home = feedback->loop.setpoint[feedback->poked];
        if (feedback->poke == home)
            feedback->poked = UINT32_MAX;
        feedback->poke = home;
    }
}

static void excite(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_step const *given) {
    struct feedback_excite_wish const wish = {
        .kind = (uint32_t)lrint(setting_of(setup, given, FEEDBACK_EXCITE)),
        .amplitude = setting_of(setup, given, FEEDBACK_EXCITE_AMPLITUDE),
        .low_hz = setting_of(setup, given, FEEDBACK_EXCITE_LOW),
        .high_hz = setting_of(setup, given, FEEDBACK_EXCITE_HIGH),
    };
    bool const was_quiet = feedback->excite.wish.kind == FEEDBACK_QUIET;
    feedback_excite_ask(&feedback->excite, &wish);
    feedback->loop.probe.next = 0.0;
    if (wish.kind == FEEDBACK_QUIET && was_quiet)
        feedback->loop.probe.part = -1;
    else {
        aim(feedback, is_on(setting_of(setup, given, FEEDBACK_EXCITE_AT)),
            setting_of(setup, given, FEEDBACK_EXCITE_NUMBER));
        feedback->loop.probe.next = feedback->loop.probe.part >= 0 ? feedback_excite_next(&feedback->excite) : 0.0;
    }
    feedback->loop.probe.value = feedback->loop.probe.next; // what the next step is given, it also learns from
    poke(feedback);
}

static void close_watch(struct feedback *feedback, double const *mask) {
    feedback->partial_for = feedback->is_partial ? feedback->partial_for + feedback->passed : 0;
    bool const is_forgiven = feedback->is_partial && feedback->partial_for <= feedback->keep_cycles;
    uint32_t jumped = 0;
    feedback->used_rows = 0;
    for (uint32_t row = 0; row < feedback->layout.rows; ++row) {
        struct feedback_watched *watched = &feedback->watched[row];
        if (is_forgiven && !watched->came)
            feedback_watch_forgo(watched);
        else if (feedback_watch_close(&feedback->watch_limits, watched))
            feedback->worst_row = (int32_t)row;
        feedback->row_used[row] = is_on(mask[row]) && watched->fault == 0;
        feedback->used_rows += feedback->row_used[row];
        jumped += (watched->fault & FEEDBACK_ROW_JUMPED) != 0;
    }
    if ((feedback->is_partial && !is_forgiven) || is_of_beam(feedback, jumped))
        feedback_gap_forget(feedback);
}

/** Permits that need not be judged within the cycle. */
static void judge_slowly(struct feedback *feedback) {
    struct feedback_configuration const *configuration = &feedback->configuration;
    uint32_t missing = feedback->loop.answer == NULL || feedback->failed != 0 ? FEEDBACK_NO_MATRIX : 0;
    if (feedback_too_few(feedback->used_rows, feedback->layout.rows, configuration->permits.bpms))
        missing |= FEEDBACK_FEW_BPMS;
    if (feedback_too_few(feedback->used_columns, feedback->family_columns, configuration->permits.actuators))
        missing |= FEEDBACK_FEW_ACTUATORS;
    bool const acts = feedback->states.state == FEEDBACK_ON || feedback->states.state == FEEDBACK_HOLD;
    bool const saturates = acts && feedback->saturated > configuration->permits.saturated;
    feedback->saturated_for = saturates ? feedback->saturated_for + 1 : 0;
    if (feedback->saturated_for > feedback->actuator_limits.long_cycles)
        missing |= FEEDBACK_SATURATION;
    if (fmax(feedback->orbit.rms_x, feedback->orbit.rms_y) > configuration->permits.initial_error_um)
        missing |= FEEDBACK_LARGE_ERROR;
    feedback->slow_permits = missing;
}

/** Settles which rows and columns shall take part, and asks for a solution when that is not what was asked for last. */
static void ask(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_step const *given) {
    double const *mask = given->setting + setup->setting_at[FEEDBACK_ACTUATOR_MASK];
    struct feedback_wishes *wishes = &feedback->wishes;
    bool differs = !feedback->has_asked;
    /* Rows that are out in such numbers are not to blame one by one, and the loop is not on: a matrix of what is left
     * would be of no use, and finding it takes a core. */
    bool const is_worth =
        !feedback_too_few(feedback->used_rows, feedback->layout.rows, feedback->configuration.permits.bpms);
    for (uint32_t row = 0; row < feedback->layout.rows; ++row) {
        bool const is_in = is_worth ? feedback->row_used[row] : wishes->row_in[row];
        differs |= wishes->row_in[row] != is_in;
        wishes->row_in[row] = is_in;
    }
    feedback->used_columns = 0;
    for (uint32_t column = 0; column < feedback->layout.actuators; ++column) {
        bool const is_in = is_on(mask[column]) && feedback->actuator[column].fault == 0;
        differs |= wishes->column_in[column] != is_in;
        wishes->column_in[column] = is_in;
        feedback->used_columns += is_in && feedback->layout.output_of[column] != UINT32_MAX;
    }
    uint32_t const modes = (uint32_t)setting_of(setup, given, FEEDBACK_MODES);
    double const tikhonov = setting_of(setup, given, FEEDBACK_TIKHONOV);
    bool const resonates = is_on(setting_of(setup, given, FEEDBACK_RESONATORS));
    bool const rf = feedback->rf_actuator >= 0 && is_on(setting_of(setup, given, FEEDBACK_RF));
    differs |=
        wishes->modes != modes || wishes->tikhonov != tikhonov || wishes->resonates != resonates || wishes->rf != rf;
    wishes->modes = modes;
    wishes->tikhonov = tikhonov;
    wishes->resonates = resonates;
    wishes->rf = rf;
    if (!differs)
        return;
    ++wishes->number;
    feedback->has_asked = feedback_solver_ask(&feedback->solver, wishes); /* else once more in the next cycle */
}

static void take_answer(struct feedback *feedback) {
    struct feedback_answer *answer = feedback_solver_look(&feedback->solver);
    if (answer == NULL)
        return;
    if (answer->solution == NULL) {
        feedback->failed = answer->number;
        feedback_solver_take(&feedback->solver, answer);
        return;
    }
    struct feedback_answer *old = feedback->loop.answer;
    feedback->failed = 0;
    ++feedback->generation;
    feedback_mains_apply(&feedback->mains, &feedback->layout, answer);
    feedback_loop_take(&feedback->loop, answer);
    feedback_mains_forget(&feedback->mains, &feedback->layout);
    feedback_solver_take(&feedback->solver, old);
}

/** What a person asks "why?" about: when it left ON, or could not go there. */
static void note_cause(struct feedback *feedback, struct rm_step const *given) {
    enum feedback_state const before = feedback->before, now = feedback->states.state;
    feedback->before = now;
    bool const left = before == FEEDBACK_ON && now != FEEDBACK_ON;
    bool const refused = before != FEEDBACK_FAULT && now == FEEDBACK_FAULT;
    if (!left && !refused)
        return;
    feedback->cause_turn = (double)given->turn;
    feedback->cause_number = -1;
    if (feedback->states.cause & FEEDBACK_FEW_BPMS)
        feedback->cause_number = feedback->worst_row;
    else if (feedback->states.cause & (FEEDBACK_SATURATION | FEEDBACK_FEW_ACTUATORS))
        feedback->cause_number = feedback->worst_column;
}

/** What the cycle's errors say; of a few rows alone they say nothing. */
static void look(struct feedback *feedback) {
    if (feedback->is_partial)
        return;
    feedback->orbit = feedback_cycle_orbit(&feedback->cycle, feedback->loop.plane, feedback->row_used);
    feedback_cumulate(&feedback->cumulated, &feedback->cycle, feedback->loop.plane, feedback->row_used);
    if (feedback->loop.answer != NULL)
        feedback_loop_look(&feedback->loop, feedback->cycle.error);
}

static void prepare(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                    struct rm_wish *wish) {
    (void)state;
    struct feedback *feedback = setup->memory;
    struct feedback_loop *loop = &feedback->loop;
    bool const is_shadow = is_on(setting_of(setup, given, FEEDBACK_SHADOW));
    double const *row_mask = given->setting + setup->setting_at[FEEDBACK_BPM_MASK];
    look(feedback);
    if (feedback->states.state == FEEDBACK_ON)
        after_on(feedback, setup, given, is_shadow);
    bool const goes_on = is_held(feedback);
    close_watch(feedback, row_mask);
    note_cause(feedback, given);
    feedback_tell(feedback, setup, given, wish);

    feed_forward(feedback);
    if (goes_on)
        hold_on(feedback);
    else if (feedback->states.state != FEEDBACK_ON)
        after_off(feedback, given, is_shadow);
    watch_actuators(feedback, given);
    watch_delivery(feedback, given, wish, is_shadow);
    take_answer(feedback);
    ask(feedback, setup, given);
    judge_slowly(feedback);
    excite(feedback, setup, given);
    feedback_golden_approach(&feedback->golden, given->setting + setup->setting_at[FEEDBACK_GOLDEN], feedback->passed);
    feedback_cycle_clear(&feedback->cycle);
    feedback_loop_ready(loop);
    feedback->has_begun = false;
    feedback->arrived = 0;
    memset(feedback->has_come, 0, setup->input_count);
}

static void work(struct rm_application_setup const *setup) {
    struct feedback *feedback = setup->memory;
    feedback_solver_work(&feedback->solver);
}

/* Beginnings */

static enum rm_code init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    (void)state;
    return feedback_begin(setup->memory, setup, error);
}

static uint32_t length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    struct feedback_layout const *layout = &((struct feedback const *)setup->memory)->layout;
    if (is_reading && index == FEEDBACK_SINGULAR)
        return layout->channels > 0 ? layout->channels : 1;
    if (is_reading)
        return index == FEEDBACK_ROW_STATE ? layout->rows : layout->actuators;
    if (index == FEEDBACK_GOLDEN || index == FEEDBACK_BPM_MASK)
        return layout->rows;
    return index == FEEDBACK_ACTUATOR_MASK ? layout->actuators : 1;
}

static void first(struct rm_application_setup const *setup, uint32_t setting, double *values) {
    struct feedback const *feedback = setup->memory;
    uint32_t const count = length(setup, false, setting);
    for (uint32_t i = 0; i < count; ++i)
        values[i] =
            setting == FEEDBACK_GOLDEN ? feedback->configuration.golden_nm[i] : feedback_settings[setting].value;
    if (setting == FEEDBACK_MODES)
        values[0] = feedback->configuration.modes;
    if (setting == FEEDBACK_TIKHONOV)
        values[0] = feedback->configuration.tikhonov;
}

static bool refuse(struct rm_error *error, char const *what) {
    feedback_fail(error, RM_E_ARGUMENT, "%s", what);
    return false;
}

/** What is excited must be there, and the lines of a multi-sine below half of the cycles' rate. */
static bool accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error) {
    (void)state;
    struct feedback const *feedback = setup->memory;
    double const *const value = setting;
    uint32_t const *at = setup->setting_at;
    uint32_t const kind = (uint32_t)lrint(value[at[FEEDBACK_EXCITE]]);
    double const number = value[at[FEEDBACK_EXCITE_NUMBER]];
    double const count = is_on(value[at[FEEDBACK_EXCITE_AT]]) ? feedback->layout.actuators : feedback->layout.channels;
    if (kind == FEEDBACK_QUIET)
        return true;
    if (!(number >= 0.0 && number < count))
        return refuse(error, "excite_number is no mode, or no actuator, that there is");
    if (value[at[FEEDBACK_EXCITE_LOW]] >= 0.5 * feedback->rate_hz)
        return refuse(error, "excite_low is above half of the rate of cycles");
    if (kind == FEEDBACK_MULTI_SINE && (value[at[FEEDBACK_EXCITE_HIGH]] <= value[at[FEEDBACK_EXCITE_LOW]] ||
                                        value[at[FEEDBACK_EXCITE_HIGH]] >= 0.5 * feedback->rate_hz))
        return refuse(error, "excite_high must be above excite_low, and below half of the rate of cycles");
    return true;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct state),
    .settings = feedback_settings,
    .setting_count = FEEDBACK_SETTINGS,
    .reading_count = FEEDBACK_READINGS,
    .readings = feedback_readings,
    .init = init,
    .step = step,
    .accept = accept,
    .streams = feedback_streams,
    .stream_count = FEEDBACK_STREAMS,
    .open = feedback_open,
    .close = feedback_close,
    .length = length,
    .first = first,
    .arrive = arrive,
    .prepare = prepare,
    .work = work,
};
