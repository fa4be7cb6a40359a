// SPDX-License-Identifier: Apache-2.0
#include "solver.h"

#include <stdlib.h>
#include <string.h>

#include <ringmaster/errors.h>

static void free_answer(struct feedback_answer *answer) {
    if (answer == NULL)
        return;
    for (uint32_t p = 0; p < FEEDBACK_PARTS_MAX; ++p) {
        if (answer->controllers[p].memory != NULL)
            feedback_controllers_free(&answer->controllers[p]);
        free(answer->errors[p]);
        free(answer->outputs[p]);
        free(answer->inverse[p]);
    }
    if (answer->solution != NULL)
        feedback_solution_free(answer->solution);
    feedback_requests_free(&answer->asked);
    free(answer);
}

static double *make_turned(double const *matrix, uint32_t rows, uint32_t columns) {
    double *turned = malloc(((size_t)rows * columns + 1) * sizeof *turned);
    for (uint32_t r = 0; turned != NULL && r < rows; ++r)
        for (uint32_t c = 0; c < columns; ++c)
            turned[(size_t)c * rows + r] = matrix[(size_t)r * columns + c];
    return turned;
}

/** outputs are W V with orthonormal V: their inverse, weighted alike, is Vᵀ W⁻¹. */
static double *make_inverse(struct feedback_solver const *solver, struct feedback_part const *part,
                            struct feedback_basis const *basis) {
    double *inverse = calloc((size_t)part->columns * basis->channels + 1, sizeof *inverse);
    for (uint32_t c = 0; inverse != NULL && c < part->columns; ++c) {
        double const weight = solver->configuration->column_weight[solver->layout->column_of[part->first + c]];
        for (uint32_t k = 0; weight > 0.0 && k < basis->channels; ++k) {
            size_t const at = (size_t)c * basis->channels + k;
            inverse[at] = basis->outputs[at] / (weight * weight);
        }
    }
    return inverse;
}

static bool complete_part(struct feedback_solver const *solver, struct feedback_answer *answer, uint32_t p) {
    struct feedback_part const *part = &solver->layout->part[p];
    struct feedback_basis const *basis = &answer->solution->basis[p];
    if (basis->channels == 0)
        return true;
    if (!feedback_controllers_make(&answer->controllers[p], basis->channels, &answer->solution->law[p]))
        return false;
    for (uint32_t k = 0; k < basis->channels; ++k)
        answer->controllers[p].gain[k] = basis->gain[k];
    answer->errors[p] = make_turned(basis->errors, basis->channels, solver->layout->rows);
    if (basis->outputs == NULL)
        return answer->errors[p] != NULL;
    answer->outputs[p] = make_turned(basis->outputs, part->columns, basis->channels);
    answer->inverse[p] = make_inverse(solver, part, basis);
    return answer->errors[p] != NULL && answer->outputs[p] != NULL && answer->inverse[p] != NULL;
}

bool feedback_requests_make(struct feedback_requests *requests, struct feedback_layout const *layout) {
    requests->row_in = calloc(layout->rows + 1, 1);
    requests->column_in = calloc(layout->actuators + 1, 1);
    return requests->row_in != NULL && requests->column_in != NULL;
}

void feedback_requests_free(struct feedback_requests *requests) {
    free(requests->row_in);
    free(requests->column_in);
}

void feedback_requests_copy(struct feedback_requests *to, struct feedback_requests const *from,
                            struct feedback_layout const *layout) {
    bool *const row_in = to->row_in, *const column_in = to->column_in;
    memcpy(row_in, from->row_in, layout->rows);
    memcpy(column_in, from->column_in, layout->actuators);
    *to = *from;
    to->row_in = row_in;
    to->column_in = column_in;
}

/** An answer in any case: one without a solution says that there is none. */
static struct feedback_answer *solver_solve_request(struct feedback_solver const *solver) {
    struct feedback_requests const *requests = &solver->in_work;
    struct feedback_answer *answer = calloc(1, sizeof *answer);
    if (answer == NULL)
        return NULL;
    bool good = feedback_requests_make(&answer->asked, solver->layout);
    if (good)
        feedback_requests_copy(&answer->asked, requests, solver->layout);
    answer->asked.number = requests->number;
    struct feedback_solution const *before = solver->last != NULL ? solver->last->solution : NULL;
    good = good && feedback_solution_make(solver->configuration, solver->layout, solver->rate_hz, requests, before,
                                          &answer->solution, NULL) == RM_OK;
    for (uint32_t p = 0; good && p < solver->layout->part_count; ++p)
        good = complete_part(solver, answer, p);
    if (!good && answer->solution != NULL) {
        feedback_solution_free(answer->solution);
        answer->solution = NULL;
    }
    return answer;
}

enum rm_code feedback_solver_make(struct feedback_solver *solver, struct feedback_configuration const *configuration,
                                  struct feedback_layout const *layout, double rate_hz, struct rm_error *error) {
    *solver = (struct feedback_solver){.configuration = configuration, .layout = layout, .rate_hz = rate_hz};
    if (feedback_requests_make(&solver->question, layout) && feedback_requests_make(&solver->in_work, layout))
        return RM_OK;
    return rm_fail(error, RM_E_NO_SPACE, "no memory for the matrix's masks");
}

void feedback_solver_free(struct feedback_solver *solver, struct feedback_answer *taken) {
    free_answer(taken);
    free_answer(atomic_load(&solver->ready));
    free_answer(atomic_load(&solver->spent));
    feedback_requests_free(&solver->question);
    feedback_requests_free(&solver->in_work);
}

bool feedback_solver_ask(struct feedback_solver *solver, struct feedback_requests const *requests) {
    if (!rm_mailbox_is_free(&solver->mailbox))
        return false;
    feedback_requests_copy(&solver->question, requests, solver->layout);
    rm_mailbox_post(&solver->mailbox);
    return true;
}

struct feedback_answer *feedback_solver_look(struct feedback_solver *solver) {
    /* Acquire: pairs with work's release in feedback_solver_work, which freed what lay here. */
    if (atomic_load_explicit(&solver->spent, memory_order_acquire) != NULL)
        return NULL;
    /* Acquire: pairs with the release with which feedback_solver_work shows an answer. */
    return atomic_load_explicit(&solver->ready, memory_order_acquire);
}

void feedback_solver_take(struct feedback_solver *solver, struct feedback_answer *old) {
    /* Release: all use of the old one is over when work sees it. */
    if (old != NULL)
        atomic_store_explicit(&solver->spent, old, memory_order_release);
    /* Release: and when work sees that the new one was taken. */
    atomic_store_explicit(&solver->ready, NULL, memory_order_release);
}

void feedback_solver_work(struct feedback_solver *solver) {
    /* Acquire, of the one that was taken: pairs with the second release of feedback_solver_take. */
    if (atomic_load_explicit(&solver->ready, memory_order_acquire) != NULL)
        return;
    /* Acquire and release: pairs with the first release of feedback_solver_take, and with feedback_solver_look. */
    free_answer(atomic_exchange_explicit(&solver->spent, NULL, memory_order_acq_rel));
    if (!rm_mailbox_take(&solver->mailbox))
        return;
    feedback_requests_copy(&solver->in_work, &solver->question, solver->layout);
    rm_mailbox_free(&solver->mailbox);
    struct feedback_answer *answer = solver_solve_request(solver);
    if (answer != NULL && answer->solution != NULL)
        solver->last = answer;
    /* Release: the answer is whole. */
    atomic_store_explicit(&solver->ready, answer, memory_order_release);
}

/** Asks and solves, in one: the answer waits to be taken. */
static bool solver_solve_now(struct feedback_solver *solver, struct feedback_requests const *requests) {
    if (!feedback_solver_ask(solver, requests))
        return false;
    feedback_solver_work(solver);
    return feedback_solver_look(solver) != NULL;
}

enum rm_code feedback_solver_restore(struct feedback_solver *solver, struct feedback_answer *old,
                                     struct feedback_requests const *taken, struct feedback_requests const *first,
                                     struct feedback_requests const *second, struct feedback_answer **answer,
                                     struct rm_error *error) {
    free_answer(old);
    free_answer(atomic_exchange(&solver->ready, NULL));
    free_answer(atomic_exchange(&solver->spent, NULL));
    if (rm_mailbox_take(&solver->mailbox)) /* a question that is asked no more */
        rm_mailbox_free(&solver->mailbox);
    solver->last = *answer = NULL;
    if (taken != NULL) {
        if (!solver_solve_now(solver, taken) || feedback_solver_look(solver)->solution == NULL)
            return rm_fail(error, RM_E_CONFIG, "the matrix in use cannot be solved here");
        *answer = feedback_solver_look(solver);
        feedback_solver_take(solver, NULL);
    }
    bool const is_asked = (second == NULL || solver_solve_now(solver, first)) &&
                          (first == NULL || feedback_solver_ask(solver, second != NULL ? second : first));
    return is_asked ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory to solve the matrix that was asked for");
}
