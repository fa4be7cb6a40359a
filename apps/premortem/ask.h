// SPDX-License-Identifier: Apache-2.0
/** Requests of other owners' parameters: "feedback/loop = 2". The thread that steps wants one, and the thread beside
 * (`work`, every 10 ms or so) asks, until it is answered: so such an action comes some tens of milliseconds late, and is
 * no protection. What must come within a cycle is a setpoint.
 *
 * `wanted` is stored with release by the thread that steps, and loaded with acquire by the one beside: nothing else
 * passes between them. The counts are relaxed.
 */
#ifndef PREMORTEM_ASK_H
#define PREMORTEM_ASK_H

#include <stdatomic.h>
#include <stdint.h>

#include "file.h"

/** One action that is a request. Zeroed, nothing is wanted. */
struct premortem_ask {
    /** How often the thread that steps wanted it. */
    _Atomic uint32_t wanted;
    /** Of the thread beside: up to which `wanted` it is done with, and how often it has tried the present one. */
    uint32_t done, tries;
};

struct premortem_asks {
    struct premortem_ask ask[PREMORTEM_ACTIONS_MAX];
    _Atomic uint64_t granted, refused;
};

/** The thread that steps wants action `index`. */
static inline void premortem_ask_want(struct premortem_asks *asks, uint32_t index) {
    uint32_t const wanted = atomic_load_explicit(&asks->ask[index].wanted, memory_order_relaxed);
    atomic_store_explicit(&asks->ask[index].wanted, wanted + 1, memory_order_release);
}

/** The thread beside: asks for what is wanted. `workspace` is NULL where there is nobody to ask. */
void premortem_asks_work(struct premortem_asks *asks, struct premortem_file const *file, char const *workspace);

#endif
