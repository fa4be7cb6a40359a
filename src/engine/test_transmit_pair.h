// SPDX-License-Identifier: Apache-2.0
/** Two transmit roles and one set of chains, in one process and in the test's hands.
 *
 * Chains keep the rules of docs/setpoint-format.md, answer to both servers, and judge every datagram that they obey.
 * The link between the servers brings each cycle what the other one sent and is, at once, until it is cut. Each server
 * has one application that owns all supplies, and both applications want the same. */
#ifndef RM_ENGINE_TEST_TRANSMIT_PAIR_H
#define RM_ENGINE_TEST_TRANSMIT_PAIR_H

#include "engine/test_transmit_rig.h"

enum { PAIR_CHAINS = 5, PAIR_SUPPLIES = 12, PAIR_MISSED = 3, PAIR_BEGIN = 40, PAIR_GRANT = 9, PAIR_LINK_VECTORS = 4 };

/** A step of one slew, as f32 has it. */
#define PAIR_MOST_SLEWS 1.001f

/** What was sent, on its way over the link; `due_tsc` 0: nothing. */
struct pair_vector {
    uint64_t due_tsc;
    struct rm_setpoint_reading reading;
    double values[PAIR_CHAINS * PAIR_SUPPLIES];
};

/** One chain. */
struct pair_chain {
    uint32_t term, instance;
    /** TSC until which it listens, and at which it last obeyed; 0: never. */
    uint64_t listens_until, obeyed_tsc;
    rm_turn obeyed_turn;
    /** It says that this was long ago. */
    bool is_silent;
    float stands[PAIR_SUPPLIES];
    /** Setpoints that it obeyed of each server. */
    uint32_t obeyed[2];
    /** Seen of the obeyed ones: cycles that were missed or came twice between two of them, the longest gap, and the
     * largest step in slews per cycle between. */
    uint32_t missed, doubled, longest_gap;
    float steepest;
    bool beyond;
    /** It obeyed a term below one that it obeyed before, or two servers under one. */
    bool two_masters;
};

struct pair {
    struct transmit_rig *server[2];
    struct pair_chain chain[PAIR_CHAINS];
    struct rm_standby_orders *orders[2];
    struct rm_standby_orders_reading told[2];
    /** Copies on this server's side of what the other one published. */
    struct rm_setpoints *sent[2], *targets[2];
    struct rm_setpoints_place sent_place[2], targets_place[2];
    /** Its process does not run. */
    bool asleep[2];
    /** It will never run again. */
    bool dead[2];
    /** Datagrams to a chain, answers of a chain to the server, or all answers to it are lost. */
    bool deaf_chain[2][PAIR_CHAINS], mute_chain[2][PAIR_CHAINS], deaf[2];
    bool link_cut;
    /** Answers go to the server that is answered alone: they are no pair. */
    bool unmirrored;
    /** Whose datagram is delivered. */
    uint32_t sender;
    /** Ticks that a vector takes from one side to the other, less than LINK_VECTORS - 1 cycles. */
    uint64_t link_ticks;
    struct pair_vector way[2][PAIR_LINK_VECTORS];
    /** When the newest query came, in ticks after its cycle's time. */
    uint64_t query_ticks[2];
    /** Both applications want this, and by how much it changes per cycle. */
    double wanted, step;
    uint32_t datagrams[2], queries[2];
};

/** Makes a pair whose supplies belong to applications, or with `by_hand` to the operator. */
struct pair *pair_make(bool by_hand);

/** Makes one server that is alone, whose disk has a highest term. */
struct pair *pair_make_alone(uint32_t term);
void pair_free(struct pair *pair);

/** Lets time pass; the applications commit a vector in each cycle. */
void pair_pass_cycles(struct pair *pair, uint32_t cycles);

/** Passes cycles until server 1 sends, the other one is ready, and all chains obey. */
void pair_settle(struct pair *pair);

/** The process beside a server ends. */
void pair_lose_process(struct pair *pair, uint32_t server);

enum rm_standby_role pair_role(struct pair const *pair, uint32_t server);
struct rm_standby_state_reading pair_state(struct pair const *pair, uint32_t server);
uint64_t pair_count(struct pair const *pair, uint32_t server, unsigned counter);

/** A settled pair whose supplies move, by `step` per cycle. */
struct pair *pair_make_moving(double step);

/** Forgets what the chains have judged so far. */
void pair_judge_anew(struct pair *pair);

/** Whether no chain obeyed a setpoint beyond the limits, nor a step longer than a slew per cycle; f32 rounds them. */
bool pair_is_smooth(struct pair const *pair);

#endif
