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
    assert_int_equal(rm_counting_turn(&counting, 2, 5), RM_TURN_NONE);
    assert_int_equal(rm_counting_turn(&counting, RM_TURN_NONE, 5), RM_TURN_NONE);
    assert_int_equal(rm_counting_turn(&counting, RM_TURN_END + 1, 5), RM_TURN_NONE);
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
    assert_int_equal(rm_counting_turn(&counting, UINT64_MAX, 0), RM_TURN_NONE);
    assert_int_equal(rm_counting_turn(&counting, RM_TURN_END / 65536, 0), RM_TURN_NONE);
}

/** A turn within 100 of an edge: of turns, of signed and unsigned words. */
static uint64_t near_an_edge(uint64_t *random) {
    uint64_t const edges[] = {100, RM_TURN_END / 2, RM_TURN_END, 1ull << 63, UINT64_MAX - 101};
    return edges[next_random(random) % 5] + next_random(random) % 201 - 100;
}

/** What a counter means, in arithmetic that does not overflow; its lap comes round. */
static __int128 meant_by(struct rm_counting const *counting, uint64_t counter, rm_turn due) {
    __int128 const turn = (__int128)counter * (counting->records ? counting->period_turns : 1) + counting->offset_turns;
    __int128 const lap = counting->lap_turns;
    if (lap == 0)
        return turn;
    __int128 const above = (__int128)due + counting->half_lap - turn;
    return turn + (above < 0 ? 0 : above / lap * lap);
}

/** `turn` as the role sees it: one that is out of range is none, others are multiples of the period. */
static rm_turn seen_of(struct rm_counting const *counting, __int128 turn) {
    if (turn < 0 || turn >= (__int128)RM_TURN_END)
        return RM_TURN_NONE;
    return (rm_turn)turn / counting->period_turns * counting->period_turns;
}

static void at_every_edge_the_turn_is_right_or_none(void **state) {
    (void)state;
    uint32_t const periods[] = {1, 3, 120, 65536};
    int64_t const offsets[] = {0, -100, 100, -(int64_t)RM_TURN_END, (int64_t)RM_TURN_END};
    uint64_t random = 7, told = 0;
    for (int i = 0; i < 100000; ++i) {
        bool const records = next_random(&random) % 4 != 0;
        uint32_t const bits = records ? 8 + (uint32_t)(next_random(&random) % 57) : 64;
        uint32_t const period = periods[next_random(&random) % 4];
        struct rm_counting counting;
        rm_counting_init(&counting, bits, records, period, offsets[next_random(&random) % 5]);
        for (int j = 0; j < 8; ++j) {
            rm_turn const due = near_an_edge(&random) % (RM_TURN_END + 101);
            uint64_t const raw = next_random(&random) % 2 ? near_an_edge(&random) / (records ? period : 1)
                                                          : (due - (uint64_t)counting.offset_turns) / period;
            uint64_t const counter = bits == 64 ? raw : raw & ((1ull << bits) - 1);
            bool const readable = counter < (records ? RM_TURN_END / period : RM_TURN_END);
            __int128 const meant = meant_by(&counting, counter, due);
            rm_turn const expected = readable ? seen_of(&counting, meant) : RM_TURN_NONE;
            rm_turn const turn = rm_counting_turn(&counting, counter, due);
            /* As far above what is due as below: either is right. */
            bool const tie = counting.lap_turns != 0 && meant == (__int128)due + counting.half_lap &&
                             turn == seen_of(&counting, meant - counting.lap_turns);
            if (turn != expected && !tie)
                fail_msg("%u bits, period %u, offset %lld: counter %llu near %llu means %llu, not %llu", bits, period,
                         (long long)counting.offset_turns, (unsigned long long)counter, (unsigned long long)due,
                         (unsigned long long)expected, (unsigned long long)turn);
            told += turn != RM_TURN_NONE;
        }
    }
    assert_in_range(told, 100000, 700000); // both are tried often
}

static void a_counter_whose_lap_outlasts_all_machines_tells_the_turn(void **state) {
    (void)state;
    struct rm_counting counting;
    rm_counting_init(&counting, 47, true, 65536, 0);
    assert_true(counting.tells);
    rm_counting_init(&counting, 47, true, 1, 0);
    assert_false(counting.tells);
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
        cmocka_unit_test(at_every_edge_the_turn_is_right_or_none),
        cmocka_unit_test(a_counter_whose_lap_outlasts_all_machines_tells_the_turn),
        cmocka_unit_test(the_first_lap_begins_at_turn_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
