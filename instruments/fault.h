// SPDX-License-Identifier: Apache-2.0
/** Faults on purpose: what may go wrong with a virtual instrument's turn counter (counter_faults.h), with its datagrams
 * on their way (faults.h), and with their fragments (fragments.h).
 *
 * Whether a fault strikes depends on its key and on the turn alone; every one that strikes is counted. An instrument
 * whose datagrams hold several turns meets its faults once per datagram, at the first of them.
 */
#ifndef RM_INSTRUMENTS_FAULT_H
#define RM_INSTRUMENTS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

enum rm_fault_kind {
    RM_FAULT_TURN_JUMP,          /**< the turn counter is off by `turns` for `duration` datagrams */
    RM_FAULT_TURN_RESET,         /**< the turn counter starts again at 0 */
    RM_FAULT_DROP,               /**< not sent */
    RM_FAULT_DUPLICATE,          /**< sent twice */
    RM_FAULT_REORDER,            /**< sent after the datagrams of `turns` later turns; 1 swaps it with the next */
    RM_FAULT_LATE,               /**< the same, counted as delayed */
    RM_FAULT_DELAY,              /**< every datagram late by `turns`: an instrument with a longer way than the others */
    RM_FAULT_CORRUPT,            /**< a bit of the payload flipped */
    RM_FAULT_TRUNCATED,          /**< too short */
    RM_FAULT_WRONG_VERSION,      /**< of a format version that does not exist */
    RM_FAULT_FRAGMENT_ORDER,     /**< the fragments of a datagram leave in another order */
    RM_FAULT_FRAGMENT_DROP,      /**< one of them does not leave */
    RM_FAULT_FRAGMENT_DUPLICATE, /**< one of them leaves twice */
    RM_FAULT_FRAGMENT_OVERLAP,   /**< a further one claims bytes that another has brought: what an attacker sends */
    RM_FAULT_KINDS,
};

enum rm_fragment_order { RM_FRAGMENTS_REVERSED, RM_FRAGMENTS_SHUFFLED };

/** One fault of one instrument, on one network. */
struct rm_fault {
    enum rm_fault_kind kind;
    rm_turn at_turn;              /**< strikes once, at this turn; RM_TURN_NONE: by probability */
    double probability;           /**< per datagram, 0–1 */
    int64_t turns;                /**< reorder, late, delay: 1 … RM_FAULT_DELAY_MAX; jump: ahead, or negative: back */
    uint64_t duration;            /**< jump: datagrams that it lasts; 0: to the end */
    bool unseen;                  /**< corrupt: so that no checksum tells */
    enum rm_fragment_order order; /**< fragment_order */
    uint64_t key;                 /**< seeds its draws: equal ones strike at the same turns */
};

enum { RM_FAULT_DELAY_MAX = 65536 /**< turns, of one fault */ };

static inline bool rm_fault_is_of_counter(enum rm_fault_kind kind) {
    return kind == RM_FAULT_TURN_JUMP || kind == RM_FAULT_TURN_RESET;
}

static inline bool rm_fault_is_of_fragments(enum rm_fault_kind kind) {
    return kind >= RM_FAULT_FRAGMENT_ORDER && kind < RM_FAULT_KINDS;
}

/** A fault ready to be asked. */
struct rm_armed_fault {
    struct rm_fault fault;
    uint64_t threshold;  /**< strikes when a random u64 lies below */
    uint64_t span_turns; /**< turns from one datagram to the next */
};

struct rm_armed_fault rm_fault_arm(struct rm_fault const *fault, uint64_t span_turns);

/** Whether it strikes the datagram whose first turn is `turn`. */
bool rm_fault_strikes(struct rm_armed_fault const *armed, rm_turn turn);

#endif
