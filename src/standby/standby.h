// SPDX-License-Identifier: Apache-2.0
/** The protocol by which one of two servers sends, and no more than one: pure decisions, once per cycle.
 *
 *     struct rm_standby standby;
 *     rm_standby_make(&standby, &setup);
 *     each answer of a chain, as it comes:
 *         rm_standby_answer(&standby, chain, &answer);
 *     each cycle, when it is due:
 *         switch (rm_standby_cycle(&standby, &seen)) {
 *         case RM_STANDBY_SENDS: … setpoints under standby.term
 *         case RM_STANDBY_ASKS:  … a query to every chain, which changes nothing
 *         case RM_STANDBY_QUIET: … nothing
 *         }
 *
 * It knows of no clock, memory or network: the transmit role, the pair in simulated time and the traces of the model
 * (model.pml) drive the same code. All times are cycles; what chains tell in microseconds the caller converts.
 *
 * ## The chains are the third vote
 * A *majority* is more than half of the enabled chains. The rules, each with its name in model.pml:
 *
 *  - TAKE      A server that is READY takes over when it has missed the active one's cycles for N (`missed_cycles`), it
 *              itself ran and heard its instruments throughout, and a majority, asked by a query, says that it has
 *              obeyed nothing for N cycles or more. It takes a new term, above all that it knows.
 *  - BEGIN     A server that is JOINING does so only after `begin_cycles`, which are far more: nobody is there to go on
 *              from. Its applications begin anew, so feedback is off.
 *  - CONFIRM   A server that sends stops when for N cycles less than a majority has answered under its own term. So a
 *              server without a majority never goes on with a part of the chains.
 *  - DEPOSE    It stops at once when a majority has told a higher term.
 *  - RAISE     An active server that a majority answers, while some chains told a higher term and no longer hear it,
 *              takes a new term above: those chains are its own again.
 *  - SWITCH    At an agreed turn T the active server sends nothing any more, and the standby sends from T on.
 *  - ONCE      After one automatic take-over the next waits for an operator's acknowledgement. Going on where oneself
 *              was the last that any chain obeyed is no take-over.
 *  - HOLD      A held server neither sends nor takes over.
 *
 * Terms of server 1 are odd and those of server 2 are even, so both may take one at the same time: the higher wins at
 * each chain, and the lower is deposed.
 */
#ifndef RM_STANDBY_STANDBY_H
#define RM_STANDBY_STANDBY_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>
#include <ringmaster/standby.h>

enum { RM_STANDBY_CHAINS_MAX = 128 };

/** What a server does in a cycle. */
enum rm_standby_act {
    RM_STANDBY_QUIET = 0,
    RM_STANDBY_ASKS = 1,
    RM_STANDBY_SENDS = 2,
};

struct rm_standby_setup {
    /** 1 or 2. */
    uint32_t server;
    /** Enabled chains, at most RM_STANDBY_CHAINS_MAX. */
    uint32_t chains;
    /** N, 2 … 60. */
    uint32_t missed_cycles;
    /** For BEGIN; more than N. A server of lower priority waits twice as long. */
    uint32_t begin_cycles;
    /** Highest term that is known from the last life or the disk; 0: none. */
    uint32_t term;
    /** An automatic take-over of an earlier life was not acknowledged. */
    bool unacknowledged;
};

/** What one answer of a chain tells. */
struct rm_standby_answer {
    /** Cycle in which it came, as the caller counts. */
    uint64_t cycle;
    /** Highest term that the chain has seen. */
    uint32_t term;
    /** The answer is to a setpoint that was obeyed, not to a query nor to one that was refused. */
    bool obeyed;
    /** The answer is to a query: cycles since the chain last obeyed a setpoint, rounded down; UINT32_MAX: long ago, or
     * never. */
    bool asked;
    uint32_t silent_cycles;
    /** It was just switched on, and obeys nobody yet. */
    bool listening;
};

/** What the caller knows of a cycle that is due. */
struct rm_standby_seen {
    /** Number of the cycle: one more per period of the turn clock, those that were slept through included. */
    uint64_t cycle;
    rm_turn turn;
    /** The caller slept through no cycle since the last call. */
    bool ran;
    /** Instruments arrive. */
    bool hears;
    struct rm_standby_orders_reading orders;
};

/** One chain as it was heard last. */
struct rm_standby_chain {
    uint32_t term;
    uint32_t silent_cycles;
    /** Cycle of the newest answer; of the newest that was obeyed, under whichever term; of the newest to a query; of
     * the newest under our own term. 0: none. */
    uint64_t heard, obeyed, asked, ours;
    bool listening;
};

struct rm_standby {
    struct rm_standby_setup setup;
    enum rm_standby_role role;
    enum rm_standby_reason reason;
    /** Under which it sends, or sent last; 0: it never did. */
    uint32_t term;
    /** Of all that were heard of. */
    uint32_t highest_term;
    bool unacknowledged;
    uint64_t acknowledged;
    /** Cycle since which it may suspect: of its start, of the last cycle slept through, of the last answer obeyed by a
     * majority. */
    uint64_t suspects_from;
    /** Cycle in which it began to send, and in which a majority last answered its term. */
    uint64_t began, confirmed;
    uint64_t swap_cycles;
    rm_turn since_turn, switch_turn;
    struct rm_standby_chain chain[RM_STANDBY_CHAINS_MAX];
};

void rm_standby_make(struct rm_standby *standby, struct rm_standby_setup const *setup);

/** Takes one answer. */
void rm_standby_answer(struct rm_standby *standby, uint32_t chain, struct rm_standby_answer const *answer);

/** Decides for one cycle. */
enum rm_standby_act rm_standby_cycle(struct rm_standby *standby, struct rm_standby_seen const *seen);

/** The smallest term of this server above `above`; 0: there is none (RM_TERM_MAX). */
uint32_t rm_standby_next_term(uint32_t server, uint32_t above);

#endif
