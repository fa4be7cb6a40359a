// SPDX-License-Identifier: Apache-2.0
/* A server's cycle: follow or lead, decide, send or ask or be quiet, and say so over the link. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "pair.h"
#include "standby/begin.h"

/* ── following ── */

static struct rm_pair_said *pair_said_of(struct rm_pair_server const *server, uint64_t cycle) {
    return &server->said[cycle % RM_PAIR_SAID_CYCLES];
}

static struct rm_pair_server *pair_peer_of(struct rm_pair *pair, struct rm_pair_server const *server) {
    return &pair->server[1 - server->index];
}

struct rm_pair_said const *rm_pair_server_word_of(struct rm_pair *pair, struct rm_pair_server const *server,
                                                  uint64_t cycle) {
    struct rm_pair_said const *const said = pair_said_of(pair_peer_of(pair, server), cycle);
    bool const has_come = server->come[cycle % RM_PAIR_SAID_CYCLES] == cycle;
    return has_come && said->cycle == cycle && said->life == server->peer_life ? said : NULL;
}

static void pair_server_follow_cycle(struct rm_pair *pair, struct rm_pair_server *server,
                                     struct rm_pair_said const *said) {
    for (uint32_t s = 0; s < pair->config->supply_count; ++s) {
        double limit;
        server->sent[s] = said->sent[s];
        if (pair->config->supply[s].application == 0 && isfinite(said->target[s]) &&
            rm_guard_targets(server->guard)[s] != said->target[s])
            (void)rm_guard_put(server->guard, s, said->target[s], rm_pair_turn(pair, said->cycle), &limit);
    }
    server->sent_cycle = said->cycle;
}

/** Setpoints are where the peer's were, and go no further by themselves. */
static void pair_server_stay(struct rm_pair const *pair, struct rm_pair_server *server) {
    for (uint32_t s = 0; s < pair->config->supply_count; ++s) {
        double const sent = (double)server->sent[s];
        if (!isfinite(sent))
            continue;
        if (server->stands[s])
            rm_guard_follow(server->guard, s, sent);
        else
            rm_guard_join(server->guard, s, sent);
        server->stands[s] = true;
    }
}

/** The steps of the application, as far as all that they need has come. */
static void pair_server_follow_steps(struct rm_pair *pair, struct rm_pair_server *server) {
    if (server->standby.role != RM_STANDBY_ACTIVE && server->stepping.program != NULL)
        server->next_step = rm_pair_stepping_follow(pair, server, server->peer_cycle + 1);
}

/** Another life of the peer: what it says begins anew. */
static void pair_server_meet(struct rm_pair_server *server, uint64_t life) {
    server->peer_life = life;
    server->peer_cycle = server->next_step = 0;
    server->stepping.needs_copy = server->stepping.has_begun;
}

void rm_pair_server_word(struct rm_pair *pair, uint32_t index, uint64_t cycle, uint64_t life) {
    struct rm_pair_server *const server = &pair->server[index];
    struct rm_pair_said const *const said = pair_said_of(pair_peer_of(pair, server), cycle);
    if (said->cycle != cycle || said->life != life || life < server->peer_life)
        return; /* it was so late that it is no longer known */
    if (life > server->peer_life)
        pair_server_meet(server, life);
    if (server->peer_cycle == 0)
        server->peer_first = cycle;
    server->come[cycle % RM_PAIR_SAID_CYCLES] = cycle;
    server->peer_come = pair->cycle;
    if (cycle > server->peer_cycle) {
        server->peer_cycle = cycle;
        /* Where it was the last that chains obeyed, its own setpoints are the newest. */
        if (server->standby.role != RM_STANDBY_ACTIVE && !server->standby.was_last && said->role == RM_STANDBY_ACTIVE)
            pair_server_follow_cycle(pair, server, said);
    }
    /* The active one knows of a switch first. */
    if (server->standby.role != RM_STANDBY_ACTIVE && said->switch_turn != RM_TURN_NONE &&
        said->switch_turn > rm_pair_turn(pair, server->cycle))
        server->switch_turn = said->switch_turn;
    pair_server_follow_steps(pair, server);
}

void rm_pair_server_copy(struct rm_pair *pair, uint32_t index, uint64_t cycle, uint64_t life) {
    struct rm_pair_server *const server = &pair->server[index];
    struct rm_pair_copy *const copy = &pair_peer_of(pair, server)->stepping.copy;
    if (server->standby.role == RM_STANDBY_ACTIVE || copy->since != cycle || copy->life != life ||
        life != server->peer_life || rm_pair_turn(pair, cycle) < server->stepping.turn)
        return;
    server->next_step = rm_pair_stepping_restore(pair, server, copy);
    pair_server_follow_steps(pair, server);
}

/* ── what its link tells ── */

static struct rm_standby_orders_reading pair_server_orders(struct rm_pair *pair, struct rm_pair_server *server) {
    struct rm_pair_said const *const said = rm_pair_server_word_of(pair, server, server->peer_cycle);
    bool const lost = said == NULL || pair->cycle - server->peer_come > RM_PAIR_LINK_LOST_CYCLES;
    bool const steps =
        server->stepping.program == NULL ||
        (server->stepping.has_begun && !server->stepping.needs_copy && server->next_step + 2 > server->peer_cycle);
    bool const follows = !lost && said->role == RM_STANDBY_ACTIVE && server->sent_cycle == server->peer_cycle &&
                         server->peer_cycle + pair->setup->missed_cycles >= server->cycle && steps;
    struct rm_standby_orders_reading orders = {
        .synchronised = follows,
        .synchronised_turn = follows ? rm_pair_turn(pair, server->peer_cycle) : 0,
        .acknowledged = server->acknowledged,
        .switch_turn = server->switch_turn,
        .beat = server->cycle,
    };
    if (lost)
        return orders;
    orders.peer_unacknowledged = said->unacknowledged;
    orders.peer_role = (uint64_t)said->role + 1;
    orders.peer_term = said->term;
    orders.peer_turn = rm_pair_turn(pair, said->cycle);
    return orders;
}

/** Says of its cycle what it is, and what it sent; and again what the peer lacks. */
static void pair_server_say(struct rm_pair *pair, struct rm_pair_server *server) {
    enum { AGAIN = 8 };
    struct rm_pair_said *const said = pair_said_of(server, server->cycle);
    size_t const supplies = pair->config->supply_count;
    struct rm_pair_said const words = {
        .cycle = server->cycle,
        .life = server->life,
        .role = server->standby.role,
        .term = server->standby.term,
        .unacknowledged = server->standby.unacknowledged,
        .switch_turn = server->switch_turn,
        .lacks = server->next_step != 0 && server->next_step <= server->peer_cycle ? server->next_step : 0,
        .needs_copy = server->stepping.needs_copy,
        .sent = said->sent,
        .target = said->target,
    };
    *said = words;
    memcpy(said->sent, server->sent, supplies * sizeof *said->sent);
    memcpy(said->target, rm_guard_targets(server->guard), supplies * sizeof *said->target);
    struct rm_pair_said const *const peer = rm_pair_server_word_of(pair, server, server->peer_cycle);
    if (peer != NULL && peer->needs_copy && server->standby.role == RM_STANDBY_ACTIVE)
        rm_pair_stepping_copy(pair, server);
    uint64_t const lacks = peer != NULL ? peer->lacks : 0;
    for (uint64_t i = 0; i <= AGAIN; ++i) {
        uint64_t const cycle = i == 0 ? server->cycle : lacks + i - 1;
        uint64_t at;
        if ((i != 0 && (lacks == 0 || cycle >= server->cycle)) || pair_said_of(server, cycle)->cycle != cycle ||
            !rm_pair_network_pass(&pair->network, server->index, RM_PAIR_TO_PEER, RM_PAIR_ALL_CHAINS, pair->now_ns,
                                  &at))
            continue;
        rm_pair_post(pair, (struct rm_pair_event){.time_ns = at,
                                                  .kind = RM_PAIR_WORD,
                                                  .whom = 1 - server->index,
                                                  .what = (uint32_t)server->life,
                                                  .cycle = cycle});
    }
}

void rm_pair_server_switch(struct rm_pair *pair, uint32_t index) {
    enum { AHEAD_CYCLES = 12 };
    struct rm_pair_server *const server = &pair->server[index];
    if (server->alive && server->standby.role == RM_STANDBY_ACTIVE)
        server->switch_turn = rm_pair_turn(pair, server->cycle + AHEAD_CYCLES);
}

/* ── the cycle ── */

/** Cycles by which chains are known to be ahead of what it knows that was sent last; UINT64_MAX: it knows nothing. */
static uint64_t pair_server_lag(struct rm_pair const *pair, struct rm_pair_server const *server) {
    uint64_t newest = 0;
    for (uint32_t c = 0; c < pair->config->chain_count; ++c)
        newest = server->contact[c].obeyed > newest ? server->contact[c].obeyed : newest;
    if (server->sent_cycle == 0 || server->standby.reason == RM_STANDBY_BEGAN)
        return UINT64_MAX;
    return newest > server->sent_cycle ? newest - server->sent_cycle : 0;
}

static void pair_server_begin_at(struct rm_pair *pair, struct rm_pair_server *server, uint32_t c,
                                 struct rm_standby_begin const *begin) {
    struct rm_config_chain const *const chain = &pair->config->chain[c];
    double const cycle_s = pair->period_ns * 1e-9;
    server->contact[c].silent = 0;
    server->contact[c].joins_from = server->cycle + begin->wait;
    if (begin->behind <= 1)
        return;
    for (uint32_t s = chain->first_supply; s < chain->first_supply + chain->supply_count; ++s) {
        struct rm_config_supply const *const supply = &pair->config->supply[s];
        if (begin->forgets || !((double)begin->behind * supply->slew_per_s * cycle_s <= supply->tolerance))
            server->sent[s] = NAN;
    }
    rm_pair_server_part(pair, server, c);
}

/** It begins to send: from what it knows that was sent last. Where that is not of the cycle before this one, the first
 * cycle repeats it. Returns whether setpoints may move in this cycle. */
static bool pair_server_take_over(struct rm_pair *pair, struct rm_pair_server *server) {
    uint64_t const lag = pair_server_lag(pair, server), since = server->cycle - server->sent_cycle;
    if (server->standby.reason == RM_STANDBY_BEGAN)
        server->stepping.has_begun = false; /* applications begin anew */
    for (uint32_t c = 0; c < pair->config->chain_count; ++c) {
        struct rm_standby_begin const begin = rm_standby_begin_at(&server->standby, c, lag, since);
        pair_server_begin_at(pair, server, c, &begin);
    }
    return since == 1;
}

/** The disk has the term before the first datagram of it. */
static void pair_server_save_term(struct rm_pair_server *server) {
    if (server->standby.highest_term > server->saved_term)
        server->saved_term = server->standby.highest_term;
}

/** The application's step, where it leads. */
static void pair_server_step(struct rm_pair *pair, struct rm_pair_server *server) {
    if (server->standby.role != RM_STANDBY_ACTIVE)
        return;
    struct rm_error error;
    enum rm_code code = rm_pair_stepping_lead(pair, server, &error);
    if (code != RM_OK && pair->code == RM_OK)
        pair->code = rm_fail(pair->error, code, "%s", error.text);
}

void rm_pair_server_due(struct rm_pair *pair, uint32_t index, uint64_t cycle) {
    struct rm_pair_server *const server = &pair->server[index];
    enum rm_standby_role const role = server->standby.role;
    struct rm_standby_seen const seen = {
        .cycle = cycle,
        .turn = rm_pair_turn(pair, cycle),
        .ran = server->cycle + 1 == cycle,
        .hears = server->heard_instruments + pair->setup->missed_cycles >= cycle,
        .orders = pair_server_orders(pair, server),
    };
    server->cycle = cycle;
    server->due_ns = pair->now_ns;
    if (server->switch_turn != RM_TURN_NONE && server->switch_turn < seen.turn)
        server->switch_turn = RM_TURN_NONE;
    enum rm_standby_act const act = rm_standby_cycle(&server->standby, &seen);
    if (role != RM_STANDBY_ACTIVE)
        pair_server_stay(pair, server);
    bool moves = act == RM_STANDBY_SENDS;
    if (role != RM_STANDBY_ACTIVE && server->standby.role == RM_STANDBY_ACTIVE)
        moves = pair_server_take_over(pair, server);
    if (role == RM_STANDBY_ACTIVE && server->standby.role != RM_STANDBY_ACTIVE)
        server->stepping.needs_copy = true; /* it leads no longer; it may lead again from where it was */
    rm_pair_tally_role(&pair->tally, index, role, &server->standby);
    pair_server_save_term(server);
    pair_server_step(pair, server);
    rm_guard_begin(server->guard, seen.turn);
    if (moves)
        rm_guard_advance(server->guard, pair->config->supply_count);
    if (act == RM_STANDBY_SENDS)
        rm_pair_server_send(pair, index);
    else if (server->stops_within)
        server->stopped = true;
    if (act == RM_STANDBY_ASKS)
        rm_pair_post(pair, (struct rm_pair_event){.time_ns = pair->now_ns + (uint64_t)(pair->period_ns / 4),
                                                  .kind = RM_PAIR_ASK,
                                                  .whom = index,
                                                  .cycle = cycle});
    if (server->stopped)
        return;
    pair_server_say(pair, server);
}
