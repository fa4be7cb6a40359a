// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <math.h>

#include "../law/clamp.h"
#include "../state/gap.h"
#include "settings.h"

static void use_row(struct feedback *feedback, uint32_t row, int32_t error_nm) {
    struct feedback_answer const *answer = feedback->loop.answer;
    feedback->cycle.error[row] = error_nm;
    if (answer != NULL && answer->asked.row_in[row])
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
    *reading_nm = is_number ? (int32_t)feedback_clamp(rint(reading), INT32_MIN, INT32_MAX) : INT32_MAX;
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

void feedback_rows_arrive(struct rm_application_setup const *setup, void *state, uint32_t number,
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

static void substitute_row(struct feedback *feedback, uint32_t row) {
    int32_t error_nm = 0;
    if (feedback_watch_substitute(&feedback->watch_limits, &feedback->watched[row], &error_nm))
        use_row(feedback, row, error_nm);
    ++feedback->substituted;
}

/** When so many rows leap at once, or have one after the other, it is the beam that does. */
static bool is_of_beam(struct feedback const *feedback, uint32_t leaps) { return leaps > feedback->layout.rows / 4; }

/** Rows that came, and were not used as they came. */
static void reconcile_pending(struct feedback *feedback) {
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
        substitute_row(feedback, row);
    }
}

static void reconcile_missing(struct feedback *feedback, struct rm_application_setup const *setup,
                              struct rm_step const *given) {
    for (uint32_t i = 0; i < setup->input_count; ++i)
        for (uint32_t k = 0; given->is_missing[i] && k < feedback->input[i].rows; ++k)
            substitute_row(feedback, feedback->input[i].row[k].what);
}

void feedback_rows_reconcile(struct feedback *feedback, struct rm_application_setup const *setup,
                             struct rm_step const *given) {
    feedback->is_partial = given->missing > feedback->configuration.enable_conditions.missing * setup->input_count;
    if (feedback->is_partial) {
        feedback->whole_for = 0;
        return;
    }
    feedback->whole_for += feedback->whole_for < FEEDBACK_STABLE_CYCLES;
    if (feedback->cycle.pendings > 0)
        reconcile_pending(feedback);
    if (given->missing > 0)
        reconcile_missing(feedback, setup, given);
}

void feedback_rows_close(struct feedback *feedback, double const *mask) {
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
        feedback->row_used[row] = feedback_is_on(mask[row]) && watched->fault == 0;
        feedback->used_rows += feedback->row_used[row];
        jumped += (watched->fault & FEEDBACK_ROW_JUMPED) != 0;
    }
    if ((feedback->is_partial && !is_forgiven) || is_of_beam(feedback, jumped))
        feedback_gap_forget(feedback);
}
