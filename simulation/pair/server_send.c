// SPDX-License-Identifier: Apache-2.0
/* What a server sends to chains, and what it makes of their answers: as the transmit role does it. */
#include <math.h>

#include "pair.h"

/* ── answers ── */

/** At what it was sent last, where its readback agrees with that; else where it stands: as the transmit role has it. */
static double pair_first_setpoint(struct rm_pair const *pair, struct rm_pair_server const *server, uint32_t supply,
                                  double readback) {
    double const sent = (double)server->sent[supply];
    return isfinite(sent) && fabs(readback - sent) <= pair->config->supply[supply].tolerance ? sent : readback;
}

/** Supplies of a chain stand where its answer says. */
static void pair_server_join(struct rm_pair *pair, struct rm_pair_server *server, uint32_t c,
                             struct rm_chain_answer const *answer) {
    struct rm_config_chain const *const chain = &pair->config->chain[c];
    uint32_t supply = chain->first_supply;
    bool led = false;
    if (server->cycle < server->contact[c].joins_from)
        return;
    for (uint32_t p = 0; p < answer->parts; ++p) {
        struct rm_native native;
        struct rm_record record;
        if (rm_native_parse(answer->payload[p], answer->length[p], &native) != RM_PORT_DECODED)
            return;
        rm_native_record(&native, native.turn, 0, &record);
        for (uint32_t s = RM_SUPPLY_LANE_FIRST; s < native.lane_count; ++s, ++supply) {
            double const first = pair_first_setpoint(pair, server, supply, (double)record.lane[s].f);
            led |= first != (double)server->sent[supply];
            rm_guard_join(server->guard, supply, first);
            server->sent[supply] = rm_guard_setpoints(server->guard)[supply];
            server->stands[supply] = true;
        }
    }
    /* Then its setpoints step to where its currents are, which do not. */
    if (led)
        rm_chain_judge_moved(pair->judge, c);
    pair->tally.led += led;
    server->contact[c].joined = true;
    server->contact[c].lost = false;
    for (uint32_t s = chain->first_supply; s < chain->first_supply + chain->supply_count; ++s)
        rm_guard_fault(server->guard, s, false);
}

void rm_pair_server_part(struct rm_pair *pair, struct rm_pair_server *server, uint32_t c) {
    struct rm_config_chain const *const chain = &pair->config->chain[c];
    server->contact[c].joined = false;
    for (uint32_t s = chain->first_supply; s < chain->first_supply + chain->supply_count; ++s)
        rm_guard_fault(server->guard, s, true);
}

/** Another server's setpoints were obeyed: its supplies stand where that one sent them. */
static void pair_server_join_followed(struct rm_pair *pair, struct rm_pair_server *server, uint32_t c) {
    struct rm_config_chain const *const chain = &pair->config->chain[c];
    server->contact[c].joined = true;
    for (uint32_t s = chain->first_supply; s < chain->first_supply + chain->supply_count; ++s)
        rm_guard_fault(server->guard, s, false);
}

/** Rounded down: a chain that was silent for 2.9 cycles was not for three. */
static uint32_t pair_silent_cycles(struct rm_pair const *pair, uint16_t us) {
    return us == RM_SUPPLY_LONG_AGO ? UINT32_MAX : (uint32_t)((double)us * 1e3 / pair->period_ns);
}

void rm_pair_server_answer(struct rm_pair *pair, uint32_t index, uint32_t c, struct rm_chain_answer const *answer) {
    struct rm_pair_server *const server = &pair->server[index];
    struct rm_pair_contact *const contact = &server->contact[c];
    struct rm_native native;
    struct rm_record record;
    if (rm_native_parse(answer->payload[0], answer->length[0], &native) != RM_PORT_DECODED)
        return;
    rm_native_record(&native, native.turn, 0, &record);
    int32_t const lane = record.lane[RM_SUPPLY_LANE_SEQUENCE].i;
    bool const asked = (native.status & RM_CHAIN_SAYS_QUERIED) != 0;
    struct rm_standby_answer const told = {
        .cycle = native.turn / pair->config->setpoints.period_turns,
        .term = rm_supply_answer_term(lane),
        .obeyed = !asked && (native.status & (RM_CHAIN_SAYS_OLD_TERM | RM_CHAIN_SAYS_LISTENING)) == 0,
        .asked = asked,
        .silent_cycles = asked ? pair_silent_cycles(pair, rm_supply_answer_low(lane)) : 0,
        .listening = (native.status & RM_CHAIN_SAYS_LISTENING) != 0,
    };
    rm_standby_answer(&server->standby, c, &told);
    if (told.obeyed && told.cycle > contact->obeyed)
        contact->obeyed = told.cycle;
    contact->silent = 0;
    bool const is_active = server->standby.role == RM_STANDBY_ACTIVE;
    bool const refused = (native.status & RM_CHAIN_SAYS_OLD_TERM) != 0 && told.term > server->standby.term;
    if (told.listening || (refused && is_active)) /* it was not moved by it: where it stands, is asked */
        rm_pair_server_part(pair, server, c);
    else if (!contact->joined && asked && is_active)
        pair_server_join(pair, server, c, answer);
    else if (!contact->joined && told.obeyed && !is_active)
        pair_server_join_followed(pair, server, c);
}

/* ── datagrams ── */

static void pair_server_post(struct rm_pair *pair, struct rm_pair_server *server, uint32_t c, uint8_t flags,
                             float const *values) {
    struct rm_config_chain const *const chain = &pair->config->chain[c];
    bool const asks = (flags & RM_SETPOINT_QUERY) != 0;
    struct rm_setpoint_datagram const datagram = {
        .flags = flags,
        .chain = chain->id,
        .count = (uint16_t)chain->supply_count,
        .turn = rm_pair_turn(pair, server->cycle),
        .term = (uint16_t)(server->standby.role == RM_STANDBY_ACTIVE || !asks ? server->standby.term
                                                                              : server->standby.highest_term),
        .instance = server->instance,
        .sequence = asks ? server->contact[c].sequence : ++server->contact[c].sequence,
    };
    rm_pair_send(pair, server->index, c, &datagram, values);
}

/** A chain that missed a cycle goes one slew at most from what it was sent last. */
static void pair_server_catch_up(struct rm_pair const *pair, struct rm_pair_server *server, uint32_t c,
                                 float values[RM_CHAIN_SUPPLIES_MAX]) {
    struct rm_config_chain const *const chain = &pair->config->chain[c];
    server->contact[c].behind = false;
    for (uint32_t s = 0; s < chain->supply_count; ++s) {
        float const sent = server->sent[chain->first_supply + s];
        float const slew = (float)(pair->config->supply[chain->first_supply + s].slew_per_s * pair->period_ns * 1e-9);
        if (!(fabsf(values[s] - sent) > slew))
            continue;
        values[s] = sent + copysignf(slew, values[s] - sent);
        server->contact[c].behind = true;
    }
}

static void pair_server_send_chain(struct rm_pair *pair, struct rm_pair_server *server, uint32_t c) {
    struct rm_config_chain const *const chain = &pair->config->chain[c];
    struct rm_pair_contact *const contact = &server->contact[c];
    if (!contact->joined) {
        pair_server_post(pair, server, c, RM_SETPOINT_QUERY, NULL);
        return;
    }
    float values[RM_CHAIN_SUPPLIES_MAX];
    for (uint32_t s = 0; s < chain->supply_count; ++s)
        values[s] = rm_guard_setpoints(server->guard)[chain->first_supply + s];
    if (contact->behind)
        pair_server_catch_up(pair, server, c, values);
    pair_server_post(pair, server, c, 0, values);
    for (uint32_t s = 0; s < chain->supply_count; ++s)
        server->sent[chain->first_supply + s] = values[s];
    if (++contact->silent <= pair->config->setpoints.lost_cycles)
        return;
    contact->lost = true;
    rm_pair_server_part(pair, server, c);
}

void rm_pair_server_send(struct rm_pair *pair, uint32_t index) {
    struct rm_pair_server *const server = &pair->server[index];
    uint32_t const chains = pair->config->chain_count;
    server->sent_cycle = server->cycle;
    uint32_t const end = server->stops_within ? server->stop_at_chain % chains : chains;
    for (uint32_t c = 0; c < end; ++c)
        pair_server_send_chain(pair, server, c);
    server->stopped |= server->stops_within;
}

void rm_pair_server_resume(struct rm_pair *pair, uint32_t index) {
    struct rm_pair_server *const server = &pair->server[index];
    /* Of a cycle that is over nothing is sent any more. */
    bool const within = server->stops_within, late = pair->now_ns - server->due_ns >= (uint64_t)pair->period_ns;
    server->stopped = server->stops_within = false;
    for (uint32_t c = server->stop_at_chain % pair->config->chain_count; within && c < pair->config->chain_count; ++c)
        if (late)
            server->contact[c].behind = true;
        else
            pair_server_send_chain(pair, server, c);
}

void rm_pair_server_ask(struct rm_pair *pair, uint32_t index, uint64_t cycle) {
    struct rm_pair_server *const server = &pair->server[index];
    if (server->cycle != cycle)
        return;
    for (uint32_t c = 0; c < pair->config->chain_count; ++c)
        pair_server_post(pair, server, c, RM_SETPOINT_QUERY, NULL);
}
