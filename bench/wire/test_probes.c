// SPDX-License-Identifier: Apache-2.0
/** Probes and what became of them: bytes, schedule, counts, samples; and datagrams that are held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hold.h"
#include "probe.h"
#include "probes.h"

static void a_probe_is_18_little_endian_bytes(void **state) {
    (void)state;
    uint8_t bytes[RM_PROBE_BYTES + 3] = {0};
    struct rm_probe const probe = {.flow = 0x0102, .sequence = 0x1112131415161718u, .stamp = 0x2122232425262728u};
    rm_probe_write(bytes + 1, &probe);
    static uint8_t const expected[] = {0,    0x02, 0x01, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
                                       0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0,    0};
    assert_memory_equal(bytes, expected, sizeof expected);
    struct rm_probe const again = rm_probe_read(bytes + 1);
    assert_int_equal(again.flow, probe.flow);
    assert_int_equal(again.sequence, probe.sequence);
    assert_int_equal(again.stamp, probe.stamp);
}

/** Ten probes a hundred ticks apart from tick 1000 on, of which two are warm-up. */
static struct rm_probes ten(void) {
    struct rm_probes probes;
    assert_int_equal(rm_probes_make(&probes, 10, 2, 100.0, NULL), RM_OK);
    probes.begin = 1000;
    return probes;
}

static void a_late_probe_moves_no_other(void **state) {
    (void)state;
    struct rm_probes probes = ten();
    rm_probes_sent(&probes, 1950); // far too late, but warm-up
    rm_probes_sent(&probes, 1951);
    rm_probes_sent(&probes, 1200);
    rm_probes_sent(&probes, 1400); // a whole period late, and no more
    rm_probes_sent(&probes, 1501);
    assert_int_equal(rm_probes_due(&probes, 5), 1500);
    assert_int_equal(probes.late, 1);
    rm_probes_free(&probes);
}

static void what_came_is_counted_without_warm_up(void **state) {
    (void)state;
    struct rm_probes probes = ten();
    for (uint64_t i = 0; i < 8; ++i)
        rm_probes_sent(&probes, rm_probes_due(&probes, i) + 5);
    assert_true(rm_probes_answered(&probes, 0, 1030));
    assert_true(rm_probes_answered(&probes, 0, 1031)); // twice, but warm-up
    assert_true(rm_probes_answered(&probes, 7, 1730));
    assert_true(rm_probes_answered(&probes, 3, 1731)); // overtaken
    assert_true(rm_probes_answered(&probes, 3, 1740));
    assert_false(rm_probes_answered(&probes, 8, 1741)); // not sent
    assert_false(rm_probes_answered(&probes, UINT64_MAX, 1741));
    struct rm_probes_summary const sum = rm_probes_sum(&probes);
    assert_int_equal(sum.probes, 6);
    assert_int_equal(sum.received, 2);
    assert_int_equal(sum.lost, 4);
    assert_true(sum.ticks == 605); // from 1200 to 1705, and a period
    assert_int_equal(probes.duplicate, 1);
    assert_int_equal(probes.answered, 3);
    assert_int_equal(probes.times[3].received, 1731); // the first answer counts
    rm_probes_free(&probes);
}

static void nothing_sent_is_nothing(void **state) {
    (void)state;
    struct rm_probes probes = ten();
    struct rm_probes_summary const sum = rm_probes_sum(&probes);
    assert_int_equal(sum.probes, 0);
    assert_true(sum.ticks == 0);
    rm_probes_free(&probes);
}

static void samples_are_three_words_each(void **state) {
    (void)state;
    struct rm_probes probes = ten();
    for (uint64_t i = 0; i < 4; ++i)
        rm_probes_sent(&probes, rm_probes_due(&probes, i) + 5);
    rm_probes_answered(&probes, 3, 1777);
    char path[] = "/tmp/test_probes_XXXXXX";
    int const made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    assert_int_equal(rm_probes_write(&probes, path, NULL), RM_OK);
    uint64_t words[7] = {0};
    FILE *const file = fopen(path, "rbe");
    assert_non_null(file);
    assert_int_equal(fread(words, sizeof words[0], 7, file), 6);
    fclose(file);
    unlink(path);
    static uint64_t const expected[] = {1200, 1205, 0, 1300, 1305, 1777};
    assert_memory_equal(words, expected, sizeof expected);

    struct rm_error error;
    assert_int_equal(rm_probes_write(&probes, "/nowhere/samples", &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/nowhere/samples"));
    rm_probes_free(&probes);
}

static void too_many_probes_are_refused(void **state) {
    (void)state;
    struct rm_probes probes;
    struct rm_error error;
    assert_int_equal(rm_probes_make(&probes, RM_PROBES_MOST + 1ull, 0, 1.0, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "67108865 probes"));
    rm_probes_free(&probes);
}

static void held_datagrams_keep_order_length_and_time(void **state) {
    (void)state;
    static struct rm_hold hold;
    uint8_t payload[8] = {0};
    assert_true(rm_hold_make(&hold, sizeof payload));
    assert_int_equal(rm_hold_due(&hold), UINT64_MAX);
    for (uint64_t i = 0; i < 3 * RM_HOLD_DATAGRAMS; ++i) { // some of it at all times, many times round
        memcpy(payload, &i, sizeof i);
        rm_hold_put(&hold, payload, 1 + i % sizeof payload, 100 + i);
        if (i < 5)
            continue;
        assert_int_equal(rm_hold_count(&hold), 6);
        assert_int_equal(rm_hold_due(&hold), 100 + i - 5);
        uint64_t oldest = 0;
        uint32_t const length = rm_hold_take(&hold, (uint8_t *)&oldest);
        assert_int_equal(length, 1 + (i - 5) % sizeof payload);
        assert_memory_equal(&oldest, &(uint64_t){i - 5}, length);
    }
    rm_hold_free(&hold);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_probe_is_18_little_endian_bytes),
        cmocka_unit_test(a_late_probe_moves_no_other),
        cmocka_unit_test(what_came_is_counted_without_warm_up),
        cmocka_unit_test(nothing_sent_is_nothing),
        cmocka_unit_test(samples_are_three_words_each),
        cmocka_unit_test(too_many_probes_are_refused),
        cmocka_unit_test(held_datagrams_keep_order_length_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
