// SPDX-License-Identifier: Apache-2.0
#include "test_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

static char const GOOD[] = "ports: [{name: ring, kind: udp, address: 127.0.0.1:4660}]\n"
                           "instruments:\n"
                           "  - {name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1}\n"
                           "  - {name: blm01, kind: blm, id: 1, port: ring, source: 10.20.1.1}\n";

static void absent_keys_take_their_defaults(void **state) {
    (void)state;
    struct rm_ring_config config;
    struct rm_error error = {0};
    assert_int_equal(test_files_load(GOOD, "", &config, &error), RM_OK);
    assert_string_equal(config.workspace, "test");
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
    char const machine[] = "workspace: demo\nturn_rate_hz: 1000\n"
                           "ports: [{name: ring, kind: af_packet, interface: veth0, udp_port: 99}]\n"
                           "instruments:\n"
                           "  - {name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1, turn_offset: 3}\n"
                           "  - {name: blm01, kind: blm, id: 1, port: ring, source: 10.20.1.1}\n";
    char const before[] = "first_turn: 5\ncore: 3\nseed: 7\nudp_checksum: true\n"
                          "ports: [{name: ring, interface: veth1, destination: 1.2.3.4,\n"
                          "         destination_mac: \"02:00:00:00:00:09\"}]\n"
                          "source_mac: 02:00:00:00:00:08\nbeam: {tune_x: 0.1, noise_um: 2}\n"
                          "instruments: [{name: blm01, turn_error: -7}]\n";
    char const after[] = "faults:\n"
                         "  - {instrument: bpm01, fault: drop, probability: 1e-4}\n"
                         "  - {instrument: all, fault: turn_reset, at_turn: 2000}\n"
                         "  - {instrument: blm01, fault: turn_jump, at_turn: 3000, turns: -5, duration: 0}\n"
                         "  - {instrument: blm01, fault: corrupt, probability: 1, unseen: true}\n"
                         "  - {instrument: blm01, fault: reorder, probability: 0.5}\n";
    char overlay[1024];
    snprintf(overlay, sizeof overlay, "%s%s", before, after);
    assert_int_equal(test_files_load(machine, overlay, &config, &error), RM_OK);
    assert_string_equal(config.workspace, "demo");
    assert_string_equal(config.ports[0].port.interface, "veth1");
    assert_int_equal(config.instruments[0].turn_error, -3); /* what its turn_offset corrects */
    assert_int_equal(config.instruments[1].turn_error, -7);
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
        char const *overlay, *expected;
    } const cases[] = {
        {"beam: {tune_x: 0.7}\n", ":1:16: beam.tune_x: found 0.7, expected 0 to 0.5"},
        {"beam: {tune: 0.7}\n", ":1:8: beam: unknown key"},
        {"source_mac: \"02:00:00:00:00\"\n", ":1:13: source_mac: found \"02:00:00:00:00\", expected a MAC"},
        {"instruments: [{name: bpm1, turn_error: 1}]\n",
         "instruments[0].name: found \"bpm1\", expected the name of an instrument of"},
        {"instruments: [{name: bpm01, turn_error: 2000000000}]\n", "instruments[0].turn_error: found 2000000000"},
        {"answer_turns: 5\n", "answer_turns: the ring waits for no setpoints"},
        {"workspace: demo\n", "unknown key \"workspace\""},
        {"faults: [{instrument: x, fault: drop, probability: 1}]\n", "faults[0].instrument: found \"x\""},
        {"faults: [{instrument: all, fault: drop}]\n", "faults[0]: drop: expected either probability or at_turn"},
        {"faults: [{instrument: all, fault: drop, probability: 2}]\n", "faults[0].probability: drop: expected 0 to 1"},
        {"faults: [{instrument: all, fault: drop, probability: 1, turns: 2}]\n",
         "faults[0].turns: drop: this fault has no such key"},
        {"faults: [{instrument: all, fault: late, probability: 1}]\n", "expected turns of 1 to"},
        {"faults: [{instrument: all, fault: delay, turns: 70000}]\n", "expected turns of 1 to 65536"},
        {"faults: [{instrument: all, fault: turn_reset}]\n", "faults[0]: turn_reset: expected at_turn"},
        {"faults: [{instrument: all, fault: turn_jump, at_turn: 5}]\n", "expected turns ahead"},
        {"faults: [{instrument: all, fault: delay, turns: 7, at_turn: 5}]\n", "faults[0].at_turn: delay: this fault"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c)
        test_files_expect(GOOD, cases[c].overlay, cases[c].expected);
    test_files_expect("turn_rate_hz: 0\ninstruments: [{name: a, kind: bpm, id: 1, port: ring, source: 10.0.0.1}]\n", "",
                      ":1:15: turn_rate_hz: found 0");
}

/** Each is told; what stands on what is wrong is not: a fault of an instrument that is wrong is not judged. */
static void all_that_is_wrong_is_reported_at_once(void **state) {
    (void)state;
    static char const *const expected[] = {
        ":1:13: first_turn",
        ":2:13: max_lag_ms",
        "mtu: found 1",
        "source_mac: found \"x\"",
        "beam.tune_x: found 2",
        "beam.noise_um: found -1",
        "faults[0].instrument: found \"x\"",
        "faults[0]: drop: expected either",
        "faults[1].turns: drop: this fault has no such key",
        "faults[1].unseen: drop: this fault has no such key",
        "faults[2].turns: late: expected turns of 1 to",
    };
    TEST_FILES_EXPECT_ALL(GOOD,
                          "first_turn: 9223372036854775808\nmax_lag_ms: -3\nmtu: 1\nsource_mac: x\n"
                          "beam: {tune_x: 2, noise_um: -1}\nfaults:\n"
                          "  - {instrument: x, fault: drop}\n"
                          "  - {instrument: all, fault: drop, probability: 1, turns: 2, unseen: true}\n"
                          "  - {instrument: all, fault: late, probability: 1}\n",
                          expected);
    static char const *const of_ports[] = {
        "ports[0].destination: found \"x\"",
        "ports[0].vlan: found 5000",
        "ports[0].destination_mac: found \"y\"",
    };
    TEST_FILES_EXPECT_ALL(GOOD,
                          "ports: [{name: ring, destination: x, vlan: 5000, destination_mac: y}]\n"
                          "instruments: [{name: nobody, turn_error: 1}]\n",
                          of_ports);
    static char const *const names[] = {"ports[0].name: found \"a\"", "ports[1].name: found \"b\""};
    TEST_FILES_EXPECT_ALL(GOOD, "ports: [{name: a}, {name: b}]\n", names);
    static char const *const overlays[] = {"instruments[0].turn_error: found", "instruments[0].name: found \"x\"",
                                           "instruments[1].name: found \"y\""};
    TEST_FILES_EXPECT_ALL(GOOD,
                          "instruments: [{name: x, turn_error: 2000000000}, {name: y, turn_error: 1}]\n"
                          "faults: [{instrument: nobody, fault: drop}]\n",
                          overlays);
    struct rm_ring_config config;
    struct rm_errors errors = {.count = 0};
    assert_int_equal(
        test_files_load_all("instruments: [{name: bpm01, kind: bpm, id: 9}]\n", "beam: {tune: 1}\n", &config, &errors),
        RM_E_CONFIG);
    assert_true(errors.count >= 2); /* of both files */
}

static void check_good(char const *config_path, char const *overlay_path) {
    struct rm_ring_files const files = {.config = config_path, .overlay = overlay_path};
    struct rm_ring_config config;
    struct rm_error error = {0};
    if (rm_ring_config_load(&files, &config, &error) != RM_OK)
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

/** An example begins with the configuration that it is an overlay of: "# over configs/NAME.yaml". */
static void check_example(char const *configs, char const *path) {
    char line[128] = "", name[64], config_path[512];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    if (sscanf(line, "# over configs/%63[a-z0-9-].yaml", name) != 1)
        fail_msg("expected the first line \"# over configs/NAME.yaml\", found \"%s\"", line);
    snprintf(config_path, sizeof config_path, "%s/%s.yaml", configs, name);
    check_good(config_path, path);
}

/** The documents' examples. */
static void documented_overlays_are_good(void **state) {
    char *const *paths = *state;
    assert_non_null(paths[0]);
    for (char *const *document_path = paths + 1; *document_path != NULL; ++document_path) {
        char path[] = "/tmp/test_ring_config.XXXXXX";
        close(mkstemp(path));
        FILE *document = fopen(*document_path, "r");
        assert_non_null(document);
        unsigned examples = 0;
        for (; copy_example(document, path); ++examples)
            check_example(paths[0], path);
        fclose(document);
        unlink(path);
        assert_true(examples > 0);
    }
}

/** Each configuration is a ring without an overlay; but for those that send to themselves. */
static void shipped_files_are_good(void **state) {
    static struct {
        char const *config, *overlay;
    } const shipped[] = {
        {"application", NULL},
        {"demo", NULL},
        {"elettra", NULL},
        {"../src/config/test_elettra2_supplies", NULL},
        {"feedback", NULL},
        {"formats", NULL},
        {"loopback", NULL},
        {"supplies", NULL},
        {"demo", "demo-ring"},
        {"elettra", "elettra-ring"},
        {"feedback", "feedback-ring"},
        {"optics", "optics-ring"},
    };
    char const *configs = ((char *const *)*state)[0];
    for (size_t s = 0; s < sizeof shipped / sizeof shipped[0]; ++s) {
        char config[512], overlay[512];
        snprintf(config, sizeof config, "%s/%s.yaml", configs, shipped[s].config);
        snprintf(overlay, sizeof overlay, "%s/%s.yaml", configs, shipped[s].overlay == NULL ? "" : shipped[s].overlay);
        check_good(config, shipped[s].overlay == NULL ? NULL : overlay);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    char **shipped = argv + 1;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(absent_keys_take_their_defaults),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(all_that_is_wrong_is_reported_at_once),
        cmocka_unit_test_prestate(shipped_files_are_good, (void *)shipped),
        cmocka_unit_test_prestate(documented_overlays_are_good, (void *)shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
