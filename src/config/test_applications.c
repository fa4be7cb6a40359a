// SPDX-License-Identifier: Apache-2.0
/* Applications: which supplies each sets, what it is fed with, and where it runs. */
#include "config/config.h"
#include "config/test_file.h"

#include <stdio.h>
#include <string.h>

/* A right file in parts; a wrong one replaces some of them. Lines: 1, 2–4, 5–6, 7–9, 10, 11–17, from 18 on. */
#define MACHINE "workspace: demo\n"
#define PORTS                                                                                                          \
    "ports:\n  - {name: ring, kind: memif, socket: /run/r.sock}\n"                                                     \
    "  - {name: link, kind: memif, socket: /run/l.sock, answer: 10.30.0.250}\n"
#define INSTRUMENTS "instruments:\n  - {name: bpm, count: 2, kind: bpm, id: 1, port: ring, source: 10.20.0.1}\n"
#define ROLES "roles:\n  - {role: receive, ports: [ring, link], core: @}\n  - {role: transmit, core: @}\n"
#define SETPOINTS "setpoints: {period_turns: 12}\n"
#define CHAINS                                                                                                         \
    "chains:\n"                                                                                                        \
    "  - name: c\n    count: 2\n    id: 1\n    port: link\n    address: 10.30.0.1\n"                                   \
    "    supplies: [{name: \"ps/h_{chain}_\", count: 2, unit: A, limits: [-1, 1], slew: 1}, "                          \
    "{name: \"ps/v_{chain}_\", count: 2, unit: A, limits: [-1, 1], slew: 1}]\n"
#define BEFORE MACHINE PORTS INSTRUMENTS ROLES SETPOINTS CHAINS
#define ONE(application) BEFORE "applications:\n  - {" application "}\n"
#define TWO(first, second) ONE(first) "  - {" second "}\n"
#define RAMP "name: ramp, code: ramp, supplies: [ps/h_01_01]"

static void the_least(void **state) {
    struct rm_config *const config = load_config(*state, ONE(RAMP));
    assert_int_equal(config->application_count, 2);
    struct rm_config_application const *const ramp = &config->application[1];
    assert_string_equal(ramp->name, "ramp");
    assert_string_equal(ramp->code, "ramp");
    assert_string_equal(ramp->user, "");
    assert_string_equal(ramp->configuration, "");
    assert_false(ramp->hosted);
    assert_int_equal(ramp->core, -1);
    assert_int_equal(ramp->period_turns, 12);
    assert_int_equal(ramp->deadline_turns, 24);
    assert_int_equal(ramp->freshness_turns, 240);
    assert_int_equal(ramp->watchdog_cycles, 10);
    assert_int_equal(ramp->stop, RM_STOP_HOLD);
    assert_int_equal(ramp->input_count, 0);
    assert_int_equal(ramp->setting_count, 0);
    assert_int_equal(ramp->supply_count, 1);
    assert_int_equal(ramp->supply[0], 0);
    assert_int_equal(config->supply[0].application, 1);
    struct rm_config_application const *const operator= & config->application[0];
    assert_string_equal(operator->name, "operator");
    assert_string_equal(operator->code, "");
    assert_int_equal(operator->period_turns, 12);
    assert_int_equal(operator->supply_count, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(operator->supply[i], i + 1);
    rm_config_free(config);
}

static char const in_full[] = MACHINE PORTS INSTRUMENTS ROLES
    "  - {role: application, core: @, application: kick}\n"
    "setpoints: {period_turns: 12, lead: kick}\n" CHAINS "applications:\n"
    "  - name: ramp\n"
    "    code: ./apps/ramp.so\n"
    "    core: 3\n"
    "    user: rm-ramp\n"
    "    period_turns: 120\n"
    "    deadline_turns: 1\n"
    "    freshness_turns: 120\n"
    "    watchdog_cycles: 1\n"
    "    stop: ramp\n"
    "    inputs: [bpm02/loop, bpm01/loop]\n"
    "    supplies: [ps/v_02_*, \"*h*1\", ps/v_01_01]\n"
    "    settings: [{name: rate, value: 0.5}, {name: gain-x, value: -1e3}]\n"
    "  - {name: kick, code: /opt/kick.so, hosted: true, inputs: [c01/raw, c02/raw, bpm01/fast], "
    "supplies: [ps/h_01_02]}\n";

static void all_keys(void **state) {
    struct config_file const *const file = *state;
    struct rm_config *const config = load_config(file, in_full);
    struct rm_config_application const *const ramp = &config->application[1];
    char code[128];
    snprintf(code, sizeof code, "%s/./apps/ramp.so", file->directory);
    assert_string_equal(ramp->code, code);
    assert_int_equal(ramp->core, 3);
    assert_string_equal(ramp->user, "rm-ramp");
    assert_int_equal(ramp->period_turns, 120);
    assert_int_equal(ramp->deadline_turns, 1);
    assert_int_equal(ramp->freshness_turns, 120);
    assert_int_equal(ramp->watchdog_cycles, 1);
    assert_int_equal(ramp->stop, RM_STOP_RAMP);
    assert_int_equal(ramp->input_count, 2);
    assert_string_equal(ramp->input[0], "bpm02/loop");
    assert_string_equal(ramp->input[1], "bpm01/loop");
    assert_int_equal(ramp->setting_count, 2);
    assert_string_equal(ramp->setting[0].name, "rate");
    assert_true(ramp->setting[0].value == 0.5);
    assert_string_equal(ramp->setting[1].name, "gain-x");
    assert_true(ramp->setting[1].value == -1000);
    struct rm_config_application const *const kick = &config->application[2];
    assert_true(kick->hosted);
    assert_string_equal(kick->code, "/opt/kick.so");
    assert_int_equal(kick->input_count, 3);
    assert_int_equal(config->setpoints.lead, 2);
    assert_int_equal(config->role[2].kind, RM_ROLE_APPLICATION);
    assert_int_equal(config->role[2].application, 2);
    rm_config_free(config);
}

/* In the order of the list; what one pattern matches, in the order of the chains. Each chain has h_1 h_2 v_1 v_2. */
static void order_of_supplies(void **state) {
    static uint32_t const expected[] = {6, 7, 0, 4, 2};
    struct rm_config *const config = load_config(*state, in_full);
    struct rm_config_application const *const ramp = &config->application[1];
    assert_int_equal(ramp->supply_count, 5);
    assert_memory_equal(ramp->supply, expected, sizeof expected);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(config->supply[expected[i]].application, 1);
    assert_int_equal(config->application[0].supply_count, 2);
    assert_int_equal(config->application[0].supply[0], 3);
    assert_int_equal(config->application[0].supply[1], 5);
    rm_config_free(config);
}

static void patterns(void **state) {
    static struct {
        char const *pattern;
        uint32_t count;
    } const right[] = {{"*", 8},       {"**", 8},       {"ps/*", 8},       {"*1", 4},         {"ps/h_0*_01", 2},
                       {"*_0*_0*", 8}, {"*/*_*_*2", 4}, {"p*h_01*01*", 1}, {"ps/v_02_02*", 1}};
    static char const *const none[] = {"ps", "*3", "*ps/", "s/*", "ps/h", "h_*", "*_01_01_*", "ps/h_0*_01*1"};
    char yaml[2048];
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        snprintf(yaml, sizeof yaml, "%s", ONE("name: a, code: b, supplies: [\"%\"]"));
        char *const mark = strchr(yaml, '%');
        char tail[64];
        snprintf(tail, sizeof tail, "%s", mark + 1);
        snprintf(mark, sizeof yaml - (size_t)(mark - yaml), "%s%s", right[i].pattern, tail);
        struct rm_config *const config = load_config(*state, yaml);
        assert_int_equal(config->application[1].supply_count, right[i].count);
        rm_config_free(config);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct rm_config *config = NULL;
        struct rm_error error = {.text = ""};
        struct config_file const *const file = *state;
        snprintf(yaml, sizeof yaml, "%s", ONE("name: a, code: b, supplies: [\"%\"]"));
        char *const mark = strchr(yaml, '%');
        snprintf(mark, sizeof yaml - (size_t)(mark - yaml), "%s\"]}\n", none[i]);
        write_config(file, yaml);
        assert_int_equal(rm_config_load(file->path, &config, &error), RM_E_CONFIG);
        assert_non_null(strstr(error.text, "19:35: applications[0].supplies[0]: "));
    }
}

#define NAMED(name) ONE("name: " name ", code: x, supplies: [ps/h_01_01]")

static void names(void **state) {
    static struct wrong_yaml const wrong[] = {
        {BEFORE "applications: []\n", "18:15: applications: found a list of 0, expected a list of 1 to 15 entries"},
        {NAMED("Ramp"), "19:12: applications[0].name: found \"Ramp\", expected lower-case letters, digits, _ and -"},
        {NAMED("operator"), "19:12: applications[0].name: \"operator\" has a meaning of its own in every workspace, "
                            "expected another name"},
        {NAMED("server"), "19:12: applications[0].name: \"server\" has a meaning of its own in every workspace, "
                          "expected another name"},
        {NAMED("ring"), "19:12: applications[0].name: \"ring\" has a meaning of its own in every workspace, expected "
                        "another name"},
        {NAMED("requests"), "19:12: applications[0].name: \"requests\" has a meaning of its own in every workspace, "
                            "expected another name"},
        {NAMED("bpm01"), "19:12: applications[0].name: \"bpm01\" is already the name of an instrument, expected one of "
                         "its own"},
        {NAMED("c02"), "19:12: applications[0].name: \"c02\" is already the name of a chain, expected one of its own"},
        {TWO(RAMP, "name: ramp, code: x, supplies: [ps/h_01_02]"),
         "20:12: applications[1].name: \"ramp\" is already the name of another application, expected one of its own"},
        {ONE("name: ramp, supplies: [ps/h_01_01]"),
         "19:5: applications[0]: the key \"code\" is missing, expected text of 1 to 1023 bytes"},
        {ONE("name: ramp, code: ramp"),
         "19:5: applications[0]: the key \"supplies\" is missing, expected a list of 0 to 2048 entries"},
        {MACHINE PORTS INSTRUMENTS
         "roles:\n  - {role: receive, ports: [ring, link], core: @}\napplications:\n  - {" RAMP "}\n",
         "10:3: applications: there are no supplies that they could set, expected the keys \"setpoints\" and "
         "\"chains\" too, or take this one out"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void supplies(void **state) {
    static struct wrong_yaml const wrong[] = {
        {ONE("name: ramp, code: ramp, supplies: [ps/h_01_1]"),
         "19:41: applications[0].supplies[0]: found \"ps/h_01_1\", expected the name of a supply, or a pattern with * "
         "(did you mean \"ps/h_01_01\"?)"},
        {ONE("name: ramp, code: ramp, supplies: [ps/h_01_01, \"*_03_*\"]"),
         "19:53: applications[0].supplies[1]: no supply matches \"*_03_*\", expected the names of supplies, with * for "
         "any characters, such as \"ps/h_01_01\""},
        {ONE("name: ramp, code: ramp, supplies: [ps/h_01_01, \"ps/h_*\"]"),
         "19:53: applications[0].supplies[1]: supply \"ps/h_01_01\" is already in this list, by an entry before; "
         "expected every supply once"},
        {TWO(RAMP, "name: kick, code: kick, supplies: [\"*\"]"),
         "20:41: applications[1].supplies[0]: supply \"ps/h_01_01\" would be set by \"kick\", but it is already set "
         "by \"ramp\" (applications[0]); expected at most one application for each supply"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define TIMED(key) ONE(RAMP ", " key)

static void times(void **state) {
    static struct wrong_yaml const wrong[] = {
        {TIMED("period_turns: 0"), "19:68: applications[0].period_turns: found 0, expected a multiple of "
                                   "setpoints.period_turns (12), up to 67108864"},
        {TIMED("period_turns: 18"), "19:68: applications[0].period_turns: found 18, expected a multiple of "
                                    "setpoints.period_turns (12), up to 67108864"},
        {TIMED("deadline_turns: 0"), "19:70: applications[0].deadline_turns: found 0, expected 1 to 67108864 turns"},
        {TIMED("freshness_turns: 11"),
         "19:71: applications[0].freshness_turns: found 11, expected 12 (period_turns) to 4294967295 turns"},
        {TIMED("watchdog_cycles: 0"), "19:71: applications[0].watchdog_cycles: found 0, expected 1 to 1000000 cycles"},
        {TIMED("stop: halt"),
         "19:60: applications[0].stop: found \"halt\", expected one of: hold, ramp (did you mean \"hold\"?)"},
        {MACHINE PORTS INSTRUMENTS ROLES "simulated_time: true\nsetpoints: {period_turns: 12}\n" CHAINS,
         "10:17: simulated_time: found true without setpoints.lead, expected the application whose setpoints the "
         "virtual "
         "ring waits for: setpoints: {lead: NAME}"},
        {MACHINE PORTS INSTRUMENTS ROLES "setpoints: {period_turns: 12, lead: rmp}\n" CHAINS "applications:\n  - {" RAMP
                                         "}\n",
         "10:37: setpoints.lead: found \"rmp\", expected the name of an application, whose setpoint vectors send the "
         "setpoints at "
         "once (did you mean \"ramp\"?)"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void inputs(void **state) {
    static struct wrong_yaml const wrong[] = {
        {TIMED("inputs: [bpm01]"),
         "19:63: applications[0].inputs[0]: found \"bpm01\", expected a stream of a configured instrument, such as "
         "\"bpm01/turn\", or of an application that stands before this one"},
        {TIMED("inputs: [bmp01/fast]"),
         "19:63: applications[0].inputs[0]: found \"bmp01/fast\", expected a stream of a configured instrument, such "
         "as "
         "\"bpm01/turn\", or of an application that stands before this one (did you mean \"bpm01\"?)"},
        {TIMED("inputs: [bpm01/fst]"), "19:63: applications[0].inputs[0]: found \"bpm01/fst\", expected bpm01/ and one "
                                       "of: turn, low_latency, fast, loop_low_latency, loop, slow_low_latency, slow"},
        {TIMED("inputs: [c01/turn]"), "19:63: applications[0].inputs[0]: found \"c01/turn\", expected c01/ and one of: "
                                      "raw, loop_low_latency, loop, slow_low_latency, slow"},
        {TIMED("inputs: [bpm01/fast, bpm01/fast]"),
         "19:75: applications[0].inputs[1]: \"bpm01/fast\" is inputs[0] already, expected it once"},
        {TIMED("inputs: [bpm01/fast, bpm01/loop]"),
         "19:75: applications[0].inputs[1]: bpm01/loop has a record every 120 turns, but \"ramp\" is stepped every 12; "
         "expected inputs of 12 turns, or another period_turns"},
    };
    EXPECT_ERRORS(*state, wrong);
}

/* A stream of an application that stands before, whose period is as those of instruments. */
static void inputs_of_applications(void **state) {
    static char const with[] = TWO(RAMP ", period_turns: 24", "name: kick, code: kick, supplies: [], period_turns: 48, "
                                                              "inputs: [ramp/told, bpm01/turn]");
    struct rm_config *const config = load_config(*state, with);
    struct rm_config_application const *const kick = &config->application[2];
    assert_int_equal(kick->input_count, 2);
    assert_string_equal(kick->input[0], "ramp/told");
    assert_int_equal(rm_config_input_application(config, kick->input[0]), 1);
    assert_int_equal(rm_config_input_application(config, kick->input[1]), 0);
    assert_null(rm_config_input_instrument(config, kick->input[0]));
    assert_ptr_equal(rm_config_input_instrument(config, kick->input[1]), &config->instrument[0]);
    rm_config_free(config);
    static struct wrong_yaml const wrong[] = {
        {TIMED("inputs: [ramp/told]"),
         "19:63: applications[0].inputs[0]: found \"ramp/told\", expected a stream of a configured instrument, such as "
         "\"bpm01/turn\", or of an application that stands before this one"},
        {TIMED("inputs: [operator/told]"), "19:63: applications[0].inputs[0]: found \"operator/told\", expected a "
                                           "stream of a configured instrument, such "
                                           "as \"bpm01/turn\", or of an application that stands before this one"},
        {TWO(RAMP, "name: kick, code: kick, supplies: [], inputs: [rmp/told]"),
         "20:53: applications[1].inputs[0]: found \"rmp/told\", expected a stream of a configured instrument, such as "
         "\"bpm01/turn\", or of an application that stands before this one (did you mean \"ramp\"?)"},
        {TWO(RAMP ", period_turns: 24", "name: kick, code: kick, supplies: [], inputs: [ramp/told]"),
         "20:53: applications[1].inputs[0]: ramp/told has a record every 24 turns, but \"kick\" is stepped every 12; "
         "expected inputs of 12 turns, or another period_turns"},
    };
    EXPECT_ERRORS(*state, wrong);
}

/* What a pattern matches comes in the order of the instruments; the part behind the slash is of the rate. */
static void patterns_of_inputs(void **state) {
    static char const *const expected[] = {"c02/raw", "bpm01/fast", "bpm02/fast", "c01/raw"};
    struct rm_config *const config = load_config(*state, TIMED("inputs: [c02/raw, \"bpm*/fast\", \"*1/r*\"]"));
    struct rm_config_application const *const ramp = &config->application[1];
    assert_int_equal(ramp->input_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(ramp->input[i], expected[i]);
    rm_config_free(config);
    static struct wrong_yaml const wrong[] = {
        {TIMED("inputs: [\"bmp*/fast\"]"),
         "19:63: applications[0].inputs[0]: no stream matches \"bmp*/fast\", expected streams of configured "
         "instruments, with * for any characters, such as \"bpm01/turn\""},
        {TIMED("inputs: [\"bpm*/fst\"]"),
         "19:63: applications[0].inputs[0]: no stream matches \"bpm*/fst\", expected streams of configured "
         "instruments, with * for any characters, such as \"bpm01/turn\""},
        {TIMED("inputs: [\"bpm*\"]"),
         "19:63: applications[0].inputs[0]: no stream matches \"bpm*\", expected streams of configured "
         "instruments, with * for any characters, such as \"bpm01/turn\""},
        {TIMED("inputs: [\"bpm*/*\"]"), "19:63: applications[0].inputs[0]: bpm01/loop_low_latency has a record every "
                                        "120 turns, but \"ramp\" is stepped "
                                        "every 12; expected inputs of 12 turns, or another period_turns"},
        {TIMED("inputs: [bpm02/fast, \"bpm*/fast\"]"),
         "19:75: applications[0].inputs[1]: \"bpm02/fast\" is inputs[0] already, expected it once"},
    };
    EXPECT_ERRORS(*state, wrong);
}

/* The application's own file is looked for beside this one, and must be there. */
static void own_file(void **state) {
    struct config_file const *const file = *state;
    char expected[192];
    snprintf(expected, sizeof expected, "%s", strrchr(file->path, '/') + 1);
    char yaml[2048];
    snprintf(yaml, sizeof yaml, TIMED("configuration: \"%s\""), expected); // the one file that there is: itself
    struct rm_config *const config = load_config(*state, yaml);
    assert_string_equal(config->application[1].configuration, file->path);
    rm_config_free(config);
    write_config(file, TIMED("configuration: absent.yaml"));
    snprintf(expected, sizeof expected,
             "19:69: applications[0].configuration: %s/absent.yaml: No such file or directory; expected the "
             "application's own file, its path from this file's folder",
             file->directory);
    expect_error(file, expected);
    write_config(file, TIMED("configuration: ."));
    snprintf(expected, sizeof expected,
             "19:69: applications[0].configuration: %s/. is a folder, expected the application's own file",
             file->directory);
    expect_error(file, expected);
}

static void settings(void **state) {
    static struct wrong_yaml const wrong[] = {
        {TIMED("settings: [{name: Rate, value: 1}]"),
         "19:72: applications[0].settings[0].name: found \"Rate\", expected lower-case letters, digits, _ and -"},
        {TIMED("settings: [{name: rate}]"),
         "19:65: applications[0].settings[0]: the key \"value\" is missing, expected a number"},
        {TIMED("settings: [{name: rate, value: nan}]"),
         "19:85: applications[0].settings[0].value: found \"nan\", expected a number"},
        {TIMED("settings: [{name: rate, value: 1}, {name: rate, value: 2}]"),
         "19:96: applications[0].settings[1].name: \"rate\" is settings[0] already, expected it once"},
        {TIMED("settings: [{name: replies, value: 1}]"),
         "19:72: applications[0].settings[0].name: ramp/replies is something else already, expected the name of one of "
         "its settings"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define WITH_ROLE(role, application)                                                                                   \
    MACHINE PORTS INSTRUMENTS ROLES "  - {role: application, core: @" role "}\n" SETPOINTS CHAINS                      \
                                    "applications:\n  - {" application "}\n"

static void places(void **state) {
    static struct wrong_yaml const wrong[] = {
        {TIMED("core: 1024"), "19:60: applications[0].core: found 1024, expected the number of a core, 0 to 1023"},
        {TIMED("user: Ramp"), "19:60: applications[0].user: found \"Ramp\", expected the name of a user of the system: "
                              "lower-case letters, digits, _ and -"},
        {TIMED("hosted: true, core: 1"),
         "19:74: applications[0].core: a hosted application runs on the core of its role, take this key out"},
        {TIMED("hosted: true, user: ramp"), "19:74: applications[0].user: a hosted application runs inside the server, "
                                            "as the server's user, take this key out"},
        {TIMED("hosted: true"),
         "8:3: roles: no role steps application \"ramp\", expected {role: application, core: …, application: ramp}, or "
         "take hosted: true out of applications[0]"},
        {WITH_ROLE("", RAMP),
         "10:5: roles[2]: the key \"application\" is missing, expected the name of the application "
         "that this role steps"},
        {WITH_ROLE(", application: rmp", RAMP),
         "10:47: roles[2].application: found \"rmp\", expected the name of an application (did you mean \"ramp\"?)"},
        {WITH_ROLE(", application: ramp", RAMP),
         "10:47: roles[2].application: \"ramp\" is a process of its own, expected hosted: true in applications[0], or "
         "take this role out"},
        {WITH_ROLE(", application: ramp, ports: [ring]", RAMP ", hosted: true"),
         "10:60: roles[2].ports: a role application polls no port, take this key out"},
        {WITH_ROLE(", application: ramp}\n  - {role: application, core: @, application: ramp", RAMP ", hosted: true"),
         "11:47: roles[3].application: roles[2] steps \"ramp\" already, expected one role for it"},
    };
    EXPECT_ERRORS(*state, wrong);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_config_file, remove_config_file)
    struct CMUnitTest const tests[] = {
        TEST(the_least),
        TEST(all_keys),
        TEST(order_of_supplies),
        TEST(patterns),
        TEST(names),
        TEST(supplies),
        TEST(times),
        TEST(inputs),
        TEST(inputs_of_applications),
        TEST(patterns_of_inputs),
        TEST(own_file),
        TEST(patterns_of_inputs),
        TEST(own_file),
        TEST(settings),
        TEST(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
