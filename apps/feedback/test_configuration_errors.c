// SPDX-License-Identifier: Apache-2.0
/** All that is wrong with the feedback's file, at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "files/configuration.h"
#include "files/test_file.h"

static char const MATRIX[] = ",ps/f1x,ps/f2x,ps/f1y,ps/s1x,ps/rf\n"
                             "b1/x1,10,2,0.1,5,100\n"
                             "b1/y1,0,0.1,7,0,1\n";

/** Loading the text gives so many errors, with these words in them, in this order. */
static void expect_all(char const *text, char const *const *expected, uint32_t count) {
    struct feedback_configuration c;
    struct rm_errors errors = {.count = 0};
    char path[TEST_PATH_BYTES];
    test_write("m.csv", MATRIX);
    test_write("v.csv", "ps/none,1\n");
    test_write("f.yaml", text);
    assert_int_equal(feedback_configuration_load_all(test_path("f.yaml", path), &c, &errors), RM_E_CONFIG);
    for (uint32_t e = 0; e < errors.count && e < count; ++e)
        if (strstr(errors.first[e].text, expected[e]) == NULL)
            fail_msg("\"%s\" does not say %s", errors.first[e].text, expected[e]);
    if (errors.count > count)
        fail_msg("\"%s\" is not expected", errors.first[count].text);
    assert_int_equal(errors.count, count);
}

#define EXPECT_ALL(text, expected) expect_all(text, expected, sizeof(expected) / sizeof(expected)[0])

/** Each is told, and what stands on what is wrong is not. */
static void says_all_that_is_wrong_at_once(void **state) {
    (void)state;
    static char const *const of_schema[] = {":1:1: unknown key \"matrx\"", ":2:8: modes: found \"many\"",
                                            ":1:1: the key \"matrix\" is missing",
                                            ":1:1: the key \"families\" is missing"};
    EXPECT_ALL("matrx: m.csv\nmodes: many\n", of_schema);
    static char const *const expected[] = {
        "golden_speed: found 0",
        "tikhonov: found 2",
        "families[0].plant.delay_us: found -1",
        "families[0].proportional: found -1",
        "resonators[0].hz: found 0",
        "resonators[1].leak_hz: found -1",
        "rf.slew: found 0",
        "enable_conditions.bpms: found 80",
        "watch.jump_um: found -1",
        "gate.bit: found 32",
        "soft_start_s: found -3",
        "families[0].resonators[0]: found 51",
        "families[1].name: families[0] has that name",
        "families[0].unload_to: found \"slower\"",
        "mains_hz: found 60",
        "golden: ",
        "v.csv:1:1: \"ps/none\"",
        "rf.actuator: found \"ps/rv\"",
        "families[0].actuators[0]: \"ps/g1*\" finds none",
        "families[1].actuators[1]: \"ps/g2\" finds none",
    };
    EXPECT_ALL("matrix: m.csv\ngolden: n.csv\nweights: v.csv\ngolden_speed: 0\ntikhonov: 2\n"
               "families:\n"
               "  - name: fast\n"
               "    actuators: [\"ps/g1*\"]\n"
               "    plant: {delay_us: -1}\n"
               "    proportional: -1\n"
               "    resonators: [51, 50]\n"
               "    unload_to: slower\n"
               "    crossover_hz: 2\n"
               "  - name: fast\n"
               "    actuators: [\"ps/f1*\", ps/g2]\n"
               "resonators: [{hz: 0}, {hz: 50, width_hz: 1, leak_hz: -1}]\n"
               "mains_hz: 60\n"
               "rf: {actuator: ps/rv, slew: 0}\n"
               "enable_conditions: {bpms: 80}\n"
               "watch: {jump_um: -1}\n"
               "gate: {input: a/raw, lane: b, bit: 32, cycles: 1}\n"
               "soft_start_s: -3\n",
               expected);
    static char const *const circle[] = {"families[0].unload_to: families unload to each other in a circle",
                                         "families[2].name: the family \"c\" has nothing to do"};
    EXPECT_ALL("matrix: m.csv\nfamilies:\n"
               "  - {name: a, actuators: [\"ps/f*\"], unload_to: b, crossover_hz: 1}\n"
               "  - {name: b, actuators: [\"ps/s*\"], unload_to: a, crossover_hz: 1}\n"
               "  - {name: c, actuators: [ps/rf]}\n",
               circle);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(says_all_that_is_wrong_at_once),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
