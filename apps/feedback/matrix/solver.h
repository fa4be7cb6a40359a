// SPDX-License-Identifier: Apache-2.0
/** The mailbox between the stepping thread, which asks, and the thread beside (`work`), which solves.
 *
 *     stepping thread                          work
 *     feedback_solver_ask     ── question ──▶  feedback_solver_work solves
 *     feedback_solver_take    ◀── answer ────  with all that goes with it, allocated
 *                             ── the old one ▶ feedback_solver_work frees it
 *
 * Neither waits for the other: a question is left when the slot is empty, an answer is taken when there is one and the
 * old one's slot is empty. An answer is made from the one before, for the map between the two; so none is begun before
 * the last was taken, and what it was made from lives until then, as the stepping thread gives it back only for the
 * new one.
 */
#ifndef FEEDBACK_SOLVER_H
#define FEEDBACK_SOLVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "../files/configuration.h"
#include "../law/controllers.h"
#include "solution.h"

/** A solution, and what the stepping thread needs with it; its own from when it takes it, but for the solution, which
 * nobody changes. */
struct feedback_answer {
    uint64_t number;
    /** NULL: what was asked for cannot be solved. */
    struct feedback_solution *solution;
    /** As asked. */
    bool *row_in, *column_in;

    struct feedback_controllers controllers[FEEDBACK_PARTS_MAX];
    /** [row · channels + channel]: of the basis, turned for speed. */
    double *errors[FEEDBACK_PARTS_MAX];
    /** [channel · columns + column]; NULL: the identity. */
    double *outputs[FEEDBACK_PARTS_MAX];
    /** [column · channels + channel]: outputs⁺; NULL: the identity. */
    double *inverse[FEEDBACK_PARTS_MAX];
};

struct feedback_solver {
    struct feedback_configuration const *configuration;
    struct feedback_layout const *layout;
    double rate_hz;
    /** `question` is work's to read. */
    _Atomic bool is_requested;

    _Atomic(struct feedback_answer *) ready;
    _Atomic(struct feedback_answer *) spent;
    struct feedback_requests question;
    /** Work's alone, as is the next. */
    struct feedback_requests in_work;
    /** The last good answer. */
    struct feedback_answer const *last;
};

/** RM_E_NO_SPACE without memory. */
enum rm_code feedback_solver_make(struct feedback_solver *solver, struct feedback_configuration const *configuration,
                                  struct feedback_layout const *layout, double rate_hz, struct rm_error *error);
/** Nobody is in work, and `taken` (or NULL) is what the stepping thread has. */
void feedback_solver_free(struct feedback_solver *solver, struct feedback_answer *taken);

/** Stepping thread: leaves a question; false when the last one still lies there. */
bool feedback_solver_ask(struct feedback_solver *solver, struct feedback_requests const *requests);

/** Stepping thread: is there an answer that can be taken? It stays there. */
struct feedback_answer *feedback_solver_look(struct feedback_solver *solver);

/** Stepping thread: takes what _look gave, and gives `old` back (or NULL). */
void feedback_solver_take(struct feedback_solver *solver, struct feedback_answer *old);

/** The thread beside. */
void feedback_solver_work(struct feedback_solver *solver);

#endif
