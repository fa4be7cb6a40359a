// SPDX-License-Identifier: Apache-2.0
#include "sending.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/guard_setup.h"
#include "wire/native.h"
#include "wire/setpoint.h"

static uint64_t const GRANT_NUMBER = 1;

/* One server, of which there was never another. */
enum { TERM = 1, INSTANCE = 1 };

/* ── making ── */

static enum rm_code find_chains(struct rm_sending *sending, struct rm_error *error) {
    uint32_t const there = sending->plant->config.supplies.chain_count;
    sending->chain = calloc(sending->config->chain_count + 1ul, sizeof *sending->chain);
    sending->server_chain = calloc(there + 1ul, sizeof *sending->server_chain);
    sending->tripped = calloc(sending->config->supply_count + 1ul, sizeof *sending->tripped);
    sending->sent = calloc(sending->config->supply_count + 1ul, sizeof *sending->sent);
    if (sending->chain == NULL || sending->server_chain == NULL || sending->tripped == NULL || sending->sent == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u chains", sending->config->chain_count);
    for (uint32_t c = 0; c < there; ++c)
        sending->server_chain[c] = UINT32_MAX;
    for (uint32_t c = 0; c < sending->config->chain_count; ++c) {
        struct rm_config_chain const *wanted = &sending->config->chain[c];
        sending->chain[c].plant_chain = rm_plant_chain(sending->plant, wanted->address_ipv4, wanted->udp_port);
        sending->server_chain[sending->chain[c].plant_chain] = c;
    }
    return RM_OK;
}

/* ── answers ── */

static void sending_join(struct rm_sending *sending, uint32_t supply, double value) {
    rm_guard_join(sending->guard, supply, value);
    rm_guard_fault(sending->guard, supply, sending->tripped[supply]);
    sending->sent[supply] = (double)rm_guard_setpoints(sending->guard)[supply];
}

/** One supply's part of an answer: what has tripped follows its readback, as the server has it. */
static void hear_supply(struct rm_sending *sending, struct rm_sending_chain const *chain, uint32_t supply,
                        unsigned bits, double readback) {
    bool const before = sending->tripped[supply];
    bool const tripped = (bits & RM_SUPPLY_BIT_TRIPPED) != 0;
    sending->tripped[supply] = tripped;
    if ((before || tripped || !chain->joined) && isfinite(readback))
        sending_join(sending, supply, readback);
}

/** Where the supplies of a chain will begin is unknown. */
static void part_chain(struct rm_sending *sending, uint32_t c) {
    struct rm_config_chain const *wanted = &sending->config->chain[c];
    for (uint32_t s = wanted->first_supply; s < wanted->first_supply + wanted->supply_count; ++s) {
        rm_guard_fault(sending->guard, s, true);
        sending->sent[s] = NAN;
    }
}

static void sending_hear_answer(void *context, uint32_t plant_chain, struct rm_chain_answer const *answer) {
    struct rm_sending *sending = context;
    uint32_t const c = sending->server_chain[plant_chain];
    if (c == UINT32_MAX || !sending->config->chain[c].readback)
        return;
    struct rm_sending_chain *chain = &sending->chain[c];
    bool listens = false;
    uint32_t supply = sending->config->chain[c].first_supply;
    for (uint32_t p = 0; p < answer->parts; ++p) {
        struct rm_native native;
        struct rm_record record;
        if (rm_native_parse(answer->payload[p], answer->length[p], &native) != RM_PORT_DECODED)
            return;
        listens |= (native.status & RM_CHAIN_SAYS_LISTENING) != 0;
        rm_native_record(&native, native.turn, 0, &record);
        uint32_t const bits = (uint32_t)record.lane[RM_SUPPLY_LANE_STATE].i;
        for (uint32_t s = 0; s + RM_SUPPLY_LANE_FIRST < native.lane_count; ++s, ++supply)
            hear_supply(sending, chain, supply, bits >> s * RM_SUPPLY_BITS & ((1u << RM_SUPPLY_BITS) - 1),
                        (double)record.lane[RM_SUPPLY_LANE_FIRST + s].f);
    }
    chain->joined = !listens;
    chain->lost = false;
    chain->silent = 0;
    if (listens)
        part_chain(sending, c);
}

/** A chain that does not answer is lost after a while: then it is unknown where its supplies stand. */
static void count_silence(struct rm_sending *sending, uint32_t c) {
    struct rm_sending_chain *chain = &sending->chain[c];
    struct rm_config_chain const *wanted = &sending->config->chain[c];
    if (!wanted->readback || ++chain->silent <= sending->config->setpoints.lost_cycles || chain->lost)
        return;
    chain->lost = true;
    chain->joined = false;
    part_chain(sending, c);
}

/* ── life ── */

static enum rm_code sending_post_frame(struct rm_sending *sending, uint32_t c, uint8_t flags, rm_turn turn, double time,
                                       float const *values, struct rm_error *error) {
    uint8_t payload[RM_SETPOINT_LONGEST];
    struct rm_config_chain const *wanted = &sending->config->chain[c];
    struct rm_sending_chain *chain = &sending->chain[c];
    uint64_t const sequence = flags == RM_SETPOINT_QUERY ? chain->sequence : ++chain->sequence;
    uint32_t const length =
        rm_setpoint_write(payload, flags, wanted->id, turn, TERM, INSTANCE, sequence, values, wanted->supply_count);
    return rm_plant_send(sending->plant, time, chain->plant_chain, payload, length, error);
}

enum rm_code rm_sending_open(struct rm_config const *config, uint32_t application, struct rm_plant *plant,
                             struct rm_sending *sending, struct rm_error *error) {
    *sending = (struct rm_sending){.config = config, .application = application, .plant = plant};
    plant->answer = sending_hear_answer;
    plant->context = sending;
    enum rm_code code = find_chains(sending, error);
    if (code == RM_OK && config->chain_count > 0)
        code = rm_guard_of_config(config, &sending->guard, error);
    for (uint32_t c = 0; code == RM_OK && c < config->chain_count; ++c) {
        struct rm_config_chain const *wanted = &config->chain[c];
        for (uint32_t s = wanted->first_supply; !wanted->readback && s < wanted->first_supply + wanted->supply_count;
             ++s)
            sending_join(sending, s, config->supply[s].safe);
        sending->chain[c].joined = !wanted->readback;
        code = sending_post_frame(sending, c, RM_SETPOINT_QUERY, plant->config.first_turn, plant->time, NULL, error);
    }
    if (code == RM_OK)
        code = rm_plant_advance(plant, plant->time, error);
    if (code == RM_OK && config->chain_count > 0)
        rm_guard_grant(sending->guard, application, GRANT_NUMBER, false);
    return code;
}

void rm_sending_close(struct rm_sending *sending) {
    rm_guard_free(sending->guard);
    free(sending->chain);
    free(sending->server_chain);
    free(sending->tripped);
    free(sending->sent);
    *sending = (struct rm_sending){0};
}

void rm_sending_vector(struct rm_sending *sending, rm_turn turn, double const *values) {
    if (sending->guard == NULL)
        return;
    struct rm_setpoint_reading const vector = {
        .number = sending->vectors++, .grant_number = GRANT_NUMBER, .input_turn = turn};
    if (!rm_guard_vector(sending->guard, sending->application, &vector, values, turn))
        ++sending->refused_vectors;
}

static enum rm_code send_chain(struct rm_sending *sending, uint32_t c, rm_turn turn, double time,
                               struct rm_error *error) {
    struct rm_config_chain const *wanted = &sending->config->chain[c];
    float const *values = rm_guard_setpoints(sending->guard) + wanted->first_supply;
    if (!sending->chain[c].joined)
        return sending_post_frame(sending, c, RM_SETPOINT_QUERY, turn, time, NULL, error);
    for (uint32_t s = 0; s < wanted->supply_count; ++s)
        sending->sent[wanted->first_supply + s] = (double)values[s];
    return sending_post_frame(sending, c, 0, turn, time, values, error);
}

enum rm_code rm_sending_cycle(struct rm_sending *sending, rm_turn turn, double time, struct rm_error *error) {
    if (sending->guard == NULL)
        return RM_OK;
    rm_guard_cycle(sending->guard, turn);
    enum rm_code code = RM_OK;
    for (uint32_t c = 0; c < sending->config->chain_count && code == RM_OK; ++c) {
        code = send_chain(sending, c, turn, time, error);
        count_silence(sending, c);
    }
    return code;
}

void rm_sending_sent(struct rm_sending const *sending, double *sent) {
    struct rm_config_application const *application = &sending->config->application[sending->application];
    for (uint32_t i = 0; i < application->supply_count; ++i)
        sent[i] = (double)(float)sending->sent[application->supply[i]]; // as datagrams carry it
}

uint32_t rm_sending_plant_supply(struct rm_sending const *sending, uint32_t supply) {
    struct rm_config_supply const *wanted = &sending->config->supply[supply];
    struct rm_config_chain const *chain = &sending->config->chain[wanted->chain];
    struct rm_ring_chain const *there =
        &sending->plant->config.supplies.chains[sending->chain[wanted->chain].plant_chain];
    return there->first + supply - chain->first_supply;
}
