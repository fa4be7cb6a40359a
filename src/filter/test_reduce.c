// SPDX-License-Identifier: Apache-2.0
/** Lanes that are reduced and not filtered: every kind, alone and in a row, with inputs missing. */
#include "filter/test_row.h"

#include <math.h>
#include <string.h>

#include <ringmaster/stream.h>

enum { LANES_USED = 9, TURNS = 4000 };

/** Lanes 0–4 are i32: last, or, and, min, max; 5–7 f32: last, min, max; 8 is filtered. */
static struct rm_decimator_input const lanes = {
    .period = 1,
    .float_lanes = 0xE0,
    .reduction = {RM_REDUCE_LAST, RM_REDUCE_OR, RM_REDUCE_AND, RM_REDUCE_MIN, RM_REDUCE_MAX, RM_REDUCE_LAST,
                  RM_REDUCE_MIN, RM_REDUCE_MAX, RM_REDUCE_FIR},
};

static uint32_t hash(uint64_t value) { return (uint32_t)((value * 0x9E3779B97F4A7C15ull) >> 32); }

/** What is reduced to its least grows on the whole, and the other way about: anything older shows. */
static struct rm_record input_at(rm_turn turn) {
    struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(turn, 0)};
    union rm_lane *const lane = record.lane;
    int32_t const now = (int32_t)turn * 16;
    lane[0].i = (int32_t)hash(turn);
    lane[1].i = (int32_t)(1u << turn / 12 % 32);
    lane[2].i = ~lane[1].i;
    lane[3].i = now + (int32_t)(hash(turn + 1) % 512);
    lane[4].i = -now - (int32_t)(hash(turn + 2) % 512);
    lane[5].f = hash(turn + 3) % 7 == 0 ? NAN : (float)turn;
    lane[6].f = hash(turn + 4) % 7 == 0 ? NAN : (float)(now + (int32_t)(hash(turn + 5) % 512));
    lane[7].f = hash(turn + 6) % 7 == 0 ? NAN : (float)(-now - (int32_t)(hash(turn + 7) % 512));
    lane[8].i = (int32_t)hash(turn + 8);
    return record;
}

/** The definition: the records of [first, end) that are there; else the last before. */
static void expect_reduced(struct rm_record const *output, rm_turn first, rm_turn end, bool (*missing)(rm_turn)) {
    while (first > 0 && missing(end - 1))
        --end;
    bool any = false;
    struct rm_record expected = {.turn = 0};
    for (rm_turn turn = end > first ? first : end - 1; turn < end; ++turn) {
        if (missing(turn))
            continue;
        struct rm_record const input = input_at(turn);
        union rm_lane *const lane = expected.lane;
        if (!any) {
            expected = input;
            any = true;
            continue;
        }
        lane[0] = input.lane[0];
        lane[1].i |= input.lane[1].i;
        lane[2].i &= input.lane[2].i;
        lane[3].i = input.lane[3].i < lane[3].i ? input.lane[3].i : lane[3].i;
        lane[4].i = input.lane[4].i > lane[4].i ? input.lane[4].i : lane[4].i;
        lane[5] = input.lane[5];
        lane[6].f = fminf(lane[6].f, input.lane[6].f);
        lane[7].f = fmaxf(lane[7].f, input.lane[7].f);
    }
    for (unsigned lane = 0; lane < LANES_USED - 1; ++lane) {
        bool const nan = (lane == 6 || lane == 7) && isnan(expected.lane[lane].f);
        if (nan)
            assert_true(isnan(output->lane[lane].f));
        else
            assert_int_equal(output->lane[lane].i, expected.lane[lane].i);
    }
}

static bool none(rm_turn turn) {
    (void)turn;
    return false;
}

/** The long ones begin before turns 1080 and 2400, so that what went before must not be taken for what came after. */
static bool some(rm_turn turn) {
    return turn % 13 == 3 || turn % 97 < 5 || (turn >= 1070 && turn < 1115) || (turn >= 2390 && turn < 2530);
}

static void run(char const *form, uint32_t const *decimations, bool (*missing)(rm_turn)) {
    struct decimator_row row = row_of(form, decimations, rm_simd_best(), &lanes);
    rm_turn const begin = 241;
    struct rm_record const first = input_at(begin);
    rm_decimator_start(&row.stage[0], &first);
    uint32_t compared = 0;
    for (rm_turn turn = begin; turn < begin + TURNS; ++turn) {
        struct rm_record const input = input_at(turn);
        struct rm_decimated output;
        if (!row_push(&row, missing(turn) ? NULL : &input, &output) || output.record.turn < begin)
            continue;
        expect_reduced(&output.record, output.record.turn, output.record.turn + period_of(&row), missing);
        ++compared;
    }
    assert_true(compared >= 15);
}

static void outputs_hold_what_their_turns_held(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d)
        run(rm_fir_designs[d].name, (uint32_t[]){rm_fir_designs[d].decimation, 0}, none);
    run("low_latency", (uint32_t[]){12, 10, 0}, none);
    run("sharp", (uint32_t[]){12, 10, 0}, none);
    run("sharp", (uint32_t[]){2, 3, 4, 0}, none);
}

static void missing_inputs_do_not_take_part(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d)
        run(rm_fir_designs[d].name, (uint32_t[]){rm_fir_designs[d].decimation, 0}, some);
    run("low_latency", (uint32_t[]){12, 10, 0}, some);
    run("sharp", (uint32_t[]){12, 10, 0}, some);
}

/** The fault of one turn is in one record of each rate, the one that has its turn. */
static void a_bit_of_one_turn_shows_at_every_rate(void **state) {
    (void)state;
    uint32_t const decimations[] = {12, 10, 10, 0};
    struct rm_decimator_input const flags = {.period = 1, .reduction = {RM_REDUCE_OR, RM_REDUCE_AND}};
    for (rm_turn tripped = 24000; tripped < 24120; tripped += 17) {
        struct decimator_row row = row_of("sharp", decimations, rm_simd_best(), &flags);
        uint32_t seen = 0;
        for (rm_turn turn = 0; turn < 48000; ++turn) {
            struct rm_record input = {.turn = turn};
            input.lane[0].i = turn == tripped ? 0x40 : 0;
            input.lane[1].i = turn == tripped ? 0x0F : 0xFF;
            struct rm_decimated output;
            if (!row_push(&row, &input, &output))
                continue;
            bool const shows = output.record.turn == tripped / 1200 * 1200;
            assert_int_equal(output.record.lane[0].i, shows ? 0x40 : 0);
            assert_int_equal(output.record.lane[1].i, shows ? 0x0F : 0xFF);
            seen += shows;
        }
        assert_int_equal(seen, 1);
    }
}

/** A filtered lane beside reduced ones has the bits that it has alone. */
static void filtered_lanes_do_not_notice(void **state) {
    (void)state;
    uint32_t const decimations[] = {12, 10, 0};
    struct rm_decimator_input const plain = {.period = 1, .float_lanes = lanes.float_lanes};
    struct decimator_row with = row_of("sharp", decimations, rm_simd_best(), &lanes);
    struct decimator_row without = row_of("sharp", decimations, rm_simd_best(), &plain);
    uint32_t compared = 0;
    for (rm_turn turn = 0; turn < TURNS; ++turn) {
        struct rm_record const input = input_at(turn);
        struct rm_decimated a, b;
        bool const closed = row_push(&with, &input, &a);
        assert_int_equal(row_push(&without, &input, &b), closed);
        if (!closed)
            continue;
        assert_int_equal(a.record.lane[8].i, b.record.lane[8].i);
        assert_int_equal(a.record.tag, b.record.tag);
        ++compared;
    }
    assert_true(compared > 20);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(outputs_hold_what_their_turns_held),
        cmocka_unit_test(missing_inputs_do_not_take_part),
        cmocka_unit_test(a_bit_of_one_turn_shows_at_every_rate),
        cmocka_unit_test(filtered_lanes_do_not_notice),
    };
    return cmocka_run_group_tests_name("reduce", tests, NULL, NULL);
}
