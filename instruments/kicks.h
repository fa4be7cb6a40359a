// SPDX-License-Identifier: Apache-2.0
/** Kicks of the beam that are asked for while it runs: one thread waits for the request, another one has the beam. All
 * accesses are relaxed but for `turn`, which is stored before `given` is, with release, and read after it. */
#ifndef RM_INSTRUMENTS_KICKS_H
#define RM_INSTRUMENTS_KICKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

struct rm_kicks {
    _Atomic uint64_t wanted;
    _Atomic uint64_t given;
    /** Turn of the last kick that was given. */
    _Atomic rm_turn turn;
};

static inline void rm_kicks_ask(struct rm_kicks *kicks) {
    atomic_fetch_add_explicit(&kicks->wanted, 1, memory_order_relaxed);
}

/** For the thread that has the beam: a kick is wanted that was not given. */
static inline bool rm_kicks_wanted(struct rm_kicks const *kicks) {
    return atomic_load_explicit(&kicks->wanted, memory_order_relaxed) !=
           atomic_load_explicit(&kicks->given, memory_order_relaxed);
}

/** For the thread that has the beam: gives all kicks that are wanted, as one. */
static inline void rm_kicks_give(struct rm_kicks *kicks, rm_turn turn) {
    uint64_t const wanted = atomic_load_explicit(&kicks->wanted, memory_order_relaxed);
    atomic_store_explicit(&kicks->turn, turn, memory_order_relaxed);
    atomic_store_explicit(&kicks->given, wanted, memory_order_release); /* pairs with rm_kicks_given */
}

/** For the thread that asked: true when all were given; then `*turn` is that of the last. */
static inline bool rm_kicks_given(struct rm_kicks const *kicks, rm_turn *turn) {
    uint64_t const given = atomic_load_explicit(&kicks->given, memory_order_acquire); /* pairs with rm_kicks_give */
    *turn = atomic_load_explicit(&kicks->turn, memory_order_relaxed);
    return given == atomic_load_explicit(&kicks->wanted, memory_order_relaxed);
}

#endif
