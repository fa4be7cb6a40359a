// SPDX-License-Identifier: Apache-2.0
#include "ring_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

static char const GOOD[] = "port: {kind: udp, peer: 127.0.0.1:4660}\n"
                           "instruments:\n"
                           "  - {name: bpm01, kind: bpm, id: 1, source: 10.20.0.1}\n"
                           "  - {name: blm01, kind: blm, id: 1, source: 10.20.1.1}\n";

/** Loads GOOD with lines before and after it. */
static enum rm_code load_all(char const *before, char const *after, struct rm_ring_config *config,
                             struct rm_errors *errors) {
    char path[] = "/tmp/test_ring_config.XXXXXX";
    int const descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    fprintf(file, "%s%s%s", before, GOOD, after);
    fclose(file);
    enum rm_code const code = rm_ring_config_load_all(path, config, errors);
    unlink(path);
    return code;
}

static enum rm_code load(char const *before, char const *after, struct rm_ring_config *config, struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = load_all(before, after, config, &errors);
    *error = errors.first[0];
    return code;
}

static void absent_keys_take_their_defaults(void **state) {
    (void)state;
    struct rm_ring_config config;
    struct rm_error error = {0};
    assert_int_equal(load("", "", &config, &error), RM_OK);
    assert_string_equal(config.workspace, "");
    assert_int_equal(config.first_turn, 1000000);
    assert_int_equal(config.core, RM_RING_ANY_CORE);
    assert_int_equal(config.ports[0].port.kind, RM_PORT_UDP);
    assert_int_equal(config.ports[0].port.peer_ipv4, 0x7F000001);
    assert_int_equal(config.ports[0].port.peer_port, 4660);
    assert_int_equal(config.ports[0].flow.destination_port, 4660);
    assert_false(config.udp_checksum);
    assert_float_equal(config.beam.turn_rate_hz, 1157000, 0);
    assert_float_equal(config.beam.tune_x, 0.2994, 0);
    assert_int_equal(config.instrument_count, 2);
    assert_string_equal(config.instruments[1].name, "blm01");
    assert_int_equal(config.instruments[1].kind, RM_KIND_BLM);
    assert_int_equal(config.instruments[1].lane_count, 10);
    assert_int_equal(config.instruments[1].source_ipv4, 0x0A140101);
    assert_int_equal(config.fault_count, 0);
    rm_ring_config_free(&config);
}

static void every_key_is_taken(void **state) {
    (void)state;
    struct rm_ring_config config;
    struct rm_error error = {0};
    char const before[] = "workspace: demo\nturn_rate_hz: 1000\nfirst_turn: 5\ncore: 3\nseed: 7\nudp_port: 99\n"
                          "udp_checksum: true\ndestination: 1.2.3.4\ndestination_mac: 02:00:00:00:00:09\n"
                          "source_mac: 02:00:00:00:00:08\nbeam: {tune_x: 0.1, noise_um: 2}\n";
    char const after[] = "faults:\n"
                         "  - {instrument: bpm01, fault: drop, probability: 1e-4}\n"
                         "  - {instrument: all, fault: turn_reset, at_turn: 2000}\n"
                         "  - {instrument: blm01, fault: turn_jump, at_turn: 3000, turns: -5, duration: 0}\n"
                         "  - {instrument: blm01, fault: corrupt, probability: 1, unseen: true}\n"
                         "  - {instrument: blm01, fault: reorder, probability: 0.5}\n";
    assert_int_equal(load(before, after, &config, &error), RM_OK);
    assert_string_equal(config.workspace, "demo");
    assert_float_equal(config.beam.turn_rate_hz, 1000, 0);
    assert_int_equal(config.first_turn, 5);
    assert_int_equal(config.core, 3);
    assert_int_equal(config.beam.seed, 7);
    assert_int_equal(config.ports[0].flow.destination_port, 99);
    assert_true(config.udp_checksum);
    assert_int_equal(config.ports[0].flow.destination_ipv4, 0x01020304);
    assert_int_equal(config.ports[0].flow.destination_mac[5], 9);
    assert_int_equal(config.ports[0].flow.source_mac[5], 8);
    assert_float_equal(config.beam.tune_x, 0.1, 0);
    assert_float_equal(config.beam.noise_um, 2, 0);
    assert_float_equal(config.beam.tune_y, 0.1612, 0);
    assert_int_equal(config.fault_count, 5);
    assert_int_equal(config.faults[0].first_group, 0);
    assert_int_equal(config.faults[0].group_count, 1);
    assert_int_equal(config.faults[0].network, RM_RING_BOTH_NETWORKS);
    assert_float_equal(config.faults[0].fault.probability, 1e-4, 0);
    assert_true(config.faults[0].fault.at_turn == RM_TURN_NONE);
    assert_int_equal(config.faults[1].group_count, 2);
    assert_int_equal(config.faults[1].fault.at_turn, 2000);
    assert_int_equal(config.faults[2].first_group, 1);
    assert_int_equal(config.faults[2].fault.turns, -5);
    assert_int_equal(config.faults[2].fault.duration, 0);
    assert_true(config.faults[3].fault.unseen);
    assert_int_equal(config.faults[4].fault.turns, 1);
    rm_ring_config_free(&config);
}

static void what_is_wrong_is_named_with_its_place(void **state) {
    (void)state;
    struct {
        char const *before, *after, *expected[2];
    } const cases[] = {
        {"beam: {tune_x: 0.7}\n", "", {":1:16: beam.tune_x", "expected 0 to 0.5"}},
        {"beam: {tune: 0.7}\n", "", {":1:8: beam", "unknown key"}},
        {"turn_rate_hz: 0\n", "", {":1:15: turn_rate_hz", "expected 1 to"}},
        {"udp_port: 0\n", "", {":1:11: udp_port", "1 to 65535"}},
        {"destination: 10.0.0\n", "", {":1:14: destination", "IPv4"}},
        {"source_mac: \"02:00:00:00:00\"\n", "", {":1:13: source_mac", "MAC"}},
        {"", "  - {name: bpm01, kind: bpm, id: 2, source: 10.0.0.1}\n", {":5:12: instruments[2].name", "already"}},
        {"", "  - {name: b, kind: bpm, id: 1, source: 10.20.0.1}\n", {"instruments[2].id", "told apart"}},
        {"", "  - {name: all, kind: bpm, id: 1, source: 10.0.0.1}\n", {"instruments[2].name", "other than"}},
        {"", "  - {name: a/b, kind: bpm, id: 1, source: 10.0.0.1}\n", {"instruments[2].name", "a-z"}},
        {"", "  - {name: a, kind: bpm, id: 1, source: 10.0.0}\n", {"instruments[2].source", "IPv4"}},
        {"", "faults: [{instrument: x, fault: drop, probability: 1}]\n", {"faults[0].instrument", "\"x\""}},
        {"", "faults: [{instrument: all, fault: drop}]\n", {"faults[0]", "either probability or at_turn"}},
        {"", "faults: [{instrument: all, fault: drop, probability: 2}]\n", {"faults[0].probability", "0 to 1"}},
        {"",
         "faults: [{instrument: all, fault: drop, probability: 1, turns: 2}]\n",
         {"faults[0].turns", "no such key"}},
        {"", "faults: [{instrument: all, fault: late, probability: 1}]\n", {"faults[0]", "turns of 1 to"}},
        {"", "faults: [{instrument: all, fault: delay, turns: 70000}]\n", {"faults[0].turns", "65536"}},
        {"", "faults: [{instrument: all, fault: turn_reset}]\n", {"faults[0]", "expected at_turn"}},
        {"", "faults: [{instrument: all, fault: turn_jump, at_turn: 5}]\n", {"faults[0]", "turns ahead"}},
        {"", "faults: [{instrument: all, fault: delay, turns: 7, at_turn: 5}]\n", {"faults[0].at_turn", "no such key"}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct rm_ring_config config;
        struct rm_error error = {0};
        assert_int_equal(load(cases[c].before, cases[c].after, &config, &error), RM_E_CONFIG);
        for (unsigned e = 0; e < 2; ++e)
            if (strstr(error.text, cases[c].expected[e]) == NULL)
                fail_msg("expected \"%s\" in \"%s\"", cases[c].expected[e], error.text);
    }
}

/** The port's keys, in a file of their own. */
/** Of parts that stand on each other the first alone: a fault of an instrument that is wrong is not judged. */
static void all_that_is_wrong_is_said_at_once(void **state) {
    (void)state;
    struct rm_ring_config config;
    struct rm_errors errors = {.count = 0};
    assert_int_equal(load_all("first_turn: 9223372036854775808\npatience_ms: -3\n", "", &config, &errors), RM_E_CONFIG);
    assert_int_equal(errors.count, 2);
    assert_non_null(strstr(errors.first[0].text, ":1:13: first_turn"));
    assert_non_null(strstr(errors.first[1].text, ":2:14: patience_ms"));
    errors = (struct rm_errors){.count = 0};
    assert_int_equal(
        load_all("", "  - {name: bpm01, kind: bpm, id: 9}\nfaults: [{instrument: x, fault: drop}]\n", &config, &errors),
        RM_E_CONFIG);
    assert_int_equal(errors.count, 1);
    assert_non_null(strstr(errors.first[0].text, "instruments[2]"));
}

static void each_kind_of_port_has_its_own_keys(void **state) {
    (void)state;
    struct {
        char const *port, *expected;
    } const cases[] = {
        {"{kind: memif}", "\"socket\" is missing"},
        {"{kind: af_packet}", "\"interface\" is missing"},
        {"{kind: udp}", "\"peer\" is missing"},
        {"{kind: udp, peer: 127.0.0.1:4660, socket: /tmp/s}", "port.socket: a port of this kind"},
        {"{kind: udp, peer: 127.0.0.1:4660, role: client}", "port.role"},
        {"{kind: udp, peer: 127.0.0.1}", "port.peer: found"},
        {"{kind: udp, peer: 127.0.0.1:0}", "port.peer: found"},
        {"{kind: tcp, peer: 127.0.0.1:4660}", "expected one of: memif, af_packet, udp, af_xdp"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        char path[] = "/tmp/test_ring_config.XXXXXX";
        FILE *file = fdopen(mkstemp(path), "w");
        assert_non_null(file);
        fprintf(file, "port: %s\n%s", cases[c].port, strchr(GOOD, '\n') + 1);
        fclose(file);
        struct rm_ring_config config;
        struct rm_error error = {0};
        assert_int_equal(rm_ring_config_load(path, &config, &error), RM_E_CONFIG);
        unlink(path);
        if (strstr(error.text, cases[c].expected) == NULL)
            fail_msg("expected \"%s\" in \"%s\"", cases[c].expected, error.text);
    }
}

static void check_good(char const *path) {
    struct rm_ring_config config;
    struct rm_error error = {0};
    if (rm_ring_config_load(path, &config, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_ring_config_free(&config);
}

/** Copies the next ```yaml block of a document to a file; false when there is none. */
static bool copy_example(FILE *document, char const *path) {
    char line[512];
    do
        if (fgets(line, sizeof line, document) == NULL)
            return false;
    while (strcmp(line, "```yaml\n") != 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    while (fgets(line, sizeof line, document) != NULL && strcmp(line, "```\n") != 0)
        fputs(line, file);
    fclose(file);
    return true;
}

static void check_examples(char const *document_path) {
    char path[] = "/tmp/test_ring_config.XXXXXX";
    close(mkstemp(path));
    FILE *document = fopen(document_path, "r");
    assert_non_null(document);
    unsigned examples = 0;
    for (; copy_example(document, path); ++examples)
        check_good(path);
    fclose(document);
    unlink(path);
    assert_true(examples > 0);
}

/** Shipped configurations, and documents with examples. */
static void shipped_files_are_good(void **state) {
    char *const *paths = *state;
    assert_non_null(paths[0]);
    for (; *paths != NULL; ++paths)
        if (strstr(*paths, ".md") != NULL)
            check_examples(*paths);
        else
            check_good(*paths);
}

int main(int argc, char **argv) {
    (void)argc;
    char **shipped = argv + 1;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(absent_keys_take_their_defaults),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(each_kind_of_port_has_its_own_keys),
        cmocka_unit_test(all_that_is_wrong_is_said_at_once),
        cmocka_unit_test_prestate(shipped_files_are_good, (void *)shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
