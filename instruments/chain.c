// SPDX-License-Identifier: Apache-2.0
#include "chain.h"

#include <math.h>

#include <ringmaster/counters.h>
#include <ringmaster/stream.h>

#include "noise.h"
#include "wire/setpoint.h"

void rm_chain_make(struct rm_chain *chain, struct rm_chain_config const *config, struct rm_supply *supplies,
                   struct rm_chain_fault *faults, uint32_t fault_count, uint64_t key, rm_counter *counters) {
    *chain = (struct rm_chain){.config = config, .supply = supplies, .counters = counters, .stops_at = INFINITY};
    rm_chain_faults_make(&chain->faults, faults, fault_count);
    for (uint32_t s = 0; s < config->supply_count; ++s) {
        rm_supply_make(&supplies[s], &config->supply[s], rm_noise_u64(key) + s);
        chain->reported[s] = (float)config->supply[s].initial;
    }
}

static bool chain_refuse_datagram(struct rm_chain *chain, enum rm_supply_counter counter, uint16_t says) {
    rm_counter_add(chain->counters, counter, 1);
    chain->refused |= says;
    return false;
}

/** Whether a datagram is of the newest server, and the next or a later one of it. */
static bool in_sequence(struct rm_chain *chain, struct rm_setpoint_datagram const *datagram) {
    bool const newer = !chain->heard || datagram->generation > chain->generation;
    if (!newer && datagram->generation < chain->generation)
        return chain_refuse_datagram(chain, RM_SUPPLY_OLD_GENERATION, RM_CHAIN_SAYS_OLD_GENERATION);
    if (!newer && datagram->sequence <= chain->sequence)
        return chain_refuse_datagram(chain, RM_SUPPLY_REPEATED, 0);
    if (!newer && datagram->sequence != chain->sequence + 1) {
        rm_counter_add(chain->counters, RM_SUPPLY_GAPS, datagram->sequence - chain->sequence - 1);
        chain->refused |= RM_CHAIN_SAYS_GAP;
    }
    chain->heard = true;
    chain->generation = datagram->generation;
    chain->sequence = datagram->sequence;
    chain->turn = datagram->turn;
    return true;
}

static void chain_obey_datagram(struct rm_chain *chain, struct rm_setpoint_datagram const *datagram, double time) {
    rm_counter_add(chain->counters, RM_SUPPLY_SETPOINTS, 1);
    chain->stopped = false;
    chain->stops_at = time + chain->config->timeout_s;
    for (uint32_t s = 0; s < chain->config->supply_count; ++s)
        if ((chain->faults.deaf >> s & 1) == 0)
            rm_supply_set(&chain->supply[s], time, (double)rm_setpoint_value(datagram, s));
}

/** What the supplies say, all of them: their currents, and their bits. */
static void chain_read_supplies(struct rm_chain *chain, double time, uint32_t bits[RM_CHAIN_ID_PARTS]) {
    uint64_t tripped = 0, saturated = 0;
    for (uint32_t s = 0; s < chain->config->supply_count; ++s) {
        struct rm_supply_reading const reading = rm_supply_read(&chain->supply[s], time);
        if ((chain->faults.stuck >> s & 1) == 0)
            chain->reported[s] = (float)reading.current;
        bits[s / RM_SUPPLIES_PER_RECORD] |= reading.bits << RM_SUPPLY_BITS * (s % RM_SUPPLIES_PER_RECORD);
        tripped |= (uint64_t)((reading.bits & RM_SUPPLY_BIT_TRIPPED) != 0) << s;
        saturated |= (uint64_t)((reading.bits & RM_SUPPLY_BIT_SATURATED) != 0) << s;
    }
    uint64_t const begun = saturated & ~chain->saturated;
    if (begun != 0)
        rm_counter_add(chain->counters, RM_SUPPLY_SATURATIONS, (uint64_t)__builtin_popcountll(begun));
    chain->tripped = tripped;
    chain->saturated = saturated;
}

static uint16_t status_of(struct rm_chain const *chain) {
    unsigned status = chain->refused;
    status |= chain->tripped != 0 ? RM_CHAIN_SAYS_TRIPPED : 0;
    status |= chain->saturated != 0 ? RM_CHAIN_SAYS_SATURATED : 0;
    status |= chain->stopped ? RM_CHAIN_SAYS_STOPPED : 0;
    return (uint16_t)status;
}

static void write_answer(struct rm_chain *chain, rm_turn turn, uint16_t id, uint32_t const *bits,
                         struct rm_chain_answer *answer) {
    uint32_t const count = chain->config->supply_count;
    uint16_t const status = status_of(chain);
    answer->parts = (count + RM_SUPPLIES_PER_RECORD - 1) / RM_SUPPLIES_PER_RECORD;
    for (uint32_t p = 0; p < answer->parts; ++p) {
        uint32_t const first = p * RM_SUPPLIES_PER_RECORD, left = count - first;
        uint32_t const here = left < RM_SUPPLIES_PER_RECORD ? left : RM_SUPPLIES_PER_RECORD;
        union rm_lane lanes[RM_LANES] = {{.i = (int32_t)(uint32_t)chain->sequence}, {.i = (int32_t)bits[p]}};
        for (uint32_t s = 0; s < here; ++s)
            lanes[RM_SUPPLY_LANE_FIRST + s].f = chain->reported[first + s];
        answer->length[p] =
            rm_native_write(answer->payload[p], RM_KIND_POWER_SUPPLY, (uint16_t)(id * RM_CHAIN_ID_PARTS + p), status,
                            turn, lanes, RM_SUPPLY_LANE_FIRST + here);
    }
}

bool rm_chain_take(struct rm_chain *chain, uint8_t const *payload, uint32_t length, double time,
                   struct rm_chain_answer *answer) {
    struct rm_setpoint_datagram datagram;
    uint32_t bits[RM_CHAIN_ID_PARTS] = {0};
    uint16_t id = chain->config->id;
    rm_chain_tick(chain, time);
    rm_counter_add(chain->counters, RM_SUPPLY_RECEIVED, 1);
    if (rm_setpoint_parse(payload, length, &datagram) != RM_SETPOINT_GOOD)
        return chain_refuse_datagram(chain, RM_SUPPLY_MALFORMED, 0);
    if (datagram.chain != id || datagram.count != chain->config->supply_count)
        return chain_refuse_datagram(chain, RM_SUPPLY_MISDIRECTED, RM_CHAIN_SAYS_MISDIRECTED);
    if (!in_sequence(chain, &datagram))
        return false;
    if ((datagram.flags & RM_SETPOINT_QUERY) == 0)
        chain_obey_datagram(chain, &datagram, time);
    else
        rm_counter_add(chain->counters, RM_SUPPLY_QUERIES, 1);
    chain_read_supplies(chain, time, bits);
    if (chain->faults.answers && rm_chain_faults_lose(&chain->faults, datagram.sequence, &id, chain->counters))
        return false;
    write_answer(chain, datagram.turn, id, bits, answer);
    chain->refused = 0;
    return true;
}

static void chain_stop_supplies(struct rm_chain *chain) {
    rm_counter_add(chain->counters, RM_SUPPLY_STOPS, 1);
    chain->stopped = true;
    for (uint32_t s = 0; chain->config->ramps && s < chain->config->supply_count; ++s)
        rm_supply_go_safe(&chain->supply[s], chain->stops_at);
    chain->stops_at = INFINITY;
}

void rm_chain_tick(struct rm_chain *chain, double time) {
    rm_chain_faults_tick(&chain->faults, chain->supply, chain->config->supply_count, time, chain->counters);
    if (time >= chain->stops_at)
        chain_stop_supplies(chain);
}

void rm_chain_reset(struct rm_chain *chain) {
    for (uint32_t s = 0; s < chain->config->supply_count; ++s)
        rm_supply_reset(&chain->supply[s]);
}
