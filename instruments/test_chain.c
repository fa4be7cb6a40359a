// SPDX-License-Identifier: Apache-2.0
/** The protocol of a virtual chain of supplies: each rule by which it refuses, obeys and answers, and its faults. */
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

struct bench {
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

static struct bench *begin(void) {
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    for (uint32_t s = 0; s < RM_CHAIN_SUPPLIES_MAX; ++s) {
        bench->physics[s] = (struct rm_supply_config){.low = -10, .high = 10, .slew = INFINITY, .safe_slew = INFINITY};
        bench->command[s] = 0.5f * (float)s;
    }
    bench->config =
        (struct rm_chain_config){.id = ID, .supply_count = SUPPLIES, .timeout_s = 0.1, .supply = bench->physics};
    return bench;
}

static struct bench *made(struct bench *bench) {
    rm_chain_make(&bench->chain, &bench->config, bench->supply, bench->fault, bench->faults, 1, bench->counters);
    return bench;
}

static struct bench *make(void) { return made(begin()); }

/** Sends what is commanded, or a query, to chain ID, from one of the servers. */
static bool send_from(struct bench *bench, uint32_t instance, uint8_t flags, uint16_t term, uint64_t sequence,
                      double time) {
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t const length = rm_setpoint_write(payload, flags, ID, 1000 + sequence, term, instance, sequence,
                                              bench->command, bench->config.supply_count);
    return rm_chain_take(&bench->chain, payload, length, time, &bench->answer);
}

/** The same from the server of that term: another one for each. */
static bool send(struct bench *bench, uint8_t flags, uint16_t term, uint64_t sequence, double time) {
    return send_from(bench, 1000u + term, flags, term, sequence, time);
}

static uint64_t counted(struct bench const *bench, enum rm_supply_counter counter) {
    return rm_counter_get(&bench->counters[0], counter);
}

static struct rm_chain_fault fault_of(enum rm_chain_fault_kind kind, int32_t supply, double from, double to) {
    return (struct rm_chain_fault){
        .kind = kind, .supply = supply, .from_s = from, .to_s = to, .probability = 1, .key = 99};
}

/** One part of the answer. */
struct part {
    struct rm_native native;
    struct rm_record record;
};

static struct part part_of(struct bench const *bench, uint32_t p) {
    struct part part;
    assert_in_range(p, 0, bench->answer.parts - 1);
    assert_int_equal(rm_native_parse(bench->answer.payload[p], bench->answer.length[p], &part.native), RM_PORT_DECODED);
    rm_native_record(&part.native, part.native.turn, 0, &part.record);
    return part;
}

static unsigned status_of(struct bench const *bench) {
    unsigned const status = part_of(bench, 0).native.status;
    for (uint32_t p = 1; p < bench->answer.parts; ++p)
        assert_int_equal(part_of(bench, p).native.status, status);
    return status;
}

static float current_of(struct bench const *bench, uint32_t supply) {
    return part_of(bench, supply / 10).record.lane[2 + supply % 10].f;
}

static unsigned bits_of(struct bench const *bench, uint32_t supply) {
    return (unsigned)part_of(bench, supply / 10).record.lane[1].i >> 3 * (supply % 10) & 7;
}

static void every_supply_is_set_and_read_back(void **state) {
    (void)state;
    struct bench *bench = make();
    assert_true(send(bench, 0, 5, 0xABCDEF0123u, 1));
    assert_int_equal(bench->answer.parts, PARTS);
    for (uint32_t p = 0; p < PARTS; ++p) {
        struct part const part = part_of(bench, p);
        assert_int_equal(part.native.kind, RM_KIND_POWER_SUPPLY);
        assert_int_equal(part.native.instrument, ID * 4 + p);
        assert_int_equal(part.native.turn, 1000 + 0xABCDEF0123u);
        assert_int_equal(part.native.status, 0);
        assert_int_equal(part.native.lane_count, p == 0 ? 12 : 2 + SUPPLIES - 10);
        assert_int_equal(rm_supply_answer_term(part.record.lane[0].i), 5);
        assert_int_equal(rm_supply_answer_low(part.record.lane[0].i), 0x0123);
        assert_int_equal(part.record.lane[1].i, 0);
    }
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        assert_float_equal(current_of(bench, s), bench->command[s], 0);
    assert_int_equal(counted(bench, RM_SUPPLY_RECEIVED), 1);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1);
    free(bench);
}

static void chains_of_every_length_answer(void **state) {
    (void)state;
    for (uint32_t count = 1; count <= RM_CHAIN_SUPPLIES_MAX; ++count) {
        struct bench *bench = begin();
        bench->config.supply_count = count;
        for (uint32_t s = 0; s < count; ++s)
            bench->command[s] = 0.2f * (float)s;
        made(bench);
        assert_true(send(bench, 0, 1, 1, 1));
        assert_int_equal(bench->answer.parts, (count + 9) / 10);
        for (uint32_t s = 0; s < count; ++s)
            assert_float_equal(current_of(bench, s), bench->command[s], 0);
        free(bench);
    }
}

/** Lane 0 of the answer. */
static uint16_t term_of(struct bench const *bench) { return rm_supply_answer_term(part_of(bench, 0).record.lane[0].i); }

static uint16_t low_of(struct bench const *bench) { return rm_supply_answer_low(part_of(bench, 0).record.lane[0].i); }

static void a_query_changes_nothing_and_is_answered(void **state) {
    (void)state;
    struct bench *bench = make();
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 1, 1));
    assert_float_equal(current_of(bench, 12), 0, 0);
    assert_int_equal(term_of(bench), 0);
    assert_true(send(bench, 0, 5, 2, 1));
    memset(bench->command, 0, sizeof bench->command);
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 3, 1.01));
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(counted(bench, RM_SUPPLY_QUERIES), 2);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1);
    /* nor is it a sign of life: no supply has a command */
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 4, 1.2));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_STOPPED | RM_CHAIN_SAYS_QUERIED);
    /* nor does it take a number of the sequence, whatever its own */
    assert_true(send(bench, 0, 5, 3, 1.3));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 0);
    free(bench);
}

/** Every member that a datagram may change, faults and counters aside. */
static void assert_unchanged(struct rm_chain const *now, struct rm_chain const *before) {
    assert_int_equal(now->term, before->term);
    assert_int_equal(now->instance, before->instance);
    assert_int_equal(now->obeys, before->obeys);
    assert_int_equal(now->sequence, before->sequence);
    assert_int_equal(now->stopped, before->stopped);
    assert_int_equal(now->dropped, before->dropped);
    assert_true(now->obeyed_at == before->obeyed_at && now->stops_at == before->stops_at);
    assert_true(now->listens_until == before->listens_until);
}

/** Of a higher term, of a lower one, of none, of another server: a query changes nothing. */
static void no_query_changes_anything(void **state) {
    (void)state;
    static uint16_t const terms[] = {0, 4, 5, 6, UINT16_MAX};
    struct bench *bench = make();
    assert_true(send(bench, 0, 5, 10, 1));
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t const length = rm_setpoint_write(payload, 0, ID + 1, 1, 5, 1, 1, bench->command, SUPPLIES);
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    struct rm_chain const before = bench->chain;
    for (unsigned i = 0; i < sizeof terms / sizeof terms[0]; ++i) {
        assert_true(send_from(bench, 77, RM_SETPOINT_QUERY, terms[i], 900 + i, 1.001));
        assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_MISDIRECTED);
        assert_int_equal(term_of(bench), 5);
        assert_unchanged(&bench->chain, &before);
    }
    assert_true(send(bench, 0, 5, 11, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_MISDIRECTED);
    assert_true(send(bench, 0, 5, 12, 1.02)); /* said until a setpoint is obeyed */
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

/** How long setpoints are away, to the microsecond, and no further than 65 ms. */
static void a_query_tells_how_long_setpoints_are_away(void **state) {
    (void)state;
    static struct {
        double after_s;
        uint16_t told;
    } const at[] = {{0, 0}, {31e-6, 31}, {50.9e-6, 50}, {1e-3, 1000}, {65.534e-3, 65534}, {65.6e-3, 65535}, {9, 65535}};
    for (unsigned i = 0; i < sizeof at / sizeof at[0]; ++i) {
        struct bench *bench = make();
        assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 1));
        assert_int_equal(low_of(bench), RM_SUPPLY_LONG_AGO); /* never */
        assert_true(send(bench, 0, 5, 1, 0));
        assert_true(send(bench, 0, 4, 1, at[i].after_s / 2)); /* refused: it counts for nothing */
        assert_true(send(bench, RM_SETPOINT_QUERY, 6, 1, at[i].after_s + 1e-9));
        assert_int_equal(low_of(bench), at[i].told);
        free(bench);
    }
}

static void a_lower_term_is_refused_and_told_so(void **state) {
    (void)state;
    struct bench *bench = make();
    assert_true(send(bench, 0, 5, 100, 1));
    bench->command[3] = 9;
    struct rm_chain const before = bench->chain;
    assert_true(send(bench, 0, 4, 0x12345, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_int_equal(term_of(bench), 5);
    assert_int_equal(low_of(bench), 0x2345);
    assert_int_equal(part_of(bench, 0).native.turn, 1000 + 0x12345);
    assert_float_equal(current_of(bench, 3), 1.5, 0);
    assert_unchanged(&bench->chain, &before);
    assert_true(send(bench, 0, 5, 101, 1.02)); /* the one that is obeyed hears nothing of it */
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_OLD_TERM), 1);
    free(bench);
}

static void another_server_under_the_same_term_is_refused(void **state) {
    (void)state;
    struct bench *bench = make();
    assert_true(send_from(bench, 11, 0, 5, 100, 1));
    assert_true(send_from(bench, 12, 0, 5, 101, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send_from(bench, 10, 0, 5, 101, 1.01)); /* instances have no order */
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send_from(bench, 11, 0, 5, 101, 1.02));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_OLD_TERM), 2);
    free(bench);
}

/** A higher term begins its own sequence, anywhere, without a gap. */
static void a_higher_term_takes_over(void **state) {
    (void)state;
    struct bench *bench = make();
    assert_true(send(bench, 0, 5, 100, 1));
    assert_true(send(bench, 0, 6, 7, 1.01));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(term_of(bench), 6);
    assert_true(send(bench, 0, 5, 101, 1.02));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send(bench, 0, 6, 8, 1.03));
    assert_true(send(bench, 0, UINT16_MAX, 0, 1.04)); /* the last term there is */
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 4);
    free(bench);
}

/** Two servers send to a chain that was just switched on, the one that is deposed first and last. */
static void it_listens_before_it_obeys(void **state) {
    (void)state;
    struct bench *bench = make();
    assert_true(send(bench, 0, 9, 1, 0.5));
    rm_chain_switch_on(&bench->chain, 1);
    bench->command[1] = 7;
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 1.01));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING | RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(term_of(bench), 0); /* forgotten with its power */
    assert_int_equal(low_of(bench), RM_SUPPLY_LONG_AGO);
    assert_true(send(bench, 0, 5, 40, 1.02));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING);
    assert_int_equal(low_of(bench), 40);
    assert_int_equal(term_of(bench), 5);
    assert_true(send(bench, 0, 6, 3, 1.03));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING);
    assert_true(send(bench, 0, 5, 41, 1.04));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING | RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send(bench, 0, 6, 3, 1.05)); /* a copy, which it need not know */
    assert_float_equal(current_of(bench, 1), 0.5, 0);
    assert_true(send(bench, 0, 5, 42, 1.11)); /* it has listened */
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_OLD_TERM);
    assert_true(send(bench, 0, 6, 9, 1.12));
    assert_int_equal(status_of(bench), 0);
    assert_float_equal(current_of(bench, 1), 7, 0);
    assert_int_equal(counted(bench, RM_SUPPLY_LISTENED), 3);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 0);
    free(bench);
}

/** It takes nothing without power, forgets whom it obeyed, listens, and its supplies stand where they were. */
static void a_power_cycle_forgets_and_listens(void **state) {
    (void)state;
    struct bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 2, 2.5);
    bench->faults = 1;
    bench->config.ramps = true;
    made(bench);
    assert_true(send(bench, 0, 5, 1, 1.99));
    assert_false(send(bench, 0, 5, 2, 2.01));
    assert_false(send(bench, RM_SETPOINT_QUERY, 5, 2, 2.4));
    assert_int_equal(counted(bench, RM_SUPPLY_RECEIVED), 1);
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 2, 2.51));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_LISTENING);
    assert_int_equal(term_of(bench), 0);
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_true(send(bench, 0, 4, 70, 2.59));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_LISTENING);
    assert_true(send(bench, 0, 4, 71, 2.61)); /* 100 ms after 2.5 s, whenever that was noticed */
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_POWER_CYCLES), 1);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 0);
    free(bench);
}

/** One of which nobody noticed that it began before it was over is one, too; and two at a time are one. */
static void power_may_be_away_for_several_reasons(void **state) {
    (void)state;
    struct bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 2, 2.001);
    bench->fault[1] = fault_of(RM_CHAIN_FAULT_POWER_CYCLE, RM_CHAIN_ALL_SUPPLIES, 5, 7);
    bench->faults = 2;
    made(bench);
    assert_true(send(bench, 0, 5, 1, 1.99));
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 2.05));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_LISTENING);
    rm_chain_tick(&bench->chain, 5.5);
    rm_chain_power(&bench->chain, 6, false);
    assert_false(send(bench, RM_SETPOINT_QUERY, 0, 0, 7.5));
    rm_chain_power(&bench->chain, 8, true);
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 8.05));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED | RM_CHAIN_SAYS_LISTENING);
    assert_true(send(bench, RM_SETPOINT_QUERY, 0, 0, 8.15));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(counted(bench, RM_SUPPLY_POWER_CYCLES), 2);
    free(bench);
}

static void without_a_time_out_it_does_not_listen(void **state) {
    (void)state;
    struct bench *bench = begin();
    bench->config.timeout_s = INFINITY;
    made(bench);
    rm_chain_switch_on(&bench->chain, 1);
    assert_true(send(bench, 0, 5, 1, 1));
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1);
    free(bench);
}

static void misdirected_and_malformed_are_refused(void **state) {
    (void)state;
    struct bench *bench = make();
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t length = rm_setpoint_write(payload, 0, ID + 1, 1, 5, 1, 1, bench->command, SUPPLIES);
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    length = rm_setpoint_write(payload, 0, ID, 1, 5, 1, 1, bench->command, SUPPLIES - 1);
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    length = rm_setpoint_write(payload, 0, ID, 1, 5, 1, 1, bench->command, SUPPLIES);
    assert_false(rm_chain_take(&bench->chain, payload, length - 1, 1, &bench->answer));
    payload[0] ^= 1;
    assert_false(rm_chain_take(&bench->chain, payload, length, 1, &bench->answer));
    assert_int_equal(counted(bench, RM_SUPPLY_RECEIVED), 4);
    assert_int_equal(counted(bench, RM_SUPPLY_MISDIRECTED), 2);
    assert_int_equal(counted(bench, RM_SUPPLY_MALFORMED), 2);
    assert_true(send(bench, RM_SETPOINT_QUERY, 1, 1, 1)); /* what was misdirected made no term known */
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_MISDIRECTED | RM_CHAIN_SAYS_QUERIED);
    assert_int_equal(term_of(bench), 0);
    assert_float_equal(current_of(bench, 12), 0, 0);
    free(bench);
}

static void repeated_are_refused_and_missing_are_counted(void **state) {
    (void)state;
    struct bench *bench = make();
    assert_true(send(bench, 0, 5, 10, 1));
    assert_int_equal(status_of(bench), 0);
    bench->command[1] = 7;
    assert_false(send(bench, 0, 5, 10, 1.01));
    assert_false(send(bench, 0, 5, 9, 1.01));
    assert_int_equal(counted(bench, RM_SUPPLY_REPEATED), 2);
    assert_true(send(bench, 0, 5, 14, 1.02));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_GAP);
    assert_int_equal(counted(bench, RM_SUPPLY_GAPS), 3);
    assert_false(send(bench, 0, 5, 12, 1.03)); /* overtaken: too late */
    assert_true(send(bench, 0, 5, 15, 1.04));
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

static void it_holds_when_setpoints_stop(void **state) {
    (void)state;
    struct bench *bench = make();
    rm_chain_tick(&bench->chain, 100); /* never given any: there is nothing to stop */
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 0);
    assert_true(send(bench, 0, 5, 1, 101));
    rm_chain_tick(&bench->chain, 101.09);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 0);
    rm_chain_tick(&bench->chain, 101.11);
    rm_chain_tick(&bench->chain, 105);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 1);
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 2, 106));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_STOPPED | RM_CHAIN_SAYS_QUERIED);
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_int_equal(bits_of(bench, 12), 0);
    assert_true(send(bench, 0, 5, 2, 106.01));
    assert_int_equal(status_of(bench), 0);
    free(bench);
}

static void it_ramps_when_setpoints_stop(void **state) {
    (void)state;
    struct bench *bench = begin();
    bench->config.ramps = true;
    bench->physics[12].safe = 1;
    bench->physics[12].safe_slew = 2;
    made(bench);
    assert_true(send(bench, 0, 5, 1, 1));
    /* found out late, and yet as of 1.1 s */
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 2, 2.1));
    assert_float_equal(current_of(bench, 12), 4, 1e-6);
    assert_int_equal(bits_of(bench, 12), RM_SUPPLY_BIT_SAFE);
    assert_float_equal(current_of(bench, 3), 0, 0);
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_STOPPED | RM_CHAIN_SAYS_QUERIED);
    assert_true(send(bench, RM_SETPOINT_QUERY, 5, 3, 9));
    assert_float_equal(current_of(bench, 12), 1, 0);
    assert_true(send(bench, 0, 5, 2, 9));
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_int_equal(bits_of(bench, 12), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_STOPS), 1);
    free(bench);
}

static void trips_last_until_they_are_reset(void **state) {
    (void)state;
    struct bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_TRIP, 11, 2, 3);
    bench->fault[1] = fault_of(RM_CHAIN_FAULT_TRIP, 4, 2.5, INFINITY);
    bench->faults = 2;
    made(bench);
    assert_true(send(bench, 0, 1, 1, 1.99));
    assert_int_equal(status_of(bench), 0);
    assert_true(send(bench, 0, 1, 2, 2.05));
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_TRIPPED);
    assert_int_equal(bits_of(bench, 11), RM_SUPPLY_BIT_TRIPPED);
    assert_float_equal(current_of(bench, 11), 0, 0);
    assert_float_equal(current_of(bench, 12), 6, 0);
    assert_true(send(bench, 0, 1, 3, 3.05)); /* the first is over */
    assert_float_equal(current_of(bench, 11), 5.5, 0);
    assert_int_equal(bits_of(bench, 11), 0);
    assert_int_equal(bits_of(bench, 4), RM_SUPPLY_BIT_TRIPPED);
    rm_chain_reset(&bench->chain);
    assert_true(send(bench, 0, 1, 4, 3.1));
    assert_float_equal(current_of(bench, 4), 2, 0);
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_TRIPS), 2);
    free(bench);
}

static void answers_are_lost_by_chance_and_the_same_ones_again(void **state) {
    (void)state;
    bool lost[2][1000];
    for (unsigned round = 0; round < 2; ++round) {
        struct bench *bench = begin();
        bench->fault[0] = fault_of(RM_CHAIN_FAULT_SILENT, RM_CHAIN_ALL_SUPPLIES, 0, INFINITY);
        bench->fault[0].probability = 0.3;
        bench->faults = 1;
        made(bench);
        for (unsigned k = 0; k < 1000; ++k)
            lost[round][k] = !send(bench, 0, 1, k + 1, 1 + 1e-5 * k + 0.1 * round);
        assert_in_range(counted(bench, RM_SUPPLY_FAULT_LOST), 230, 370); /* 5 standard deviations */
        assert_int_equal(counted(bench, RM_SUPPLY_SETPOINTS), 1000);
        free(bench);
    }
    assert_memory_equal(lost[0], lost[1], sizeof lost[0]);
}

static void a_chain_answers_for_another(void **state) {
    (void)state;
    struct bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_OTHER_ID, RM_CHAIN_ALL_SUPPLIES, 1, 2);
    bench->fault[0].other_id = 3;
    bench->faults = 1;
    made(bench);
    for (unsigned k = 0; k < 3; ++k) {
        assert_true(send(bench, 0, 1, k + 1, 0.5 + k));
        assert_int_equal(part_of(bench, 1).native.instrument, (k == 1 ? 3 : ID) * 4 + 1);
    }
    assert_int_equal(counted(bench, RM_SUPPLY_FAULT_OTHER), 1);
    free(bench);
}

static void some_are_stuck_deaf_or_saturated(void **state) {
    (void)state;
    struct bench *bench = begin();
    bench->fault[0] = fault_of(RM_CHAIN_FAULT_STUCK, 2, 2, 3);
    bench->fault[1] = fault_of(RM_CHAIN_FAULT_DEAF, 3, 2, 3);
    bench->fault[2] = fault_of(RM_CHAIN_FAULT_SATURATE, 4, 2, 3);
    bench->fault[2].limit = 1.25;
    bench->faults = 3;
    made(bench);
    assert_true(send(bench, 0, 1, 1, 1.95));
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        bench->command[s] = 8;
    assert_true(send(bench, 0, 1, 2, 2));
    assert_float_equal(current_of(bench, 2), 1, 0);
    assert_float_equal(rm_supply_current(&bench->supply[2], 2), 8, 0);
    assert_float_equal(current_of(bench, 3), 1.5, 0);
    assert_float_equal(rm_supply_current(&bench->supply[3], 2), 1.5, 0);
    assert_float_equal(current_of(bench, 4), 1.25, 0);
    assert_int_equal(bits_of(bench, 4), RM_SUPPLY_BIT_SATURATED);
    assert_int_equal(status_of(bench), RM_CHAIN_SAYS_SATURATED);
    assert_float_equal(current_of(bench, 5), 8, 0);
    assert_true(send(bench, 0, 1, 3, 3));
    for (uint32_t s = 2; s < 6; ++s)
        assert_float_equal(current_of(bench, s), 8, 0);
    assert_int_equal(status_of(bench), 0);
    assert_int_equal(counted(bench, RM_SUPPLY_SATURATIONS), 1);
    free(bench);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_supply_is_set_and_read_back),
        cmocka_unit_test(chains_of_every_length_answer),
        cmocka_unit_test(a_query_changes_nothing_and_is_answered),
        cmocka_unit_test(no_query_changes_anything),
        cmocka_unit_test(a_query_tells_how_long_setpoints_are_away),
        cmocka_unit_test(a_lower_term_is_refused_and_told_so),
        cmocka_unit_test(another_server_under_the_same_term_is_refused),
        cmocka_unit_test(a_higher_term_takes_over),
        cmocka_unit_test(it_listens_before_it_obeys),
        cmocka_unit_test(a_power_cycle_forgets_and_listens),
        cmocka_unit_test(power_may_be_away_for_several_reasons),
        cmocka_unit_test(without_a_time_out_it_does_not_listen),
        cmocka_unit_test(misdirected_and_malformed_are_refused),
        cmocka_unit_test(repeated_are_refused_and_missing_are_counted),
        cmocka_unit_test(it_holds_when_setpoints_stop),
        cmocka_unit_test(it_ramps_when_setpoints_stop),
        cmocka_unit_test(trips_last_until_they_are_reset),
        cmocka_unit_test(answers_are_lost_by_chance_and_the_same_ones_again),
        cmocka_unit_test(a_chain_answers_for_another),
        cmocka_unit_test(some_are_stuck_deaf_or_saturated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
