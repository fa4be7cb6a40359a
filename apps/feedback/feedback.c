// SPDX-License-Identifier: Apache-2.0
/** The orbit feedback, cycle by cycle.
 *
 *     arrive    each record as it comes: errors of its rows, which are watched, and added to the product
 *     step      what is missing is substituted; enable_conditions; the state; if it is ON, the setpoints
 *     prepare   errors of the channels, their laws, what goes ahead of the next cycle, what people see
 *     work      matrices are solved
 *
 * Sums are of whole numbers, so the order of arrivals leaves no trace; all else is computed in a fixed order.
 */
#include "state/feedback.h"

#include <math.h>
#include <string.h>

#include "io/ask.h"
#include "io/excitation.h"
#include "io/outputs.h"
#include "io/rows.h"
#include "io/settings.h"
#include "io/tell.h"
#include "open.h"
#include "pack.h"
#include "state/comparison.h"
#include "state/gap.h"

/** All is in `memory`. */
struct no_state {
    uint64_t unused;
};

/* The step */

static uint32_t missing_conditions(struct feedback *feedback, struct rm_application_setup const *setup,
                                   struct rm_step const *given) {
    uint32_t missing = feedback->slow_conditions;
    if (!feedback_beam_judge(&feedback->beam))
        missing |= FEEDBACK_NO_BEAM;
    if (feedback_gate_judge(&feedback->gate) && feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_GATE)))
        missing |= FEEDBACK_GATED;
    if (feedback->whole_for < FEEDBACK_STABLE_CYCLES)
        missing |= FEEDBACK_LATE;
    if (!feedback->is_sent)
        missing |= FEEDBACK_NOT_SENT;
    return missing;
}

static void close_loop(struct feedback *feedback, struct rm_command *command, bool is_shadow) {
    struct feedback_loop *loop = &feedback->loop;
    feedback_product_end(&loop->answer->solution->product, loop->sum, loop->scale, loop->ahead, loop->low, loop->high,
                         loop->setpoint, loop->cut);
    if (!is_shadow)
        feedback_outputs_send(feedback, command);
}

/** A loop that was another system's shadow begins where that system has left the actuators. */
static void step_out_of_shadow(struct feedback *feedback, struct rm_application_setup const *setup,
                               struct rm_step const *given, struct rm_command *command) {
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        if (isfinite(given->sent[i]))
            command->setpoint[i] = given->sent[i];
    feedback_forget_standing(feedback);
}

static enum rm_step_result feedback_step(struct rm_application_setup const *setup, void *state,
                                         struct rm_step const *given, struct rm_command *command) {
    (void)state;
    struct feedback *feedback = setup->memory;
    if (!feedback->has_begun)
        feedback_gap_cross(feedback, given->turn / setup->period_turns);
    feedback_rows_reconcile(feedback, setup, given);
    bool const is_shadow = feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_SHADOW));
    bool const another = is_shadow != feedback->was_shadow;
    if (another && !is_shadow)
        step_out_of_shadow(feedback, setup, given, command);
    struct feedback_state_requests requests = {(uint32_t)lrint(feedback_setting_of(setup, given, FEEDBACK_LOOP)),
                                               feedback_setting_of(setup, given, FEEDBACK_RESET)};
    feedback->begins_anew = another;
    if (another && requests.loop == 1) /* a cycle of HOLD: it begins anew */
        requests.loop = 2;
    feedback->missing = missing_conditions(feedback, setup, given);
    enum feedback_state const now = feedback_states_next(&feedback->states, &requests, feedback->missing);
    if (now == FEEDBACK_ON)
        close_loop(feedback, command, is_shadow);
    else if (feedback->injected != UINT32_MAX && !is_shadow)
        command->setpoint[feedback->actuator_of[feedback->injected]] = feedback->injection;
    feedback->was_shadow = is_shadow;
    return is_shadow ? RM_STEP_QUIET : RM_STEP_SEND;
}

/* Preparing the next cycle */

static void feedback_soften_start(struct feedback *feedback, struct rm_application_setup const *setup,
                                  struct rm_step const *given) {
    double const gain = feedback_setting_of(setup, given, FEEDBACK_GAIN);
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
    if (feedback->rf_actuator < 0 || dispersion == NULL ||
        !feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_RF)))
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
    feedback_loop_learn(loop, is_shadow && feedback->configuration.shadow.inputs > 0 ? feedback->of_other : NULL);
    feedback_soften_start(feedback, setup, given);
    if (feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_UNLOAD)))
        feedback_loop_unload(loop);
    control_rf(feedback, setup, given);
    if (feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_TRACK)))
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
    bool const sets_reference = state == FEEDBACK_OFF || state == FEEDBACK_READY;
    feedback_outputs_stand(feedback, given, is_shadow);
    feedback_loop_rest(&feedback->loop, feedback->standing, sets_reference);
    feedback_mains_forget(&feedback->mains, &feedback->layout);
    if (feedback->rf_actuator >= 0) {
        if (!isfinite(feedback->rf_setpoint))
            feedback->rf_setpoint = given->sent[feedback->rf_actuator];
        feedback_rf_begin(&feedback->rf, feedback->rf_setpoint);
    }
}

/** Whether the loop is closed, or will be again by itself. */
static bool acts(struct feedback const *feedback) {
    return feedback->states.state == FEEDBACK_ON || feedback->states.state == FEEDBACK_HOLD;
}

/** Enable conditions that need not be judged within the cycle. */
static void judge_slowly(struct feedback *feedback) {
    struct feedback_configuration const *configuration = &feedback->configuration;
    uint32_t missing = feedback->loop.answer == NULL || feedback->failed != 0 ? FEEDBACK_NO_MATRIX : 0;
    if (feedback_too_few(feedback->used_rows, feedback->layout.rows, configuration->enable_conditions.bpms))
        missing |= FEEDBACK_FEW_BPMS;
    if (feedback_too_few(feedback->used_columns, feedback->family_columns, configuration->enable_conditions.actuators))
        missing |= FEEDBACK_FEW_ACTUATORS;
    bool const saturates = acts(feedback) && feedback->saturated > configuration->enable_conditions.saturated;
    feedback->saturated_for = saturates ? feedback->saturated_for + 1 : 0;
    if (feedback->saturated_for > feedback->actuator_limits.long_cycles)
        missing |= FEEDBACK_SATURATION;
    if (fmax(feedback->orbit.rms_x, feedback->orbit.rms_y) > configuration->enable_conditions.initial_error_um)
        missing |= FEEDBACK_LARGE_ERROR;
    feedback->slow_conditions = missing;
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
static void feedback_look_at_errors(struct feedback *feedback) {
    if (feedback->is_partial)
        return;
    feedback->orbit = feedback_cycle_orbit(&feedback->cycle, feedback->loop.plane, feedback->row_used);
    feedback_cumulate(&feedback->cumulated, &feedback->cycle, feedback->loop.plane, feedback->row_used);
    if (feedback->loop.answer != NULL)
        feedback_loop_look(&feedback->loop, feedback->cycle.error);
}

static void feedback_prepare(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                             struct rm_command *command) {
    (void)state;
    struct feedback *feedback = setup->memory;
    struct feedback_loop *loop = &feedback->loop;
    bool const is_shadow = feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_SHADOW));
    double const *row_mask = given->setting + setup->setting_at[FEEDBACK_BPM_MASK];
    feedback_look_at_errors(feedback);
    if (feedback->states.state == FEEDBACK_ON)
        after_on(feedback, setup, given, is_shadow);
    bool const goes_on = is_held(feedback);
    feedback_rows_close(feedback, row_mask);
    note_cause(feedback, given);
    feedback_tell(feedback, setup, given, command);

    feedback_outputs_forward(feedback);
    if (goes_on)
        hold_on(feedback);
    else if (feedback->states.state != FEEDBACK_ON)
        after_off(feedback, given, is_shadow);
    feedback_outputs_watch(feedback, given);
    feedback_outputs_delivered(feedback, given, command, is_shadow);
    feedback_take_answer(feedback, given);
    feedback_ask(feedback, setup, given);
    command->exchange = feedback->exchange;
    judge_slowly(feedback);
    feedback_excitation_prepare(feedback, setup, given);
    feedback_golden_approach(&feedback->golden, given->setting + setup->setting_at[FEEDBACK_GOLDEN],
                             acts(feedback) ? feedback->passed : UINT32_MAX);
    feedback_cycle_clear(&feedback->cycle);
    feedback_loop_ready(loop);
    feedback->has_begun = false;
    feedback->arrived = 0;
    memset(feedback->has_come, 0, setup->input_count);
}

static void feedback_work(struct rm_application_setup const *setup) {
    struct feedback *feedback = setup->memory;
    feedback_solver_work(&feedback->solver);
}

/* Beginnings */

static enum rm_code feedback_init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    (void)state;
    return feedback_begin(setup->memory, setup, error);
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct no_state),
    .settings = feedback_settings,
    .setting_count = FEEDBACK_SETTINGS,
    .reading_count = FEEDBACK_READINGS,
    .readings = feedback_readings,
    .init = feedback_init,
    .step = feedback_step,
    .accept = feedback_accept,
    .streams = feedback_streams,
    .stream_count = FEEDBACK_STREAMS,
    .open = feedback_open,
    .close = feedback_close,
    .length = feedback_length,
    .first = feedback_first,
    .arrive = feedback_rows_arrive,
    .prepare = feedback_prepare,
    .work = feedback_work,
    .pack = feedback_pack,
    .unpack = feedback_unpack,
};
