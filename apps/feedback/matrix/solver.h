// SPDX-License-Identifier: Apache-2.0
/** The mailbox between the stepping thread, which asks, and the solver's thread (`work`), which solves.
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

#include "base/mailbox.h"

#include "../files/configuration.h"
#include "../law/controllers.h"
#include "solution.h"

/** A solution, and what the stepping thread needs with it. From when the stepping thread takes it, it is that thread's
 * alone; but `solution` itself is never changed. */
struct feedback_answer {
    /** The question: its number, and rows and columns that took part. */
    struct feedback_requests asked;
    /** NULL: what was asked for cannot be solved. */
    struct feedback_solution *solution;

    struct feedback_controllers controllers[FEEDBACK_PARTS_MAX];
    /** [row · channels + channel] `errors` of the basis, transposed for speed. */
    double *errors[FEEDBACK_PARTS_MAX];
    /** [channel · columns + column]; NULL: the identity. */
    double *outputs[FEEDBACK_PARTS_MAX];
    /** [column · channels + channel] outputs⁺; NULL: the identity. */
    double *inverse[FEEDBACK_PARTS_MAX];
};

struct feedback_solver {
    struct feedback_configuration const *configuration;
    struct feedback_layout const *layout;
    double rate_hz;
    /** Of `question`; the answer comes another way. */
    struct rm_mailbox mailbox;

    _Atomic(struct feedback_answer *) ready;
    _Atomic(struct feedback_answer *) spent;
    struct feedback_requests question;
    /** Both are used by the solver's thread alone. */
    struct feedback_requests in_work;
    /** The last good answer. */
    struct feedback_answer const *last;
};

/** RM_E_NO_SPACE without memory. */
enum rm_code feedback_solver_make(struct feedback_solver *solver, struct feedback_configuration const *configuration,
                                  struct feedback_layout const *layout, double rate_hz, struct rm_error *error);
/** Frees all. The solver's thread must not be in feedback_solver_work. `taken` (or NULL) is the answer that the
 * stepping thread has. */
void feedback_solver_free(struct feedback_solver *solver, struct feedback_answer *taken);

/** Stepping thread: leaves a question. False when the last one has not been taken yet. */
bool feedback_solver_ask(struct feedback_solver *solver, struct feedback_requests const *requests);

/** Stepping thread: the answer that can be taken, or NULL. It stays there. */
struct feedback_answer *feedback_solver_look(struct feedback_solver *solver);

/** Stepping thread: takes the answer that feedback_solver_look gave, and gives `old` (or NULL) back. */
void feedback_solver_take(struct feedback_solver *solver, struct feedback_answer *old);

/** While nobody is in feedback_solver_work, and in the place of both threads: begins anew with the answers to `taken`
 * (NULL: there is none), which becomes `*answer`, and to `first` and `second` (NULL: fewer were under way). All are
 * solved here but the last one under way, which waits to be solved. `old` is the answer that the stepping thread had. */
enum rm_code feedback_solver_restore(struct feedback_solver *solver, struct feedback_answer *old,
                                     struct feedback_requests const *taken, struct feedback_requests const *first,
                                     struct feedback_requests const *second, struct feedback_answer **answer,
                                     struct rm_error *error);

/** A question of one's own to keep: room for its masks, and a copy. */
bool feedback_requests_make(struct feedback_requests *requests, struct feedback_layout const *layout);
void feedback_requests_free(struct feedback_requests *requests);
void feedback_requests_copy(struct feedback_requests *to, struct feedback_requests const *from,
                            struct feedback_layout const *layout);

/** Solver's thread: solves the question, if there is one, and frees old answers. */
void feedback_solver_work(struct feedback_solver *solver);

#endif
