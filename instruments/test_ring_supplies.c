// SPDX-License-Identifier: Apache-2.0
/** The key `supplies` of a ring's file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ring_config.h"

static char const RING[] = "port: {kind: memif, socket: /tmp/ring.sock}\n"
                           "instruments:\n"
                           "  - {name: bpm, kind: bpm, id: 1, count: 3, source: 10.20.0.1}\n";

static char const CHAINS[] = "supplies:\n"
                             "  port: {kind: memif, socket: /tmp/supplies.sock, role: client}\n"
                             "  chains:\n"
                             "    - name: c\n"
                             "      count: 12\n"
                             "      id: 5\n"
                             "      address: 10.30.0.1\n"
                             "      supplies:\n"
                             "        - {count: 8, bandwidth_hz: 1000, range: [-5, 10]}\n"
                             "        - {count: 5}\n";

static enum rm_code load(char const *ring, char const *chains, char const *after, struct rm_ring_config *config,
                         struct rm_error *error) {
    char path[] = "/tmp/test_ring_supplies.XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fprintf(file, "%s%s%s", ring, chains, after);
    fclose(file);
    enum rm_code const code = rm_ring_config_load(path, config, error);
    unlink(path);
    return code;
}

static void check_loads(char const *ring, char const *chains, char const *after, struct rm_ring_config *config) {
    struct rm_error error = {0};
    if (load(ring, chains, after, config, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static void absent_keys_make_an_ideal_supply(void **state) {
    (void)state;
    struct rm_ring_config config;
    check_loads(RING, CHAINS, "", &config);
    struct rm_ring_supplies const *supplies = &config.supplies;
    assert_int_equal(supplies->chain_count, 12);
    assert_int_equal(supplies->supply_count, 12 * 13);
    assert_int_equal(supplies->answer_port, 4660);
    assert_int_equal(supplies->chains[0].port, 1);
    assert_string_equal(config.ports[1].port.socket_path, "/tmp/supplies.sock");
    struct rm_ring_chain const *last = &supplies->chains[11];
    uint8_t const mac[6] = {2, 0, 10, 30, 0, 12};
    assert_string_equal(last->name, "c12");
    assert_int_equal(last->config.id, 16);
    assert_int_equal(last->ipv4, 0x0A1E000C);
    assert_memory_equal(last->mac, mac, sizeof mac);
    assert_int_equal(last->udp_port, 4662);
    assert_int_equal(last->first, 11 * 13);
    assert_int_equal(last->config.supply_count, 13);
    assert_float_equal(last->config.timeout_s, 0.1, 1e-9);
    assert_false(last->config.ramps);
    assert_float_equal(last->config.supply[7].bandwidth_hz, 1000, 0);
    assert_float_equal(last->config.supply[7].low, -5, 0);
    struct rm_supply_config const *ideal = &last->config.supply[8];
    assert_float_equal(ideal->low, -10, 0);
    assert_float_equal(ideal->high, 10, 0);
    assert_float_equal(ideal->bandwidth_hz + ideal->delay_s + ideal->resolution + ideal->noise, 0, 0);
    assert_float_equal(ideal->regulation_hz + ideal->drift_ppm + ideal->initial + ideal->safe, 0, 0);
    assert_true(isinf(ideal->slew) && isinf(ideal->safe_slew));
    rm_ring_config_free(&config);
}

static void every_key_is_taken(void **state) {
    (void)state;
    struct rm_ring_config config;
    check_loads("seed: 5\n",
                "supplies:\n"
                "  port: {kind: af_packet, interface: veth0}\n"
                "  udp_port: 99\n"
                "  chains:\n"
                "    - name: one\n"
                "      id: 3\n"
                "      address: 10.1.0.1\n"
                "      mac: 02:00:00:00:00:ff\n"
                "      udp_port: 77\n"
                "      timeout_ms: 20\n"
                "      stop: ramp\n"
                "      supplies:\n"
                "        - {range: [0, 8], resolution: 0.5, delay_us: 20, regulation_hz: 100000, drift_ppm: 30,\n"
                "           bandwidth_hz: 10, slew: 2000, noise: 0.25, ripple: [{hz: 50, amplitude: 0.5}],\n"
                "           initial: 4, safe: 2, safe_slew: 3}\n"
                "    - {name: two, id: 4, address: 10.1.0.9, count: 2, mac: 02:00:00:00:00:ff, timeout_ms: 0,\n"
                "       supplies: [{slew: 7}]}\n",
                "  faults:\n"
                "    - {chain: one, fault: trip, supply: 1, from_s: 1, for_s: 2}\n"
                "    - {chain: all, fault: silent, probability: 0.25}\n"
                "    - {chain: two, fault: other_id, id: 3}\n"
                "    - {chain: two02, fault: saturate, limit: 2}\n",
                &config);
    struct rm_ring_supplies const *supplies = &config.supplies;
    struct rm_ring_chain const *one = &supplies->chains[0];
    struct rm_supply_config const *supply = &supplies->supplies[0];
    assert_int_equal(config.instrument_count + config.network_count, 0);
    assert_int_equal(config.ports[0].port.kind, RM_PORT_AF_PACKET);
    assert_int_equal(supplies->answer_port, 99);
    assert_int_equal(one->udp_port, 77);
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
    assert_float_equal(supplies->chains[2].config.supply[0].safe_slew, 7, 0);
    assert_int_equal(supplies->fault_count, 4);
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
    check_loads(RING, CHAINS,
                "  responses:\n"
                "    - {supply: c12/13, instrument: bpm03, lane: y2, per_unit: -20000}\n"
                "    - {supply: c01/1, instrument: bpm01, lane: x, per_unit: 1.5}\n",
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

static void without_a_port_of_their_own_they_use_the_rings(void **state) {
    (void)state;
    char const chains[] = "supplies: {chains: [{name: c, id: 1, address: 10.30.0.1, supplies: [{}]}]}\n";
    struct rm_ring_config config;
    check_loads(RING, chains, "", &config);
    assert_true(rm_ring_sends_through(&config, config.supplies.chains[0].port));
    rm_ring_config_free(&config);
    check_loads("port: {kind: memif, socket: /tmp/ring.sock}\n", chains, "", &config);
    assert_false(rm_ring_sends_through(&config, config.supplies.chains[0].port));
    assert_string_equal(config.ports[0].port.socket_path, "/tmp/ring.sock");
    rm_ring_config_free(&config);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static char const one[] = "supplies: {chains: [{name: c, id: 1, address: 10.30.0.1, supplies: [{}]}]}\n";
    static char const memif[] = "port: {kind: memif, socket: /tmp/s}\n";
    struct {
        char const *ring, *chains, *after, *expected;
    } const cases[] = {
        {"seed: 1\n", "", "", "expected a list of them, or the key \"supplies\""},
        {"seed: 1\n", one, "", "supplies: the key \"port\" is missing"},
        {"port: {kind: udp, peer: 127.0.0.1:4660}\n", one, "", "port.kind: found udp, expected a port of frames"},
        {strchr(RING, '\n') + 1, one, "", "port: the key is missing"},
        {memif, "supplies: {chains: [{name: all, id: 1, address: 10.30.0.1, supplies: [{}]}]}\n", "",
         "supplies.chains[0].name: found \"all\""},
        {memif, "supplies: {chains: [{name: c, id: 16384, address: 10.30.0.1, supplies: [{}]}]}\n", "",
         "supplies.chains[0].id: the last id would be 16384"},
        {memif, "supplies: {chains: [{name: c, id: 1, count: 257, address: 10.30.0.1, supplies: [{}]}]}\n", "",
         "supplies.chains[0].count: found 257"},
        {memif, "supplies: {chains: [{name: c, id: 1, address: 10.30.0, supplies: [{}]}]}\n", "",
         "supplies.chains[0].address: found"},
        {memif, "supplies: {chains: [{name: c, id: 1, address: 10.30.0.1, supplies: [{count: 41}]}]}\n", "",
         "supplies.chains[0].supplies: found 41 more"},
        {memif, "supplies: {chains: [{name: c, id: 1, address: 10.30.0.1, supplies: [{range: [1, 10]}]}]}\n", "",
         "supplies.chains[0].supplies[0].range: found [1, 10]"},
        {memif, "supplies: {chains: [{name: c, id: 1, address: 10.30.0.1, supplies: [{slew: 0}]}]}\n", "",
         "supplies.chains[0].supplies[0].slew: found 0"},
        {memif, "supplies: {chains: [{name: c, id: 1, address: 10.30.0.1, supplies: [{initial: 11}]}]}\n", "",
         "supplies.chains[0].supplies[0].initial: found 11"},
        {RING, CHAINS, "    - {name: c02, id: 1, address: 10.31.0.1, supplies: [{}]}\n",
         "supplies.chains[1].name: there is a chain of the name \"c02\""},
        {RING, CHAINS, "    - {name: d, id: 1, address: 10.30.0.2, supplies: [{}]}\n",
         "supplies.chains[1].address: \"c02\" has the same address"},
        {RING, CHAINS, "  responses: [{supply: c01/14, instrument: bpm01, lane: x1, per_unit: 1}]\n",
         "supplies.responses[0].supply: found \"c01/14\", expected c01/1 to c01/13"},
        {RING, CHAINS, "  responses: [{supply: c01/1x, instrument: bpm01, lane: x1, per_unit: 1}]\n",
         "supplies.responses[0].supply: found \"c01/1x\""},
        {RING, CHAINS, "  responses: [{supply: c99/1, instrument: bpm01, lane: x1, per_unit: 1}]\n", "such as c01/1"},
        {RING, CHAINS, "  responses: [{supply: c01/1, instrument: bpm, lane: x1, per_unit: 1}]\n",
         "supplies.responses[0].instrument: found \"bpm\""},
        {RING, CHAINS, "  responses: [{supply: c01/1, instrument: bpm01, lane: wings, per_unit: 1}]\n",
         "supplies.responses[0].lane: found \"wings\""},
        {RING, CHAINS, "lock_step: {period_turns: 0, answer_turns: 1}\n",
         "lock_step.period_turns: found 0, expected 1"},
        {RING, CHAINS, "lock_step: {period_turns: 12, answer_turns: 13}\n",
         "lock_step.answer_turns: found 13, expected 1 to 12, its period"},
        {RING, CHAINS, "  faults: [{chain: d, fault: trip}]\n", "supplies.faults[0].chain: found \"d\""},
        {RING, CHAINS, "  faults: [{chain: c01, fault: trip, supply: 14}]\n", "supplies.faults[0].supply: found 14"},
        {RING, CHAINS, "  faults: [{chain: c01, fault: trip, probability: 1}]\n",
         "supplies.faults[0].probability: trip: this fault has no such key"},
        {RING, CHAINS, "  faults: [{chain: c01, fault: saturate}]\n", "saturate: expected limit"},
        {RING, CHAINS, "  faults: [{chain: c01, fault: other_id}]\n", "other_id: expected id"},
        {RING, CHAINS, "  faults: [{chain: c01, fault: silent, probability: 2}]\n", "silent: expected 0 to 1"},
        {RING, CHAINS, "  faults: [{chain: c01, fault: deaf, for_s: 0}]\n", "for_s: deaf: expected more than 0"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct rm_ring_config config;
        struct rm_error error = {0};
        assert_int_equal(load(cases[c].ring, cases[c].chains, cases[c].after, &config, &error), RM_E_CONFIG);
        if (strstr(error.text, cases[c].expected) == NULL)
            fail_msg("expected \"%s\" in \"%s\"", cases[c].expected, error.text);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(absent_keys_make_an_ideal_supply),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(responses_stand_in_the_order_of_their_instruments),
        cmocka_unit_test(without_a_port_of_their_own_they_use_the_rings),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
