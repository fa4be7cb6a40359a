// SPDX-License-Identifier: Apache-2.0
/** Lines of the protocol, good and bad. */
#include "command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { IDS = 256 };

static uint64_t const NS = 1000000000;

static struct fa_subscription subscription_of(char const *line) {
    struct fa_subscription found;
    char error[FA_ERROR_BYTES] = "";
    if (!fa_subscription_parse(line, IDS, &found, error))
        fail_msg("%s: %s", line, error);
    return found;
}

static struct fa_read read_of(char const *line) {
    struct fa_read found;
    char error[FA_ERROR_BYTES] = "";
    if (!fa_read_parse(line, IDS, &found, error))
        fail_msg("%s: %s", line, error);
    return found;
}

static void assert_ids(struct fa_mask const *mask, char const *expected) {
    char found[FA_LINE_BYTES] = "";
    for (unsigned id = 0; id < FA_IDS_MAX; ++id)
        if (fa_mask_has(mask, id))
            snprintf(found + strlen(found), sizeof found - strlen(found), "%u ", id);
    assert_string_equal(found, expected);
}

static void test_masks(void **state) {
    (void)state;
    struct fa_subscription const two = subscription_of("S5,2"), more = subscription_of("S0-3,255,2-4");
    assert_ids(&two.mask, "2 5 ");
    assert_ids(&more.mask, "0 1 2 3 4 255 ");
    char line[FA_LINE_BYTES] = "SR", digits[FA_MASK_DIGITS + 1];
    for (unsigned i = 0; i < 62; ++i)
        strcat(line, "0");
    strcat(line, "3aTZ");
    struct fa_subscription const raw = subscription_of(line);
    assert_ids(&raw.mask, "1 3 4 5 ");
    assert_true(raw.id0 && raw.times == FA_TIMES_FIRST);
    fa_mask_print(&raw.mask, IDS, digits);
    assert_int_equal(strlen(digits), 64);
    assert_string_equal(digits + 60, "003A");
    struct fa_mask again;
    char with_r[FA_MASK_DIGITS + 2];
    snprintf(with_r, sizeof with_r, "R%s", digits);
    struct fa_scan scan = {.line = with_r, .at = with_r};
    assert_true(fa_mask_scan(&scan, IDS, &again));
    assert_memory_equal(&again, &raw.mask, sizeof again);
}

static void test_stretches(void **state) {
    (void)state;
    struct fa_ids stretch[FA_IDS_MAX / 2];
    struct fa_mask const mask = subscription_of("S0,2-4,63-65,255").mask;
    assert_int_equal(fa_mask_stretches(&mask, stretch), 4);
    assert_true(stretch[0].first == 0 && stretch[0].count == 1);
    assert_true(stretch[2].first == 63 && stretch[2].count == 3);
    assert_int_equal(fa_mask_count(&mask), 8);
}

static void test_options_of_a_subscription(void **state) {
    (void)state;
    struct fa_subscription const all = subscription_of("S1TEZUD");
    assert_true(all.times == FA_TIMES_BLOCKS && all.id0 && all.uncork && all.decimated);
    struct fa_subscription const none = subscription_of("S1");
    assert_true(none.times == FA_TIMES_NONE && !none.id0 && !none.uncork && !none.decimated);
    assert_true(subscription_of("S1UD").uncork);
}

static void test_reads(void **state) {
    (void)state;
    struct fa_read const full = read_of("RFM1T2011-06-01T0:0:0ZET2011-06-01T00:00:01.25Z");
    assert_true(full.source == FA_SOURCE_FULL && full.count == 0 && full.times == FA_TIMES_NONE);
    assert_int_equal(full.start_utc_ns, 1306886400 * NS);
    assert_int_equal(full.end_utc_ns, 1306886401 * NS + NS / 4);
    struct fa_read const some = read_of("RDF6M5,2S1000000000.000000005N12NATEZCZ");
    assert_true(some.source == FA_SOURCE_DECIMATED && some.fields == 6 && some.count == 12);
    assert_int_equal(some.start_utc_ns, 1000000000 * NS + 5);
    assert_true(some.sends_count && some.takes_less && some.id0 && some.contiguous && some.contiguous_id0);
    assert_int_equal(some.times, FA_TIMES_BLOCKS);
    struct fa_read const twice = read_of("RDDM1S1ES2TAC");
    assert_true(twice.source == FA_SOURCE_TWICE && twice.fields == 15 && twice.times == FA_TIMES_END);
    assert_true(twice.contiguous && !twice.contiguous_id0 && !twice.id0);
    assert_true(read_of("RFM1S1N1T").times == FA_TIMES_FIRST);
}

static void test_local_time(void **state) {
    (void)state;
    assert_int_equal(setenv("TZ", "XXX-2", 1), 0);
    tzset();
    uint64_t const local = read_of("RFM1T2020-02-29T12:00:00N1").start_utc_ns;
    uint64_t const utc = read_of("RFM1T2020-02-29T12:00:00ZN1").start_utc_ns;
    unsetenv("TZ");
    tzset();
    assert_int_equal(utc - local, 2 * 3600 * NS);
}

static void test_what_is_refused(void **state) {
    (void)state;
    char error[FA_ERROR_BYTES];
    struct fa_subscription subscription;
    struct fa_read read;
    static char const *const subscriptions[] = {
        "S",     "SX",
        "S1,",   "S-1",
        "S256",  "S5-2",
        "S1 ",   "S1ZT",
        "S1DU",  "SR",
        "SR012", "S1TT",
        "S1E",   "S1-",
        "S1,,2", "S 1",
        "S1\n",  "S99999999999999999999999",
        "S+1",   "SR0000000000000000000000000000000000000000000000000000000000000000",
    };
    for (size_t i = 0; i < sizeof subscriptions / sizeof *subscriptions; ++i) {
        assert_false(fa_subscription_parse(subscriptions[i], IDS, &subscription, error));
        assert_memory_equal(error, "Error parsing subscription: ", 28);
        assert_int_equal(error[strlen(error) - 1], '\n');
    }
    static char const *const reads[] = {
        "R",
        "RF",
        "RFM",
        "RFM1",
        "RFM1S1",
        "RFF1M1S1N1",
        "RDF0M1S1N1",
        "RDF16M1S1N1",
        "RFM1S0N1",
        "RFM1S1N0",
        "RFM1S1N",
        "RFM1S1E1",
        "RFM1S1N1AN",
        "RFM1S1N1CT",
        "RFM1S1.N1",
        "RFM1S1.1234567890N1",
        "RDDDM1S1N1",
        "RFM1T2020-02-30T0:0:0N1",
        "RFM1T2020-13-01T0:0:0N1",
        "RFM1T2020-01-01T24:0:0N1",
        "RFM1T2020-01-01N1",
        "RFM1T1970-01-01T0:0:0ZN1",
        "RFM1T99999-01-01T0:0:0N1",
        "RFM1S99999999999N1",
        "RXM1S1N1",
        "RFM1S1N1Z ",
        "RF1S1N1",
        "RFM1S1N18446744073709551616",
    };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; ++i) {
        if (fa_read_parse(reads[i], IDS, &read, error))
            fail_msg("%s is taken", reads[i]);
        assert_memory_equal(error, "Error parsing read request: ", 28);
    }
}

static void test_kinds(void **state) {
    (void)state;
    assert_int_equal(fa_command_kind("CFCK"), FA_COMMAND_CONFIGURATION);
    assert_int_equal(fa_command_kind("S1"), FA_COMMAND_SUBSCRIPTION);
    assert_int_equal(fa_command_kind("RF"), FA_COMMAND_READ);
    assert_int_equal(fa_command_kind(""), FA_COMMAND_UNKNOWN);
    assert_int_equal(fa_command_kind("GET / HTTP/1.1"), FA_COMMAND_UNKNOWN);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_stretches),
        cmocka_unit_test(test_options_of_a_subscription),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_local_time),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
