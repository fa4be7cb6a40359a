// SPDX-License-Identifier: Apache-2.0
/** Faults on purpose: what may befall an instrument's datagrams on their way, and its turn counter.
 *
 * Every datagram meets the faults of its instrument in the order of enum rm_fault_kind; one that is dropped meets no
 * more. Whether a fault strikes depends on the seed, the fault, the instrument and the turn alone. What was done is
 * counted in the instrument's counters (counters/sender/NAME). An instrument without faults has no rm_faults at all.
 *
 * Indices count the turns of the run from 0; the turn that a datagram says may be another one, after a jump or a reset.
 */
#ifndef RM_INSTRUMENTS_FAULTS_H
#define RM_INSTRUMENTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>

enum rm_fault_kind {
    RM_FAULT_TURN_JUMP,     /**< the turn counter is off by `turns` for `duration` datagrams */
    RM_FAULT_TURN_RESET,    /**< the turn counter starts again at 0 */
    RM_FAULT_DROP,          /**< not sent */
    RM_FAULT_DUPLICATE,     /**< sent twice */
    RM_FAULT_REORDER,       /**< sent after the datagrams of `turns` later turns; 1 swaps it with the next */
    RM_FAULT_LATE,          /**< the same, counted as delayed */
    RM_FAULT_DELAY,         /**< every datagram late by `turns`: an instrument with a longer way than the others */
    RM_FAULT_CORRUPT,       /**< a bit of the payload flipped */
    RM_FAULT_TRUNCATED,     /**< too short */
    RM_FAULT_WRONG_VERSION, /**< of a format version that does not exist */
    RM_FAULT_KINDS,
};

/** One configured fault of one instrument. */
struct rm_fault {
    enum rm_fault_kind kind;
    rm_turn at_turn;    /**< strikes once, at this turn; RM_TURN_NONE: by probability */
    double probability; /**< per datagram, 0–1 */
    int64_t turns;      /**< reorder, late, delay: 1 … RM_FAULT_DELAY_MAX; jump: ahead, or negative: back */
    uint64_t duration;  /**< jump: datagrams that it lasts; 0: to the end */
    bool unseen;        /**< corrupt: so that no checksum tells */
};

enum { RM_FAULT_DELAY_MAX = 65536 /**< turns, of one fault */ };

/** A datagram to send, as the faults left it. */
struct rm_outgoing {
    rm_turn turn; /**< that it says */
    union rm_lane lane[RM_LANES];
    uint32_t copies; /**< 1 or more */
    unsigned damage; /**< enum rm_damage, bits */
    uint64_t random; /**< for rm_datagram_damage */
};

struct rm_faults;

/** Makes the faults of one instrument; `key` seeds them, `counters` is its block. RM_E_NO_SPACE. */
enum rm_code rm_faults_make(struct rm_fault const *faults, uint32_t count, uint64_t key, rm_counter *counters,
                            struct rm_faults **made, struct rm_error *error);
void rm_faults_free(struct rm_faults *faults);

/** Hands in the datagram of turn `first_turn + index`; indices come in order, each once. */
void rm_faults_push(struct rm_faults *faults, uint64_t index, rm_turn first_turn, union rm_lane const *lanes);

/** The next datagram to send at `index`, which was pushed last or lies beyond: the new one first, then those held back
 * until now. NULL when there are no more. Valid until the next push. */
struct rm_outgoing const *rm_faults_next(struct rm_faults *faults, uint64_t index);

/** Forgets what is held back: for when turns are skipped. */
void rm_faults_forget(struct rm_faults *faults);

/** Most turns that a datagram is held back. After the last push, ask rm_faults_next for so many indices more. */
uint64_t rm_faults_longest_delay(struct rm_faults const *faults);

#endif
