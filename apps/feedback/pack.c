// SPDX-License-Identifier: Apache-2.0
#include "pack.h"

#include <ringmaster/errors.h>

#include "base/pieces.h"
#include "state/feedback.h"

/** What decides how long the rest is. */
struct pack_head {
    /** The answer in use, and questions under way: 0 to FEEDBACK_LEFT. */
    uint32_t has_answer, under_way;
};

/** One member, whole. */
#define COPY(member) rm_pieces_copy(copy, &(member), sizeof(member))
/** An array of `count`. */
#define COPY_ALL(array, count) rm_pieces_copy(copy, (array), (size_t)(count) * sizeof *(array))

static void copy_requests(struct rm_pieces *copy, struct feedback const *feedback, struct feedback_requests *requests) {
    COPY(requests->number);
    COPY_ALL(requests->row_in, feedback->layout.rows);
    COPY_ALL(requests->column_in, feedback->layout.actuators);
    COPY(requests->modes);
    COPY(requests->tikhonov);
    COPY(requests->resonates);
    COPY(requests->rf);
}

static void copy_cycle(struct rm_pieces *copy, struct feedback *feedback) {
    uint32_t const rows = feedback->layout.rows;
    COPY(feedback->at);
    COPY(feedback->passed);
    COPY(feedback->partial_for);
    COPY(feedback->held);
    COPY(feedback->has_begun);
    COPY(feedback->is_partial);
    COPY(feedback->whole_for);
    COPY(feedback->begins_anew);
    COPY_ALL(feedback->watched, rows);
    COPY_ALL(feedback->row_used, rows);
    COPY_ALL(feedback->cumulated.squares, rows);
    COPY(feedback->cumulated.count);
    COPY(feedback->cumulated.x);
    COPY(feedback->cumulated.y);
    COPY(feedback->orbit);
    COPY(feedback->beam);
    COPY(feedback->gate);
    for (unsigned vector = 0; vector < FEEDBACK_DELIVERY_VECTORS; ++vector)
        COPY_ALL(feedback->delivery.commanded[vector], feedback->delivery.actuators);
    COPY(feedback->is_sent);
    COPY(feedback->states);
    COPY(feedback->slow_conditions);
    COPY(feedback->missing);
    COPY(feedback->cause_turn);
    COPY(feedback->cause_number);
    COPY(feedback->worst_row);
    COPY(feedback->worst_column);
    COPY(feedback->substituted);
}

static void copy_loop(struct rm_pieces *copy, struct feedback *feedback) {
    struct feedback_loop *loop = &feedback->loop;
    uint32_t const outputs = feedback->layout.outputs;
    double *const arrays[] = {loop->base,   loop->reference,    loop->ahead,       loop->low,
                              loop->high,   loop->setpoint,     loop->cut,         loop->forward,
                              loop->before, feedback->of_other, feedback->standing};
    COPY_ALL(feedback->golden.now, feedback->golden.rows);
    COPY_ALL(feedback->golden.whole, feedback->golden.rows);
    COPY(loop->excitation);
    COPY(loop->scale);
    COPY(loop->is_clear);
    COPY_ALL(loop->sum, outputs);
    COPY_ALL(loop->is_in, outputs);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i)
        COPY_ALL(arrays[i], outputs);
    COPY_ALL(loop->z, feedback->layout.channels);
    COPY_ALL(loop->command, feedback->layout.channels);
    COPY_ALL(loop->sent, feedback->layout.channels);
    COPY_ALL(loop->scaled, feedback->layout.channels);
    COPY_ALL(loop->modelled, feedback->layout.channels);
    for (uint32_t p = 0; p < feedback->layout.part_count; ++p) {
        struct feedback_unload *unload = &loop->unload[p];
        COPY(unload->fasts);
        COPY(unload->slows);
        COPY(unload->rate);
        COPY(unload->keep);
        COPY_ALL(unload->pending, feedback->layout.part[p].outputs);
    }
}

static void copy_rest(struct rm_pieces *copy, struct feedback *feedback) {
    COPY_ALL(feedback->actuator, feedback->layout.actuators);
    COPY(feedback->used_rows);
    COPY(feedback->used_columns);
    COPY(feedback->saturated);
    COPY(feedback->saturated_for);
    COPY(feedback->injected);
    COPY(feedback->injection);
    COPY(feedback->excite);
    COPY(feedback->table_value);
    COPY(feedback->rf);
    COPY(feedback->rf_setpoint);
    COPY(feedback->mains.count);
    COPY(feedback->mains.scale);
    for (uint32_t p = 0; p < feedback->layout.part_count; ++p)
        COPY_ALL(feedback->mains.phasor[p], 2 * feedback->layout.part[p].channels_most);
    COPY_ALL(feedback->other, feedback->delivery.actuators);
    COPY(feedback->shadow_rms);
    COPY(feedback->exchange);
    COPY(feedback->has_request);
    COPY(feedback->was_shadow);
    COPY(feedback->before);
    COPY(feedback->failed);
    COPY(feedback->generation);
}

/** Of the model's past only what the delay still reaches. */
static void copy_past(struct rm_pieces *copy, struct feedback_controllers *controllers) {
    uint32_t const ring = FEEDBACK_DELAY_MOST + 1;
    COPY(controllers->newest);
    for (uint32_t back = 0; back <= controllers->law.delay && back < ring; ++back)
        COPY_ALL(controllers->past[(controllers->newest + ring - back) % ring], controllers->padded);
}

static void copy_controllers(struct rm_pieces *copy, struct feedback_controllers *controllers) {
    double *const arrays[] = {controllers->integral, controllers->model[0],   controllers->model[1],
                              controllers->held,     controllers->correction, controllers->ahead};
    COPY(controllers->law);
    COPY(controllers->line);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i)
        COPY_ALL(arrays[i], controllers->padded);
    for (uint32_t j = 0; j < controllers->law.tuning.resonator_count && j < FEEDBACK_RESONATORS_MAX; ++j) {
        COPY_ALL(controllers->real[j], controllers->padded);
        COPY_ALL(controllers->imaginary[j], controllers->padded);
    }
    copy_past(copy, controllers);
}

/** The oldest question under way, and those behind it. */
static struct feedback_requests *question_under_way(struct feedback *feedback, uint32_t number) {
    return &feedback->left[(feedback->exchange.adopted + number) % FEEDBACK_LEFT];
}

/** What comes before the controllers' states, which need an answer. */
static void copy_before_answer(struct rm_pieces *copy, struct feedback *feedback, struct pack_head *head,
                               struct feedback_requests *taken) {
    COPY(*head);
    copy_cycle(copy, feedback);
    copy_loop(copy, feedback);
    copy_rest(copy, feedback);
    copy_requests(copy, feedback, &feedback->requests);
    if (head->has_answer != 0)
        copy_requests(copy, feedback, taken);
    for (uint32_t i = 0; i < head->under_way && i < FEEDBACK_LEFT; ++i)
        copy_requests(copy, feedback, question_under_way(feedback, i));
}

static void copy_answer(struct rm_pieces *copy, struct feedback *feedback) {
    for (uint32_t p = 0; p < feedback->layout.part_count; ++p)
        if (feedback->loop.answer->controllers[p].memory != NULL)
            copy_controllers(copy, &feedback->loop.answer->controllers[p]);
}

/** Of controllers with the longest delay and all resonators. */
static size_t most_of_answer(struct feedback const *feedback) {
    size_t numbers = 0;
    for (uint32_t p = 0; p < feedback->layout.part_count; ++p)
        numbers += (6ul + 2 * FEEDBACK_RESONATORS_MAX + FEEDBACK_DELAY_MOST + 1) *
                   (feedback->layout.part[p].channels_most + FEEDBACK_CHANNEL_BLOCK);
    return numbers * sizeof(double) + FEEDBACK_PARTS_MAX * sizeof(struct feedback_controllers);
}

size_t feedback_pack(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity) {
    (void)state;
    struct feedback *feedback = setup->memory;
    struct feedback_answer *answer = feedback->loop.answer;
    struct rm_pieces copy = {.out = bytes, .end = capacity};
    struct pack_head head = {answer != NULL, (uint32_t)(feedback->exchange.asked - feedback->exchange.adopted)};
    if (bytes == NULL)
        head = (struct pack_head){1, FEEDBACK_LEFT};
    copy_before_answer(&copy, feedback, &head, answer != NULL ? &answer->asked : &feedback->requests);
    if (bytes == NULL)
        return copy.at + most_of_answer(feedback);
    if (answer != NULL)
        copy_answer(&copy, feedback);
    return copy.is_short ? 0 : copy.at;
}

/** Solves what was solved there, and finds in it what the states are of. */
static enum rm_code solve_again(struct feedback *feedback, struct pack_head const *head,
                                struct feedback_requests const *taken, struct rm_error *error) {
    struct feedback_loop *loop = &feedback->loop;
    struct feedback_requests const *first = head->under_way > 0 ? question_under_way(feedback, 0) : NULL;
    struct feedback_requests const *second = head->under_way > 1 ? question_under_way(feedback, 1) : NULL;
    struct feedback_answer *const old = loop->answer;
    loop->answer = NULL;
    enum rm_code const code = feedback_solver_restore(&feedback->solver, old, head->has_answer != 0 ? taken : NULL,
                                                      first, second, &loop->answer, error);
    for (uint32_t p = 0; p < feedback->layout.part_count; ++p)
        loop->unload[p].handover = loop->answer != NULL ? loop->answer->solution->handover[p] : NULL;
    return code;
}

enum rm_code feedback_unpack(struct rm_application_setup const *setup, void *state, void const *bytes, size_t count,
                             struct rm_error *error) {
    (void)state;
    struct feedback *feedback = setup->memory;
    struct rm_pieces copy = {.in = bytes, .end = count};
    struct pack_head head = {0};
    struct feedback_requests taken = {.number = 0};
    if (!feedback_requests_make(&taken, &feedback->layout)) {
        feedback_requests_free(&taken);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the matrix's masks");
    }
    copy_before_answer(&copy, feedback, &head, &taken);
    enum rm_code code = RM_OK;
    if (!copy.is_short && head.under_way <= FEEDBACK_LEFT)
        code = solve_again(feedback, &head, &taken, error);
    if (code == RM_OK && feedback->loop.answer != NULL && head.has_answer != 0)
        copy_answer(&copy, feedback);
    feedback_requests_free(&taken);
    if (code != RM_OK)
        return code;
    if (copy.is_short || copy.at != count || head.under_way > FEEDBACK_LEFT)
        return rm_fail(error, RM_E_CONFIG, "it has %zu bytes, and other matrices or families than here", count);
    return RM_OK;
}
