// SPDX-License-Identifier: Apache-2.0
/** Histogram buckets cover every value once, in order, with the stated resolution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/histogram.h>

static void test_floor_is_in_its_bucket(void **state) {
    (void)state;
    for (unsigned i = 0; i < RM_HISTOGRAM_BUCKETS; ++i) {
        uint64_t const floor = rm_histogram_floor(i);
        assert_int_equal(rm_histogram_index(floor), i);
        if (i > 0)
            assert_int_equal(rm_histogram_index(floor - 1), i - 1);
    }
    assert_int_equal(rm_histogram_index(UINT64_MAX), RM_HISTOGRAM_BUCKETS - 1);
}

static void test_resolution(void **state) {
    (void)state;
    for (unsigned i = 0; i < 16; ++i)
        assert_int_equal(rm_histogram_floor(i), i); // a bucket each
    for (unsigned i = 16; i + 1 < RM_HISTOGRAM_BUCKETS; ++i) {
        uint64_t const width = rm_histogram_floor(i + 1) - rm_histogram_floor(i);
        assert_true(width <= rm_histogram_floor(i) / 16); // 6 %
    }
}

static void test_add(void **state) {
    (void)state;
    static struct rm_histogram histogram;
    rm_histogram_add(&histogram, 1000, 3);
    rm_histogram_add(&histogram, 999999, 1);
    rm_histogram_add(&histogram, 0, 2);
    assert_int_equal(histogram.total, 6);
    assert_int_equal(histogram.bucket[rm_histogram_index(1000)], 3);
    assert_int_equal(histogram.bucket[rm_histogram_index(999999)], 1);
    assert_int_equal(histogram.bucket[0], 2);
    uint64_t sum = 0;
    for (unsigned i = 0; i < RM_HISTOGRAM_BUCKETS; ++i)
        sum += histogram.bucket[i];
    assert_int_equal(sum, histogram.total);
    assert_int_equal(histogram.largest, 999999);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_floor_is_in_its_bucket),
        cmocka_unit_test(test_resolution),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
