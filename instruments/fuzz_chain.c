// SPDX-License-Identifier: Apache-2.0
/** Whatever arrives at a chain of supplies, and whenever: no supply is ever beyond its range, and every answer is a
 * native datagram of this chain. Between two power cycles it never obeys two masters, as its judge has it. The input is a list of datagrams, each with a length and a wait before it; every
 * second one has a good header written over its own, so that its values get through. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/counters.h>
#include <ringmaster/stream.h>

#include "chain.h"
#include "wire/setpoint.h"

enum { ID = 3, SUPPLIES = 13 };

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void check_supplies(struct rm_supply *supplies, double time) {
    for (uint32_t s = 0; s < SUPPLIES; ++s) {
        rm_supply_advance(&supplies[s], time);
        double const current = rm_supply_current(&supplies[s], time);
        if (!(current >= supplies[s].config->low && current <= supplies[s].config->high))
            abort();
    }
}

static void check_answer(struct rm_chain_answer const *answer) {
    if (answer->parts != 2)
        abort();
    for (uint32_t p = 0; p < answer->parts; ++p) {
        struct rm_native native;
        if (rm_native_parse(answer->payload[p], answer->length[p], &native) != RM_PORT_DECODED ||
            native.instrument != ID * RM_CHAIN_ID_PARTS + p || native.kind != RM_KIND_POWER_SUPPLY)
            abort();
    }
}

static struct rm_chain_judge *begin_judging(rm_counter *counters) {
    static uint32_t const supplies = SUPPLIES;
    static struct rm_chain_judge_limits const limits[SUPPLIES];
    struct rm_chain_judge *judge;
    struct rm_error error;
    struct rm_chain_judge_setup const setup = {
        .chains = 1,
        .supplies = &supplies,
        .limits = limits,
        .counters = &counters,
        .period_turns = 1,
        .cycle_s = 1e-5,
        .swap_steps = 4,
        .divided_cycles = 10,
    };
    if (rm_chain_judge_new(&setup, &judge, &error) != RM_OK)
        abort();
    return judge;
}

static void check_masters(rm_counter const *counters) {
    if (rm_counter_get(&counters[0], RM_SUPPLY_TWO_MASTERS) != 0 &&
        rm_counter_get(&counters[0], RM_SUPPLY_POWER_CYCLES) == 0)
        abort();
}

/** A payload of its own length exactly, so that a sanitizer sees a read beyond it. */
static void deliver(struct rm_chain *chain, uint8_t const *data, uint32_t length, bool with_header, uint64_t sequence,
                    double time) {
    struct rm_chain_answer answer;
    uint32_t const bytes = with_header ? RM_SETPOINT_HEADER_BYTES + 4 * SUPPLIES : length;
    uint8_t *payload = calloc(1, bytes == 0 ? 1 : bytes);
    if (payload == NULL)
        return;
    if (with_header) {
        uint16_t const term = 1 + (data[0] >> 6);
        uint32_t const instance = 1 + (data[0] >> 5 & 1);
        rm_setpoint_write(payload, data[0] & RM_SETPOINT_QUERY, ID, sequence, term, instance, sequence, NULL, SUPPLIES);
        memcpy(payload + RM_SETPOINT_HEADER_BYTES, data, length < 4 * SUPPLIES ? length : 4 * SUPPLIES);
    } else {
        memcpy(payload, data, length);
    }
    if (rm_chain_take(chain, payload, bytes, time, &answer))
        check_answer(&answer);
    free(payload);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    static struct rm_supply_config const kinds[] = {
        {.low = -10, .high = 10, .slew = INFINITY, .safe_slew = INFINITY, .initial = 3},
        {.low = -10, .high = 5, .slew = 100, .safe_slew = 5, .bandwidth_hz = 1000, .resolution = 0.3},
        {.low = 0,
         .high = 8,
         .slew = 1e4,
         .safe_slew = 1,
         .safe = 2,
         .bandwidth_hz = 2,
         .regulation_hz = 1e5,
         .drift_ppm = 50,
         .delay_s = 3e-5,
         .noise = 0.1,
         .ripple_count = 1,
         .ripple = {{300, 2}}},
    };
    struct rm_supply_config configs[SUPPLIES];
    struct rm_supply supplies[SUPPLIES];
    rm_counter counters[RM_SUPPLY_COUNTERS] = {0};
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        configs[s] = kinds[s % 3];
    struct rm_chain_config const config = {
        .id = ID, .supply_count = SUPPLIES, .timeout_s = 1e-3, .ramps = size % 2, .supply = configs};
    struct rm_chain_fault faults[] = {
        {.kind = RM_CHAIN_FAULT_TRIP, .supply = 2, .from_s = 0.01, .to_s = 0.02},
        {.kind = RM_CHAIN_FAULT_SATURATE, .supply = RM_CHAIN_ALL_SUPPLIES, .from_s = 0.01, .to_s = 0.05, .limit = 1},
        {.kind = RM_CHAIN_FAULT_POWER_CYCLE, .supply = RM_CHAIN_ALL_SUPPLIES, .from_s = 0.03, .to_s = 0.031},
    };
    struct rm_chain chain;
    double time = 0;
    uint64_t sequence = 0;
    struct rm_chain_judge *const judge = begin_judging(counters);
    rm_chain_make(&chain, &config, supplies, faults, 3, size, counters);
    chain.judge = judge;
    while (size >= 3) {
        uint32_t const length = data[0] < size - 2 ? data[0] : (uint32_t)(size - 2);
        time += 1e-6 * data[1] * data[1];
        ++sequence;
        if (length != 0)
            deliver(&chain, data + 2, length, sequence % 2 == 0, sequence, time);
        check_supplies(supplies, time);
        check_masters(counters);
        data += 2 + length;
        size -= 2 + length;
    }
    rm_chain_judge_free(judge);
    return 0;
}
