// SPDX-License-Identifier: Apache-2.0
/* A file of two servers: FILE@NAME, {server} and {number}, and what makes it wrong. */
#include "base/yaml_document.h"
#include "config/config.h"
#include "config/servers.h"
#include "config/test_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Parts of a pair's file, of which tests change one. */
#define WORKSPACE "workspace: ring-{server}\n"
#define RATE "turn_rate_hz: 1200000\n"
#define PORTS "ports: [{name: ring, kind: memif, socket: \"/run/{server}-{number}.sock\", answer: 10.30.0.250}]\n"
#define BPM "instruments: [{name: bpm, kind: bpm, id: 1, port: ring, source: 10.20.0.1}]\n"
#define SETPOINTS "setpoints: {period_turns: 12, terms: \"{server}.terms\"}\n"
#define A "  - {name: a, links: [\"10.40.0.1:4671\", \"10.41.0.1:4671\"]}\n"
#define B "  - {name: b, links: [\"10.40.0.2:4671\", \"10.41.0.2:4671\"]}\n"
#define STANDBY "standby:\n  key: pair.key\n  servers:\n"
#define SUPPLIES "supplies: [{name: s, unit: A, limits: [-1, 1], slew: 1}]"
#define CHAINS "chains:\n  - {name: c, id: 1, port: ring, address: 10.30.0.1, timeout_us: 200, " SUPPLIES "}\n"
#define ROLES "roles: [{role: receive, core: @, ports: [ring]}, {role: transmit, core: @}]\n"
#define HEAD WORKSPACE RATE PORTS BPM SETPOINTS
#define PAIR HEAD STANDBY A B CHAINS ROLES

static struct rm_config *load_server(struct config_file const *file, char const *name) {
    char path[64];
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    snprintf(path, sizeof path, "%s@%s", file->path, name);
    enum rm_code const code = rm_config_load(path, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    return config;
}

static void expect_server_error(struct config_file const *file, char const *path, char const *expected) {
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_config_load(path, &config, &error), RM_E_CONFIG);
    assert_null(config);
    char text[RM_ERROR_TEXT_BYTES];
    snprintf(text, sizeof text, "%s:%s", file->path, expected);
    assert_string_equal(error.text, text);
}

/* Loads f.yaml@a. */
static void expect_pair_error(struct config_file const *file, char const *yaml, char const *expected) {
    char path[64];
    write_config(file, yaml);
    snprintf(path, sizeof path, "%s@a", file->path);
    expect_server_error(file, path, expected);
}

static void each_server_has_its_name_and_number(void **state) {
    struct config_file const *const file = *state;
    write_config(file, PAIR);
    struct rm_config *const a = load_server(file, "a"), *const b = load_server(file, "b");
    assert_string_equal(a->source_path, file->path);
    assert_string_equal(b->source_path, file->path);
    assert_string_equal(a->workspace, "ring-a");
    assert_string_equal(b->workspace, "ring-b");
    assert_string_equal(a->port[0].port.socket_path, "/run/a-1.sock");
    assert_string_equal(b->port[0].port.socket_path, "/run/b-2.sock");
    assert_int_equal(a->standby.own, 0);
    assert_int_equal(b->standby.own, 1);
    assert_non_null(strstr(b->text, "workspace: ring-b\n"));
    char terms[96];
    snprintf(terms, sizeof terms, "%s/b.terms", file->directory);
    assert_string_equal(b->setpoints.terms_path, terms);
    rm_config_free(a);
    rm_config_free(b);
}

static void the_pair_is_as_it_is_written(void **state) {
    struct config_file const *const file = *state;
    write_config(file, PAIR);
    struct rm_config *const config = load_server(file, "b");
    struct rm_config_standby const *const standby = &config->standby;
    assert_true(standby->present);
    assert_string_equal(standby->server[0].name, "a");
    assert_string_equal(standby->server[1].name, "b");
    assert_int_equal(standby->server[1].link_count, 2);
    assert_int_equal(standby->server[1].link[1].ipv4, 0x0A290002);
    assert_int_equal(standby->server[1].link[1].port, 4671);
    assert_int_equal(standby->missed_cycles, 3);
    assert_int_equal(standby->begin_cycles, 100000);
    assert_true(fabs(config->chain[0].timeout_s - 200e-6) < 1e-12);
    rm_config_free(config);
}

static void both_are_loaded_where_none_is_named(void **state) {
    struct config_file const *const file = *state;
    struct rm_config *config[RM_CONFIG_SERVERS];
    struct rm_errors errors = {.count = 0};
    uint32_t count = 0;
    write_config(file, PAIR);
    assert_int_equal(rm_config_load_each(file->path, config, &count, &errors), RM_OK);
    assert_int_equal(count, 2);
    assert_string_equal(config[0]->workspace, "ring-a");
    assert_string_equal(config[1]->workspace, "ring-b");
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    rm_config_describe_pair(config[0], config[1], out);
    fclose(out);
    char const *const second = strstr(text, "\nserver b: all of that, but\n");
    assert_non_null(second);
    assert_non_null(strstr(text, "workspace ring-a"));
    assert_non_null(strstr(second, "workspace ring-b"));
    assert_non_null(strstr(second, "/run/b-2.sock"));
    assert_null(strstr(second, "bpm"));
    free(text);
    rm_config_free(config[0]);
    rm_config_free(config[1]);

    assert_int_equal(rm_config_load_machines(file->path, config, &count, &errors), RM_OK);
    assert_int_equal(count, 2);
    rm_config_free(config[0]);
    rm_config_free(config[1]);
    write_config(file, "workspace: ring\n" RATE PORTS BPM "roles: [{role: receive, core: @, ports: [ring]}]\n");
    assert_int_equal(rm_config_load_each(file->path, config, &count, &errors), RM_OK);
    assert_int_equal(count, 1);
    assert_string_equal(config[0]->port[0].port.socket_path, "/run/{server}-{number}.sock");
    rm_config_free(config[0]);
}

/** What `check` prints of both servers, to be freed. */
static char *describe_both(struct config_file const *file, char const *yaml) {
    struct rm_config *config[RM_CONFIG_SERVERS];
    struct rm_errors errors = {.count = 0};
    uint32_t count = 0;
    char *text = NULL;
    size_t bytes = 0;
    write_config(file, yaml);
    assert_int_equal(rm_config_load_each(file->path, config, &count, &errors), RM_OK);
    FILE *const out = open_memstream(&text, &bytes);
    rm_config_describe_pair(config[0], config[1], out);
    fclose(out);
    rm_config_free(config[0]);
    rm_config_free(config[1]);
    return text;
}

static void what_may_not_be_meant_is_said(void **state) {
    struct config_file const *const file = *state;
    char *text = describe_both(file, PAIR);
    assert_non_null(strstr(text, "both servers have the same \"answer\" on port \"ring\""));
    assert_null(strstr(text, "they cannot be on one host"));
    free(text);
    text = describe_both(
        file, WORKSPACE RATE
        "ports: [{name: ring, kind: memif, socket: /run/s.sock, answer: \"10.30.0.25{number}\"}]\n" BPM SETPOINTS
            STANDBY A B CHAINS ROLES);
    assert_null(strstr(text, "both servers have the same \"answer\""));
    assert_non_null(
        strstr(text, "both servers have the socket /run/s.sock on port \"ring\": they cannot be on one host"));
    free(text);
}

static void a_number_may_be_a_servers_own(void **state) {
    struct config_file const *const file = *state;
    write_config(
        file, WORKSPACE RATE PORTS
        "instruments: [{name: bpm, kind: bpm, id: \"{number}\", port: ring, source: 10.20.0.1}]\n" SETPOINTS STANDBY A B
            CHAINS ROLES);
    struct rm_config *const config = load_server(file, "b");
    assert_int_equal(config->instrument[0].id, 2);
    rm_config_free(config);
}

static void places_are_those_of_the_file(void **state) {
    struct config_file const *const file = *state;
    expect_pair_error(
        file,
        WORKSPACE RATE
        "ports: [{name: ring, kind: memif, socket: \"/run/{server}-{number}.sock\", rol: server}]\n" BPM SETPOINTS
            STANDBY A B CHAINS ROLES,
        "3:74: ports[0]: unknown key \"rol\", expected one of: name, kind, socket, role, interface, "
        "address, udp_port, queues, file, device, spread, longest_frame, vlan, local_senders, multicast, "
        "answer, kernel_interface (did you mean \"role\"?)");
}

static void a_server_must_be_named_and_be_there(void **state) {
    struct config_file const *const file = *state;
    char path[64], expected[256];
    write_config(file, PAIR);
    snprintf(expected, sizeof expected, "7:3: standby: this file is of two servers, expected one of them: %s@a or %s@b",
             file->path, file->path);
    expect_server_error(file, file->path, expected);
    snprintf(path, sizeof path, "%s@c", file->path);
    snprintf(expected, sizeof expected, "9:3: standby.servers: found no server \"c\", expected %s@a or %s@b",
             file->path, file->path);
    expect_server_error(file, path, expected);
    write_config(file, "workspace: ring\n" RATE PORTS BPM "roles: [{role: receive, core: @, ports: [ring]}]\n");
    snprintf(path, sizeof path, "%s@a", file->path);
    snprintf(expected, sizeof expected,
             "1:1: found no server \"a\": this file is of one server, as it has no key \"standby\"; expected %s alone",
             file->path);
    expect_server_error(file, path, expected);
}

static void an_at_sign_may_be_in_a_files_name(void **state) {
    (void)state;
    struct rm_config_named named;
    assert_true(rm_config_read_named("/etc/ring@site/pair.yaml", &named));
    assert_string_equal(named.file, "/etc/ring@site/pair.yaml");
    assert_string_equal(named.server, "");
    assert_true(rm_config_read_named("ring@site.yaml@b", &named));
    assert_string_equal(named.file, "ring@site.yaml");
    assert_string_equal(named.server, "b");
    char longest[RM_CONFIG_PATH_BYTES + 1];
    memset(longest, 'x', sizeof longest);
    longest[RM_CONFIG_PATH_BYTES] = '\0';
    assert_false(rm_config_read_named(longest, &named));
}

static void servers_must_differ(void **state) {
    struct config_file const *const file = *state;
    expect_pair_error(file,
                      HEAD STANDBY A "  - {name: B, links: [\"10.40.0.2:4671\", \"10.41.0.2:4671\"]}\n" CHAINS ROLES,
                      "10:12: standby.servers[1].name: found \"B\", expected lower-case letters, digits, _ and -");
    expect_pair_error(
        file, HEAD STANDBY A "  - {name: a, links: [\"10.40.0.2:4671\", \"10.41.0.2:4671\"]}\n" CHAINS ROLES,
        "10:12: standby.servers[1].name: \"a\" is already the name of the other server, expected another");
    expect_pair_error(file,
                      HEAD STANDBY A "  - {name: b, links: [\"10.40.0.2:4671\", \"10.41.0.1:4671\"]}\n" CHAINS ROLES,
                      "10:22: standby.servers[1].links: 10.41.0.1:4671 is already a link of server \"a\", expected one "
                      "of its own");
    expect_pair_error(file, HEAD STANDBY A "  - {name: b, links: [\"10.40.0.2:4671\"]}\n" CHAINS ROLES,
                      "10:22: standby.servers[1].links: found 1, expected 2: each joins the other server's link of its "
                      "number");
    expect_pair_error(
        file, HEAD STANDBY A "  - {name: b, links: [\"10.40.0.2\", \"10.41.0.2:4671\"]}\n" CHAINS ROLES,
        "10:22: standby.servers[1].links: found \"10.40.0.2\", expected an address of this server and a UDP "
        "port, such as 10.40.0.1:4671");
    expect_pair_error(file, HEAD STANDBY A B "  - {name: c, links: [\"10.40.0.3:4671\"]}\n" CHAINS ROLES,
                      "9:3: standby.servers: found a list of 3, expected a list of 2 entries");
    expect_pair_error(file, HEAD STANDBY A CHAINS ROLES,
                      "9:3: standby.servers: found a list of 1, expected a list of 2 entries");
}

static void what_two_servers_may_not_share(void **state) {
    struct config_file const *const file = *state;
    expect_pair_error(
        file, "workspace: ring\n" RATE PORTS BPM SETPOINTS STANDBY A B CHAINS ROLES,
        "1:12: workspace: both servers would have \"ring\", expected {server} in it, which is the name of "
        "each");
    expect_pair_error(
        file, WORKSPACE RATE PORTS BPM "setpoints: {period_turns: 12, terms: ring.terms}\n" STANDBY A B CHAINS ROLES,
        "5:38: setpoints.terms: both servers would have \"ring.terms\", expected {server} in it, which is "
        "the name of each");
}

static void times_must_leave_room_for_a_take_over(void **state) {
    struct config_file const *const file = *state;
    expect_pair_error(file, HEAD "standby:\n  key: k\n  missed_cycles: 61\n  servers:\n" A B CHAINS ROLES,
                      "8:18: standby.missed_cycles: found 61, expected 2 to 60 cycles");
    expect_pair_error(file, HEAD "standby:\n  key: k\n  missed_cycles: 1\n  servers:\n" A B CHAINS ROLES,
                      "8:18: standby.missed_cycles: found 1, expected 2 to 60 cycles");
    expect_pair_error(
        file, HEAD "standby:\n  key: k\n  begin_s: 30e-6\n  servers:\n" A B CHAINS ROLES,
        "8:12: standby.begin_s: 3e-05 s are 3 cycles, expected more than the 3 of missed_cycles: more than "
        "3e-05 s");
    expect_pair_error(file, HEAD "standby:\n  key: k\n  begin_s: 0\n  servers:\n" A B CHAINS ROLES,
                      "8:12: standby.begin_s: found 0 s, expected more than 0, up to 3600 s");
    expect_pair_error(file,
                      HEAD STANDBY A B
                      "chains:\n  - {name: c, id: 1, port: ring, address: 10.30.0.1, timeout_us: 50, " SUPPLIES
                      "}\n" ROLES,
                      "12:66: chains[0].timeout_us: found 50 µs, expected more than 50 µs: the 3 cycles of "
                      "standby.missed_cycles, and 2 "
                      "in which the standby asks the chains and takes over");
    expect_pair_error(
        file, HEAD STANDBY A B "chains:\n  - {name: c, id: 1, port: ring, address: 10.30.0.1, " SUPPLIES "}\n" ROLES,
        "12:5: chains[0]: the key \"timeout_us\" is missing, expected with standby: the time after which "
        "the chain stops by itself, more than 50 µs (5 cycles); 0: never");
    expect_pair_error(file,
                      HEAD STANDBY A B
                      "chains:\n  - {name: c, id: 1, port: ring, address: 10.30.0.1, timeout_us: -1, " SUPPLIES
                      "}\n" ROLES,
                      "12:66: chains[0].timeout_us: found -1, expected 0 (never) to 1e+09 µs");
}

static void a_chain_may_never_stop(void **state) {
    struct config_file const *const file = *state;
    write_config(file, HEAD STANDBY A B
                 "chains:\n  - {name: c, id: 1, port: ring, address: 10.30.0.1, timeout_us: 0, " SUPPLIES "}\n" ROLES);
    struct rm_config *const config = load_server(file, "a");
    assert_true(isinf(config->chain[0].timeout_s));
    rm_config_free(config);
}

static void a_pair_needs_votes_and_turns(void **state) {
    struct config_file const *const file = *state;
    expect_pair_error(file, WORKSPACE RATE PORTS BPM STANDBY A B ROLES,
                      "6:3: standby: there are no setpoints that one of two servers would send, expected the keys "
                      "\"setpoints\" and \"chains\" too");
    expect_pair_error(
        file,
        HEAD STANDBY A B
        "chains:\n  - {name: c, id: 1, port: ring, address: 10.30.0.1, timeout_us: 0, readback: false, " SUPPLIES
        "}\n" ROLES,
        "12:3: chains: none of them answers, so none can say which server it obeys, expected some without \"readback: "
        "false\" with standby");
    expect_pair_error(
        file, WORKSPACE RATE PORTS SETPOINTS STANDBY A B CHAINS ROLES,
        "6:3: standby: both servers must count the same turns, but no instrument tells them: expected some "
        "on a port of the first receive role");
    expect_pair_error(file,
                      WORKSPACE "simulated_time: true\n" RATE PORTS BPM
                                "setpoints: {period_turns: 12, lead: ramp}\n" STANDBY A B CHAINS
                                "applications: [{name: ramp, code: ramp, supplies: [s]}]\n" ROLES,
                      "2:17: simulated_time: found true with standby, expected false: the ring would wait for the "
                      "setpoints of a server that is to be missed");
}

/* Writes pair.key, and reads it. */
static enum rm_code read_key(struct config_file const *file, char const *text, mode_t mode, uint8_t *key,
                             struct rm_error *error) {
    char path[64];
    write_config(file, PAIR);
    struct rm_config *const config = load_server(file, "a");
    snprintf(path, sizeof path, "%s/pair.key", file->directory);
    assert_string_equal(config->standby.key_path, path);
    if (text != NULL) {
        FILE *const out = fopen(path, "w");
        assert_non_null(out);
        fputs(text, out);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(chmod(path, mode), 0);
    }
    enum rm_code const code = rm_config_read_key(config, key, error);
    remove(path);
    rm_config_free(config);
    return code;
}

static void a_key_is_read(void **state) {
    struct config_file const *const file = *state;
    uint8_t key[RM_CONFIG_KEY_BYTES];
    struct rm_error error;
    char const *const digits = "00112233445566778899aAbBcCdDeEfF0123456789abcdef0123456789ABCDEF";
    char line[80];
    snprintf(line, sizeof line, "%s\n", digits);
    assert_int_equal(read_key(file, line, 0600, key, &error), RM_OK);
    assert_int_equal(key[1], 0x11);
    assert_int_equal(key[10], 0xAA);
    assert_int_equal(key[31], 0xEF);
    assert_int_equal(read_key(file, digits, 0400, key, &error), RM_OK);
}

static void a_wrong_key_is_refused(void **state) {
    struct config_file const *const file = *state;
    static struct {
        char const *text;
        mode_t mode;
        char const *problem;
    } const wrong[] = {
        {NULL, 0, "cannot be read: No such file or directory;"},
        {"0011", 0600, "is no key;"},
        {"g0112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef\n", 0600, "is no key;"},
        {"00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef0\n", 0600, "is no key;"},
        {"00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef\nx", 0600, "is no key;"},
        {"00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef\n", 0640, "is open to others"},
        {"00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef\n", 0604, "is open to others"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t key[RM_CONFIG_KEY_BYTES];
        struct rm_error error = {.text = ""};
        assert_int_equal(read_key(file, wrong[i].text, wrong[i].mode, key, &error), RM_E_CONFIG);
        assert_non_null(strstr(error.text, ":7:8: standby.key: "));
        assert_non_null(strstr(error.text, wrong[i].problem));
        assert_non_null(strstr(error.text, "openssl rand -hex 32"));
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(each_server_has_its_name_and_number, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(the_pair_is_as_it_is_written, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(both_are_loaded_where_none_is_named, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(what_may_not_be_meant_is_said, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_number_may_be_a_servers_own, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(places_are_those_of_the_file, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_server_must_be_named_and_be_there, make_config_file, remove_config_file),
        cmocka_unit_test(an_at_sign_may_be_in_a_files_name),
        cmocka_unit_test_setup_teardown(servers_must_differ, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(what_two_servers_may_not_share, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(times_must_leave_room_for_a_take_over, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_chain_may_never_stop, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_pair_needs_votes_and_turns, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_key_is_read, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_wrong_key_is_refused, make_config_file, remove_config_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
