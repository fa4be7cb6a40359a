// SPDX-License-Identifier: Apache-2.0
/** A gate in front of memory that another thread takes away.
 *
 * Polling threads pass through it at every burst without ever waiting; the control thread opens and closes it, and
 * closing waits until no thread is inside. Two lanes per queue, one per direction, each passed by one thread.
 *
 * Ordering. A passer stores `inside`, then loads `state`; the closer stores `state`, then loads `inside`. Both pairs
 * are sequentially consistent, so at least one of them sees the other: either the passer turns round or the closer
 * waits for it. Leaving is a release, which the closer's load of `inside` acquires: what the passer did inside is done.
 * The store that opens pairs in the same way with the passer's load: what was made ready is seen.
 */
#ifndef RM_NET_GATE_H
#define RM_NET_GATE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rm_gate_state {
    RM_GATE_CLOSED,
    RM_GATE_OPEN,
    /** Receiving goes on until every lane is dry, sending has ended. */
    RM_GATE_DRAINING,
};

struct rm_gate_fast_path {
    alignas(64) atomic_bool inside;
    /** receiving: a thread passes through this lane at all. */
    atomic_bool used;
    /** receiving: a passage that began while draining brought nothing. */
    atomic_bool dry;
};

struct rm_gate {
    _Atomic(enum rm_gate_state) state;
    uint16_t queues;
    /** One per queue. */
    struct rm_gate_fast_path *receive;

    struct rm_gate_fast_path *send;
};

/** Makes a closed gate; false when memory is full. rm_gate_free undoes it. */
bool rm_gate_init(struct rm_gate *gate, uint16_t queues);
void rm_gate_free(struct rm_gate *gate);

/** RM_GATE_CLOSED: stay out. Else the caller is inside, until it calls rm_gate_leave_receive with the state that was
 * returned. */
static inline enum rm_gate_state rm_gate_enter_receive(struct rm_gate *gate, uint16_t queue) {
    struct rm_gate_fast_path *const lane = &gate->receive[queue];
    atomic_store(&lane->inside, true);
    enum rm_gate_state const state = atomic_load(&gate->state);
    if (!atomic_load_explicit(&lane->used, memory_order_relaxed))
        atomic_store_explicit(&lane->used, true, memory_order_relaxed);
    if (state == RM_GATE_CLOSED)
        atomic_store_explicit(&lane->inside, false, memory_order_release);
    return state;
}

static inline void rm_gate_leave_receive(struct rm_gate *gate, uint16_t queue, enum rm_gate_state entered,
                                         uint32_t received) {
    struct rm_gate_fast_path *const lane = &gate->receive[queue];
    if (entered == RM_GATE_DRAINING && received == 0)
        atomic_store_explicit(&lane->dry, true, memory_order_relaxed);
    atomic_store_explicit(&lane->inside, false, memory_order_release);
}

/** True: the caller is inside, until it calls rm_gate_leave_send. */
static inline bool rm_gate_enter_send(struct rm_gate *gate, uint16_t queue) {
    atomic_store(&gate->send[queue].inside, true);
    if (atomic_load(&gate->state) == RM_GATE_OPEN)
        return true;
    atomic_store_explicit(&gate->send[queue].inside, false, memory_order_release);
    return false;
}

static inline void rm_gate_leave_send(struct rm_gate *gate, uint16_t queue) {
    atomic_store_explicit(&gate->send[queue].inside, false, memory_order_release);
}

bool rm_gate_is_open(struct rm_gate *gate);
void rm_gate_open(struct rm_gate *gate);

/** Ends sending, and lets receiving go on until every queue below `queues` has come up empty, for `max_lag_ms` at
 * most: a queue may have no reader. */
void rm_gate_drain(struct rm_gate *gate, uint16_t queues, uint32_t max_lag_ms);

/** Closes the gate. When it returns, no thread is inside, and none will be. */
void rm_gate_close(struct rm_gate *gate);

#endif
