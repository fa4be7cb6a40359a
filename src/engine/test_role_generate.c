// SPDX-License-Identifier: Apache-2.0
/** A server whose roles generate, two of them with a port each, and no instruments: they share one generator, and
 * readers find its counters and histograms in the workspace. */
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cores.h"
#include "engine/server.h"
#include "engine/server_state.h"
#include "fabric/test_workspace.h"
#include "traffic/generator.h"
#include <ringmaster/workspace.h>

enum { FRAMES = 5000, FLOWS = 3 };

struct generate_test {
    char place[64];
    struct rm_config *config;
    struct rm_server *server;
    struct rm_workspace *workspace;
};

static void const *find(struct generate_test const *test, enum rm_object_kind kind, char const *name) {
    struct rm_object const *object;
    void const *found;
    struct rm_error error;
    if (rm_workspace_find(test->workspace, kind, name, &object, &found, &error) != RM_OK)
        fail_msg("%s", error.text);
    return found;
}

static void write_config(struct generate_test const *test, char const *path) {
    cpu_set_t cpus;
    struct rm_error error;
    assert_int_equal(rm_cores_available(&cpus, &error), RM_OK);
    int core = CPU_SETSIZE - 1;
    while (!CPU_ISSET(core, &cpus))
        --core;
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "workspace: generate\nturn_rate_hz: 100000\npolling: {naps: true}\n"
            "ports: [{name: left, kind: memif, socket: %s/link.sock, role: server}, {name: right, kind: ring}]\n"
            "roles: [{role: generate, core: %d, ports: [left]}, {role: generate, core: %d, ports: [right]}]\n",
            test->place, core, core);
    fclose(file);
}

static enum rm_code start_server(struct generate_test *test, struct rm_error *error) {
    char path[PATH_MAX];
    assert_true(test_workspaces_make(test->place, sizeof test->place));
    snprintf(path, sizeof path, "%s/server.yaml", test->place);
    write_config(test, path);
    enum rm_code const code = rm_config_load(path, &test->config, error);
    return code == RM_OK ? rm_server_start(test->config, rm_simd_best(), &test->server, error) : code;
}

static void end(struct generate_test *test) {
    rm_workspace_detach(test->workspace);
    rm_server_stop(test->server);
    rm_config_free(test->config);
    test_workspaces_remove(test->place);
}

static void roles_share_one_generator(void **state) {
    (void)state;
    struct generate_test test = {.workspace = NULL};
    struct rm_error error = {.text = ""};
    struct rm_traffic traffic;
    struct rm_flow_reading *const reading = malloc(sizeof *reading);
    assert_non_null(reading);
    if (start_server(&test, &error) != RM_OK ||
        rm_workspace_attach(test.config->workspace, 0, &test.workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
    struct rm_generator *const generator = test.server->generator;
    assert_int_equal(generator->port_count, 2);
    assert_int_equal(generator->side_count, 2);
    rm_traffic_default(&traffic, 1);
    traffic.count = FRAMES;
    traffic.template[0].flow_count = FLOWS;
    assert_int_equal(rm_generator_describe(generator, 1, &traffic, &error), RM_OK);
    assert_int_equal(rm_generator_start(generator, 1, &error), RM_OK);
    rm_counter const *const counters = find(&test, RM_OBJECT_COUNTERS, "counters/generator/right");
    uint64_t skipped = 0;
    do {
        sched_yield();
        skipped = rm_counter_get(counters, RM_GENERATOR_SKIPPED);
    } while (rm_counter_get(counters, RM_GENERATOR_STAMPED) + skipped < FRAMES);
    assert_int_equal(rm_counter_get(counters, RM_GENERATOR_SENT), FRAMES - skipped);
    struct rm_histogram const *const latency = find(&test, RM_OBJECT_HISTOGRAM, "latency/generator/right");
    assert_int_equal(atomic_load(&latency->total), FRAMES - skipped);
    find(&test, RM_OBJECT_HISTOGRAM, "jitter/generator/left");
    uint64_t received = 0;
    for (uint32_t flow = 0; flow < FLOWS; ++flow) {
        assert_true(rm_generator_flow(generator, 1, flow, reading));
        received += reading->received;
        assert_int_equal(reading->lost, 0);
    }
    assert_int_equal(received, FRAMES - skipped);
    free(reading);
    end(&test);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(roles_share_one_generator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
