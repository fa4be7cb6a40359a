// SPDX-License-Identifier: Apache-2.0
/* Which turn a counter means. */
#include "engine/counting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 16;
}

/** Counters of every width, at turns near and far from what is due, in any order. */
static void a_short_counter_means_the_turn_nearest_to_the_one_due(void **state) {
    (void)state;
    uint32_t const widths[] = {8, 12, 16, 24, 32};
    uint32_t const periods[] = {1, 4, 116, 120};
    int64_t const offsets[] = {0, 5, -7, 116000};
    uint64_t random = 1;
    for (int i = 0; i < 200000; ++i) {
        uint32_t const bits = widths[next_random(&random) % 5], period = periods[next_random(&random) % 4];
        struct rm_counting counting;
        rm_counting_init(&counting, bits, true, period, offsets[next_random(&random) % 4]);
        uint64_t const lap = (uint64_t)period << bits;
        rm_turn const start = 4 * lap + next_random(&random) % (1ull << 50) + 200000;
        for (int j = 0; j < 4; ++j) {
            rm_turn const due = start + j * lap / 3;
            int64_t const away = (int64_t)(next_random(&random) % (lap / 2 - 2 * period)) - (int64_t)(lap / 4);
            uint64_t const record = (due + (uint64_t)away - (uint64_t)counting.offset_turns) / period;
            rm_turn const meant = record * period + (uint64_t)counting.offset_turns;
            uint64_t const counter = record & ((1ull << bits) - 1);
            assert_int_equal(rm_counting_turn(&counting, counter, due), meant);
            assert_int_equal(meant % period, 0);
        }
    }
}

static void a_native_turn_is_the_turn(void **state) {
    (void)state;
    struct rm_counting counting;
    rm_counting_init(&counting, 64, false, 1, -3);
    assert_true(counting.tells);
    assert_int_equal(rm_counting_turn(&counting, 1000, 5), 997);
    assert_int_equal(rm_counting_turn(&counting, 2, 5), RM_TURN_BELOW);
    assert_true(rm_counting_turn(&counting, RM_TURN_NONE, 5) >= RM_TURN_END);
    assert_true(rm_counting_turn(&counting, RM_TURN_END + 1, 5) >= RM_TURN_END);
}

static void a_native_turn_off_the_beat_is_cut(void **state) {
    (void)state;
    struct rm_counting counting;
    rm_counting_init(&counting, 64, false, 120, 1);
    assert_int_equal(rm_counting_turn(&counting, 240, 0), 240);
    assert_int_equal(rm_counting_turn(&counting, 359, 0), 360);
}

static void a_long_counter_of_records_never_wraps_a_turn(void **state) {
    (void)state;
    struct rm_counting counting;
    rm_counting_init(&counting, 64, true, 65536, 0);
    assert_int_equal(rm_counting_turn(&counting, 3, 0), 196608);
    assert_true(rm_counting_turn(&counting, UINT64_MAX, 0) >= RM_TURN_END);
    assert_true(rm_counting_turn(&counting, RM_TURN_END / 65536, 0) >= RM_TURN_END);
}

static void the_first_lap_begins_at_turn_0(void **state) {
    (void)state;
    struct rm_counting counting;
    rm_counting_init(&counting, 16, true, 1, 0);
    assert_false(counting.tells);
    assert_int_equal(rm_counting_turn(&counting, 100, 0), 100);
    assert_int_equal(rm_counting_turn(&counting, 65535, 0), 65535);
    assert_int_equal(rm_counting_turn(&counting, 3, 65530), 65539);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_short_counter_means_the_turn_nearest_to_the_one_due),
        cmocka_unit_test(a_native_turn_is_the_turn),
        cmocka_unit_test(a_native_turn_off_the_beat_is_cut),
        cmocka_unit_test(a_long_counter_of_records_never_wraps_a_turn),
        cmocka_unit_test(the_first_lap_begins_at_turn_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
