// SPDX-License-Identifier: Apache-2.0
/** The chains of a ring, and what an overlay says of them, of their supplies, their faults and what they do. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_files.h"

#define SUPPLY "unit: A, limits: [-10, 10], slew: 100, safe_slew: 2"

static char const RING[] =
    "ports:\n"
    "  - {name: ring, kind: memif, socket: /tmp/ring.sock}\n"
    "  - {name: chains, kind: memif, socket: /tmp/supplies.sock, answer: 10.30.0.250, udp_port: 99}\n"
    "instruments:\n"
    "  - {name: bpm, kind: bpm, id: 1, count: 3, port: ring, source: 10.20.0.1}\n"
    "setpoints: {period_turns: 12}\n"
    "chains:\n"
    "  - name: c\n"
    "    count: 12\n"
    "    id: 5\n"
    "    port: chains\n"
    "    address: 10.30.0.1\n"
    "    supplies:\n"
    "      - {name: \"sr/ps/a{chain}_\", count: 8, unit: A, limits: [2, 10], slew: 100, safe: 3, safe_slew: 2}\n"
    "      - {name: \"sr/ps/b{chain}_\", count: 5, " SUPPLY "}\n";

static void absent_keys_make_an_ideal_supply(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(RING, "", &config);
    struct rm_ring_supplies const *supplies = &config.supplies;
    assert_int_equal(supplies->chain_count, 12);
    assert_int_equal(supplies->supply_count, 12 * 13);
    assert_int_equal(supplies->chains[0].port, 1);
    assert_string_equal(config.ports[1].port.socket_path, "/tmp/supplies.sock");
    assert_false(config.ports[1].port.memif_server);
    struct rm_ring_chain const *last = &supplies->chains[11];
    uint8_t const mac[6] = {2, 0, 10, 30, 0, 12};
    assert_string_equal(last->name, "c12");
    assert_int_equal(last->config.id, 16);
    assert_int_equal(last->ipv4, 0x0A1E000C);
    assert_memory_equal(last->mac, mac, sizeof mac);
    assert_int_equal(last->udp_port, 4662);
    assert_int_equal(last->answer_port, 99);
    assert_true(last->answers);
    assert_int_equal(last->first, 11 * 13);
    assert_int_equal(last->config.supply_count, 13);
    assert_float_equal(last->config.timeout_s, 0.1, 1e-9);
    assert_false(last->config.ramps);
    assert_float_equal(last->config.supply[7].low, 0, 0); /* off is 0, below its limits */
    assert_float_equal(last->config.supply[7].safe, 3, 0);
    struct rm_supply_config const *ideal = &last->config.supply[8];
    assert_float_equal(ideal->low, -10, 0);
    assert_float_equal(ideal->high, 10, 0);
    assert_float_equal(ideal->bandwidth_hz + ideal->delay_s + ideal->resolution + ideal->noise, 0, 0);
    assert_float_equal(ideal->regulation_hz + ideal->drift_ppm + ideal->initial + ideal->safe, 0, 0);
    assert_true(isinf(ideal->slew));
    assert_float_equal(ideal->safe_slew, 2, 0);
    rm_ring_config_free(&config);
}

static void every_key_is_taken(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(
        "setpoints: {period_turns: 12}\n"
        "ports: [{name: ring, kind: af_packet, interface: veth0, answer: 10.1.0.250}]\n"
        "chains:\n"
        "  - {name: one, id: 3, port: ring, address: 10.1.0.1, mac: \"02:00:00:00:00:ff\", udp_port: 77, readback: "
        "false,\n"
        "     supplies: [{name: a, " SUPPLY "}]}\n"
        "  - {name: two, id: 4, port: ring, address: 10.1.0.9, count: 2, mac: \"02:00:00:00:00:ff\",\n"
        "     supplies: [{name: \"b{chain}\", " SUPPLY "}]}\n",
        "seed: 5\n"
        "ports: [{name: ring, interface: veth1}]\n"
        "chains: [{name: one, timeout_ms: 20, stop: ramp}, {name: two, timeout_ms: 0, mirror: true}]\n"
        "supplies:\n"
        "  - {supplies: all, slew: 7}\n"
        "  - {supplies: a, range: [0, 8], resolution: 0.5, delay_us: 20, regulation_hz: 100000, drift_ppm: 30,\n"
        "     bandwidth_hz: 10, slew: 2000, noise: 0.25, ripple: [{hz: 50, amplitude: 0.5}],\n"
        "     initial: 4, safe: 2, safe_slew: 3}\n"
        "chain_faults:\n"
        "  - {chain: one, fault: trip, supply: 1, from_s: 1, for_s: 2}\n"
        "  - {chain: all, fault: silent, probability: 0.25}\n"
        "  - {chain: two, fault: other_id, id: 3}\n"
        "  - {chain: two02, fault: saturate, limit: 2}\n"
        "  - {chain: one, fault: power_cycle, from_s: 4, for_s: 0.5}\n",
        &config);
    struct rm_ring_supplies const *supplies = &config.supplies;
    struct rm_ring_chain const *one = &supplies->chains[0];
    struct rm_supply_config const *supply = &supplies->supplies[0];
    assert_int_equal(config.instrument_count + config.network_count, 0);
    assert_int_equal(config.ports[0].port.kind, RM_PORT_AF_PACKET);
    assert_string_equal(config.ports[0].port.interface, "veth1");
    assert_int_equal(one->udp_port, 77);
    assert_false(one->answers);
    assert_float_equal(one->config.timeout_s, 0.02, 1e-9);
    assert_true(one->config.ramps);
    double const found[] = {supply->low,       supply->high,         supply->resolution,          supply->delay_s * 1e6,
                            supply->drift_ppm, supply->bandwidth_hz, supply->regulation_hz,       supply->slew,
                            supply->noise,     supply->ripple[0].hz, supply->ripple[0].amplitude, supply->initial,
                            supply->safe,      supply->safe_slew};
    double const expected[] = {0, 8, 0.5, 20, 30, 10, 1e5, 2000, 0.25, 50, 0.5, 4, 2, 3};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; ++i)
        assert_float_equal(found[i], expected[i], 1e-9);
    uint8_t const mac[6] = {2, 0, 0, 0, 1, 0};
    assert_memory_equal(supplies->chains[2].mac, mac, sizeof mac);
    assert_string_equal(supplies->chains[2].name, "two02");
    assert_true(isinf(supplies->chains[2].config.timeout_s));
    assert_float_equal(supplies->chains[2].config.supply[0].slew, 7, 0); /* what an earlier entry said */
    assert_float_equal(supplies->chains[2].config.supply[0].safe_slew, 2, 0);
    assert_false(one->mirror);
    assert_true(supplies->chains[2].mirror);
    assert_int_equal(supplies->faults[4].fault.kind, RM_CHAIN_FAULT_POWER_CYCLE);
    assert_int_equal(supplies->period_turns, 12);
    assert_int_equal(supplies->fault_count, 5);
    assert_int_equal(supplies->faults[0].fault.supply, 0);
    assert_float_equal(supplies->faults[0].fault.to_s, 3, 0);
    assert_int_equal(supplies->faults[1].chain_count, 3);
    assert_float_equal(supplies->faults[1].fault.probability, 0.25, 0);
    assert_int_equal(supplies->faults[2].first_chain, 1);
    assert_int_equal(supplies->faults[2].chain_count, 2);
    assert_int_equal(supplies->faults[2].fault.other_id, 3);
    assert_int_equal(supplies->faults[3].first_chain, 2);
    assert_int_equal(supplies->faults[3].fault.supply, RM_CHAIN_ALL_SUPPLIES);
    assert_true(isinf(supplies->faults[3].fault.to_s));
    rm_ring_config_free(&config);
}

static void responses_stand_in_the_order_of_their_instruments(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(RING,
                         "responses:\n"
                         "  - {supply: c12/13, instrument: bpm03, lane: y2, per_unit: -20000}\n"
                         "  - {supply: sr/ps/a01_01, instrument: bpm01, lane: x, per_unit: 1.5}\n",
                         &config);
    assert_int_equal(config.supplies.response_count, 2);
    assert_int_equal(config.supplies.responses[0].instrument, 0);
    assert_int_equal(config.supplies.responses[0].supply, 0);
    assert_int_equal(config.supplies.responses[0].lane, 0);
    assert_int_equal(config.supplies.responses[1].instrument, 2);
    assert_int_equal(config.supplies.responses[1].supply, 12 * 13 - 1);
    assert_int_equal(config.supplies.responses[1].lane, 5);
    assert_float_equal(config.supplies.responses[1].per_unit, -20000, 0);
    rm_ring_config_free(&config);
}

static double bandwidth_of(struct rm_ring_config const *config, uint32_t supply) {
    return config->supplies.supplies[supply].bandwidth_hz;
}

/** By their chains, by their places in these, and by their own names; a later entry over an earlier. */
static void an_entry_means_several_supplies(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(RING,
                         "supplies:\n"
                         "  - {supplies: c, bandwidth_hz: 1}\n"
                         "  - {supplies: \"c0[1-3]\", bandwidth_hz: 2}\n"
                         "  - {supplies: c02/9-13, bandwidth_hz: 3}\n"
                         "  - {supplies: \"sr/ps/b03_*\", bandwidth_hz: 4}\n"
                         "  - {supplies: sr/ps/b03_05, bandwidth_hz: 5}\n",
                         &config);
    double const expected[] = {2, 2, 3, 4, 5, 1};
    uint32_t const at[] = {0, 13 + 7, 13 + 8, 26 + 8, 26 + 12, 39};
    for (size_t s = 0; s < sizeof at / sizeof at[0]; ++s)
        assert_float_equal(bandwidth_of(&config, at[s]), expected[s], 0);
    rm_ring_config_free(&config);
}

/** In simulated time the ring waits for setpoints. */
static void it_waits_in_simulated_time(void **state) {
    (void)state;
    struct rm_ring_config config;
    char machine[2048];
    snprintf(machine, sizeof machine, "simulated_time: true\n%s", RING);
    test_files_load_good(machine, "", &config);
    assert_int_equal(config.lock_step.period_turns, 12);
    assert_int_equal(config.lock_step.answer_turns, 12);
    rm_ring_config_free(&config);
    test_files_load_good(machine, "answer_turns: 7\n", &config);
    assert_int_equal(config.lock_step.answer_turns, 7);
    rm_ring_config_free(&config);
    test_files_expect(machine, "answer_turns: 13\n", "answer_turns: found 13, expected 1 to 12");
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    struct {
        char const *overlay, *expected;
    } const cases[] = {
        {"chains: [{name: d, stop: hold}]\n", "chains[0].name: found \"d\", expected the name of a chain"},
        {"chains: [{name: c, timeout_ms: -1}]\n", "chains[0].timeout_ms: found -1"},
        {"supplies: [{supplies: d, slew: 1}]\n", "supplies[0].supplies: found \"d\", which means none of the 156"},
        {"supplies: [{supplies: c01/14, slew: 1}]\n", "supplies[0].supplies: found \"c01/14\""},
        {"supplies: [{supplies: c, range: [1, 10]}]\n", "supplies[0].range: found [1, 10]"},
        {"supplies: [{supplies: c, slew: 0}]\n", "supplies[0].slew: found 0"},
        {"supplies: [{supplies: c, initial: 11}]\n", "supplies[0].initial: found 11"},
        {"supplies: [{supplies: c, regulation_hz: 0.5}]\n", "supplies[0].regulation_hz: found 0.5"},
        {"responses: [{supply: c01/14, instrument: bpm01, lane: x1, per_unit: 1}]\n",
         "responses[0].supply: found \"c01/14\", which means 0 supplies"},
        {"responses: [{supply: c01, instrument: bpm01, lane: x1, per_unit: 1}]\n",
         "responses[0].supply: found \"c01\", which means 13 supplies, expected one"},
        {"responses: [{supply: c01/1, instrument: bpm, lane: x1, per_unit: 1}]\n",
         "responses[0].instrument: found \"bpm\""},
        {"responses: [{supply: c01/1, instrument: bpm01, lane: wings, per_unit: 1}]\n",
         "responses[0].lane: found \"wings\""},
        {"chain_faults: [{chain: d, fault: trip}]\n", "chain_faults[0].chain: found \"d\""},
        {"chain_faults: [{chain: c01, fault: trip, supply: 14}]\n", "chain_faults[0].supply: found 14"},
        {"chain_faults: [{chain: c01, fault: trip, probability: 1}]\n",
         "chain_faults[0].probability: trip: this fault has no such key"},
        {"chain_faults: [{chain: c01, fault: saturate}]\n", "saturate: expected limit"},
        {"chain_faults: [{chain: c01, fault: other_id}]\n", "other_id: expected id"},
        {"chain_faults: [{chain: c01, fault: silent, probability: 2}]\n", "silent: expected 0 to 1"},
        {"chain_faults: [{chain: c01, fault: deaf, for_s: 0}]\n", "for_s: deaf: expected more than 0"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c)
        test_files_expect(RING, cases[c].overlay, cases[c].expected);
}

/** Each is told. What an entry has got wrong is not told of later entries for the same supplies. */
static void all_that_is_wrong_is_reported_at_once(void **state) {
    (void)state;
    static char const *const expected[] = {
        "chains[0].timeout_ms: found -1",
        "chains[0].name: found \"d\"",
        "chains[1].name: found \"e\"",
        "supplies[0].delay_us: found -1",
        "supplies[0].noise: found -1",
        "supplies[0].supplies: found \"d\"",
        "supplies[1].range: found [1, 2]",
        "supplies[3].initial: found 100",
        "chain_faults[0].from_s: trip: expected seconds",
        "chain_faults[0].for_s: trip: expected more than 0",
        "chain_faults[0].chain: found \"d\"",
        "chain_faults[1].probability: deaf: this fault has no such key",
        "chain_faults[1].limit: deaf: this fault has no such key",
        "chain_faults[1].supply: found 14",
    };
    TEST_FILES_EXPECT_ALL(RING,
                          "chains: [{name: d, timeout_ms: -1}, {name: e}]\n"
                          "supplies:\n"
                          "  - {supplies: d, delay_us: -1, noise: -1}\n"
                          "  - {supplies: c01, range: [1, 2]}\n"
                          "  - {supplies: c01, slew: 5}\n"
                          "  - {supplies: c02, initial: 100}\n"
                          "chain_faults:\n"
                          "  - {chain: d, fault: trip, from_s: -1, for_s: 0}\n"
                          "  - {chain: c01, fault: deaf, probability: 1, limit: 1, supply: 14}\n",
                          expected);
    static char const *const responses[] = {
        "responses[0].per_unit: found 1e+10",
        "responses[0].supply: found \"d\"",
        "responses[0].lane: found \"wings\"",
        "responses[1].instrument: found \"nobody\"",
    };
    TEST_FILES_EXPECT_ALL(RING,
                          "responses:\n"
                          "  - {supply: d, instrument: bpm01, lane: wings, per_unit: 1.0e10}\n"
                          "  - {supply: c01/1, instrument: nobody, lane: x1, per_unit: 1}\n",
                          responses);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(absent_keys_make_an_ideal_supply),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(responses_stand_in_the_order_of_their_instruments),
        cmocka_unit_test(an_entry_means_several_supplies),
        cmocka_unit_test(it_waits_in_simulated_time),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(all_that_is_wrong_is_reported_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
