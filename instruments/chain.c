// SPDX-License-Identifier: Apache-2.0
#include "chain.h"

#include <math.h>

#include <ringmaster/counters.h>
#include <ringmaster/stream.h>

#include "noise.h"
#include "wire/setpoint.h"

/** However long a chain's time-out is: servers have found it by then. */
static double const LISTENS_MOST_S = 1.0;

void rm_chain_make(struct rm_chain *chain, struct rm_chain_config const *config, struct rm_supply *supplies,
                   struct rm_chain_fault *faults, uint32_t fault_count, uint64_t key, rm_counter *counters) {
    *chain = (struct rm_chain){.config = config, .supply = supplies, .counters = counters};
    chain->stops_at = INFINITY;
    chain->obeyed_at = chain->listens_until = chain->on_s = -INFINITY;
    rm_chain_faults_make(&chain->faults, faults, fault_count);
    for (uint32_t s = 0; s < config->supply_count; ++s) {
        rm_supply_make(&supplies[s], &config->supply[s], rm_noise_u64(key) + s);
        chain->reported[s] = (float)config->supply[s].initial;
    }
}

static bool chain_drop_datagram(struct rm_chain *chain, enum rm_supply_counter counter, uint16_t says) {
    rm_counter_add(chain->counters, counter, 1);
    chain->dropped |= says;
    return false;
}

void rm_chain_switch_on(struct rm_chain *chain, double time) {
    if (chain->judge != NULL)
        rm_chain_judge_was_off(chain->judge, chain->judged_as);
    chain->term = 0;
    chain->instance = 0;
    chain->obeys = chain->stopped = false;
    chain->dropped = 0;
    chain->obeyed_at = -INFINITY;
    chain->stops_at = INFINITY;
    chain->listens_until =
        isfinite(chain->config->timeout_s) ? time + fmin(chain->config->timeout_s, LISTENS_MOST_S) : -INFINITY;
}

/** What becomes of a datagram that is for this chain. */
enum chain_verdict { DATAGRAM_DROPPED, DATAGRAM_ANSWERED, DATAGRAM_REFUSED, DATAGRAM_OBEYED };

/** Whether setpoints are of the server that the chain obeys, or of a later one, which it obeys from now on. */
static bool chain_adopt_server(struct rm_chain *chain, struct rm_setpoint_datagram const *datagram) {
    if (datagram->term < chain->term)
        return false;
    if (datagram->term == chain->term)
        return datagram->instance == chain->instance;
    chain->term = datagram->term;
    chain->instance = datagram->instance;
    chain->obeys = false;
    return true;
}

/** Whether setpoints of the server that it obeys are the next or later ones. `*gap`: some between were lost. */
static bool in_sequence(struct rm_chain *chain, struct rm_setpoint_datagram const *datagram, bool *gap) {
    *gap = false;
    if (chain->obeys && datagram->sequence <= chain->sequence)
        return chain_drop_datagram(chain, RM_SUPPLY_REPEATED, 0);
    if (chain->obeys && datagram->sequence != chain->sequence + 1) {
        rm_counter_add(chain->counters, RM_SUPPLY_GAPS, datagram->sequence - chain->sequence - 1);
        *gap = true;
    }
    return true;
}

static void chain_tell_judge(struct rm_chain const *chain, struct rm_setpoint_datagram const *datagram, double time) {
    float values[RM_CHAIN_SUPPLIES_MAX];
    for (uint32_t s = 0; s < chain->config->supply_count; ++s)
        values[s] = rm_setpoint_value(datagram, s);
    rm_chain_judge_obeyed(chain->judge, chain->judged_as,
                          &(struct rm_chain_obeyed){.time = time,
                                                    .turn = datagram->turn,
                                                    .sequence = datagram->sequence,
                                                    .instance = datagram->instance,
                                                    .term = datagram->term,
                                                    .values = values,
                                                    .tripped = chain->tripped});
}

static void chain_obey_datagram(struct rm_chain *chain, struct rm_setpoint_datagram const *datagram, double time) {
    if (chain->judge != NULL)
        chain_tell_judge(chain, datagram, time);
    chain->obeys = true;
    chain->sequence = datagram->sequence;
    chain->obeyed_at = time;
    chain->stopped = false;
    chain->stops_at = time + chain->config->timeout_s;
    for (uint32_t s = 0; s < chain->config->supply_count; ++s)
        if ((chain->faults.deaf >> s & 1) == 0)
            rm_supply_set(&chain->supply[s], time, (double)rm_setpoint_value(datagram, s));
}

/** Judges setpoints by their sender, and obeys those that it may. */
static enum chain_verdict chain_take_setpoints(struct rm_chain *chain, struct rm_setpoint_datagram const *datagram,
                                               double time, uint16_t *says) {
    bool gap;
    if (!chain_adopt_server(chain, datagram)) {
        rm_counter_add(chain->counters, RM_SUPPLY_OLD_TERM, 1);
        *says |= RM_CHAIN_SAYS_OLD_TERM;
        return DATAGRAM_REFUSED;
    }
    if (time < chain->listens_until) {
        rm_counter_add(chain->counters, RM_SUPPLY_LISTENED, 1);
        return DATAGRAM_ANSWERED;
    }
    if (!in_sequence(chain, datagram, &gap))
        return DATAGRAM_DROPPED;
    rm_counter_add(chain->counters, RM_SUPPLY_SETPOINTS, 1);
    *says |= gap ? RM_CHAIN_SAYS_GAP : 0;
    chain_obey_datagram(chain, datagram, time);
    return DATAGRAM_OBEYED;
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
    unsigned status = chain->dropped;
    status |= chain->tripped != 0 ? RM_CHAIN_SAYS_TRIPPED : 0;
    status |= chain->saturated != 0 ? RM_CHAIN_SAYS_SATURATED : 0;
    status |= chain->stopped ? RM_CHAIN_SAYS_STOPPED : 0;
    return (uint16_t)status;
}

/** Microseconds since a setpoint was last obeyed, as far as an answer tells. */
static uint16_t silent_microseconds(struct rm_chain const *chain, double time) {
    double const silent = (time - chain->obeyed_at) * 1e6;
    return silent < RM_SUPPLY_LONG_AGO ? (uint16_t)silent : RM_SUPPLY_LONG_AGO;
}

/** What is the same in all parts of an answer. */
struct answer_head {
    rm_turn turn;
    uint16_t id, status, low;
};

static void write_answer(struct rm_chain *chain, struct answer_head const *head, uint32_t const *bits,
                         struct rm_chain_answer *answer) {
    uint32_t const count = chain->config->supply_count;
    int32_t const lane0 = rm_supply_answer_lane(chain->term, head->low);
    answer->parts = (count + RM_SUPPLIES_PER_RECORD - 1) / RM_SUPPLIES_PER_RECORD;
    for (uint32_t p = 0; p < answer->parts; ++p) {
        uint32_t const first = p * RM_SUPPLIES_PER_RECORD, left = count - first;
        uint32_t const here = left < RM_SUPPLIES_PER_RECORD ? left : RM_SUPPLIES_PER_RECORD;
        union rm_lane lanes[RM_LANES] = {{.i = lane0}, {.i = (int32_t)bits[p]}};
        for (uint32_t s = 0; s < here; ++s)
            lanes[RM_SUPPLY_LANE_FIRST + s].f = chain->reported[first + s];
        answer->length[p] =
            rm_native_write(answer->payload[p], RM_KIND_POWER_SUPPLY, (uint16_t)(head->id * RM_CHAIN_ID_PARTS + p),
                            head->status, head->turn, lanes, RM_SUPPLY_LANE_FIRST + here);
    }
}

/** Takes a good datagram, which is for this chain. */
static bool chain_answer_datagram(struct rm_chain *chain, struct rm_setpoint_datagram const *datagram, double time,
                                  struct rm_chain_answer *answer) {
    uint32_t bits[RM_CHAIN_ID_PARTS] = {0};
    bool const query = (datagram->flags & RM_SETPOINT_QUERY) != 0;
    uint16_t says = time < chain->listens_until ? RM_CHAIN_SAYS_LISTENING : 0;
    struct answer_head head = {.turn = datagram->turn, .id = chain->config->id, .low = (uint16_t)datagram->sequence};
    enum chain_verdict verdict = DATAGRAM_ANSWERED;
    if (query) {
        rm_counter_add(chain->counters, RM_SUPPLY_QUERIES, 1);
        says |= RM_CHAIN_SAYS_QUERIED;
        head.low = silent_microseconds(chain, time);
        if (time < chain->listens_until && datagram->term != 0)
            (void)chain_adopt_server(chain, datagram);
    } else {
        verdict = chain_take_setpoints(chain, datagram, time, &says);
    }
    if (verdict == DATAGRAM_DROPPED)
        return false;
    chain->heard = true;
    chain->turn = datagram->turn;
    chain_read_supplies(chain, time, bits);
    /* Queries have no sequence of their own, and each has its own luck. */
    uint64_t const number = query ? datagram->turn : datagram->sequence;
    if (chain->faults.answers && rm_chain_faults_lose(&chain->faults, number, &head.id, chain->counters))
        return false;
    head.status = status_of(chain) | says;
    write_answer(chain, &head, bits, answer);
    if (verdict == DATAGRAM_OBEYED)
        chain->dropped = 0;
    return true;
}

bool rm_chain_take(struct rm_chain *chain, uint8_t const *payload, uint32_t length, double time,
                   struct rm_chain_answer *answer) {
    struct rm_setpoint_datagram datagram;
    rm_chain_tick(chain, time);
    if (chain->faults.off != 0)
        return false;
    rm_counter_add(chain->counters, RM_SUPPLY_RECEIVED, 1);
    if (rm_setpoint_parse(payload, length, &datagram) != RM_SETPOINT_GOOD)
        return chain_drop_datagram(chain, RM_SUPPLY_MALFORMED, 0);
    if (datagram.chain != chain->config->id || datagram.count != chain->config->supply_count)
        return chain_drop_datagram(chain, RM_SUPPLY_MISDIRECTED, RM_CHAIN_SAYS_MISDIRECTED);
    return chain_answer_datagram(chain, &datagram, time, answer);
}

static void chain_stop_supplies(struct rm_chain *chain) {
    rm_counter_add(chain->counters, RM_SUPPLY_STOPS, 1);
    chain->stopped = true;
    for (uint32_t s = 0; chain->config->ramps && s < chain->config->supply_count; ++s)
        rm_supply_go_safe(&chain->supply[s], chain->stops_at);
    if (chain->config->ramps && chain->judge != NULL)
        rm_chain_judge_moved(chain->judge, chain->judged_as);
    chain->stops_at = INFINITY;
}

/** Switches it on where its power has come back. */
static void chain_look_for_power(struct rm_chain *chain) {
    if (chain->on_s == chain->faults.on_s)
        return;
    chain->on_s = chain->faults.on_s;
    rm_chain_switch_on(chain, chain->on_s);
}

void rm_chain_tick(struct rm_chain *chain, double time) {
    rm_chain_faults_tick(&chain->faults, chain->supply, chain->config->supply_count, time, chain->counters);
    chain_look_for_power(chain);
    if (time >= chain->stops_at && chain->faults.off == 0)
        chain_stop_supplies(chain);
}

void rm_chain_power(struct rm_chain *chain, double time, bool on) {
    rm_chain_faults_power(&chain->faults, time, on, chain->counters);
    chain_look_for_power(chain);
}

void rm_chain_reset(struct rm_chain *chain) {
    for (uint32_t s = 0; s < chain->config->supply_count; ++s)
        rm_supply_reset(&chain->supply[s]);
}
