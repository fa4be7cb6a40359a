// SPDX-License-Identifier: Apache-2.0
/** The catalog and how decimations are split. What the taps do is in the other tests. */
#include "filter/test_records.h"

static uint32_t const decimations[] = {2, 3, 4, 5, 6, 8, 10, 12};
enum { DECIMATIONS = sizeof decimations / sizeof decimations[0] };

static void the_catalog_has_both_forms_of_each(void **state) {
    (void)state;
    assert_int_equal(RM_FIR_DESIGNS, 2 * DECIMATIONS);
    for (uint32_t i = 0; i < DECIMATIONS; ++i) {
        struct rm_fir_design const *const low_latency = rm_fir_find("low_latency", decimations[i]);
        struct rm_fir_design const *const sharp = rm_fir_find("sharp", decimations[i]);
        assert_ptr_equal(low_latency, &rm_fir_designs[i]);
        assert_ptr_equal(sharp, &rm_fir_designs[DECIMATIONS + i]);
        assert_int_equal(low_latency->taps, 2 * decimations[i] - 1);
        assert_int_equal(sharp->taps, 18 * decimations[i] - 1);
    }
    assert_null(rm_fir_find("low_latency", 7));
    assert_null(rm_fir_find("blunt", 12));
}

static void expect_split(uint32_t decimation, uint32_t most, uint32_t const *expected) {
    struct rm_fir_design const *stage[4] = {NULL};
    uint32_t const count = rm_fir_split("sharp", decimation, most, stage);
    uint32_t wanted = 0;
    for (; expected[wanted] != 0; ++wanted)
        assert_ptr_equal(stage[wanted], rm_fir_find("sharp", expected[wanted]));
    assert_int_equal(count, wanted);
}

static void decimations_are_split_into_few_and_large_ones(void **state) {
    (void)state;
    expect_split(12, 4, (uint32_t[]){12, 0});
    expect_split(10, 1, (uint32_t[]){10, 0});
    expect_split(120, 4, (uint32_t[]){12, 10, 0});
    expect_split(1000, 4, (uint32_t[]){10, 10, 10, 0});
    expect_split(1024, 4, (uint32_t[]){8, 8, 8, 2, 0});
    expect_split(9, 4, (uint32_t[]){3, 3, 0});
    expect_split(20736, 4, (uint32_t[]){12, 12, 12, 12, 0});
    expect_split(1, 4, (uint32_t[]){0});
    expect_split(0, 4, (uint32_t[]){0});
    expect_split(7, 4, (uint32_t[]){0});
    expect_split(110, 4, (uint32_t[]){0});
    expect_split(144, 1, (uint32_t[]){0});
    expect_split(20737, 4, (uint32_t[]){0});
    expect_split(248832, 4, (uint32_t[]){0}); /* five times 12 */
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_catalog_has_both_forms_of_each),
        cmocka_unit_test(decimations_are_split_into_few_and_large_ones),
    };
    return cmocka_run_group_tests_name("design", tests, NULL, NULL);
}
