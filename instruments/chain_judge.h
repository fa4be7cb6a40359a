// SPDX-License-Identifier: Apache-2.0
/** The judge of what chains obey. It stands behind the chains and hears of each setpoint datagram that one has obeyed,
 * whichever server sent it. It shares nothing with the rules by which a chain refuses (chain.h), nor with the guard that should
 * keep the limits: so it finds what these get wrong. Pure: times come from the caller.
 *
 *     rm_chain_judge_new(&setup, &judge, &error);
 *     rm_chain_judge_obeyed(judge, chain, &obeyed);    each time that a chain has obeyed setpoints
 *     rm_chain_judge_moved(judge, chain);              its supplies went elsewhere by themselves: to safe values
 *     rm_chain_judge_was_off(judge, chain);            it was without power
 *
 * ## What it finds of one chain
 * It counts this in the chain's own counters, of the set `supply`, where programs see it live:
 *
 *     two_masters      a datagram was obeyed after one of a higher term, or of another instance under the same term
 *     over_limit       a setpoint beyond the limits of its supply, or that is no number
 *     over_slew        a setpoint further from the last one than the steps between them allow
 *     cycles_missed    cycles between two obeyed datagrams
 *     cycles_doubled   datagrams of another instance for a cycle that was there already
 *     longest_gap      cycles from one obeyed datagram to the next, the longest; 1: none was missed
 *
 * Steps: from one datagram to the next of the same term there are as many as their sequence numbers are apart, for a
 * lost datagram is a step that was made. From one term to another there are as many as there are cycles between them,
 * and `swap_steps` at most: a server that takes over begins within one slew of what the other may have sent last. After
 * a chain was without power there is one: its supplies stand where they were, and go on from there. A supply that has
 * tripped is led by its readback, so its steps are not judged.
 *
 * ## What it finds of all chains
 * In struct rm_chain_verdict:
 *
 *     two_instances    terms under which two servers were obeyed, by one chain or by two
 *     divided          datagrams of a lower term that a chain obeyed later than `divided_cycles` after a chain had
 *                      obeyed the highest: for so long a part of the beam was one server's and a part the other's
 *     longest_divided_cycles   the longest such time, those within `divided_cycles` included
 *     swaps            how often a majority of the chains came to obey another server. Not counted: one that takes a
 *                      new term itself, and the very first
 *     swap_cycles      of the newest swap: from the last cycle that any chain obeyed of the server before, to the first
 *                      of the new one; 1: none was missed. `longest_swap_cycles` is the longest
 *
 * Cycles are counted by turns, so a host that stalls makes them no longer; times are used only for how long chains were
 * divided. Turns that are set back, as by a new turn-counter epoch, begin anew.
 */
#ifndef RM_INSTRUMENTS_CHAIN_JUDGE_H
#define RM_INSTRUMENTS_CHAIN_JUDGE_H

#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>

/** What one supply may be sent, in the unit of its setpoint. */
struct rm_chain_judge_limits {
    double low, high;
    /** Most per cycle; INFINITY: any. */
    double slew;
};

struct rm_chain_judge_setup {
    uint32_t chains;
    /** [chain] number of its supplies. */
    uint32_t const *supplies;
    /** [supply of all chains, in their order]; copied. */
    struct rm_chain_judge_limits const *limits;
    /** [chain] counters of the set `supply`; the blocks stay in use. */
    rm_counter *const *counters;
    /** Of a cycle: 1 or more turns, and its duration. */
    uint64_t period_turns;
    double cycle_s;
    /** Steps that a chain's setpoints may make from one term to the next, at most. */
    uint32_t swap_steps;
    /** For so long chains may be divided. */
    double divided_cycles;
};

/** What a chain has obeyed. */
struct rm_chain_obeyed {
    /** Seconds, from any beginning. */
    double time;
    rm_turn turn;
    uint64_t sequence;
    uint32_t instance;
    uint16_t term;
    /** [supply of the chain]. */
    float const *values;
    /** A bit per supply: it has tripped. */
    uint64_t tripped;
};

/** What it has found of all chains. */
struct rm_chain_verdict {
    uint64_t two_instances;
    uint64_t divided;
    double longest_divided_cycles;
    uint64_t swaps;
    /** 0: there was none. */
    uint64_t swap_cycles, longest_swap_cycles;
};

/** One for all chains of a ring. */
struct rm_chain_judge;

/** RM_E_NO_SPACE. */
enum rm_code rm_chain_judge_new(struct rm_chain_judge_setup const *setup, struct rm_chain_judge **judge,
                                struct rm_error *error);
void rm_chain_judge_free(struct rm_chain_judge *judge);

/** A chain has obeyed setpoints. */
void rm_chain_judge_obeyed(struct rm_chain_judge *judge, uint32_t chain, struct rm_chain_obeyed const *obeyed);

/** The supplies of a chain went elsewhere by themselves: its next setpoints make no step. */
void rm_chain_judge_moved(struct rm_chain_judge *judge, uint32_t chain);

/** A chain was without power: nor does its next datagram end a gap. Whom it obeyed before still counts: a chain that
 * comes back to a server that was deposed has two masters. */
void rm_chain_judge_was_off(struct rm_chain_judge *judge, uint32_t chain);

struct rm_chain_verdict const *rm_chain_judge_verdict(struct rm_chain_judge const *judge);

#endif
