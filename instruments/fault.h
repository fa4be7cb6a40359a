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
    /** The turn counter is off by `turns` for `duration` datagrams. */
    RM_FAULT_TURN_JUMP,
    /** The turn counter starts again at 0. */
    RM_FAULT_TURN_RESET,
    /** The datagram is not sent. */
    RM_FAULT_DROP,
    /** The datagram is sent twice. */
    RM_FAULT_DUPLICATE,
    /** The datagram is sent after those of `turns` later turns; 1 swaps it with the next. */
    RM_FAULT_REORDER,
    /** The same, counted as delayed. */
    RM_FAULT_LATE,
    /** Every datagram is late by `turns`: the instrument has a longer way than the others. */
    RM_FAULT_DELAY,
    /** A bit of the payload is flipped. */
    RM_FAULT_CORRUPT,
    /** The datagram is too short. */
    RM_FAULT_TRUNCATED,
    /** The datagram is of a format version that does not exist. */
    RM_FAULT_WRONG_VERSION,
    /** The fragments of a datagram leave in another order. */
    RM_FAULT_FRAGMENT_ORDER,
    /** A fragment is not sent. */
    RM_FAULT_FRAGMENT_DROP,
    /** A fragment is sent twice. */
    RM_FAULT_FRAGMENT_DUPLICATE,
    /** One more fragment claims bytes that another one has brought, as an attacker would send it. */
    RM_FAULT_FRAGMENT_OVERLAP,

    RM_FAULT_KINDS,
};

enum rm_fragment_order { RM_FRAGMENTS_REVERSED, RM_FRAGMENTS_SHUFFLED };

/** One fault of one instrument, on one network. */
struct rm_fault {
    enum rm_fault_kind kind;
    /** The fault strikes once, at this turn; RM_TURN_NONE: by probability. */
    rm_turn at_turn;
    /** Probability per datagram, 0–1. */
    double probability;
    /** reorder, late, delay: 1 … RM_FAULT_DELAY_MAX turns. jump: turns by which the counter is ahead, or if negative,
     * behind. */
    int64_t turns;
    /** jump: how many datagrams it lasts; 0: to the end of the run. */
    uint64_t duration;
    /** corrupt: no checksum shows it. */
    bool unseen;
    /** fragment_order: the order. */
    enum rm_fragment_order order;
    /** Seeds its random numbers: faults of one key strike at the same turns. */
    uint64_t key;
};

/** Longest delay of one fault, in turns. */
enum { RM_FAULT_DELAY_MAX = 65536 };

static inline bool rm_fault_is_of_counter(enum rm_fault_kind kind) {
    return kind == RM_FAULT_TURN_JUMP || kind == RM_FAULT_TURN_RESET;
}

static inline bool rm_fault_is_of_fragments(enum rm_fault_kind kind) {
    return kind >= RM_FAULT_FRAGMENT_ORDER && kind < RM_FAULT_KINDS;
}

/** A fault that is ready for rm_fault_strikes. */
struct rm_armed_fault {
    struct rm_fault fault;
    /** The fault strikes when a random u64 lies below. */
    uint64_t threshold;
    /** Turns from one datagram to the next. */
    uint64_t span_turns;
};

struct rm_armed_fault rm_fault_arm(struct rm_fault const *fault, uint64_t span_turns);

/** Whether it strikes the datagram whose first turn is `turn`. */
bool rm_fault_strikes(struct rm_armed_fault const *armed, rm_turn turn);

#endif
