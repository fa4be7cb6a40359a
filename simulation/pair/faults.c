// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <math.h>

#include "figures.h"
#include "pair.h"

enum {
    CALM_CYCLES = 20,         /**< at rest before a fault */
    RESTLESS_CYCLES = 60000,  /**< without coming to rest: it never will */
    FAULT_WITHIN_CYCLES = 40, /**< of a pair at rest */
};

static uint64_t const HELD_NS = 50000000;
static double const SHORTEST_NS = 1e4, LONGEST_NS = 6e7;

static char const *const NAME[RM_PAIR_FAULT_KINDS] = {
    [RM_PAIR_KILL] = "kill",
    [RM_PAIR_STOP] = "stop",
    [RM_PAIR_CUT_TO_CHAINS] = "cut-to-chains",
    [RM_PAIR_CUT_FROM_CHAINS] = "cut-from-chains",
    [RM_PAIR_CUT_LINK] = "cut-link",
    [RM_PAIR_CUT_INSTRUMENTS] = "cut-instruments",
    [RM_PAIR_DELAY] = "delay",
    [RM_PAIR_DIVIDE] = "divide",
    [RM_PAIR_PARTITION] = "partition",
    [RM_PAIR_CLOCK] = "clock",
    [RM_PAIR_DEAF] = "deaf",
    [RM_PAIR_STANDBY_FIRST] = "standby-first",
    [RM_PAIR_POWER] = "power",
    [RM_PAIR_SWITCH] = "switch",
};

char const *rm_pair_fault_name(enum rm_pair_fault_kind kind) { return NAME[kind]; }

/* ── what happens ── */

static void pair_kill(struct rm_pair *pair, uint32_t server) {
    pair->server[server].alive = false;
    pair->server[server].stopped = pair->server[server].stops_within = false;
    rm_pair_server_drop(pair, server);
}

static void pair_revive(struct rm_pair *pair, uint32_t server) {
    if (pair->server[server].alive)
        return;
    enum rm_code const code = rm_pair_server_begin(pair, server, pair->error);
    pair->code = pair->code == RM_OK ? code : pair->code;
}

static void pair_resume(struct rm_pair *pair, uint32_t index) {
    struct rm_pair_server *const server = &pair->server[index];
    if (!server->alive)
        return;
    rm_pair_server_resume(pair, index);
    for (uint32_t i = 0; i < server->waits; ++i) {
        server->waiting[i].time_ns = pair->now_ns;
        rm_pair_post(pair, server->waiting[i]);
    }
    server->waits = 0;
}

/** Each chain hears one of the two, most of them the one or the other. */
static void pair_divide(struct rm_pair *pair, struct rm_pair_fault const *fault, bool over) {
    uint64_t key = fault->key;
    double const share = rm_pair_draw(&key);
    for (uint32_t c = 0; c < pair->config->chain_count; ++c) {
        bool const first = rm_pair_draw(&key) < share;
        pair->network.divided[0][c] = !over && !first;
        pair->network.divided[1][c] = !over && first;
    }
}

static void pair_deafen(struct rm_pair *pair, uint32_t server, bool deaf) {
    pair->network.way[server][RM_PAIR_FROM_INSTRUMENTS].cut = deaf;
    pair->network.way[server][RM_PAIR_FROM_CHAINS].cut = deaf;
}

static void pair_lose_power(struct rm_pair *pair, struct rm_pair_fault const *fault) {
    uint64_t key = fault->key;
    double const share = rm_pair_draw(&key) < 0.25 ? 1 : rm_pair_draw(&key);
    for (uint32_t c = 0; c < pair->config->chain_count; ++c)
        if (rm_pair_draw(&key) < share)
            rm_pair_chain_lose_power(pair, c);
}

static void pair_cut(struct rm_pair *pair, struct rm_pair_fault const *fault, enum rm_pair_way_kind kind, bool over) {
    pair->network.way[fault->server][kind].cut = !over;
}

static void pair_stop(struct rm_pair *pair, struct rm_pair_fault const *fault) {
    struct rm_pair_server *const server = &pair->server[fault->server];
    server->stops_within = fault->key % 2 == 0; /* in the midst of a cycle's datagrams */
    server->stop_at_chain = (uint32_t)(fault->key >> 8);
    server->stopped = !server->stops_within;
}

/** Of two lives in turn: first the standby is made useless, then the active one is killed. */
static void pair_lose_both(struct rm_pair *pair, struct rm_pair_fault const *fault, bool over) {
    uint32_t const standby = fault->server;
    if (fault->kind == RM_PAIR_DEAF)
        pair_deafen(pair, standby, !over);
    else if (over)
        pair_revive(pair, standby);
    else
        pair_kill(pair, standby);
}

void rm_pair_faults_happen(struct rm_pair *pair, uint32_t index, bool over) {
    struct rm_pair_faults *const faults = &pair->faults;
    struct rm_pair_fault *const fault = &faults->fault[index];
    fault->lasts = !over;
    switch (fault->kind) {
    case RM_PAIR_KILL:
        over ? pair_revive(pair, fault->server) : pair_kill(pair, fault->server);
        break;
    case RM_PAIR_STOP:
        over ? pair_resume(pair, fault->server) : pair_stop(pair, fault);
        break;
    case RM_PAIR_CUT_TO_CHAINS:
        pair_cut(pair, fault, RM_PAIR_TO_CHAINS, over);
        break;
    case RM_PAIR_CUT_FROM_CHAINS:
        pair_cut(pair, fault, RM_PAIR_FROM_CHAINS, over);
        break;
    case RM_PAIR_CUT_LINK:
        pair_cut(pair, fault, RM_PAIR_TO_PEER, over);
        break;
    case RM_PAIR_CUT_INSTRUMENTS:
        pair_cut(pair, fault, RM_PAIR_FROM_INSTRUMENTS, over);
        break;
    case RM_PAIR_DELAY:
        pair->network.way[fault->server][fault->key % RM_PAIR_WAYS].held_ns = over ? 0 : HELD_NS;
        break;
    case RM_PAIR_PARTITION:
        pair->network.way[0][RM_PAIR_TO_PEER].cut = pair->network.way[1][RM_PAIR_TO_PEER].cut = !over;
        pair_divide(pair, fault, over);
        break;
    case RM_PAIR_DIVIDE:
        pair_divide(pair, fault, over);
        break;
    case RM_PAIR_CLOCK:
        faults->wall_s += over ? 0 : 3600 * (rm_noise_uniform(fault->key) - 0.5);
        break;
    case RM_PAIR_DEAF:
    case RM_PAIR_STANDBY_FIRST:
        pair_lose_both(pair, fault, over);
        break;
    case RM_PAIR_POWER:
        if (!over)
            pair_lose_power(pair, fault);
        break;
    case RM_PAIR_SWITCH:
        if (!over)
            rm_pair_server_switch(pair, fault->server);
        break;
    case RM_PAIR_FAULT_KINDS:
        break;
    }
    if (!over)
        return;
    faults->over = pair->cycle;
    faults->under_way = --faults->lasting != 0;
}

/* ── when ── */

static bool pair_is_at_rest(struct rm_pair const *pair, uint32_t *active) {
    struct rm_pair_server const *const server = pair->server;
    *active = server[0].standby.role == RM_STANDBY_ACTIVE ? 0 : 1;
    if (!server[0].alive || !server[1].alive || server[*active].standby.role != RM_STANDBY_ACTIVE ||
        server[1 - *active].standby.role != RM_STANDBY_READY)
        return false;
    uint64_t const late_ns = (uint64_t)(2 * pair->period_ns);
    for (uint32_t c = 0; c < pair->config->chain_count; ++c)
        if (pair->tally.last[c].term != server[*active].standby.term ||
            pair->tally.last[c].time_ns + late_ns < pair->now_ns)
            return false;
    return true;
}

static enum rm_pair_fault_kind draw_kind(struct rm_pair_faults *faults, uint32_t wanted) {
    uint32_t left = (uint32_t)rm_pair_draw_below(&faults->key, (uint64_t)__builtin_popcount(wanted));
    for (uint32_t k = 0; k < RM_PAIR_FAULT_KINDS; ++k)
        if ((wanted >> k & 1) != 0 && left-- == 0)
            return (enum rm_pair_fault_kind)k;
    return RM_PAIR_CLOCK;
}

/** Even over the logarithm: from parts of a cycle to what lasts. */
static uint64_t draw_duration_ns(struct rm_pair_faults *faults) {
    return (uint64_t)(SHORTEST_NS * pow(LONGEST_NS / SHORTEST_NS, rm_pair_draw(&faults->key)));
}

static void pair_fault_post(struct rm_pair *pair, enum rm_pair_fault_kind kind, uint32_t server, uint64_t at_ns,
                            uint64_t lasts_ns) {
    struct rm_pair_faults *const faults = &pair->faults;
    if (faults->count == RM_PAIR_FAULTS_AT_ONCE)
        return;
    uint32_t const index = faults->count++;
    faults->fault[index] =
        (struct rm_pair_fault){.kind = kind, .server = server, .key = faults->key = rm_noise_u64(faults->key)};
    pair->tally.befell = faults->lasting++ == 0 ? kind : RM_PAIR_FAULT_KINDS;
    ++faults->done[kind];
    rm_pair_post(pair, (struct rm_pair_event){.time_ns = at_ns, .kind = RM_PAIR_FAULT, .whom = index});
    rm_pair_post(pair,
                 (struct rm_pair_event){.time_ns = at_ns + lasts_ns, .kind = RM_PAIR_FAULT, .whom = index, .what = 1});
}

/** One fault, of the active server as a rule; and now and then a second one soon. */
static void pair_faults_draw(struct rm_pair *pair, uint32_t active) {
    struct rm_pair_faults *const faults = &pair->faults;
    uint64_t const period = (uint64_t)pair->period_ns;
    uint64_t const at = pair->now_ns + rm_pair_draw_below(&faults->key, FAULT_WITHIN_CYCLES * period);
    uint64_t const lasts = draw_duration_ns(faults);
    enum rm_pair_fault_kind const kind = draw_kind(faults, pair->setup->faults);
    faults->count = faults->lasting = 0;
    faults->under_way = true;
    ++faults->rounds;
    if (kind == RM_PAIR_DEAF || kind == RM_PAIR_STANDBY_FIRST) {
        uint64_t const later = rm_pair_draw_below(&faults->key, lasts + 1);
        pair_fault_post(pair, kind, 1 - active, at, lasts);
        pair_fault_post(pair, RM_PAIR_KILL, active, at + later, draw_duration_ns(faults));
        return;
    }
    bool const other = kind != RM_PAIR_SWITCH && rm_pair_draw(&faults->key) < 0.2;
    pair_fault_post(pair, kind, other ? 1 - active : active, at, lasts);
    if (kind == RM_PAIR_SWITCH || rm_pair_draw(&faults->key) >= 0.3)
        return;
    enum rm_pair_fault_kind const second = draw_kind(faults, pair->setup->faults & ~(1u << RM_PAIR_SWITCH));
    if (second != kind && (pair->setup->faults & (1u << second)) != 0)
        pair_fault_post(pair, second, (uint32_t)rm_pair_draw_below(&faults->key, RM_PAIR_SERVERS),
                        at + rm_pair_draw_below(&faults->key, lasts + 1), draw_duration_ns(faults));
}

/** An operator has seen what happened. */
static void pair_acknowledge(struct rm_pair *pair) {
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s)
        if (pair->server[s].standby.unacknowledged)
            ++pair->server[s].acknowledged;
}

void rm_pair_faults_cycle(struct rm_pair *pair) {
    struct rm_pair_faults *const faults = &pair->faults;
    uint32_t active;
    if (faults->under_way || pair->setup->faults == 0)
        return;
    bool const rests = pair_is_at_rest(pair, &active);
    if (!rests && pair->cycle - faults->over > RESTLESS_CYCLES) {
        ++faults->unsettled;
        faults->over = pair->cycle;
        rm_pair_say_unsettled(pair);
    }
    if (pair->cycle > faults->over + CALM_CYCLES)
        pair_acknowledge(pair);
    if (!rests || faults->rests == 0)
        faults->rests = rests ? pair->cycle : 0;
    if (rests && pair->cycle > faults->rests + CALM_CYCLES && faults->rounds < pair->setup->fault_count) {
        faults->rests = 0;
        pair_faults_draw(pair, active);
    }
}
