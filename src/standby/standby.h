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
 * (model.pml) drive the same code. All times are cycles; what chains tell in microseconds or turns the caller converts.
 * What it may send in a cycle it sends in that cycle, or not at all: the caller looks at the time once more before the
 * first datagram. Queries go a quarter of a period behind the cycle's time, so that whole cycles have passed. An answer
 * does not tell which server asked. So a server that cannot take over asks in its own cycles only: server 1 in odd
 * ones, server 2 in even ones.
 *
 * ## The chains are the third vote
 * A *majority* is more than half of the enabled chains. The rules, each with its name in model.pml and its argument in
 * docs/standby-protocol.md:
 *
 *  - TAKE      A server that has a copy of the active one's state takes over when a majority, asked by a query, says
 *              that it has obeyed nothing for N cycles (`missed_cycles`) or more, and when it itself ran and heard its
 *              instruments for N cycles. It takes a new term, above all that it knows. One that no majority confirmed
 *              does not do so again before it hears of a majority that is served for 2 N + 2 cycles: terms are not for
 *              trying.
 *  - BEGIN     Else a server begins only after `begin_cycles` without setpoints, which are far more, and the second
 *              server after twice as many, and when a majority answers its own queries so. Nobody is there to go on
 *              from: applications begin anew, feedback is off.
 *  - CONFIRM   A server that sends stops when for N cycles less than a majority has answered under its own term, or
 *              when it slept through N cycles. So a server without a majority never goes on with a part of the chains.
 *  - RESUME    Having stopped so, it asks. It goes on under the same term when a majority answers its own queries that
 *              this term is still the highest: nobody took over. A READY peer goes first: it waits for 2 N + 2 cycles.
 *  - DEPOSE    It stops at once when a majority has told a higher term.
 *  - RAISE     An active server that a majority answers takes a new term above what other chains have told for 2 N + 2
 *              cycles, when those obey nobody: they are its own again. So it does for chains that refuse its term as
 *              that of an earlier life of this server, which it could not know of.
 *  - SWITCH    At an agreed turn T the active server sends nothing any more, and the standby sends from T on. The active
 *              one is told of T first: a standby that knows of T knows that the other one stops.
 *  - ONCE      After one automatic take-over that a majority confirmed, the next TAKE of either server waits for an
 *              operator's acknowledgement. RESUME, SWITCH and BEGIN do not. Servers of different builds wait
 *              so always.
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
    /** For BEGIN; more than 4 N. Server 2 waits twice as long. Also the age at which a state is too old to go on from,
     * and after which orders without a new beat are not believed. */
    uint32_t begin_cycles;
    /** Highest term that is known from the last life or the disk; 0: none. */
    uint32_t term;
    /** An automatic take-over of an earlier life was not acknowledged. */
    bool unacknowledged;
};

/** What one answer of a chain tells, whichever server it answers. */
struct rm_standby_answer {
    /** Cycle of the datagram that it answers, by its turn. One that comes late is of an old cycle. */
    uint64_t cycle;
    /** Highest term that the chain has taken setpoints of, obeyed ones or, while it listens, noted ones; 0: none. */
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
    /** Number of the cycle, from 1: one more per period of the turn clock, those that were slept through included. Both
     * servers count alike (turn / period), so that they take turns in asking. */
    uint64_t cycle;
    rm_turn turn;
    /** The caller was in time for this cycle and slept through none since the last call. Cycles that are missing in the
     * numbers count as slept through, whatever this says. */
    bool ran;
    /** Instruments arrive. */
    bool hears;
    /** All zeros: there are no orders yet. Their beat is above 0, and moves at least every `begin_cycles`. */
    struct rm_standby_orders_reading orders;
};

/** One chain as it was heard. Cycles are those of the datagrams that it answered; 0: none. */
struct rm_standby_chain {
    /** Of the newest answer. */
    uint32_t term;
    bool listening;
    /** Of the newest answer to a query. */
    uint32_t silent_cycles;
    uint64_t heard, asked;
    /** Newest to a query of a cycle in which this server asks and a JOINING peer does not. */
    uint64_t reached;
    /** Newest that was obeyed, under whichever term, and as far as a query told. */
    uint64_t obeyed;
    /** Newest setpoint under our own term that it obeyed, or noted while it listens; newest setpoint that it refused,
     * whosever. */
    uint64_t ours, refused;
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
    /** The peer has one that is not acknowledged, as was heard last. */
    bool peer_unacknowledged;
    /** The peer was another build, as was heard last. */
    bool planned_only;
    /** Newest number of acknowledgements in the orders. */
    uint64_t acknowledged;
    /** Newest cycle and its turn; 0: none was due yet. */
    uint64_t cycle;
    rm_turn turn;
    /** First cycle of the stretch in which it ran and heard its instruments; first since its start or a hold. */
    uint64_t ran_from, waits_from;
    /** Cycle in which it began to send or took its term. */
    uint64_t began;
    /** A majority has answered since it began. */
    bool confirmed;
    /** It stopped before that, and has not heard since of a majority that was served for longer than a try takes: it does
     * not TAKE again. */
    bool was_in_vain;
    /** After a try in vain: cycle since which a majority is not missing setpoints for N cycles; 0: it is. */
    uint64_t served_from;
    /** Cycle and turn in which it stopped sending; 0: never. */
    uint64_t stopped;
    rm_turn stopped_turn;
    /** It stopped by CONFIRM or SWITCH, and has not heard that another went on: its own state is the newest. */
    bool was_last;
    /** Newest cycle in which the orders said that all is here; 0: not since it stopped. */
    uint64_t synchronised;
    /** Cycle since which some chain is astray (votes.h); 0: none is. */
    uint64_t disputed;
    /** Newest beat in the orders, and the cycle in which it came; 0: none has come, and no orders are believed. */
    uint64_t beat, beat_cycle;
    /** The orders of this cycle are the first: what they say of acknowledgements is old. */
    bool first_orders;
    /** Chains that answered our term within N cycles. */
    uint32_t with_us;
    /** Of the newest TAKE or SWITCH, as struct rm_standby_state has it. */
    uint64_t swap_cycles;
    rm_turn since_turn, switch_turn;
    struct rm_standby_chain chain[RM_STANDBY_CHAINS_MAX];
};

/** Makes one, JOINING. Wants 1 … RM_STANDBY_CHAINS_MAX chains. */
void rm_standby_make(struct rm_standby *standby, struct rm_standby_setup const *setup);

/** Takes one answer. `chain` is below the number of enabled chains. */
void rm_standby_answer(struct rm_standby *standby, uint32_t chain, struct rm_standby_answer const *answer);

/** Decides for one cycle. Cycles grow from call to call. */
enum rm_standby_act rm_standby_cycle(struct rm_standby *standby, struct rm_standby_seen const *seen);

/** Chains that are a majority of so many. */
uint32_t rm_standby_majority(uint32_t chains);

/** The smallest term of this server above `above`; 0: there is none (RM_TERM_MAX). */
uint32_t rm_standby_next_term(uint32_t server, uint32_t above);

#endif
