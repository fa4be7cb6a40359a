// SPDX-License-Identifier: Apache-2.0
#include "test_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "votes.h"

uint64_t pair_random(struct pair *pair, uint64_t below) {
    pair->random ^= pair->random << 13;
    pair->random ^= pair->random >> 7;
    pair->random ^= pair->random << 17;
    return pair->random % below;
}

uint64_t pair_cycle(struct pair const *pair) { return pair->step / PAIR_STEPS; }

static uint64_t pair_turn(uint64_t cycle) { return cycle * PAIR_PERIOD; }

/* ── the network ── */

static void pair_fly(struct pair *pair, struct pair_flight flight) {
    enum pair_direction const d = flight.direction;
    if (pair_random(pair, 256) < pair->lost[d][flight.server][flight.chain])
        return;
    assert_true(pair->flights < PAIR_FLIGHTS_MAX);
    flight.due = pair->step + pair->delay[d][flight.server][flight.chain] +
                 (pair->jitter == 0 ? 0 : pair_random(pair, pair->jitter + 1));
    pair->flight[pair->flights++] = flight;
}

void pair_cut(struct pair *pair, enum pair_direction direction, uint32_t server, uint32_t chain, bool cut) {
    pair->lost[direction][server][chain] = cut ? 256 : 0;
}

void pair_cut_all(struct pair *pair, enum pair_direction direction, uint32_t server, bool cut) {
    for (uint32_t c = 0; c < pair->chains; ++c)
        pair_cut(pair, direction, server, c, cut);
}

/* ── a chain ── */

static uint64_t chain_silent_steps(struct pair const *pair, struct pair_chain const *chain) {
    return chain->obeyed_at == 0 ? UINT64_MAX : pair->step - chain->obeyed_at;
}

static void chain_obey(struct pair *pair, struct pair_chain *chain, struct pair_flight const *flight) {
    if (chain->obeys && chain->server != flight->server && flight->term < chain->term)
        ++pair->two_masters;
    chain->obeys = true;
    chain->server = flight->server;
    chain->sequence = flight->sequence;
    chain->obeyed_at = pair->step;
    chain->obeyed_cycle = flight->cycle;
    ++chain->obeyed_count;
}

/** A higher term is the highest from now on. */
static void chain_note_term(struct pair_chain *chain, struct pair_flight const *flight) {
    if (flight->term <= chain->term)
        return;
    chain->term = flight->term;
    chain->instance = flight->instance;
    chain->obeys = false;
}

/** Setpoints come. False: they are dropped unanswered. */
static bool chain_take(struct pair *pair, struct pair_chain *chain, struct pair_flight const *flight, bool *obeyed) {
    *obeyed = false;
    if (flight->term < chain->term || (flight->term == chain->term && flight->instance != chain->instance))
        return true;
    chain_note_term(chain, flight);
    if (pair->step < chain->listens_until)
        return true;
    if (chain->obeys && flight->sequence <= chain->sequence)
        return false;
    chain_obey(pair, chain, flight);
    *obeyed = true;
    return true;
}

static void chain_come(struct pair *pair, struct pair_flight const *flight) {
    struct pair_chain *const chain = &pair->chain[flight->chain];
    bool obeyed = false;
    uint64_t const silent = chain_silent_steps(pair, chain) / PAIR_STEPS;
    if (flight->query && pair->step < chain->listens_until)
        chain_note_term(chain, flight);
    if (!flight->query && !chain_take(pair, chain, flight, &obeyed))
        return;
    struct pair_flight answer = {.direction = PAIR_TO_SERVER, .chain = flight->chain, .cycle = flight->cycle};
    answer.told = (struct rm_standby_answer){
        .cycle = flight->cycle,
        .term = chain->term,
        .obeyed = obeyed,
        .asked = flight->query,
        .silent_cycles = silent < 6000 ? (uint32_t)silent : UINT32_MAX,
        .listening = pair->step < chain->listens_until,
    };
    for (answer.server = 0; answer.server < 2; ++answer.server)
        pair_fly(pair, answer);
}

void pair_power_cycle(struct pair *pair, uint32_t chain) {
    pair->chain[chain] = (struct pair_chain){
        .silent_at = pair->chain[chain].silent_at,
        .listens_until = pair->step + (uint64_t)PAIR_STEPS * pair->timeout_cycles,
    };
}

/* ── a server ── */

void pair_start(struct pair *pair, uint32_t server, uint32_t term) {
    struct pair_server *const started = &pair->server[server];
    struct rm_standby_setup const setup = {.server = server + 1,
                                           .chains = pair->chains,
                                           .missed_cycles = pair->missed,
                                           .begin_cycles = pair->begin,
                                           .term = term,
                                           .unacknowledged = started->saved_unacknowledged};
    rm_standby_make(&started->core, &setup);
    started->dead = started->synchronised = false;
    started->sleeps_until = started->interrupted = started->joined = 0;
    started->instance = (uint32_t)pair_random(pair, UINT32_MAX - 1) + 1;
    started->switch_turn = RM_TURN_NONE;
}

void pair_kill(struct pair *pair, uint32_t server) {
    pair->server[server].dead = true;
    pair->server[server].saved_term = pair->server[server].core.highest_term;
    pair->server[server].saved_unacknowledged = pair->server[server].core.unacknowledged;
}

static void server_send(struct pair *pair, uint32_t index, uint64_t cycle, bool query) {
    struct pair_server *const server = &pair->server[index];
    struct pair_flight flight = {.direction = PAIR_TO_CHAIN,
                                 .server = index,
                                 .query = query,
                                 .cycle = cycle,
                                 .sequence = ++server->sent,
                                 .term = server->core.term,
                                 .instance = server->instance};
    server->asked += query;
    for (flight.chain = 0; flight.chain < pair->chains; ++flight.chain)
        pair_fly(pair, flight);
}

/** What the link says of the peer: as it was some cycles ago, and nothing where it is cut or the peer is dead. */
static struct pair_said pair_heard_of(struct pair const *pair, uint32_t peer) {
    uint64_t const cycle = pair_cycle(pair) - pair->link_cycles;
    struct pair_said said = pair->said[peer][cycle % PAIR_LINK_CYCLES_MAX];
    said.alive = said.alive && !pair->link_cut;
    return said;
}

/** The copy of the peer's state follows while the link lives and the peer sends; it stays as it is when the peer stops. */
static void server_follow(struct pair *pair, struct pair_server *server, struct pair_said const *peer) {
    bool const follows = peer->alive && peer->role == RM_STANDBY_ACTIVE && server->core.role != RM_STANDBY_ACTIVE;
    if (follows && ++server->joined >= pair->join_cycles) {
        server->synchronised = true;
        server->synchronised_turn = peer->turn;
    } else if (!peer->alive || server->core.role == RM_STANDBY_ACTIVE) {
        server->synchronised = false;
        server->joined = 0;
    }
}

static struct rm_standby_orders_reading server_orders(struct pair *pair, uint32_t index) {
    struct pair_server *const server = &pair->server[index];
    struct pair_said const peer = pair_heard_of(pair, 1 - index);
    server_follow(pair, server, &peer);
    return (struct rm_standby_orders_reading){
        .synchronised = server->synchronised,
        .synchronised_turn = server->synchronised_turn,
        .hold = server->hold,
        .acknowledged = server->acknowledged,
        .switch_turn = server->switch_turn,
        .peer_role = peer.alive ? (uint64_t)peer.role + 1 : 0,
        .peer_term = peer.alive ? peer.term : 0,
        .peer_turn = peer.turn,
        .peer_unacknowledged = peer.alive && peer.unacknowledged,
        .beat = ++server->beat,
        .planned_only = pair->planned_only && peer.alive,
    };
}

/** The truth behind a take-over: a majority had been silent for N cycles within the last 2 N + 3. */
static bool pair_was_silent(struct pair const *pair) {
    uint32_t silent = 0;
    for (uint32_t c = 0; c < pair->chains; ++c)
        silent += pair->chain[c].silent_at + PAIR_STEPS * (2ULL * pair->missed + 3) >= pair->step;
    return silent >= rm_standby_majority(pair->chains);
}

static void server_due(struct pair *pair, uint32_t index) {
    struct pair_server *const server = &pair->server[index];
    enum rm_standby_role const role = server->core.role;
    struct rm_standby_seen const seen = {
        .cycle = pair_cycle(pair),
        .turn = pair_turn(pair_cycle(pair)),
        .ran = true,
        .hears = !server->deaf,
        .orders = server_orders(pair, index),
    };
    server->act = rm_standby_cycle(&server->core, &seen);
    bool const began = role != RM_STANDBY_ACTIVE && server->core.role == RM_STANDBY_ACTIVE;
    if (began && server->core.reason == RM_STANDBY_TOOK_OVER) {
        ++server->takeovers;
        pair->false_swaps += !pair_was_silent(pair);
    }
    server->begins += began && server->core.reason == RM_STANDBY_BEGAN;
    if (server->act == RM_STANDBY_SENDS)
        server_send(pair, index, seen.cycle, false);
}

static void server_step(struct pair *pair, uint32_t index) {
    struct pair_server *const server = &pair->server[index];
    struct pair_said *const said = &pair->said[index][pair_cycle(pair) % PAIR_LINK_CYCLES_MAX];
    uint64_t const phase = index == 1 ? pair->late_steps : 0;
    bool const due = pair->step % PAIR_STEPS == phase, asleep = pair->step < server->sleeps_until;
    if (server->dead || asleep) {
        if (due) /* the link says for a while what it heard last */
            *said = pair->said[index][(pair_cycle(pair) - 1) % PAIR_LINK_CYCLES_MAX];
        if (due && said->turn + PAIR_LINK_TIMEOUT_TURNS < pair_turn(pair_cycle(pair)))
            said->alive = false;
        return;
    }
    if (server->interrupted != 0) {
        server_send(pair, index, server->interrupted, false);
        server->interrupted = 0;
    }
    if (due)
        server_due(pair, index);
    else if (pair->step % PAIR_STEPS == phase + 1 && server->act == RM_STANDBY_ASKS &&
             server->core.cycle == pair_cycle(pair))
        server_send(pair, index, pair_cycle(pair), true);
    if (due)
        *said = (struct pair_said){.role = server->core.role,
                                   .term = server->core.term,
                                   .unacknowledged = server->core.unacknowledged,
                                   .alive = true,
                                   .turn = pair_turn(pair_cycle(pair))};
}

/* ── the pair ── */

static void pair_deliver(struct pair *pair) {
    for (uint32_t f = 0; f < pair->flights;) {
        struct pair_flight const flight = pair->flight[f];
        struct pair_server *const server = &pair->server[flight.server];
        bool const to_server = flight.direction == PAIR_TO_SERVER;
        if (flight.due > pair->step || (to_server && !server->dead && pair->step < server->sleeps_until)) {
            ++f;
            continue;
        }
        memmove(&pair->flight[f], &pair->flight[f + 1], (--pair->flights - f) * sizeof pair->flight[0]);
        if (!to_server)
            chain_come(pair, &flight);
        else if (!server->dead)
            rm_standby_answer(&server->core, flight.chain, &flight.told);
    }
}

static void pair_judge(struct pair *pair) {
    bool obey[2] = {false, false};
    for (uint32_t c = 0; c < pair->chains; ++c) {
        struct pair_chain *const chain = &pair->chain[c];
        if (chain_silent_steps(pair, chain) >= (uint64_t)PAIR_STEPS * pair->missed)
            chain->silent_at = pair->step;
        if (chain->obeyed_at != 0 && pair->step - chain->obeyed_at < PAIR_STEPS)
            obey[chain->server] = true;
    }
    if (pair->step % PAIR_STEPS != PAIR_STEPS - 1)
        return;
    pair->divided = obey[0] && obey[1] ? pair->divided + 1 : 0;
    if (pair->divided > pair->divided_max)
        pair->divided_max = pair->divided;
}

void pair_step(struct pair *pair) {
    ++pair->step;
    pair_deliver(pair);
    server_step(pair, 0);
    server_step(pair, 1);
    pair_judge(pair);
}

void pair_cycles(struct pair *pair, uint64_t cycles) {
    for (uint64_t s = 0; s < cycles * PAIR_STEPS; ++s)
        pair_step(pair);
}

void pair_make(struct pair *pair, uint32_t chains, uint32_t missed, uint64_t seed) {
    memset(pair, 0, sizeof *pair);
    pair->chains = chains;
    pair->missed = missed;
    pair->begin = 10 * missed;
    pair->timeout_cycles = missed + 3;
    pair->random = seed * 2654435761U + 88172645463325252ULL;
    pair->step = (uint64_t)PAIR_STEPS * PAIR_FIRST_CYCLE - 1;
    pair->link_cycles = 1;
    pair->join_cycles = 5;
    for (uint32_t s = 0; s < 2; ++s) {
        for (uint32_t c = 0; c < chains; ++c)
            pair->delay[PAIR_TO_CHAIN][s][c] = pair->delay[PAIR_TO_SERVER][s][c] = 1;
        pair_start(pair, s, 0);
    }
}

uint32_t pair_active(struct pair const *pair) {
    bool const first = !pair->server[0].dead && pair->server[0].core.role == RM_STANDBY_ACTIVE;
    bool const second = !pair->server[1].dead && pair->server[1].core.role == RM_STANDBY_ACTIVE;
    if (first && second)
        return 3;
    return first ? 0 : second ? 1 : 2;
}

bool pair_settle(struct pair *pair, uint32_t server) {
    for (uint32_t c = 0; c < 100 * pair->missed; ++c) {
        if (pair_active(pair) == server && pair->server[1 - server].core.role == RM_STANDBY_READY)
            return true;
        pair_cycles(pair, 1);
    }
    return false;
}

void pair_switch(struct pair *pair, uint64_t turn) { pair->server[0].switch_turn = pair->server[1].switch_turn = turn; }

void pair_acknowledge(struct pair *pair) {
    ++pair->server[0].acknowledged;
    ++pair->server[1].acknowledged;
}

void make_settled(struct pair *pair, uint32_t chains, uint32_t missed) {
    pair_make(pair, chains, missed, 1);
    assert_true(pair_settle(pair, 0));
    pair_cycles(pair, 3ULL * missed);
}

uint64_t cycles_to_successor(struct pair *pair, uint32_t server) {
    uint64_t last = pair->chain[0].obeyed_cycle;
    for (uint32_t s = 0; s < 400 * pair->missed && pair->chain[0].server == server; ++s) {
        last = pair->chain[0].obeyed_cycle;
        pair_step(pair);
    }
    return pair->chain[0].obeyed_cycle - last;
}

void check_peace(struct pair const *pair) {
    assert_int_equal(pair->two_masters, 0);
    assert_int_equal(pair->false_swaps, 0);
}
