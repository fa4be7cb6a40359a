// SPDX-License-Identifier: Apache-2.0
/** Two cores of standby.h, chains by the rules of docs/setpoint-format.md, and what lies between: for tests.
 *
 * Time goes in steps, four to a cycle. A server's cycle is due on the first step of it; a query leaves on the second.
 * Server 2 may be late by a step.
 * Datagrams take the steps that `delay` says, and can be lost by direction, server and chain. Each chain answers both
 * servers. The link gives each server its orders: a copy of the peer's state as it was `link_cycles` ago. */
#ifndef RM_STANDBY_TEST_PAIR_H
#define RM_STANDBY_TEST_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "standby.h"

enum {
    PAIR_STEPS = 4,
    PAIR_CHAINS_MAX = 9,
    PAIR_FLIGHTS_MAX = 16384,
    /** Turns of a cycle. */
    PAIR_PERIOD = 12,
    /** First cycle, so that nothing depends on small numbers. */
    PAIR_FIRST_CYCLE = 1000,
};

enum pair_direction { PAIR_TO_CHAIN, PAIR_TO_SERVER };

/** A datagram under way, or an answer. */
struct pair_flight {
    uint64_t due;
    enum pair_direction direction;
    uint32_t server, chain;
    bool query;
    uint64_t cycle, sequence;
    uint32_t term, instance;
    struct rm_standby_answer told;
};

struct pair_chain {
    uint32_t term, instance, server;
    uint64_t sequence;
    bool obeys;
    /** Steps. 0: never. */
    uint64_t obeyed_at, listens_until;
    /** Server and cycle of the setpoint obeyed last. */
    uint64_t obeyed_cycle;
    /** Newest step in which it had been silent for N cycles. */
    uint64_t silent_at;
    uint64_t obeyed_count;
};

struct pair_server {
    struct rm_standby core;
    enum rm_standby_act act;
    bool dead, deaf, hold;
    /** It does nothing before this step; what comes meanwhile waits. */
    uint64_t sleeps_until;
    /** It went to sleep between its decision and its datagrams, of this cycle. 0: it did not. */
    uint64_t interrupted;
    uint32_t instance, saved_term;
    bool saved_unacknowledged;
    uint64_t acknowledged, switch_turn, beat;
    bool synchronised;
    uint64_t synchronised_turn, joined;
    uint64_t sent, asked, takeovers, begins;
};

/** What the peer's link process heard of a server in a cycle. */
struct pair_said {
    enum rm_standby_role role;
    uint32_t term;
    bool unacknowledged, alive;
    uint64_t turn;
};

enum {
    PAIR_LINK_CYCLES_MAX = 8,
    /** A server of which nothing came for so long is not heard. */
    PAIR_LINK_TIMEOUT_TURNS = 8 * PAIR_PERIOD,
};

struct pair {
    uint32_t chains, missed, begin, timeout_cycles;
    uint64_t step;
    struct pair_server server[2];
    struct pair_chain chain[PAIR_CHAINS_MAX];
    /** Per direction, server and chain: lost of 256; steps on the way, and up to so many more by chance. */
    uint32_t lost[2][2][PAIR_CHAINS_MAX];
    uint32_t delay[2][2][PAIR_CHAINS_MAX], jitter;
    /** Server 2's clock is behind that of server 1 by so many steps, 0 or 1. */
    uint32_t late_steps;
    bool link_cut;
    /** The servers are of different builds. */
    bool planned_only;
    uint32_t link_cycles, join_cycles;
    struct pair_said said[2][PAIR_LINK_CYCLES_MAX];
    uint64_t random;
    struct pair_flight flight[PAIR_FLIGHTS_MAX];
    uint32_t flights;
    /** Cycles in a row in which the chains obeyed different servers, and the longest such row. */
    uint64_t divided, divided_max;
    uint64_t two_masters, false_swaps;
};

/** `pair` is large: static or from the heap. */
void pair_make(struct pair *pair, uint32_t chains, uint32_t missed, uint64_t seed);
void pair_step(struct pair *pair);
void pair_cycles(struct pair *pair, uint64_t cycles);

/** The cycle that is under way. */
uint64_t pair_cycle(struct pair const *pair);

/** The server that sends, 0 or 1; 2: none; 3: both. */
uint32_t pair_active(struct pair const *pair);

/** Both servers run until `server` is ACTIVE and the other one READY. False when that takes too long. */
bool pair_settle(struct pair *pair, uint32_t server);

/** It begins: server A is ACTIVE and server B is READY. */
void make_settled(struct pair *pair, uint32_t chains, uint32_t missed);

/** Cycles from the newest setpoint of `server` that chain 0 obeys from now on to the first of another. */
uint64_t cycles_to_successor(struct pair *pair, uint32_t server);

/** No chain obeyed a lower term, and no take-over came without N cycles of silence. */
void check_peace(struct pair const *pair);

void pair_cut_all(struct pair *pair, enum pair_direction direction, uint32_t server, bool cut);
void pair_cut(struct pair *pair, enum pair_direction direction, uint32_t server, uint32_t chain, bool cut);
void pair_kill(struct pair *pair, uint32_t server);
void pair_start(struct pair *pair, uint32_t server, uint32_t term);
void pair_power_cycle(struct pair *pair, uint32_t chain);
void pair_switch(struct pair *pair, uint64_t turn);
void pair_acknowledge(struct pair *pair);
uint64_t pair_random(struct pair *pair, uint64_t below);

#endif
