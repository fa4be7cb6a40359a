// SPDX-License-Identifier: Apache-2.0
/** The commands on the telemetry socket, for the largest server that a configuration can ask for, without DPDK. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "engine/telemetry_answers.h"
#include "engine/test_telemetry_reply.h"
#include "fabric/counter_names.h"
#include "fabric/test_workspace.h"

enum { CORES = RM_CONFIG_CORES_MAX, INSTRUMENTS = RM_CONFIG_INSTRUMENTS_MAX, HISTOGRAMS = 80, WALKS = 100000 };

static char const LONGEST[] = "a-name-of-24-bytes-"; // and five digits

struct largest {
    char root[64];
    struct rm_config config;
    struct rm_config_instrument instrument[INSTRUMENTS];
    struct rm_config_port port[RM_CONFIG_PORTS_MAX];
    struct rm_config_role role[CORES];
    struct rm_place role_place[CORES];
    struct rm_store store;
    rm_planned_index port_counters[RM_CONFIG_PORTS_MAX];
    rm_planned_index core_counters[CORES];
    uint32_t core[CORES];
    struct rm_store_instrument place[INSTRUMENTS];
    rm_planned_index histogram[HISTOGRAMS];
    struct rm_telemetry_view view;
    struct rm_telemetry_reply reply;
};

static rm_planned_index plan_block(struct largest *largest, char const *set, char const *name,
                                   enum rm_counter_set_id id) {
    char full[RM_NAME_BYTES];
    snprintf(full, sizeof full, "counters/%s/%s", set, name);
    return rm_plan_counters(&largest->store.plan, full, "", id, rm_counter_set_size(id));
}

static void plan_largest(struct largest *largest) {
    char number[32];
    for (uint32_t i = 0; i < RM_CONFIG_PORTS_MAX; ++i) {
        snprintf(largest->port[i].port.name, sizeof largest->port[i].port.name, "%s%05u", "port-of-24-byte", i);
        largest->port[i].port.kind = RM_PORT_VIRTIO_USER;
        largest->port_counters[i] = plan_block(largest, "port", largest->port[i].port.name, RM_COUNTER_SET_PORT);
    }
    for (uint32_t i = 0; i < CORES; ++i) {
        largest->core[i] = 100000 + i;
        largest->role[i] = (struct rm_config_role){.kind = RM_ROLE_EXCEPTION_PATH, .core = 100000 + i};
        atomic_store(&largest->role_place[i].cpu, largest->core[i]);
        snprintf(number, sizeof number, "%u", largest->core[i]);
        largest->core_counters[i] = plan_block(largest, "core", number, RM_COUNTER_SET_CORE);
    }
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        snprintf(largest->instrument[i].name, sizeof largest->instrument[i].name, "%s%05u", LONGEST, i);
        largest->place[i].counters = plan_block(largest, "stream", largest->instrument[i].name, RM_COUNTER_SET_STREAM);
        snprintf(number, sizeof number, "%s%05u/%s%05u", "path-of-", i, "port-of-", i);
        plan_block(largest, "path", number, RM_COUNTER_SET_PATH);
    }
    for (uint32_t i = 0; i < HISTOGRAMS; ++i) {
        snprintf(number, sizeof number, "latency/receive/%u", i);
        largest->histogram[i] = rm_plan_histogram(&largest->store.plan, number, "", "ticks");
    }
    largest->store.clock = rm_plan_clock(&largest->store.plan, "clock", "");
}

/** Every counter at its widest. */
static void fill_counters(struct largest *largest) {
    for (size_t i = 0; i < largest->store.plan.count; ++i) {
        struct rm_object const *const object = &largest->store.plan.planned[i].object;
        for (unsigned c = 0; object->kind == RM_OBJECT_COUNTERS && c < rm_counter_set_size(object->variety); ++c)
            rm_counter_set(rm_store_memory(&largest->store, i), c, UINT64_MAX);
    }
}

static int make_largest(void **state) {
    struct largest *const largest = calloc(1, sizeof *largest);
    struct rm_error error;
    if (largest == NULL || !test_workspaces_make(largest->root, sizeof largest->root))
        return -1;
    *state = largest;
    rm_plan_init(&largest->store.plan);
    plan_largest(largest);
    largest->config = (struct rm_config){.workspace = "largest",
                                         .port_count = RM_CONFIG_PORTS_MAX,
                                         .port = largest->port,
                                         .instrument_count = INSTRUMENTS,
                                         .instrument = largest->instrument,
                                         .application_count = 1,
                                         .role_count = CORES,
                                         .role = largest->role};
    largest->store.port_counters = largest->port_counters;
    largest->store.core_counters = largest->core_counters;
    largest->store.core = largest->core;
    largest->store.core_count = CORES;
    largest->store.instrument = largest->place;
    largest->view = (struct rm_telemetry_view){.config = &largest->config,
                                               .store = &largest->store,
                                               .place = largest->role_place,
                                               .tsc_hz = 1e9,
                                               .started_tsc = rm_tsc()};
    if (rm_segment_open("largest", "server", &largest->store.plan, &largest->store.segment, &error) != RM_OK)
        return -1;
    fill_counters(largest);
    return 0;
}

static int drop_largest(void **state) {
    struct largest *const largest = *state;
    rm_segment_close(&largest->store.segment);
    rm_plan_free(&largest->store.plan);
    test_workspaces_remove(largest->root);
    free(largest);
    return 0;
}

/** Walks all pages of a command, and calls `see` with each: returns how many entries there were. */
static uint64_t walk(struct largest *largest, char const *command, char const *list,
                     void (*see)(struct largest *largest, struct rm_telemetry_list const *list, uint64_t from)) {
    uint64_t from = 0, total;
    do {
        char parameter[32];
        snprintf(parameter, sizeof parameter, "%ju", (uintmax_t)from);
        reply_ask(&largest->reply, &largest->view, command, from == 0 ? "" : parameter);
        assert_false(largest->reply.lost);
        total = reply_number(&largest->reply, "total");
        struct rm_telemetry_list const *const names = reply_list(&largest->reply, list);
        for (uint32_t i = 0; i < largest->reply.lists; ++i)
            assert_int_equal(largest->reply.list[i].count, names->count);
        see(largest, names, from);
        assert_int_equal(reply_number(&largest->reply, "next"), from + names->count);
        from += names->count;
    } while (from < total);
    return from;
}

static void see_instruments(struct largest *largest, struct rm_telemetry_list const *list, uint64_t from) {
    for (uint32_t i = 0; i < list->count; ++i)
        assert_string_equal(list->text[i], largest->instrument[from + i].name);
}

static void pages_hold_every_instrument_once(void **state) {
    assert_int_equal(walk(*state, "/ringmaster/instruments", "name", see_instruments), INSTRUMENTS);
}

/** And each answers by its name. */
static void see_counters(struct largest *largest, struct rm_telemetry_list const *list, uint64_t from) {
    static struct rm_telemetry_reply one;
    for (uint32_t i = (uint32_t)(from % 37); i < list->count; i += 37) {
        reply_ask(&one, &largest->view, "/ringmaster/counters", list->text[i]);
        assert_false(one.lost);
        assert_string_equal(one.error, "");
        assert_true(reply_number(&one, one.key[one.keys - 1]) == UINT64_MAX);
    }
}

static void pages_hold_every_block_of_counters(void **state) {
    assert_int_equal(walk(*state, "/ringmaster/counters", "name", see_counters),
                     RM_CONFIG_PORTS_MAX + CORES + 2 * INSTRUMENTS);
}

static void a_block_has_its_counters_by_name(void **state) {
    struct largest *const largest = *state;
    rm_counter *const block = rm_store_memory(&largest->store, largest->port_counters[3]);
    char name[RM_NAME_BYTES];
    rm_counter_set(block, RM_PORT_NOT_IPV4, 7);
    snprintf(name, sizeof name, "port/%s", largest->port[3].port.name);
    reply_ask(&largest->reply, &largest->view, "/ringmaster/counters", name);
    assert_int_equal(largest->reply.keys, RM_PORT_COUNTERS);
    assert_int_equal(reply_number(&largest->reply, "not_ipv4"), 7);
}

static void what_has_no_pages_fits(void **state) {
    struct largest *const largest = *state;
    char const *const command[] = {"/ringmaster/info", "/ringmaster/cores", "/ringmaster/ports"};
    for (size_t i = 0; i < sizeof command / sizeof command[0]; ++i) {
        reply_ask(&largest->reply, &largest->view, command[i], "");
        assert_false(largest->reply.lost);
        assert_true(largest->reply.keys > 5);
    }
}

static void commands_fit_dpdk(void **state) {
    (void)state;
    for (uint32_t i = 0; i < RM_TELEMETRY_COMMANDS; ++i) {
        assert_true(strlen(rm_telemetry_commands[i].name) < RM_TELEMETRY_NAME_BYTES);
        assert_true(strlen(rm_telemetry_commands[i].help) < RM_TELEMETRY_HELP_BYTES);
    }
}

static void see_nothing(struct largest *largest, struct rm_telemetry_list const *list, uint64_t from) {
    (void)largest;
    (void)list;
    (void)from;
}

static void histograms_tell_percentiles(void **state) {
    struct largest *const largest = *state;
    struct rm_histogram *const histogram = rm_store_memory(&largest->store, largest->histogram[0]);
    rm_histogram_add(histogram, 10, 98);
    rm_histogram_add(histogram, 1000, 1);
    rm_histogram_add(histogram, 5000, 1);
    assert_int_equal(walk(largest, "/ringmaster/histograms", "name", see_nothing), HISTOGRAMS);
    reply_ask(&largest->reply, &largest->view, "/ringmaster/histograms", "");
    assert_int_equal(reply_list(&largest->reply, "count")->number[0], 100);
    assert_int_equal(reply_list(&largest->reply, "p50_ns")->number[0], 10);
    assert_in_range(reply_list(&largest->reply, "p99_ns")->number[0], 1000, 1000 + 1000 / 16);
    assert_int_equal(reply_list(&largest->reply, "max_ns")->number[0], 5000);
    assert_int_equal(reply_list(&largest->reply, "max_ns")->number[1], 0);
}

static uint64_t share_ppm(struct largest *largest) {
    reply_ask(&largest->reply, &largest->view, "/ringmaster/cores", "");
    return reply_list(&largest->reply, "busy_ppm")->number[0];
}

static void set_ticks(struct largest *largest, uint64_t busy, uint64_t idle) {
    rm_counter *const block = rm_store_memory(&largest->store, largest->core_counters[0]);
    rm_counter_set(block, RM_CORE_BUSY_TICKS, busy);
    rm_counter_set(block, RM_CORE_IDLE_TICKS, idle);
}

static char const *roles_of(struct largest *largest, uint32_t core) {
    reply_ask(&largest->reply, &largest->view, "/ringmaster/cores", "");
    return reply_list(&largest->reply, "roles")->text[core];
}

static void a_role_stands_at_the_core_that_runs_it(void **state) {
    struct largest *const largest = *state;
    _Atomic uint32_t *const cpu = &largest->role_place[0].cpu;
    assert_string_equal(roles_of(largest, 0), "exception_path");
    atomic_store(cpu, RM_PLACE_NONE); // between two cores
    assert_string_equal(roles_of(largest, 0), "");
    atomic_store(cpu, largest->core[1]);
    assert_string_equal(roles_of(largest, 0), "");
    assert_string_equal(roles_of(largest, 1), "exception_path exception_path");
    atomic_store(cpu, largest->core[0]);
}

/** A second of the view's is what its rate says: so long that none passes, then so short that one always does. */
static void the_busy_share_is_that_since_a_second_ago(void **state) {
    struct largest *const largest = *state;
    largest->view.before = largest->view.last = (struct rm_telemetry_look){.tsc = 0};
    largest->view.tsc_hz = 1e18;
    set_ticks(largest, 100, 300);
    assert_int_equal(share_ppm(largest), 250000);
    set_ticks(largest, 200, 300);
    assert_int_equal(share_ppm(largest), 400000); // since the start still
    largest->view.tsc_hz = 1;
    assert_int_equal(share_ppm(largest), 400000); // a second is over: this look is kept
    set_ticks(largest, 210, 390);
    assert_int_equal(share_ppm(largest), 100000); // and this one is since then
    set_ticks(largest, 210, 390);
    assert_int_equal(share_ppm(largest), 0);
}

/** Bytes as they may come, more often than not close to what is good. */
static void make_parameter(char parameter[RM_TELEMETRY_PARAMETER_BYTES]) {
    static char const *const starts[] = {"",      "",        "0",           "64", "1023", "1024",
                                         "port/", "stream/", "core/100000", "-",  "99"};
    size_t length = (size_t)snprintf(parameter, RM_TELEMETRY_PARAMETER_BYTES, "%s",
                                     starts[(size_t)rand() % (sizeof starts / sizeof starts[0])]);
    size_t const end = rand() % 3 == 0 ? RM_TELEMETRY_PARAMETER_BYTES - 1 : length + (size_t)(rand() % 4);
    for (bool const digits = rand() % 2 == 0; length < end; ++length)
        parameter[length] = (char)(digits ? '0' + rand() % 10 : 1 + rand() % 255);
    parameter[length] = '\0';
}

/** An error, or a page that begins below the total, or counters of one block. */
static void check_any(struct rm_telemetry_reply const *reply) {
    assert_false(reply->lost);
    if (reply->error[0] != '\0')
        assert_int_equal(reply->keys, 0);
    else if (reply->lists != 0)
        assert_in_range(reply_number(reply, "next"), reply->list[0].count, reply_number(reply, "total"));
    else
        assert_true(reply->keys != 0);
}

static void any_parameter_is_answered_or_refused(void **state) {
    static char const *const command[] = {"/ringmaster/instruments", "/ringmaster/counters", "/ringmaster/histograms"};
    struct largest *const largest = *state;
    unsigned refused = 0;
    srand(1);
    for (int i = 0; i < WALKS; ++i) {
        char parameter[RM_TELEMETRY_PARAMETER_BYTES];
        make_parameter(parameter);
        reply_ask(&largest->reply, &largest->view, command[i % 3], parameter);
        check_any(&largest->reply);
        refused += largest->reply.error[0] != '\0';
    }
    assert_in_range(refused, WALKS / 10, WALKS - WALKS / 10);
}

static void a_wrong_parameter_says_what_is_right(void **state) {
    struct largest *const largest = *state;
    reply_ask(&largest->reply, &largest->view, "/ringmaster/instruments", "1024");
    assert_string_equal(largest->reply.error,
                        "found \"1024\", expected nothing, or a number below 1024: `next` of the page before");
    reply_ask(&largest->reply, &largest->view, "/ringmaster/counters", "port/rung");
    assert_string_equal(largest->reply.error, "no counters \"port/rung\"; /ringmaster/counters lists them");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(commands_fit_dpdk),
        cmocka_unit_test(pages_hold_every_instrument_once),
        cmocka_unit_test(pages_hold_every_block_of_counters),
        cmocka_unit_test(a_block_has_its_counters_by_name),
        cmocka_unit_test(what_has_no_pages_fits),
        cmocka_unit_test(histograms_tell_percentiles),
        cmocka_unit_test(any_parameter_is_answered_or_refused),
        cmocka_unit_test(a_wrong_parameter_says_what_is_right),
        cmocka_unit_test(a_role_stands_at_the_core_that_runs_it),
        cmocka_unit_test(the_busy_share_is_that_since_a_second_ago),
    };
    return cmocka_run_group_tests_name("telemetry", tests, make_largest, drop_largest);
}
