// SPDX-License-Identifier: Apache-2.0
/** A mailbox of one message between two threads. The message lies beside it, in a struct of the owner's; the mailbox
 * says which thread may touch it:
 *
 *     sender                                        receiver
 *     rm_mailbox_is_free: writes the message
 *     rm_mailbox_post          ── POSTED ──▶        rm_mailbox_take: reads it, TAKEN
 *                              ◀─ FREE ─────        rm_mailbox_free, where no answer is wanted; or writes the answer
 *     rm_mailbox_is_answered   ◀─ ANSWERED ─        rm_mailbox_answer
 *     reads the answer, rm_mailbox_close: FREE
 *
 * Neither waits for the other. A sender that has waited long enough withdraws what was not taken yet: it will then
 * never be done. Memory of zeros is a free mailbox. All that the one thread wrote before a step is seen by the other
 * after it: each load with acquire pairs with the store with release that is named beside it. */
#ifndef RM_BASE_MAILBOX_H
#define RM_BASE_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rm_mailbox_state {
    /** The message is the sender's. */
    RM_MAILBOX_FREE,
    /** The message waits, and is nobody's. */
    RM_MAILBOX_POSTED,
    /** The message is the receiver's. */
    RM_MAILBOX_TAKEN,
    /** Message and answer are the sender's. */
    RM_MAILBOX_ANSWERED,
};

struct rm_mailbox {
    /** enum rm_mailbox_state. */
    _Atomic uint32_t state;
};

static inline bool rm_mailbox_is_in(struct rm_mailbox const *mailbox, enum rm_mailbox_state state) {
    return atomic_load_explicit(&mailbox->state, memory_order_acquire) == (uint32_t)state;
}

/** Sender: the next message may be written. Pairs with rm_mailbox_free. */
static inline bool rm_mailbox_is_free(struct rm_mailbox const *mailbox) {
    return rm_mailbox_is_in(mailbox, RM_MAILBOX_FREE);
}

/** Sender: the message is whole. The mailbox was free. Pairs with rm_mailbox_take. */
static inline void rm_mailbox_post(struct rm_mailbox *mailbox) {
    atomic_store_explicit(&mailbox->state, RM_MAILBOX_POSTED, memory_order_release);
}

/** Receiver: true when there is a message, which is its own from now on. One load when there is none. Pairs with
 * rm_mailbox_post. By exchange, as the sender may withdraw the message at the same time. */
static inline bool rm_mailbox_take(struct rm_mailbox *mailbox) {
    uint32_t posted = RM_MAILBOX_POSTED;
    return atomic_load_explicit(&mailbox->state, memory_order_relaxed) == posted &&
           atomic_compare_exchange_strong_explicit(&mailbox->state, &posted, RM_MAILBOX_TAKEN, memory_order_acquire,
                                                   memory_order_relaxed);
}

/** Receiver: has read the message, and gives no answer. Pairs with rm_mailbox_is_free. */
static inline void rm_mailbox_free(struct rm_mailbox *mailbox) {
    atomic_store_explicit(&mailbox->state, RM_MAILBOX_FREE, memory_order_release);
}

/** Receiver: the answer is whole. Pairs with rm_mailbox_is_answered. */
static inline void rm_mailbox_answer(struct rm_mailbox *mailbox) {
    atomic_store_explicit(&mailbox->state, RM_MAILBOX_ANSWERED, memory_order_release);
}

/** Sender: the answer may be read. Pairs with rm_mailbox_answer. */
static inline bool rm_mailbox_is_answered(struct rm_mailbox const *mailbox) {
    return rm_mailbox_is_in(mailbox, RM_MAILBOX_ANSWERED);
}

/** Sender: takes the message back. False when the receiver has taken it just before: then an answer will come. */
static inline bool rm_mailbox_withdraw(struct rm_mailbox *mailbox) {
    uint32_t posted = RM_MAILBOX_POSTED;
    return atomic_compare_exchange_strong_explicit(&mailbox->state, &posted, RM_MAILBOX_FREE, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/** Sender: has read the answer. Pairs with rm_mailbox_is_free, where the next sender is another thread. */
static inline void rm_mailbox_close(struct rm_mailbox *mailbox) {
    atomic_store_explicit(&mailbox->state, RM_MAILBOX_FREE, memory_order_release);
}

#endif
