// SPDX-License-Identifier: Apache-2.0
/* The server's segment as a configuration with chains asks for it, found through the public API. */
#include "engine/store.h"

#include "config/test_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/grant.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/standby.h>
#include <ringmaster/workspace.h>

#include "fabric/test_workspace.h"

struct fixture {
    char root[64];
    void *file;
    struct rm_config *config;
    struct rm_store store;
    struct rm_workspace *workspace;
};

#define BEFORE                                                                                                         \
    "workspace: demo\nbuffers: {turn_records: 16384, fast_records: 1024}\n"                                            \
    "ports:\n  - {name: link, kind: memif, socket: /run/l.sock, answer: 10.30.0.250}\n"                                \
    "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: link, source: 10.20.0.1}\n"                               \
    "turn_window: {ahead_turns: 256, late_turns: 256}\n"

static char const without_chains[] = BEFORE "roles:\n  - {role: receive, ports: [link], core: @}\n";

static char const with_chains[] = BEFORE
    "roles:\n  - {role: receive, ports: [link], core: @}\n  - {role: transmit, core: @}\n"
    "setpoints: {period_turns: 12}\n"
    "chains:\n"
    "  - name: c\n    count: 2\n    id: 1\n    port: link\n    address: 10.30.0.1\n    supplies:\n"
    "      - {name: \"ps/h_{chain}_\", count: 11, unit: A, limits: [-2, 10], slew: 20,\n"
    "         convert: {unit: µrad, polynomial: [0, 12.5]}}\n"
    "  - {name: mute, id: 9, port: link, address: 10.30.0.9, readback: false,\n"
    "     supplies: [{name: ps/bend, unit: kA, limits: [0, 1], slew: 1}]}\n"
    "applications:\n"
    "  - {name: ramp, code: ramp, supplies: [\"ps/h_01_*\"], period_turns: 24, watchdog_cycles: 5, stop: ramp}\n";

static void serve_config(struct fixture *fixture) {
    struct rm_error error = {.text = ""};
    if (rm_store_open(&fixture->store, fixture->config, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_segment_finish(&fixture->store.segment);
    if (rm_workspace_attach("demo", 0, &fixture->workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static void serve(struct fixture *fixture, char const *yaml) {
    fixture->config = load_config(fixture->file, yaml);
    serve_config(fixture);
}

static int set_up(void **state) {
    struct fixture *const fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL || !test_workspaces_make(fixture->root, sizeof fixture->root))
        return -1;
    *state = fixture;
    return make_config_file(&fixture->file);
}

static int tear_down(void **state) {
    struct fixture *const fixture = *state;
    rm_workspace_detach(fixture->workspace);
    rm_store_close(&fixture->store);
    rm_config_free(fixture->config);
    remove_config_file(&fixture->file);
    test_workspaces_remove(fixture->root);
    free(fixture);
    return 0;
}

/* An object's memory; its directory entry where `object` is not NULL. */
static void const *find(struct fixture const *fixture, enum rm_object_kind kind, char const *name,
                        struct rm_object const **object) {
    struct rm_object const *entry = NULL;
    void const *memory = NULL;
    struct rm_error error = {.text = ""};
    if (rm_workspace_find(fixture->workspace, kind, name, &entry, &memory, &error) != RM_OK)
        fail_msg("%s", error.text);
    if (object != NULL)
        *object = entry;
    return memory;
}

static bool has(struct fixture const *fixture, char const *name) {
    for (size_t i = 0; i < rm_workspace_object_count(fixture->workspace); i++) {
        void const *memory;
        if (strcmp(rm_workspace_object(fixture->workspace, i, &memory)->name, name) == 0)
            return true;
    }
    return false;
}

static void nothing_of_it_without_chains(void **state) {
    struct fixture *const fixture = *state;
    serve(fixture, without_chains);
    find(fixture, RM_OBJECT_REPLIES, "server/replies", NULL);
    static char const *const absent[] = {
        "setpoints/sent",          "supply/state",      "supply/names",    "grant/operator",
        "counters/guard/operator", "counters/transmit", "latency/setpoint"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        assert_false(has(fixture, absent[i]));
}

static void grants(void **state) {
    struct fixture *const fixture = *state;
    serve(fixture, with_chains);
    struct rm_grant const *const ramp = find(fixture, RM_OBJECT_GRANT, "grant/ramp", NULL);
    assert_string_equal(ramp->application, "ramp");
    assert_int_equal(ramp->actuator_count, 11);
    assert_int_equal(ramp->period_turns, 24);
    assert_int_equal(ramp->freshness_turns, 480);
    assert_int_equal(ramp->watchdog_cycles, 5);
    assert_int_equal(ramp->stop, RM_STOP_RAMP);
    assert_int_equal(atomic_load(&ramp->grant_number), 0);
    struct rm_grant const *const operator= find(fixture, RM_OBJECT_GRANT, "grant/operator", NULL);
    assert_string_equal(operator->application, "operator");
    assert_int_equal(operator->actuator_count, 12);
    assert_int_equal(operator->period_turns, 12);
    assert_int_equal(operator->freshness_turns, 0);
    assert_int_equal(operator->watchdog_cycles, 0);
}

static void counters(void **state) {
    static struct {
        char const *name;
        enum rm_counter_set_id set;
        uint64_t count;
    } const expected[] = {
        {"counters/guard/ramp", RM_COUNTER_SET_GUARD, RM_GUARD_COUNTERS},
        {"counters/guard/operator", RM_COUNTER_SET_GUARD, RM_GUARD_COUNTERS},
        {"counters/chain/c01", RM_COUNTER_SET_CHAIN, RM_CHAIN_COUNTERS},
        {"counters/chain/c02", RM_COUNTER_SET_CHAIN, RM_CHAIN_COUNTERS},
        {"counters/chain/mute", RM_COUNTER_SET_CHAIN, RM_CHAIN_COUNTERS},
        {"counters/transmit", RM_COUNTER_SET_TRANSMIT, RM_TRANSMIT_COUNTERS},
        {"counters/stream/c02_b", RM_COUNTER_SET_STREAM, RM_STREAM_COUNTERS},
    };
    struct fixture *const fixture = *state;
    serve(fixture, with_chains);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct rm_object const *object = NULL;
        find(fixture, RM_OBJECT_COUNTERS, expected[i].name, &object);
        assert_int_equal(object->variety, expected[i].set);
        assert_int_equal(object->shape[0], expected[i].count);
    }
    find(fixture, RM_OBJECT_HISTOGRAM, "latency/setpoint", NULL);
}

static void check_limits(struct rm_limits const *limits, double low, double high) {
    assert_true(limits->control_low == low && limits->control_high == high);
    assert_true(limits->display_low == low && limits->display_high == high);
    assert_true(isnan(limits->minor_low) && isnan(limits->minor_high));
    assert_true(isnan(limits->major_low) && isnan(limits->major_high));
    assert_true(limits->hysteresis == 0);
}

static void parameters_of_supplies(void **state) {
    struct fixture *const fixture = *state;
    struct rm_object const *object = NULL;
    serve(fixture, with_chains);
    struct rm_parameter const *const owned = find(fixture, RM_OBJECT_PARAMETER, "ps/h_01_11/setpoint", &object);
    assert_string_equal(object->unit, "A");
    assert_string_equal(object->description, "sent to chain c01, set by ramp");
    assert_int_equal(object->element_type, RM_ELEMENT_F64);
    assert_int_equal(owned->flags, 0);
    assert_string_equal(owned->owner, "server");
    check_limits(&owned->limits, -2, 10);
    assert_string_equal(owned->conversion.unit, "µrad");
    assert_true(rm_convert(&owned->conversion, 2) == 25);
    struct rm_parameter const *const free_one = find(fixture, RM_OBJECT_PARAMETER, "ps/h_02_01/setpoint", NULL);
    assert_int_equal(free_one->flags, RM_PARAMETER_WRITABLE | RM_PARAMETER_SETTING);
    struct rm_parameter const *const readback = find(fixture, RM_OBJECT_PARAMETER, "ps/h_02_01/readback", &object);
    assert_int_equal(readback->flags, 0);
    assert_string_equal(readback->conversion.unit, "µrad");
    assert_string_equal(object->description, "as chain c02 answers");
    struct rm_parameter const *const bend = find(fixture, RM_OBJECT_PARAMETER, "ps/bend/readback", &object);
    check_limits(&bend->limits, 0, 1);
    assert_string_equal(object->unit, "kA");
    assert_string_equal(object->description, "not known: chain mute does not answer");
    assert_string_equal(bend->conversion.unit, "");
}

static void all_supplies_at_once(void **state) {
    struct fixture *const fixture = *state;
    struct rm_object const *object = NULL;
    serve(fixture, with_chains);
    struct rm_setpoints const *const sent = find(fixture, RM_OBJECT_SETPOINTS, "setpoints/sent", NULL);
    assert_int_equal(sent->actuator_count, 23);
    struct rm_parameter const *const states = find(fixture, RM_OBJECT_PARAMETER, "supply/state", &object);
    assert_int_equal(states->count, 23);
    assert_int_equal(object->element_type, RM_ELEMENT_U32);
    char const *const names = find(fixture, RM_OBJECT_TEXT, "supply/names", &object);
    char expected[1024] = "";
    for (uint32_t i = 0; i < fixture->config->supply_count; i++) {
        strcat(expected, fixture->config->supply[i].name);
        strcat(expected, "\n");
    }
    assert_int_equal(object->bytes, strlen(expected));
    assert_memory_equal(names, expected, strlen(expected));
}

/* Chains' answers are streams like any other. */
static void answers(void **state) {
    struct fixture *const fixture = *state;
    struct rm_error error = {.text = ""};
    struct rm_stream_view view;
    serve(fixture, with_chains);
    assert_int_equal(rm_workspace_stream(fixture->workspace, "c02_b/raw", &view, &error), RM_OK);
    assert_int_equal(view.period, 12);
    assert_int_equal(view.header->instrument_kind, RM_KIND_POWER_SUPPLY);
    assert_int_equal(view.header->instrument_id, 9);
    assert_int_equal(view.header->source_ipv4, 0x0A1E0002);
    assert_int_equal(view.header->lane_count, 3);
    assert_string_equal(view.header->lane[2].name, "h_02_11");
    assert_false(has(fixture, "stream/mute/raw"));
}

static void a_server_that_is_alone_has_nothing_of_a_pair(void **state) {
    struct fixture *const fixture = *state;
    serve(fixture, with_chains);
    assert_false(has(fixture, "standby/state"));
    assert_false(has(fixture, "setpoints/targets"));
    assert_false(has(fixture, "counters/standby"));
}

static void one_of_two_servers_says_which_and_what_a_majority_is(void **state) {
    struct fixture *const fixture = *state;
    fixture->config = load_config(fixture->file, with_chains);
    fixture->config->standby = (struct rm_config_standby){.present = true, .own = 1, .missed_cycles = 4};
    serve_config(fixture);
    struct rm_standby_state const *const standby = find(fixture, RM_OBJECT_STANDBY_STATE, "standby/state", NULL);
    assert_int_equal(standby->server, 2);
    assert_int_equal(standby->chains, 2); // the third has no readback, and so no vote
    assert_int_equal(standby->majority, 2);
    assert_int_equal(standby->missed_cycles, 4);
    assert_int_equal(standby->period_turns, 12);
    struct rm_setpoints const *const targets = find(fixture, RM_OBJECT_SETPOINTS, "setpoints/targets", NULL);
    assert_int_equal(targets->actuator_count, 23);
    assert_true(has(fixture, "counters/standby"));
}

static void a_file_of_terms_has_its_counters(void **state) {
    struct fixture *const fixture = *state;
    fixture->config = load_config(fixture->file, with_chains);
    strcpy(fixture->config->setpoints.terms_path, "/nowhere/ring.terms");
    serve_config(fixture);
    assert_true(has(fixture, "counters/standby"));
    assert_false(has(fixture, "standby/state"));
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    struct CMUnitTest const tests[] = {
        TEST(nothing_of_it_without_chains),
        TEST(grants),
        TEST(counters),
        TEST(parameters_of_supplies),
        TEST(all_supplies_at_once),
        TEST(answers),
        TEST(a_server_that_is_alone_has_nothing_of_a_pair),
        TEST(one_of_two_servers_says_which_and_what_a_majority_is),
        TEST(a_file_of_terms_has_its_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
