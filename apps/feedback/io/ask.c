// SPDX-License-Identifier: Apache-2.0
#include "ask.h"

#include "settings.h"

void feedback_ask(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_step const *given) {
    double const *mask = given->setting + setup->setting_at[FEEDBACK_ACTUATOR_MASK];
    struct feedback_requests *requests = &feedback->requests;
    bool differs = !feedback->has_request;
    /* Rows that are out in such numbers are not to blame one by one, and the loop is not on: a matrix of what is left
     * would be of no use, and finding it takes a core. */
    bool const is_worth =
        !feedback_too_few(feedback->used_rows, feedback->layout.rows, feedback->configuration.enable_conditions.bpms);
    for (uint32_t row = 0; row < feedback->layout.rows; ++row) {
        bool const is_in = is_worth ? feedback->row_used[row] : requests->row_in[row];
        differs |= requests->row_in[row] != is_in;
        requests->row_in[row] = is_in;
    }
    feedback->used_columns = 0;
    for (uint32_t column = 0; column < feedback->layout.actuators; ++column) {
        bool const is_in = feedback_is_on(mask[column]) && feedback->actuator[column].fault == 0;
        differs |= requests->column_in[column] != is_in;
        requests->column_in[column] = is_in;
        feedback->used_columns += is_in && feedback->layout.output_of[column] != UINT32_MAX;
    }
    uint32_t const modes = (uint32_t)feedback_setting_of(setup, given, FEEDBACK_MODES);
    double const tikhonov = feedback_setting_of(setup, given, FEEDBACK_TIKHONOV);
    bool const resonates = feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_RESONATORS));
    bool const rf = feedback->rf_actuator >= 0 && feedback_is_on(feedback_setting_of(setup, given, FEEDBACK_RF));
    differs |= requests->modes != modes || requests->tikhonov != tikhonov || requests->resonates != resonates ||
               requests->rf != rf;
    requests->modes = modes;
    requests->tikhonov = tikhonov;
    requests->resonates = resonates;
    requests->rf = rf;
    if (!differs)
        return;
    ++requests->number;
    /* If not now, once more in the next cycle. */
    feedback->has_request =
        feedback->exchange.asked < given->allowed.asked && feedback_solver_ask(&feedback->solver, requests);
    if (!feedback->has_request)
        return;
    feedback_requests_copy(&feedback->left[feedback->exchange.asked % FEEDBACK_LEFT], requests, &feedback->layout);
    ++feedback->exchange.asked;
}

void feedback_take_answer(struct feedback *feedback, struct rm_step const *given) {
    if (feedback->exchange.adopted >= given->allowed.adopted)
        return;
    struct feedback_answer *answer = feedback_solver_look(&feedback->solver);
    if (answer == NULL)
        return;
    ++feedback->exchange.adopted;
    if (answer->solution == NULL) {
        feedback->failed = answer->asked.number;
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
