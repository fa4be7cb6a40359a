// SPDX-License-Identifier: Apache-2.0
/** A virtual chain on a bench: of 13 ideal supplies, with a time-out of 100 ms and no faults, unless the test says
 * otherwise between begin and made. What it answered last is looked at by the functions *_of. */
#ifndef RM_INSTRUMENTS_TEST_CHAIN_RIG_H
#define RM_INSTRUMENTS_TEST_CHAIN_RIG_H

#include "chain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/counters.h>
#include <ringmaster/stream.h>

#include "wire/setpoint.h"

enum { ID = 7, SUPPLIES = 13, PARTS = 2, FAULTS = 4 };

struct chain_bench {
    struct rm_supply_config physics[RM_CHAIN_SUPPLIES_MAX];
    struct rm_supply supply[RM_CHAIN_SUPPLIES_MAX];
    struct rm_chain_config config;
    struct rm_chain_fault fault[FAULTS];
    uint32_t faults;
    rm_counter counters[RM_SUPPLY_COUNTERS];
    struct rm_chain chain;
    struct rm_chain_answer answer;
    float command[RM_CHAIN_SUPPLIES_MAX];
};

static inline struct chain_bench *begin(void) {
    struct chain_bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    for (uint32_t s = 0; s < RM_CHAIN_SUPPLIES_MAX; ++s) {
        bench->physics[s] = (struct rm_supply_config){.low = -10, .high = 10, .slew = INFINITY, .safe_slew = INFINITY};
        bench->command[s] = 0.5f * (float)s;
    }
    bench->config =
        (struct rm_chain_config){.id = ID, .supply_count = SUPPLIES, .timeout_s = 0.1, .supply = bench->physics};
    return bench;
}

static inline struct chain_bench *made(struct chain_bench *bench) {
    rm_chain_make(&bench->chain, &bench->config, bench->supply, bench->fault, bench->faults, 1, bench->counters);
    return bench;
}

static inline struct chain_bench *make(void) { return made(begin()); }

/** Sends what is commanded, or a query, to chain ID, from one of the servers. */
static inline bool send_from(struct chain_bench *bench, uint32_t instance, uint8_t flags, uint16_t term,
                             uint64_t sequence, double time) {
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t const length = rm_setpoint_write(payload, flags, ID, 1000 + sequence, term, instance, sequence,
                                              bench->command, bench->config.supply_count);
    return rm_chain_take(&bench->chain, payload, length, time, &bench->answer);
}

/** The same from the server of that term: another one for each. */
static inline bool send(struct chain_bench *bench, uint8_t flags, uint16_t term, uint64_t sequence, double time) {
    return send_from(bench, 1000u + term, flags, term, sequence, time);
}

static inline uint64_t counted(struct chain_bench const *bench, enum rm_supply_counter counter) {
    return rm_counter_get(&bench->counters[0], counter);
}

static inline struct rm_chain_fault fault_of(enum rm_chain_fault_kind kind, int32_t supply, double from, double to) {
    return (struct rm_chain_fault){
        .kind = kind, .supply = supply, .from_s = from, .to_s = to, .probability = 1, .key = 99};
}

/** One part of the answer. */
struct part {
    struct rm_native native;
    struct rm_record record;
};

static inline struct part part_of(struct chain_bench const *bench, uint32_t p) {
    struct part part;
    assert_in_range(p, 0, bench->answer.parts - 1);
    assert_int_equal(rm_native_parse(bench->answer.payload[p], bench->answer.length[p], &part.native), RM_PORT_DECODED);
    rm_native_record(&part.native, part.native.turn, 0, &part.record);
    return part;
}

static inline unsigned status_of(struct chain_bench const *bench) {
    unsigned const status = part_of(bench, 0).native.status;
    for (uint32_t p = 1; p < bench->answer.parts; ++p)
        assert_int_equal(part_of(bench, p).native.status, status);
    return status;
}

static inline float current_of(struct chain_bench const *bench, uint32_t supply) {
    return part_of(bench, supply / 10).record.lane[2 + supply % 10].f;
}

static inline unsigned bits_of(struct chain_bench const *bench, uint32_t supply) {
    return (unsigned)part_of(bench, supply / 10).record.lane[1].i >> 3 * (supply % 10) & 7;
}

/** Lane 0 of the answer. */
static inline uint16_t term_of(struct chain_bench const *bench) {
    return rm_supply_answer_term(part_of(bench, 0).record.lane[0].i);
}

static inline uint16_t low_of(struct chain_bench const *bench) {
    return rm_supply_answer_low(part_of(bench, 0).record.lane[0].i);
}

#endif
