// SPDX-License-Identifier: Apache-2.0
#include "pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"

enum { CYCLES_BEFORE = 4 /**< so that no time is less than 0 */ };

/* ── making ── */

/** The chains of the ring, by those of the server's file. */
static enum rm_code pair_find_chains(struct rm_pair *pair, struct rm_error *error) {
    uint32_t const here = pair->config->chain_count;
    if (here == 0 || here > RM_PAIR_CHAINS_MAX)
        return rm_fail(error, RM_E_CONFIG, "%s: %u chains; a pair needs 1 to %u", pair->setup->files.config, here,
                       (unsigned)RM_PAIR_CHAINS_MAX);
    pair->ring_chain = calloc(here, sizeof *pair->ring_chain);
    if (pair->ring_chain == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u chains", here);
    for (uint32_t c = 0; c < here; ++c) {
        struct rm_config_chain const *const chain = &pair->config->chain[c];
        pair->ring_chain[c] = rm_plant_chain(&pair->plant, chain->address_ipv4, chain->udp_port);
    }
    return RM_OK;
}

static void pair_set_times(struct rm_pair *pair) {
    struct rm_config const *const config = pair->config;
    double const turn_ns = 1e9 / config->turn_rate_hz;
    uint64_t const turns = config->setpoints.period_turns;
    pair->period_ns = (double)turns * turn_ns;
    pair->phase_ns = (uint64_t)((double)config->setpoints.phase_turns * turn_ns);
    pair->first_cycle = pair->cycle = pair->plant.config.first_turn / turns + CYCLES_BEFORE;
    pair->first_ns = (uint64_t)((double)(pair->first_cycle * turns - pair->plant.config.first_turn) * turn_ns);
    pair->last_cycle = pair->first_cycle + pair->setup->cycles;
    pair->faults.over = pair->first_cycle;
    pair->tally.chains = config->chain_count;
    pair->tally.missed_cycles = pair->setup->missed_cycles;
    pair->tally.period_turns = turns;
    pair->tally.period_ns = pair->period_ns;
}

enum rm_code rm_pair_open(struct rm_pair_setup const *setup, struct rm_pair *pair, struct rm_error *error) {
    *pair = (struct rm_pair){.setup = setup, .free_parcel = UINT32_MAX, .error = error};
    enum rm_code code = rm_config_load(setup->files.config, &pair->config, error);
    if (code == RM_OK)
        code = rm_plant_open(&setup->files, setup->application != NULL, 0, &pair->plant, error);
    if (code == RM_OK)
        code = pair_find_chains(pair, error);
    if (code == RM_OK)
        code = rm_pair_instruments_open(pair, error);
    if (code != RM_OK)
        return code;
    pair_set_times(pair);
    code = rm_pair_judge_open(pair, error);
    pair->key = rm_noise_u64(setup->seed);
    pair->faults.key = rm_noise_u64(setup->seed ^ 0x6661756C);
    rm_pair_network_make(&pair->network, setup->seed);
    if (setup->disturbed > 0)
        rm_pair_network_disturb(&pair->network, setup->disturbed, (uint64_t)(2 * pair->period_ns));
    for (uint32_t s = 0; code == RM_OK && s < RM_PAIR_SERVERS; ++s)
        code = rm_pair_server_open(pair, s, &pair->server[s], error);
    for (uint32_t s = 0; code == RM_OK && s < RM_PAIR_SERVERS; ++s)
        code = rm_pair_server_begin(pair, s, error);
    if (code == RM_OK)
        rm_chains_switch_on(&pair->plant.chains, 0);
    return code;
}

void rm_pair_close(struct rm_pair *pair) {
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s)
        rm_pair_server_close(&pair->server[s]);
    rm_chain_judge_free(pair->judge);
    rm_pair_instruments_close(pair);
    rm_pair_tally_free(&pair->tally);
    rm_pair_queue_free(&pair->queue);
    rm_plant_close(&pair->plant);
    rm_config_free(pair->config);
    free(pair->ring_chain);
    free(pair->parcel);
    *pair = (struct rm_pair){0};
}

/* ── events and parcels ── */

void rm_pair_post(struct rm_pair *pair, struct rm_pair_event event) {
    if (!rm_pair_queue_post(&pair->queue, event) && pair->code == RM_OK)
        pair->code = rm_fail(pair->error, RM_E_NO_SPACE, "no memory for %u events", pair->queue.count);
}

static bool pair_make_parcels(struct rm_pair *pair) {
    uint32_t const before = pair->parcels, now = before == 0 ? 1024 : 2 * before;
    struct rm_pair_parcel *const grown = realloc(pair->parcel, now * sizeof *grown);
    if (grown == NULL)
        return false;
    pair->parcel = grown;
    pair->parcels = now;
    for (uint32_t i = now; i-- > before;)
        rm_pair_parcel_give(pair, i);
    return true;
}

uint32_t rm_pair_parcel_take(struct rm_pair *pair) {
    if (pair->free_parcel == UINT32_MAX && !pair_make_parcels(pair)) {
        pair->code = rm_fail(pair->error, RM_E_NO_SPACE, "no memory for %u datagrams on their way", pair->parcels);
        return UINT32_MAX;
    }
    uint32_t const taken = pair->free_parcel;
    pair->free_parcel = pair->parcel[taken].next;
    return taken;
}

void rm_pair_parcel_give(struct rm_pair *pair, uint32_t parcel) {
    pair->parcel[parcel].next = pair->free_parcel;
    pair->free_parcel = parcel;
}

void rm_pair_send(struct rm_pair *pair, uint32_t server, uint32_t chain, struct rm_setpoint_datagram const *datagram,
                  float const *values) {
    uint64_t at;
    if (!rm_pair_network_pass(&pair->network, server, RM_PAIR_TO_CHAINS, chain, pair->now_ns, &at))
        return;
    uint32_t const parcel = rm_pair_parcel_take(pair);
    if (parcel == UINT32_MAX)
        return;
    struct rm_pair_parcel *const filled = &pair->parcel[parcel];
    filled->length = rm_setpoint_write(filled->setpoints, datagram->flags, datagram->chain, datagram->turn,
                                       datagram->term, datagram->instance, datagram->sequence, values, datagram->count);
    rm_pair_post(pair, (struct rm_pair_event){.time_ns = at, .kind = RM_PAIR_DATAGRAM, .whom = chain, .what = parcel});
}

/* ── chains ── */

static void pair_answer(struct rm_pair *pair, uint32_t server, uint32_t chain, struct rm_chain_answer const *answer) {
    uint64_t at;
    if (!rm_pair_network_pass(&pair->network, server, RM_PAIR_FROM_CHAINS, chain, pair->now_ns, &at))
        return;
    uint32_t const parcel = rm_pair_parcel_take(pair);
    if (parcel == UINT32_MAX)
        return;
    pair->parcel[parcel].chain = chain;
    pair->parcel[parcel].answer = *answer;
    rm_pair_post(pair, (struct rm_pair_event){.time_ns = at, .kind = RM_PAIR_ANSWER, .whom = server, .what = parcel});
}

/** A datagram reaches its chain, whose answer goes to both servers. */
static void pair_datagram(struct rm_pair *pair, uint32_t c, uint32_t parcel) {
    struct rm_chain *const chain = &pair->plant.chains.chain[pair->ring_chain[c]];
    uint64_t const obeyed = chain->counters[RM_SUPPLY_SETPOINTS];
    struct rm_setpoint_datagram datagram;
    struct rm_chain_answer answer;
    bool const answers = rm_chain_take(chain, pair->parcel[parcel].setpoints, pair->parcel[parcel].length,
                                       (double)pair->now_ns * 1e-9, &answer);
    if (chain->counters[RM_SUPPLY_SETPOINTS] != obeyed &&
        rm_setpoint_parse(pair->parcel[parcel].setpoints, pair->parcel[parcel].length, &datagram) == RM_SETPOINT_GOOD &&
        !rm_pair_tally_obeyed(&pair->tally, c, pair->now_ns, datagram.term, datagram.turn) && pair->code == RM_OK)
        pair->code = rm_fail(pair->error, RM_E_NO_SPACE, "no memory for figures");
    rm_pair_parcel_give(pair, parcel);
    for (uint32_t s = 0; answers && s < RM_PAIR_SERVERS; ++s)
        pair_answer(pair, s, c, &answer);
}

void rm_pair_chain_lose_power(struct rm_pair *pair, uint32_t chain) {
    rm_chain_switch_on(&pair->plant.chains.chain[pair->ring_chain[chain]], (double)pair->now_ns * 1e-9);
    rm_chain_judge_moved(pair->judge, chain); /* what was sent to it meanwhile moved nothing */
    pair->tally.last[chain] = (struct rm_pair_obeyed){0};
}

/* ── cycles ── */

/** An operator puts a supply to another place, at the server that sends. */
static void pair_operate(struct rm_pair *pair) {
    if (pair->setup->operator_cycles == 0 || rm_pair_draw_below(&pair->key, pair->setup->operator_cycles) != 0)
        return;
    uint32_t const supply = (uint32_t)rm_pair_draw_below(&pair->key, pair->config->supply_count);
    struct rm_config_supply const *const wanted = &pair->config->supply[supply];
    double const value = wanted->low + (wanted->high - wanted->low) * rm_pair_draw(&pair->key);
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s) {
        struct rm_pair_server *const server = &pair->server[s];
        double limit;
        if (server->alive && !server->stopped && server->standby.role == RM_STANDBY_ACTIVE && wanted->application == 0)
            (void)rm_guard_put(server->guard, supply, value, rm_pair_turn(pair, pair->cycle), &limit);
    }
}

/** The application's settings: the first ones as soon as it runs, and others now and then. */
static void pair_operate_application(struct rm_pair *pair, struct rm_pair_server *server) {
    enum { FIRST_STEPS = 20 };
    uint32_t const count = pair->setup->settings;
    uint64_t const steps = server->stepping.program != NULL ? server->stepping.program->steps : 0;
    if (count == 0 || server->standby.role != RM_STANDBY_ACTIVE || server->stopped || !server->alive || steps == 0)
        return;
    if (steps < FIRST_STEPS * (count + 1ull) && steps % FIRST_STEPS == 0) {
        struct rm_pair_setting const *const first = &pair->setup->setting[steps / FIRST_STEPS - 1];
        rm_pair_stepping_set(pair, server, first->name, first->from);
    }
    if (steps <= FIRST_STEPS * (count + 1ull) || pair->setup->operator_cycles == 0 ||
        rm_pair_draw_below(&pair->key, pair->setup->operator_cycles) != 0)
        return;
    struct rm_pair_setting const *const setting = &pair->setup->setting[rm_pair_draw_below(&pair->key, count)];
    if (setting->to > setting->from)
        rm_pair_stepping_set(pair, server, setting->name,
                             setting->from + (setting->to - setting->from) * rm_pair_draw(&pair->key));
}

/** Whether a server could take over: it is READY, or sends; it hears; and a majority of chains that obey hears it. */
static bool pair_server_is_fit(struct rm_pair const *pair, uint32_t s) {
    struct rm_pair_server const *const server = &pair->server[s];
    struct rm_pair_way const *const way = pair->network.way[s];
    uint32_t reached = 0;
    for (uint32_t c = 0; c < pair->config->chain_count; ++c)
        reached += !pair->network.divided[s][c] &&
                   pair->plant.chains.chain[pair->ring_chain[c]].listens_until <= (double)pair->now_ns * 1e-9;
    for (uint32_t w = 0; w < RM_PAIR_WAYS; ++w)
        if (w != RM_PAIR_TO_PEER && (way[w].cut || way[w].held_ns != 0))
            return false;
    return server->alive && !server->stopped && reached >= rm_standby_majority(pair->config->chain_count) &&
           (server->standby.role == RM_STANDBY_READY || server->standby.role == RM_STANDBY_ACTIVE);
}

static void pair_cycle(struct rm_pair *pair, uint64_t cycle) {
    struct rm_error error;
    pair->cycle = cycle;
    rm_pair_faults_cycle(pair);
    enum rm_code const code = rm_pair_instruments_read(pair, cycle, &error);
    if (code != RM_OK && pair->code == RM_OK)
        pair->code = rm_fail(pair->error, code, "%s", error.text);
    pair_operate(pair);
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s) {
        uint64_t const late = rm_pair_draw_below(&pair->key, (uint64_t)(pair->period_ns / 16));
        pair_operate_application(pair, &pair->server[s]);
        rm_pair_tally_fit(&pair->tally, s, pair->now_ns, pair_server_is_fit(pair, s));
        rm_pair_post(pair, (struct rm_pair_event){.time_ns = pair->now_ns + pair->phase_ns + late,
                                                  .kind = RM_PAIR_DUE,
                                                  .whom = s,
                                                  .what = (uint32_t)pair->server[s].life,
                                                  .cycle = cycle});
    }
    rm_pair_post(pair, (struct rm_pair_event){
                           .time_ns = rm_pair_cycle_ns(pair, cycle + 1), .kind = RM_PAIR_CYCLE, .cycle = cycle + 1});
}

/** What comes to a server that is stopped waits; where it is gone, nothing comes. */
static bool pair_server_takes(struct rm_pair *pair, struct rm_pair_event const *event) {
    struct rm_pair_server *const server = &pair->server[event->whom];
    bool const keeps = event->kind != RM_PAIR_DUE && server->waits < RM_PAIR_WAITING_MAX;
    if (server->alive && !server->stopped)
        return true;
    if (server->alive && keeps)
        server->waiting[server->waits++] = *event;
    else if (event->kind == RM_PAIR_ANSWER)
        rm_pair_parcel_give(pair, event->what);
    return false;
}

static void pair_happen(struct rm_pair *pair, struct rm_pair_event const *event) {
    struct rm_pair_parcel *const parcel = event->kind == RM_PAIR_ANSWER ? &pair->parcel[event->what] : NULL;
    switch ((enum rm_pair_happening)event->kind) {
    case RM_PAIR_CYCLE:
        pair_cycle(pair, event->cycle);
        break;
    case RM_PAIR_DATAGRAM:
        pair_datagram(pair, event->whom, event->what);
        break;
    case RM_PAIR_FAULT:
        rm_pair_faults_happen(pair, event->whom, event->what != 0);
        break;
    case RM_PAIR_DUE:
        if (pair_server_takes(pair, event) && event->what == (uint32_t)pair->server[event->whom].life)
            rm_pair_server_due(pair, event->whom, event->cycle);
        break;
    case RM_PAIR_ASK:
        if (pair_server_takes(pair, event))
            rm_pair_server_ask(pair, event->whom, event->cycle);
        break;
    case RM_PAIR_ANSWER:
        if (!pair_server_takes(pair, event))
            break;
        rm_pair_server_answer(pair, event->whom, parcel->chain, &parcel->answer);
        rm_pair_parcel_give(pair, event->what);
        break;
    case RM_PAIR_WORD:
        if (pair_server_takes(pair, event))
            rm_pair_server_word(pair, event->whom, event->cycle, event->what);
        break;
    case RM_PAIR_COPY:
        if (pair_server_takes(pair, event))
            rm_pair_server_copy(pair, event->whom, event->cycle, event->what);
        break;
    }
}

enum rm_code rm_pair_run(struct rm_pair *pair, struct rm_error *error) {
    struct rm_pair_event event = {.time_ns = pair->first_ns, .kind = RM_PAIR_CYCLE, .cycle = pair->first_cycle};
    pair->error = error;
    rm_pair_post(pair, event);
    while (pair->code == RM_OK && pair->cycle < pair->last_cycle && rm_pair_queue_take(&pair->queue, &event)) {
        pair->now_ns = event.time_ns;
        pair_happen(pair, &event);
        if (pair->setup->faults != 0 && pair->faults.rounds == pair->setup->fault_count && pair->faults.rests != 0)
            break;
    }
    return pair->code;
}
