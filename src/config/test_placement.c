// SPDX-License-Identifier: Apache-2.0
/* Which core runs which role: what another file may change of it in a running server, and what not. */
#include "config/placement.h"

#include <stdio.h>
#include <string.h>

#include "base/cores.h"
#include "config/test_file.h"

/* Lines 1, 2–4, 5–8. */
#define MACHINE "workspace: demo\n"
#define PORTS                                                                                                          \
    "ports:\n  - {name: ring, kind: memif, socket: /run/a.sock, queues: 2}\n"                                          \
    "  - {name: hall, kind: memif, socket: /run/b.sock}\n"
#define INSTRUMENTS                                                                                                    \
    "instruments:\n"                                                                                                   \
    "  - {name: a, kind: bpm, id: 1, port: ring, source: 10.0.0.1, lanes: [{name: x, unit: nm, type: i32}]}\n"         \
    "  - {name: b, kind: bpm, id: 2, port: hall, source: 10.0.0.1, lanes: [{name: x, unit: nm, type: i32}]}\n"         \
    "polling: {naps: true}\n"
#define RING "  - {role: receive, ports: [ring], core: @}\n"
#define HALL "  - {role: receive, ports: [hall], core: @}\n"
#define HOUSE "  - {role: housekeeping, core: @}\n"
#define HEAD MACHINE PORTS INSTRUMENTS "roles:\n"

enum { FAR = 900, FARTHER = 901 };

/* A running server's configuration, with spare cores that this machine need not have. */
static struct rm_config *run(struct config_file const *file) {
    struct rm_config *const running = load_config(file, HEAD RING HALL HOUSE);
    running->spare_core[running->spare_core_count++] = FAR;
    return running;
}

static void the_own_placement(void **state) {
    struct config_file const *const file = *state;
    struct rm_config *const running = run(file);
    struct rm_config_placement placement;
    rm_config_place(running, &placement);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(placement.core[i], file->core);
        assert_int_equal(placement.order[i], i);
    }
    assert_true(rm_config_has_core(running, file->core));
    assert_true(rm_config_has_core(running, FAR));
    assert_false(rm_config_has_core(running, FARTHER));
    rm_config_free(running);
}

static void other_cores_and_another_order(void **state) {
    struct rm_config *const running = run(*state);
    struct rm_config *const wanted = load_config(*state, "# a comment\nroles:\n" HOUSE HALL RING PORTS
                                                         "workspace: \"demo\"   # quoted\n" INSTRUMENTS);
    wanted->role[1].core = FAR; /* the hall */
    struct rm_config_placement placement;
    struct rm_error error = {.text = ""};
    rm_config_replace(running, wanted, &placement, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(placement.core[1], FAR);
    assert_int_equal(placement.core[0], running->role[0].core);
    assert_int_equal(placement.core[2], running->role[0].core);
    uint32_t const order[] = {2, 1, 0};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(placement.order[i], order[i]);
    rm_config_free(wanted);
    rm_config_free(running);
}

/* Housekeeping without an entry is the one that had one. */
static void a_role_that_the_file_leaves_out(void **state) {
    struct rm_config *const running = run(*state);
    struct rm_config *const wanted = load_config(*state, HEAD RING HALL);
    struct rm_config_placement placement;
    struct rm_error error = {.text = ""};
    rm_config_replace(running, wanted, &placement, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(placement.order[2], 2);
    rm_config_free(wanted);
    rm_config_free(running);
}

static void what_else_differs_is_named(void **state) {
    struct config_file const *const file = *state;
    static struct {
        char const *yaml, *error;
    } const wrong[] = {
        {"workspace: other\n" PORTS INSTRUMENTS "roles:\n" RING HALL HOUSE,
         "1:12: workspace: the running server began with other values of workspace; "},
        {MACHINE PORTS "keep_after_stop: true\n" INSTRUMENTS "roles:\n" RING HALL HOUSE,
         "5:18: keep_after_stop: the running server began with other values of keep_after_stop; "},
        {MACHINE PORTS INSTRUMENTS "roles:\n" RING HALL HOUSE "spare_cores: @\n",
         "13:14: spare_cores: the running server began with other values of spare_cores; "},
        {MACHINE
         "ports:\n  - {name: ring, kind: memif, socket: /run/a.sock, queues: 4}\n"
         "  - {name: hall, kind: memif, socket: /run/c.sock}\n"
         "instruments:\n"
         "  - {name: a, kind: bpm, id: 9, port: ring, source: 10.0.0.1, lanes: [{name: x, unit: um, type: i32}]}\n"
         "roles:\n" RING HALL HOUSE,
         "3:60: ports[0].queues: the running server began with other values of ports[0].queues, ports[1].socket, "
         "instruments[0].id and 3 more; expected other cores or another order in `roles`, and nothing else: the rest "
         "needs a restart"},
        {HEAD RING "  - {role: receive, ports: [hall/0], core: @}\n" HOUSE, NULL},
        {"workspace: demo\n" PORTS INSTRUMENTS "roles:\n"
         "  - {role: receive, ports: [ring], core: @}\n  - {role: receive, ports: [hall], core: @}\n"
         "  - {role: housekeeping, core: @}\n",
         NULL},
        {HEAD "  - {role: receive, ports: [ring, hall], core: @}\n" HOUSE,
         "10:5: roles[0]: the running server has no such role receive, expected one of its own roles: only their cores "
         "and their order change without a restart"},
        {HEAD "  - {role: receive, ports: [ring/1, ring/0], core: @}\n" HALL HOUSE,
         "10:5: roles[0]: the running server has no such role receive, "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct rm_config *const running = run(file);
        struct rm_config *const wanted = load_config(file, wrong[i].yaml);
        struct rm_config_placement placement;
        struct rm_error error = {.text = ""};
        char expected[RM_ERROR_TEXT_BYTES] = "";
        if (wrong[i].error != NULL)
            snprintf(expected, sizeof expected, "%s:%s", file->path, wrong[i].error);
        enum rm_code const code = rm_config_replace(running, wanted, &placement, &error);
        assert_int_equal(code, wrong[i].error == NULL ? RM_OK : RM_E_CONFIG);
        error.text[strlen(expected) < sizeof error.text ? strlen(expected) : 0] = '\0';
        assert_string_equal(error.text, expected);
        rm_config_free(wanted);
        rm_config_free(running);
    }
}

static void a_core_that_was_not_kept(void **state) {
    struct config_file const *const file = *state;
    struct rm_config *const running = run(file);
    struct rm_config *const wanted = load_config(file, HEAD RING HALL HOUSE);
    wanted->role[1].core = FARTHER;
    struct rm_config_placement placement;
    struct rm_error error = {.text = ""};
    char expected[RM_ERROR_TEXT_BYTES];
    assert_int_equal(rm_config_replace(running, wanted, &placement, &error), RM_E_CONFIG);
    snprintf(
        expected, sizeof expected,
        "%s:11:42: roles[1].core: core 901 was not kept for the running server, expected one of its cores, %u,900; "
        "it keeps those that its file names in roles and spare_cores when it starts",
        file->path, file->core);
    assert_string_equal(error.text, expected);
    rm_config_free(wanted);
    rm_config_free(running);
}

static void spare_cores(void **state) {
    struct config_file const *const file = *state;
    cpu_set_t available;
    assert_int_equal(rm_cores_available(&available, NULL), RM_OK);
    unsigned other = file->core + 1;
    while (other < CPU_SETSIZE && !CPU_ISSET(other, &available))
        other++;
    char yaml[2048], list[32];
    bool const two = other < CPU_SETSIZE;
    snprintf(list, sizeof list, two ? "%u,%u" : "%u", file->core, other);
    snprintf(yaml, sizeof yaml, "%sspare_cores: %s\n", HEAD RING HALL HOUSE, list);
    struct rm_config *const config = load_config(file, yaml);
    assert_int_equal(config->spare_core_count, two); /* a core that has a role is none */
    if (two)
        assert_int_equal(config->spare_core[0], other);
    rm_config_free(config);
    static char const *const bad[] = {"x", "1-", "-1", "1,,2", "3-2", "1024", "99999999999", "1 2", "0-1,"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char expected[256];
        snprintf(yaml, sizeof yaml, "%sspare_cores: \"%s\"\n", HEAD RING HALL HOUSE, bad[i]);
        snprintf(expected, sizeof expected,
                 "13:14: spare_cores: found \"%s\", expected numbers of cores below 1024, such as 4-7 or \"2,4-7\"",
                 bad[i]);
        write_config(file, yaml);
        expect_error(file, expected);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(the_own_placement, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(other_cores_and_another_order, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_role_that_the_file_leaves_out, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(what_else_differs_is_named, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_core_that_was_not_kept, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(spare_cores, make_config_file, remove_config_file),
    };
    return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
