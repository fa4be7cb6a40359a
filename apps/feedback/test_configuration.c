// SPDX-License-Identifier: Apache-2.0
/** The feedback's file: what it may say, what it says when it says nothing, and what people are told when it is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files/test_file.h"
#include "matrix/solution.h"

static char const MATRIX[] = ",ps/f1x,ps/f2x,ps/f1y,ps/s1x,ps/s1y,ps/rf,ps/spare\n"
                             "b1/x1,10,2,0.1,5,0,100,1\n"
                             "b1/y1,0,0.1,7,0,5,1,1\n"
                             "b2/x1,-3,8,0,6,0.2,120,1\n"
                             "b2/y1,0.2,0,4,0.1,6,0,1\n";

static char const LEAST[] = "matrix: m.csv\n"
                            "families:\n"
                            "  - name: fast\n"
                            "    actuators: [\"ps/f*\"]\n"
                            "    plant: {delay_us: 150}\n"
                            "    integral_hz: 100\n";

static char const WHOLE[] =
    "matrix: m.csv\n"
    "golden: g.csv\n"
    "golden_speed: 20\n"
    "weights: w.csv\n"
    "coupled: false\n"
    "per: corrector\n"
    "modes: 2\n"
    "tikhonov: 0.05\n"
    "families:\n"
    "  - name: fast\n"
    "    actuators: [\"ps/f1*\", ps/f2x]\n"
    "    plant: {bandwidth_hz: 5000, second_hz: 9000, delay_us: 150}\n"
    "    proportional: 0.2\n"
    "    integral_hz: 150\n"
    "    predictor: false\n"
    "    resonators: [100, 50]\n"
    "    unload_to: slow\n"
    "    crossover_hz: 2\n"
    "  - name: slow\n"
    "    actuators: [\"ps/s*x\", \"ps/s*y\"]\n"
    "    plant: {bandwidth_hz: 300, delay_us: 150}\n"
    "resonators:\n"
    "  - {hz: 50, width_hz: 2, leak_hz: 0.01}\n"
    "  - {hz: 100}\n"
    "mains_hz: 50\n"
    "rf: {actuator: ps/rf, hz: 5, gain: 0.4, slew: 2}\n"
    "enable_conditions:\n"
    "  beam: {lanes: [sum1, sum2], least: 1e5, drop: 0.4, rearm_s: 30}\n"
    "  bpms: 0.8\n"
    "  actuators: 0.7\n"
    "  saturated: 3\n"
    "  saturated_s: 0.25\n"
    "  initial_error_um: 400\n"
    "  missing: 0.2\n"
    "watch: {missing_cycles: 2, frozen_cycles: 11, jump_um: 300, invalid_status: 0x8001, return_s: 2}\n"
    "gate: {input: timing01/raw, lane: flags1, bit: 3, cycles: 40}\n"
    "feed_forward:\n"
    "  - {input: id01/raw, lane: x1, table: id01.csv}\n"
    "shadow: {inputs: [c01/raw, c02/raw]}\n"
    "soft_start_s: 3\n";

static enum rm_code load(char const *text, struct feedback_configuration *configuration, struct rm_error *error) {
    char path[TEST_PATH_BYTES];
    test_write("f.yaml", text);
    memset(error, 0, sizeof *error);
    return feedback_configuration_load(test_path("f.yaml", path), configuration, error);
}

static void load_well(char const *text, struct feedback_configuration *configuration) {
    struct rm_error error;
    if (load(text, configuration, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static void write_all(void) {
    test_write("m.csv", MATRIX);
    test_write("g.csv", "b1/x1,1000\n# nm\nb2/y1,-5\n");
    test_write("w.csv", "b1/y1,0.5\nps/s1x,2\n");
}

static void takes_all_that_it_says(void **state) {
    (void)state;
    struct feedback_configuration c;
    char path[TEST_PATH_BYTES];
    write_all();
    load_well(WHOLE, &c);
    assert_string_equal(c.path, test_path("f.yaml", path));
    assert_int_equal(c.matrix.rows, 4);
    assert_true(c.golden_nm[0] == 1000 && c.golden_nm[1] == 0 && c.golden_nm[3] == -5);
    assert_true(c.row_weight[0] == 1 && c.row_weight[1] == 0.5 && c.column_weight[3] == 2 && c.column_weight[0] == 1);
    assert_true(c.golden_speed_um_s == 20 && !c.coupled && c.per == FEEDBACK_PER_CORRECTOR && c.modes == 2 &&
                c.tikhonov == 0.05);
    assert_int_equal(c.family_count, 2);
    struct feedback_family const *fast = &c.family[0];
    struct feedback_family const *slow = &c.family[1];
    assert_string_equal(fast->name, "fast");
    assert_int_equal(fast->pattern_count, 2);
    assert_string_equal(fast->patterns[1], "ps/f2x");
    assert_true(fast->acts && fast->plant.bandwidth_hz == 5000 && fast->plant.second_hz == 9000);
    assert_true(fast->plant.delay_s > 149.9e-6 && fast->plant.delay_s < 150.1e-6);
    assert_true(fast->tuning.proportional == 0.2 && fast->tuning.integral_hz == 150 && !fast->tuning.predicts);
    assert_int_equal(fast->tuning.resonator_count, 2);
    assert_true(fast->tuning.resonator[0].hz == 100 && fast->tuning.resonator[0].width_hz == 1.25);
    assert_true(fast->tuning.resonator[1].hz == 50 && fast->tuning.resonator[1].width_hz == 2);
    assert_true(fast->tuning.resonator[1].leak_hz == 0.01);
    assert_true(fast->unload_to == 1 && fast->crossover_hz == 2);
    assert_true(!slow->acts && slow->unload_to == -1 && slow->plant.bandwidth_hz == 300 && slow->plant.second_hz == 0);
    assert_true(c.mains_hz == 50 && c.rf.column == 5 && c.rf.hz == 5 && c.rf.gain == 0.4 && c.rf.slew == 2);
    assert_int_equal(c.enable_conditions.beam.lanes, 2);
    assert_string_equal(c.enable_conditions.beam.lane[1], "sum2");
    assert_true(c.enable_conditions.beam.least == 1e5 && c.enable_conditions.beam.drop == 0.4 &&
                c.enable_conditions.bpms == 0.8);
    assert_true(c.enable_conditions.beam.rearm_s == 30);
    assert_true(c.enable_conditions.actuators == 0.7 && c.enable_conditions.saturated == 3 &&
                c.enable_conditions.saturated_s == 0.25);
    assert_true(c.enable_conditions.initial_error_um == 400 && c.enable_conditions.missing == 0.2);
    assert_true(c.watch.missing_cycles == 2 && c.watch.frozen_cycles == 11 && c.watch.jump_um == 300);
    assert_true(c.watch.invalid_status == 0x8001 && c.watch.return_s == 2);
    assert_string_equal(c.gate.input, "timing01/raw");
    assert_string_equal(c.gate.lane, "flags1");
    assert_true(c.gate.bit == 3 && c.gate.cycles == 40);
    assert_int_equal(c.table_count, 1);
    assert_string_equal(c.table[0].path, test_path("id01.csv", path));
    assert_int_equal(c.shadow.inputs, 2);
    assert_string_equal(c.shadow.input[1], "c02/raw");
    assert_true(c.soft_start_s == 3);
    feedback_configuration_free(&c);
}

static void has_defaults(void **state) {
    (void)state;
    struct feedback_configuration c;
    write_all();
    load_well(LEAST, &c);
    assert_true(c.golden_nm[0] == 0 && c.row_weight[3] == 1 && c.column_weight[4] == 1 && c.golden_speed_um_s == 100);
    assert_true(!c.coupled && c.per == FEEDBACK_PER_MODE && c.modes == 0 && c.tikhonov == 0.01 && c.soft_start_s == 1);
    assert_true(c.family[0].tuning.predicts && c.family[0].unload_to == -1 && c.family[0].plant.bandwidth_hz == 0);
    assert_true(c.mains_hz == 50 && c.rf.column == -1 && c.enable_conditions.beam.lanes == 0 &&
                c.enable_conditions.bpms == 0.9);
    assert_true(c.rf.hz == 10 && c.rf.gain == 0.3 && c.rf.slew == 1);
    assert_true(c.enable_conditions.beam.least == 0 && c.enable_conditions.beam.drop == 0.5 &&
                c.enable_conditions.actuators == 0.9);
    assert_true(c.enable_conditions.beam.rearm_s == 0); /* a lost beam is for a person to look at */
    assert_true(c.enable_conditions.saturated == 4 && c.enable_conditions.saturated_s == 0.5 &&
                c.enable_conditions.initial_error_um == 500);
    assert_true(c.enable_conditions.missing == 0.3 && c.watch.frozen_cycles == 10 && c.watch.jump_um == 500);
    assert_true(c.watch.invalid_status == 0 && c.watch.return_s == 1);
    assert_true(c.watch.missing_cycles == 3 && c.gate.input == NULL && c.table_count == 0 && c.shadow.inputs == 0);
    feedback_configuration_free(&c);
}

static char *edit(char const *instead_of, char const *put) {
    char const *at = strstr(WHOLE, instead_of);
    char *text = NULL;
    assert_non_null(at);
    assert_true(asprintf(&text, "%.*s%s%s", (int)(at - WHOLE), WHOLE, put, at + strlen(instead_of)) > 0);
    return text;
}

/* What docs/feedback.md gives a default for may be left out where the rest of its mapping stands. */
static void has_defaults_inside_mappings(void **state) {
    static struct {
        char const *instead_of, *put;
    } const edits[] = {{"rf: {actuator: ps/rf, hz: 5, gain: 0.4, slew: 2}", "rf: {actuator: ps/rf}"},
                       {"    plant: {bandwidth_hz: 300, delay_us: 150}\n", ""}};
    (void)state;
    for (size_t e = 0; e < sizeof edits / sizeof edits[0]; ++e) {
        struct feedback_configuration c;
        write_all();
        char *text = edit(edits[e].instead_of, edits[e].put);
        load_well(text, &c);
        if (e == 0)
            assert_true(c.rf.column == 5 && c.rf.hz == 10 && c.rf.gain == 0.3 && c.rf.slew == 1);
        else
            assert_true(c.family[1].plant.bandwidth_hz == 0 && c.family[1].plant.second_hz == 0 &&
                        c.family[1].plant.delay_s == 0);
        feedback_configuration_free(&c);
        free(text);
    }
}

/** A line to put in the place of another of WHOLE, and what its error must say. */
struct wrong {
    char const *instead_of, *put;
    char const *place; /**< ":LINE:" */
    char const *key, *says;
};

static void says_what_is_wrong_and_where(void **state) {
    (void)state;
    static struct wrong const wrongs[] = {
        {"matrix: m.csv", "matrix: n.csv", ":1:9:", "matrix", "n.csv: cannot be read"},
        {"matrix: m.csv", "matrix: [m.csv]", ":1:9:", "matrix", "expected text"},
        {"matrix: m.csv", "matrx: m.csv", ":1:1:", "matrx", "(did you mean \"matrix\"?)"},
        {"matrix: m.csv\n", "", ":1:1:", "\"matrix\"", "is missing"},
        {"golden: g.csv", "golden: n.csv", ":2:9:", "golden", "n.csv: cannot be read"},
        {"golden_speed: 20", "golden_speed: 0", ":3:15:", "golden_speed", "found 0, expected"},
        {"golden_speed: 20", "golden_speed: nan", ":3:15:", "golden_speed", "found \"nan\", expected"},
        {"golden_speed: 20", "golden_speed: fast", ":3:15:", "golden_speed", "expected a number"},
        {"coupled: false", "coupled: perhaps", ":5:", "coupled", "expected one of: false, true"},
        {"per: corrector", "per: bpm", ":6:6:", "per", "expected one of: mode, corrector"},
        {"modes: 2", "modes: -1", ":7:8:", "modes", "expected a whole number"},
        {"modes: 2", "modes: 2\nmodes: 2", ":8:1:", "modes", "given twice, first in line 7"},
        {"tikhonov: 0.05", "tikhonov: 2", ":8:11:", "tikhonov", "found 2, expected 0 to 1"},
        {"  - name: slow", "  - name: fast", ":19:11:", "families[1].name", "families[0] has that name"},
        {"[\"ps/f1*\", ps/f2x]", "[\"ps/g1*\", ps/f2x]", ":11:17:", "families[0].actuators[0]", "finds none"},
        {"[\"ps/f1*\", ps/f2x]", "[\"ps/f1*\", ps/s1x]", ":20:17:", "families[1].actuators[0]", "\"fast\" already"},
        {"[\"ps/f1*\", ps/f2x]", "[ps/rf, ps/f2x]", ":11:17:", "families[0].actuators[0]", "finds none"},
        {"[\"ps/f1*\", ps/f2x]", "[]", ":11:", "families[0].actuators", "found a list of 0"},
        {"second_hz: 9000", "third_hz: 9000", ":12:", "families[0].plant", "one of: bandwidth_hz, second_hz, delay_us"},
        {"9000, delay_us: 150", "9000, delay_us: -1", ":12:60:", "families[0].plant.delay_us", "expected 0 to"},
        {"proportional: 0.2", "proportional: -0.2", ":13:19:", "families[0].proportional", "found -0.2"},
        {"predictor: false", "predictor: 3.5", ":15:", "families[0].predictor", "expected one of: false, true"},
        {"resonators: [100, 50]", "resonators: [100, 51]", ":16:23:", "families[0].resonators[1]", "found 51"},
        {"resonators: [100, 50]", "resonators: [50, 50]", ":16:22:", "families[0].resonators[1]", "twice"},
        {"unload_to: slow", "unload_to: slower", ":17:16:", "families[0].unload_to", "\"slower\""},
        {"unload_to: slow", "unload_to: fast", ":17:16:", "families[0].unload_to", "another family"},
        {"    crossover_hz: 2\n", "", ":17:16:", "families[0].unload_to", "crossover_hz"},
        {"    unload_to: slow\n    crossover_hz: 2\n", "", ":17:11:", "families[1].name", "nothing to do"},
        {"delay_us: 150}\nresonators", "delay_us: 150}\n    unload_to: fast\n    crossover_hz: 1\nresonators",
         ":17:16:", "families[0].unload_to", "in a circle"},
        {"delay_us: 150}\nresonators", "delay_us: 150}\n    resonators: [50]\nresonators",
         ":22:17:", "families[1].resonators", "has no law"},
        {"  - {hz: 100}", "  - {hz: 50}", ":24:10:", "resonators[1].hz", "twice"},
        {"  - {hz: 100}", "  - {width_hz: 50}", ":24:", "resonators[1]", "the key \"hz\" is missing"},
        {"width_hz: 2,", "width_hz: 0,", ":23:24:", "resonators[0].width_hz", "found 0"},
        {"mains_hz: 50", "mains_hz: 60", ":25:11:", "mains_hz", "found 60"},
        {"actuator: ps/rf", "actuator: ps/rv", ":26:16:", "rf.actuator", "column of the matrix m.csv"},
        {"slew: 2}", "slew: 0}", ":26:47:", "rf.slew", "found 0"},
        {"drop: 0.4", "drop: 1.4", ":28:49:", "enable_conditions.beam.drop", "found 1.4"},
        {"rearm_s: 30", "rearm_s: -1", ":28:63:", "enable_conditions.beam.rearm_s", "found -1"},
        {"[sum1, sum2]", "[sum1, sum2, s3, s4, s5]", ":28:", "enable_conditions.beam.lanes", "list of 1 to 4"},
        {"bpms: 0.8", "bpms: 80", ":29:9:", "enable_conditions.bpms", "expected 0 to 1"},
        {"saturated: 3", "saturated: 99999999999", ":31:14:", "enable_conditions.saturated", "99999999999"},
        {"jump_um: 300", "jump_um: .inf", ":35:", "watch.jump_um", "jump_um"},
        {"0x8001", "0x18001", ":35:77:", "watch.invalid_status", "expected 0 to 65535"},
        {"bit: 3", "bit: 32", ":36:48:", "gate.bit", "expected 0 to 31"},
        {"lane: flags1", "lane: a_lane_of_16_byte", ":36:", "gate.lane", "text of 1 to 15 bytes"},
        {"table: id01.csv", "tabel: id01.csv", ":38:", "feed_forward[0]", "one of: input, lane, table"},
        {"inputs: [c01/raw, c02/raw]", "inputs: c01/raw", ":39:", "shadow.inputs", "a list of 1 to 64"},
        {"soft_start_s: 3", "soft_start_s: -3", ":40:15:", "soft_start_s", "found -3"},
        {"soft_start_s: 3", "soft_start_s: \"3", ":4", "", "not YAML"},
    };
    int failed = 0;
    write_all();
    for (size_t w = 0; w < sizeof wrongs / sizeof wrongs[0]; ++w) {
        struct feedback_configuration c;
        struct rm_error error;
        char path[TEST_PATH_BYTES + 16];
        char *text = edit(wrongs[w].instead_of, wrongs[w].put);
        enum rm_code const code = load(text, &c, &error);
        test_path("f.yaml", path);
        strcat(path, wrongs[w].place);
        if (code != RM_E_CONFIG || strncmp(error.text, path, strlen(path)) != 0 ||
            strstr(error.text, wrongs[w].key) == NULL || strstr(error.text, wrongs[w].says) == NULL) {
            print_error("\"%s\" → %d \"%s\" does not say %s %s: … %s\n", wrongs[w].put, code, error.text, path,
                        wrongs[w].key, wrongs[w].says);
            ++failed;
        }
        assert_null(c.matrix.value);
        assert_int_equal(load(text, &c, &error), RM_E_CONFIG);
        free(text);
    }
    assert_int_equal(failed, 0);
}

static void empty_and_absent_files_say_so(void **state) {
    (void)state;
    struct feedback_configuration c;
    struct rm_error error;
    assert_int_equal(load("", &c, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "is empty"));
    assert_int_equal(load("- 1\n", &c, &error), RM_E_CONFIG);
    assert_int_equal(load("\x80\n", &c, &error), RM_E_CONFIG);
    assert_int_equal(feedback_configuration_load("/nowhere/f.yaml", &c, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/nowhere/f.yaml: cannot be opened"));
    assert_int_equal(feedback_configuration_load("/nowhere/f.yaml", &c, NULL), RM_E_SYSTEM);
}

/** One of the files that WHOLE names, with a mistake. */
struct wrong_file {
    char const *name, *text, *place, *says;
};

static void says_what_is_wrong_in_the_files_it_names(void **state) {
    (void)state;
    static struct wrong_file const wrongs[] = {
        {"g.csv", "b1/x1,5\nb9/x1,5\n", "g.csv:2:1:", "\"b9/x1\" is no row of the matrix"},
        {"g.csv", "b1/x1,5\nb1/x1,5\n", "g.csv:2:1:", "there twice"},
        {"g.csv", "b1/x1\n", "g.csv:1:1:", "found 1 fields, expected NAME,number"},
        {"g.csv", "b1/x1,1,2\n", "g.csv:1:9:", "found 3 fields, expected NAME,number"},
        {"g.csv", "b1/x1,much\n", "g.csv:1:7:", "\"much\""},
        {"g.csv", "b1/x1,1e30\n", "g.csv:1:1:", "expected -1e+08 to 1e+08"},
        {"w.csv", "ps/none,1\n", "w.csv:1:1:", "neither row nor column"},
        {"w.csv", "ps/f1x,1\nps/f1x,1\n", "w.csv:2:1:", "there twice"},
        {"w.csv", "b1/x1,-1\n", "w.csv:1:1:", "expected 0 to"},
        {"m.csv", ",ps/f1x\nb1/sum1,2\n", "m.csv: ", "\"b1/sum1\" is no BPM reading"},
        {"m.csv", ",ps/f1x\nx1,2\n", "m.csv: ", "\"x1\" is no BPM reading"},
        {"m.csv", ",ps/f1x\nb1/x1,?\n", "m.csv:2:7:", "expected a number such as -1.5e-6: ps/f1x"},
    };
    for (size_t w = 0; w < sizeof wrongs / sizeof wrongs[0]; ++w) {
        struct feedback_configuration c;
        struct rm_error error;
        write_all();
        test_write(wrongs[w].name, wrongs[w].text);
        assert_int_equal(load(WHOLE, &c, &error), RM_E_CONFIG);
        if (strstr(error.text, wrongs[w].place) == NULL || strstr(error.text, wrongs[w].says) == NULL)
            fail_msg("\"%s\" does not say %s %s", error.text, wrongs[w].place, wrongs[w].says);
    }
}

static void planes_come_from_lanes_and_from_responses(void **state) {
    (void)state;
    static char const text[] = ",h,v,none\na/x1,5,1,0\na/y1,-1,-5,0\nb/x1,5,2,0\n";
    struct rm_table matrix;
    assert_int_equal(feedback_row_plane("bpm01/x1"), 'x');
    assert_int_equal(feedback_row_plane("sr/bpm/01/y2"), 'y');
    assert_int_equal(feedback_row_plane("bpm01/sum1"), 0);
    assert_int_equal(feedback_row_plane("xbpm/"), 0);
    assert_int_equal(rm_table_parse("m.csv", text, strlen(text), &matrix, NULL), RM_OK);
    assert_int_equal(feedback_column_plane(&matrix, 0), 'x');
    assert_int_equal(feedback_column_plane(&matrix, 1), 'y');
    assert_int_equal(feedback_column_plane(&matrix, 2), 'x');
    rm_table_free(&matrix);
}

static void finds_the_column_of_each_actuator(void **state) {
    (void)state;
    struct feedback_configuration c;
    struct rm_error error;
    static char const *const names[] = {"ps/rf", "ps/s1y", "ps/s1x", "ps/f1x", "ps/f1y", "ps/f2x", "ps/else"};
    uint32_t column[7];
    write_all();
    load_well(WHOLE, &c);
    assert_int_equal(feedback_actuators_find(&c, names, 6, column, &error), RM_OK);
    assert_true(column[0] == 5 && column[1] == 4 && column[5] == 1); /* ps/spare is not needed */
    assert_int_equal(feedback_actuators_find(&c, names, 7, column, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "the supply ps/else, but the matrix has no column"));
    assert_int_equal(feedback_actuators_find(&c, names + 1, 5, column, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "the column ps/rf, but the application has no supply"));
    assert_int_equal(feedback_actuators_find(&c, names, 5, column, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "the column ps/f2x"));
    feedback_configuration_free(&c);
}

static void lays_outputs_plane_by_plane(void **state) {
    (void)state;
    struct feedback_configuration c;
    struct feedback_layout layout;
    static uint32_t const output_of[] = {0, 1, 32, 16, 48, UINT32_MAX, UINT32_MAX};
    write_all();
    load_well(WHOLE, &c);
    assert_int_equal(feedback_layout_make(&c, &layout, NULL), RM_OK);
    assert_int_equal(layout.part_count, 4); /* fast x, slow x, fast y, slow y */
    assert_int_equal(layout.outputs, 64);
    assert_memory_equal(layout.output_of, output_of, sizeof output_of);
    assert_true(layout.column_of[1] == 1 && layout.column_of[2] == UINT32_MAX && layout.column_of[48] == 4);
    assert_true(layout.part[0].plane == 'x' && layout.part[2].plane == 'y' && layout.part[2].first == 32);
    assert_true(layout.part[0].columns == 2 && layout.part[0].channels_most == 2 && layout.part[1].channels_most == 0);
    assert_true(layout.part[0].channel == 0 && layout.part[2].channel == 2 && layout.channels == 3);
    assert_int_equal(feedback_layout_taker(&c, &layout, 2), 3);
    assert_int_equal(feedback_layout_taker(&c, &layout, 3), -1);
    feedback_layout_free(&layout);

    c.coupled = true;
    c.per = FEEDBACK_PER_MODE;
    assert_int_equal(feedback_layout_make(&c, &layout, NULL), RM_OK);
    assert_true(layout.part_count == 2 && layout.outputs == 32 && layout.part[0].plane == 'b');
    assert_true(layout.part[0].columns == 3 && layout.part[0].channels_most == 3 && layout.output_of[2] == 2);
    feedback_layout_free(&layout);
    feedback_configuration_free(&c);
}

static void a_family_unloads_to_its_own_plane(void **state) {
    (void)state;
    struct feedback_configuration c;
    struct feedback_layout layout;
    struct rm_error error;
    write_all();
    char *text = edit("[\"ps/s*x\", \"ps/s*y\"]", "[\"ps/s*x\"]");
    load_well(text, &c);
    assert_int_equal(feedback_layout_make(&c, &layout, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "\"fast\" has actuators in the plane y, but \"slow\""));
    feedback_configuration_free(&c);
    free(text);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(takes_all_that_it_says),
        cmocka_unit_test(has_defaults),
        cmocka_unit_test(has_defaults_inside_mappings),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(empty_and_absent_files_say_so),
        cmocka_unit_test(says_what_is_wrong_in_the_files_it_names),
        cmocka_unit_test(planes_come_from_lanes_and_from_responses),
        cmocka_unit_test(finds_the_column_of_each_actuator),
        cmocka_unit_test(lays_outputs_plane_by_plane),
        cmocka_unit_test(a_family_unloads_to_its_own_plane),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
