// SPDX-License-Identifier: Apache-2.0
/* The tree of rates: the default one, written ones, wrong ones, and what instruments have of it that do not send every
 * turn. */
#include "config/config.h"
#include "config/instrument_rates.h"
#include "config/test_file.h"

#include <stdio.h>
#include <string.h>

#define BEFORE                                                                                                         \
    "workspace: demo\n"                                                                                                \
    "ports: [{name: ring, kind: memif, socket: /run/a.sock}]\n"                                                        \
    "instruments: [{name: a, kind: bpm, id: 0, port: ring, source: 10.20.0.1}]\n"                                      \
    "roles: [{role: receive, core: @, ports: [ring]}]\n"
#define RATES BEFORE "rates:\n"
#define TURN RM_CONFIG_FROM_TURN

/* One rate as it should be; stages end with 0. */
struct expected {
    char const *name;
    uint32_t from;
    char const *filter;
    uint32_t stage[RM_CONFIG_STAGES_MAX + 1];
    uint32_t period;
    uint64_t records;
};

static struct rm_config *load(struct config_file const *file, char const *yaml) {
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    write_config(file, yaml);
    enum rm_code const code = rm_config_load(file->path, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    return config;
}

static void expect_rates(struct rm_config_rate const *rate, uint32_t count, struct expected const *expected,
                         uint32_t expected_count) {
    assert_int_equal(count, expected_count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t decimation = 1;
        assert_string_equal(rate[i].name, expected[i].name);
        assert_int_equal(rate[i].from, expected[i].from);
        for (uint32_t j = 0; j < rate[i].stage_count; j++) {
            assert_string_equal(rate[i].stage[j]->name, expected[i].filter);
            assert_int_equal(rate[i].stage[j]->decimation, expected[i].stage[j]);
            decimation *= expected[i].stage[j];
        }
        assert_int_equal(expected[i].stage[rate[i].stage_count], 0);
        assert_int_equal(rate[i].decimation, decimation);
        assert_int_equal(rate[i].period, expected[i].period);
        assert_int_equal(rate[i].records, expected[i].records);
    }
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void both_chains_at_all_rates_by_default(void **state) {
    static struct expected const expected[] = {
        {"low_latency", TURN, "low_latency", {12}, 12, 1 << 17},
        {"fast", TURN, "sharp", {12}, 12, 1 << 17},
        {"loop_low_latency", 0, "low_latency", {10}, 120, 1 << 16},
        {"loop", 1, "sharp", {10}, 120, 1 << 16},
        {"slow_low_latency", 2, "low_latency", {10, 10, 10}, 120000, 1 << 12},
        {"slow", 3, "sharp", {10, 10, 10}, 120000, 1 << 12},
    };
    struct rm_config *const config = load(*state, BEFORE);
    expect_rates(config->rate, config->rate_count, expected, COUNT(expected));
    assert_int_equal(rm_config_stream_bytes(config),
                     64ull * ((1 << 20) + 2 * (1 << 17) + 2 * (1 << 16) + 2 * (1 << 12)));
    rm_config_free(config);
}

static void records_follow_from_fast_records(void **state) {
    static struct expected const small[] = {
        {"low_latency", TURN, "low_latency", {12}, 12, 1024},
        {"fast", TURN, "sharp", {12}, 12, 1024},
        {"loop_low_latency", 0, "low_latency", {10}, 120, 1024}, /* half of it would be no ring */
        {"loop", 1, "sharp", {10}, 120, 1024},
        {"slow_low_latency", 2, "low_latency", {10, 10, 10}, 120000, 4096},
        {"slow", 3, "sharp", {10, 10, 10}, 120000, 4096},
    };
    struct rm_config *const config = load(*state, BEFORE "buffers: {fast_records: 1024}\n");
    expect_rates(config->rate, config->rate_count, small, COUNT(small));
    rm_config_free(config);
}

static void a_tree_as_it_is_written(void **state) {
    static struct expected const expected[] = {
        {"a", TURN, "sharp", {12, 12, 12, 12}, 20736, 4096},
        {"b", TURN, "low_latency", {8, 3}, 24, 131072},
        {"c", 1, "low_latency", {5}, 120, 65536},
        {"d", 1, "sharp", {2}, 48, 2048},
        {"e", 3, "sharp", {6}, 288, 65536},
    };
    struct rm_config *const config =
        load(*state, RATES "  - {name: a, filter: sharp, decimation: 20736}\n"
                           "  - {name: b, from: turn, filter: low_latency, decimation: 24}\n"
                           "  - {name: c, from: b, filter: low_latency, decimation: 5}\n"
                           "  - {name: d, from: b, filter: sharp, decimation: 2, records: "
                           "2048}\n"
                           "  - {name: e, from: d, filter: sharp, decimation: 6}\n");
    struct expected as_split[COUNT(expected)];
    memcpy(as_split, expected, sizeof expected);
    as_split[1].stage[0] = 12; /* the largest first */
    as_split[1].stage[1] = 2;
    expect_rates(config->rate, config->rate_count, as_split, COUNT(as_split));
    rm_config_free(config);
}

/* A 10 kHz instrument: its records come about as often as those of loop, from which slow is made. */
static void an_instrument_of_ten_kilohertz_has_the_slow_rates(void **state) {
    static struct expected const expected[] = {
        {"slow_low_latency", TURN, "low_latency", {10, 10, 10}, 116000, 4096},
        {"slow", TURN, "sharp", {10, 10, 10}, 116000, 4096},
    };
    struct rm_config *const config = load(*state, BEFORE);
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    expect_rates(rate, rm_instrument_rates(config, 116, rate), expected, COUNT(expected));
    assert_string_equal(rm_instrument_own_rate(116), "raw");
    assert_string_equal(rm_instrument_own_rate(1), "turn");
    assert_int_equal(rm_instrument_records(config, 116), 1 << 14);
    assert_int_equal(rm_instrument_records(config, 2), 1 << 19);
    assert_int_equal(rm_instrument_records(config, 1), 1 << 20);
    rm_config_free(config);
}

static void rates_start_from_the_next_that_an_instrument_has(void **state) {
    static struct expected const of_two[] = {
        {"loop_low_latency", TURN, "low_latency", {12, 5}, 120, 65536},
        {"loop", TURN, "sharp", {12, 5}, 120, 65536},
        {"slow_low_latency", 0, "low_latency", {10, 10, 10}, 120000, 4096},
        {"slow", 1, "sharp", {10, 10, 10}, 120000, 4096},
    };
    static struct expected const of_seven[] = {
        {"loop_low_latency", TURN, "low_latency", {6, 3}, 126, 65536}, /* 120 is no multiple of 7 */
        {"loop", TURN, "sharp", {6, 3}, 126, 65536},
        {"slow_low_latency", 0, "low_latency", {12, 10, 8}, 120960, 4096},
        {"slow", 1, "sharp", {12, 10, 8}, 120960, 4096},
    };
    struct rm_config *const config = load(*state, BEFORE);
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    expect_rates(rate, rm_instrument_rates(config, 2, rate), of_two, COUNT(of_two));
    expect_rates(rate, rm_instrument_rates(config, 7, rate), of_seven, COUNT(of_seven));
    assert_int_equal(rm_instrument_rates(config, 12001, rate), 0);
    assert_int_equal(rm_instrument_rates(config, 65536, rate), 0);
    rm_config_free(config);
}

static void what_can_be_wrong(void **state) {
    static struct wrong_yaml const wrong[] = {
        {BEFORE "rates: []\n", "5:8: rates: found a list of 0, expected a list of 1 to 8 entries"},
        {RATES "  - {name: Fast, filter: sharp, decimation: 12}\n",
         "6:12: rates[0].name: found \"Fast\", expected lower-case letters, digits, _ and -"},
        {RATES "  - {name: turn, filter: sharp, decimation: 12}\n",
         "6:12: rates[0].name: \"turn\" is what records are called that came so, expected another name"},
        {RATES "  - {name: raw, filter: sharp, decimation: 12}\n",
         "6:12: rates[0].name: \"raw\" is what records are called that came so, expected another name"},
        {RATES "  - {name: a, filter: sharp, decimation: 12}\n  - {name: a, filter: sharp, decimation: 2}\n",
         "7:12: rates[1].name: \"a\" is already the name of rates[0], expected one of its own"},
        {RATES "  - {name: fast, filter: sharp, decimation: 12}\n  - {name: b, from: fats, filter: sharp, decimation: "
               "2}\n",
         "7:21: rates[1].from: found \"fats\", expected \"turn\" or the name of a rate before this one (did you mean "
         "\"fast\"?)"},
        {RATES "  - {name: a, from: a, filter: sharp, decimation: 12}\n",
         "6:21: rates[0].from: found \"a\", expected \"turn\" or the name of a rate before this one"},
        {RATES "  - {name: a, filter: shrap, decimation: 12}\n",
         "6:23: rates[0].filter: found \"shrap\", expected one of: low_latency, sharp (did you mean \"sharp\"?)"},
        {RATES "  - {name: a, filter: sharp, decimation: 7}\n",
         "6:42: rates[0].decimation: found 7, expected a product of at most 4 of 2, 3, 4, 5, 6, 8, 10, 12; next to it "
         "6 "
         "or 8"},
        {RATES "  - {name: a, filter: sharp, decimation: 1}\n",
         "6:42: rates[0].decimation: found 1, expected a product of at most 4 of 2, 3, 4, 5, 6, 8, 10, 12; next to it "
         "2"},
        {RATES "  - {name: a, filter: sharp, decimation: 0}\n",
         "6:42: rates[0].decimation: found 0, expected a product of at most 4 of 2, 3, 4, 5, 6, 8, 10, 12; next to it "
         "2"},
        {RATES "  - {name: a, filter: low_latency, decimation: 4294967295}\n",
         "6:48: rates[0].decimation: found 4294967295, expected a product of at most 4 of 2, 3, 4, 5, 6, 8, 10, 12; "
         "next to it 20736"},
        {RATES "  - {name: a, filter: low_latency, decimation: 20736}\n  - {name: b, from: a, filter: low_latency, "
               "decimation: "
               "10000}\n",
         "7:57: rates[1].decimation: gives one record per 207360000 turns, expected at most 67108864"},
        {RATES "  - {name: a, filter: low_latency, decimation: 12, records: 1000}\n",
         "6:61: rates[0].records: found 1000, expected a power of two from 1024 to 4294967296 records"},
        {RATES "  - {name: a, filter: low_latency, decimation: 12, records: 512}\n",
         "6:61: rates[0].records: found 512, expected a power of two from 1024 to 4294967296 records"},
    };
    struct config_file const *const file = *state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct rm_config *config = NULL;
        struct rm_error error = {.text = ""};
        char text[RM_ERROR_TEXT_BYTES];
        write_config(file, wrong[i].yaml);
        enum rm_code const code = rm_config_load(file->path, &config, &error);
        snprintf(text, sizeof text, "%s:%s", file->path, wrong[i].error);
        assert_string_equal(error.text, text);
        assert_int_equal(code, RM_E_CONFIG);
    }
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_config_file, remove_config_file)
    struct CMUnitTest const tests[] = {
        TEST(both_chains_at_all_rates_by_default),
        TEST(records_follow_from_fast_records),
        TEST(a_tree_as_it_is_written),
        TEST(an_instrument_of_ten_kilohertz_has_the_slow_rates),
        TEST(rates_start_from_the_next_that_an_instrument_has),
        TEST(what_can_be_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
