// SPDX-License-Identifier: Apache-2.0
/** Decimators in a row: the definition, turns and delays, counts of missing records, status, late starts, inputs of
 * another period. */
#include "filter/test_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rm_decimator_input const floats = {.period = 1, .float_lanes = ALL_LANES_FLOAT};

static struct {
    char const *form;
    uint32_t decimations[ROW_MAX + 1];
} const rows[] = {
    {"low_latency", {12, 10}}, {"sharp", {12, 10}}, {"sharp", {2, 3}}, {"low_latency", {4, 5, 2}}, {"sharp", {8}}};
enum { ROWS = sizeof rows / sizeof rows[0], TURNS = 6000 };

static float value_at(rm_turn turn) { return (float)(int32_t)((uint32_t)turn * 2654435761u) * 1e-3f; }

/** A status now and then. */
static uint16_t status_at(rm_turn turn) { return turn % 611 == 17 ? (uint16_t)(1u << turn / 611 % 16) : 0; }

static struct rm_record input_at(rm_turn turn) {
    struct rm_record record = record_of(turn, value_at(turn));
    record.tag = rm_tag_full_rate(turn << 16, status_at(turn));
    return record;
}

/** Filters and decimates `count` values that begin with turn 0, as decimator.h defines it. Gives outputs whose taps all
 * lie in them; the first is number *first. Returns how many. */
static uint32_t define(struct rm_fir_design const *design, float const *value, uint32_t first_value, uint32_t count,
                       float *output, uint32_t *first) {
    uint32_t made = 0;
    *first = (first_value + design->centre + design->decimation - 1) / design->decimation;
    for (uint32_t number = *first;; ++number) {
        uint32_t const oldest = number * design->decimation - design->centre - first_value;
        if (oldest + design->taps > count)
            return made;
        float sum = 0;
        for (uint32_t i = 0; i < design->taps; ++i)
            sum = fmaf(tap(design, i), value[oldest + i], sum);
        output[made++] = sum;
    }
}

static void every_bit_is_as_defined(void **state) {
    (void)state;
    for (int r = 0; r < ROWS; ++r) {
        struct decimator_row row = row_of(rows[r].form, rows[r].decimations, rm_simd_best(), &floats);
        static float value[2][TURNS];
        uint32_t first = 0, count = TURNS;
        for (rm_turn turn = 0; turn < TURNS; ++turn)
            value[0][turn] = value_at(turn);
        for (uint32_t i = 0; i < row.count; ++i)
            count = define(row.stage[i].design, value[i % 2], first, count, value[(i + 1) % 2], &first);
        float const *const expected = value[row.count % 2];
        uint32_t compared = 0;
        for (rm_turn turn = 0; turn < TURNS; ++turn) {
            struct rm_record const input = input_at(turn);
            struct rm_decimated output;
            if (!row_push(&row, &input, &output) || output.record.turn < first * period_of(&row))
                continue;
            float const sum = expected[output.record.turn / period_of(&row) - first];
            assert_memory_equal(&output.record.lane[0].f, &sum, sizeof sum);
            ++compared;
        }
        assert_true(compared > 20);
        assert_int_equal(compared, count);
    }
}

static bool is_missing(rm_turn turn) { return turn % 101 == 7 || turn % 997 < 9 || (turn >= 3000 && turn < 3300); }

/** Records under the taps of a whole row: each counts once, though it reaches an output by many ways. */
static void counts_and_status_are_those_of_all_records_under_the_taps(void **state) {
    (void)state;
    for (int r = 0; r < ROWS; ++r) {
        struct decimator_row row = row_of(rows[r].form, rows[r].decimations, rm_simd_best(), &floats);
        uint64_t const reach = last_of(&row)->closing_turns;
        rm_turn const begin = 2468;
        struct rm_record const first = input_at(begin);
        rm_decimator_start(&row.stage[0], &first);
        uint32_t outputs = 0, whole = 0;
        for (rm_turn turn = begin; turn < begin + TURNS; ++turn) {
            struct rm_record const input = input_at(turn);
            struct rm_decimated output;
            if (!row_push(&row, is_missing(turn) ? NULL : &input, &output))
                continue;
            rm_turn const label = output.record.turn;
            assert_int_equal(label % period_of(&row), 0);
            assert_int_equal(label + reach, turn);
            uint32_t missing = 0, status = 0;
            for (rm_turn t = label - reach; t <= turn; ++t) {
                bool const there = t >= begin && !is_missing(t);
                missing += !there;
                status |= there ? status_at(t) : 0;
            }
            assert_int_equal(rm_tag_missing(output.record.tag), missing);
            assert_int_equal(rm_tag_status(output.record.tag), status);
            ++outputs;
            whole += missing == 0;
        }
        assert_true(outputs > 20 && whole < outputs);
    }
}

static void counts_stop_at_the_largest_that_fits(void **state) {
    (void)state;
    uint32_t const decimations[] = {12, 10, 10, 10, 0};
    struct decimator_row row = row_of("sharp", decimations, rm_simd_best(), &floats);
    struct rm_record const first = input_at(0);
    rm_decimator_start(&row.stage[0], &first);
    uint32_t outputs = 0;
    for (rm_turn turn = 0; turn < 400000; ++turn) {
        struct rm_decimated output;
        if (!row_push(&row, turn == 0 ? &first : NULL, &output))
            continue;
        assert_int_equal(rm_tag_missing(output.record.tag), 65535);
        ++outputs;
    }
    assert_true(outputs > 10);
}

/** A row that began later gives the same bits once no tap of any stage reaches before its start. */
static void the_start_is_forgotten(void **state) {
    (void)state;
    for (int r = 0; r < ROWS; ++r) {
        struct decimator_row early = row_of(rows[r].form, rows[r].decimations, rm_simd_best(), &floats);
        struct decimator_row late = early;
        rm_turn const start = 1037;
        uint32_t compared = 0, differed = 0;
        for (rm_turn turn = 0; turn < TURNS; ++turn) {
            struct rm_record const input = input_at(turn);
            struct rm_decimated a = {.record.turn = 0}, b = a;
            bool const closed = row_push(&early, &input, &a);
            if (turn == start)
                rm_decimator_start(&late.stage[0], &input);
            if (turn < start || !row_push(&late, &input, &b))
                continue;
            assert_true(closed);
            if (a.record.turn >= start + last_of(&early)->closing_turns) {
                assert_memory_equal(&a.record, &b.record, sizeof a.record);
                ++compared;
            } else {
                differed += memcmp(&a.record, &b.record, sizeof a.record) != 0;
            }
        }
        assert_true(compared > 10 && differed > 0);
    }
}

/** Records every 116 turns: the same values, at 116 times the turns. */
static void inputs_of_another_period_keep_step_with_the_turn_number(void **state) {
    (void)state;
    struct rm_decimator_input const sparse = {.period = 116, .float_lanes = ALL_LANES_FLOAT};
    for (int r = 0; r < ROWS; ++r) {
        struct decimator_row every = row_of(rows[r].form, rows[r].decimations, rm_simd_best(), &floats);
        struct decimator_row now_and_then = row_of(rows[r].form, rows[r].decimations, rm_simd_best(), &sparse);
        assert_int_equal(last_of(&now_and_then)->closing_turns, 116 * last_of(&every)->closing_turns);
        for (rm_turn number = 777; number < 777 + TURNS; ++number) {
            struct rm_record input = input_at(number), stretched = input;
            stretched.turn = 116 * number;
            if (number == 777) {
                rm_decimator_start(&every.stage[0], &input);
                rm_decimator_start(&now_and_then.stage[0], &stretched);
            }
            struct rm_decimated a, b;
            bool const closed = row_push(&every, &input, &a);
            assert_int_equal(row_push(&now_and_then, &stretched, &b), closed);
            if (!closed)
                continue;
            assert_int_equal(b.record.turn, 116 * a.record.turn);
            assert_int_equal(b.record.tag, a.record.tag);
            assert_memory_equal(b.record.lane, a.record.lane, sizeof a.record.lane);
        }
    }
}

enum { GONE = 2000, BACK = 2700 }; /* an outage: the first stage begins anew, the second bridges */

/** Of what went into an output: all that was missing is in its count, and little more. */
static void expect_count(struct rm_decimator const *second, struct rm_record const *output) {
    uint64_t const reach = second->closing_turns, slack = second->own.span + second->own.weight - 1;
    if (output->turn < reach)
        return;
    uint32_t missing = 0;
    for (rm_turn t = output->turn - reach; t <= output->turn + reach; ++t)
        missing += t >= GONE && t < BACK;
    assert_in_range(rm_tag_missing(output->tag), missing, missing + (missing == 0 ? 0 : slack));
}

/** Pushes what left the first stage into the second, after what never did. Returns how many that was. */
static uint32_t bridge(struct rm_decimator *second, struct rm_decimated const *input) {
    struct rm_decimated output;
    uint32_t bridged = 0;
    if (second->own.next_turn == RM_TURN_NONE)
        rm_decimator_start_decimated(second, input);
    for (; second->own.next_turn < input->record.turn; ++bridged)
        if (rm_decimator_push(second, NULL, &output))
            expect_count(second, &output.record);
    if (rm_decimator_push_decimated(second, input, &output))
        expect_count(second, &output.record);
    return bridged;
}

static void inputs_that_were_never_made_count_as_missing(void **state) {
    (void)state;
    for (int r = 0; r < ROWS; ++r) {
        struct decimator_row row = row_of(rows[r].form, rows[r].decimations, rm_simd_best(), &floats);
        uint32_t bridged = 0;
        if (row.count != 2)
            continue;
        for (rm_turn turn = 0; turn < TURNS; turn = turn + 1 == GONE ? BACK : turn + 1) {
            struct rm_record const input = input_at(turn);
            struct rm_decimated inner;
            if (turn == BACK)
                rm_decimator_start(&row.stage[0], &input);
            if (rm_decimator_push(&row.stage[0], &input, &inner))
                bridged += bridge(&row.stage[1], &inner);
        }
        assert_true(bridged > 10);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_bit_is_as_defined),
        cmocka_unit_test(counts_and_status_are_those_of_all_records_under_the_taps),
        cmocka_unit_test(counts_stop_at_the_largest_that_fits),
        cmocka_unit_test(the_start_is_forgotten),
        cmocka_unit_test(inputs_of_another_period_keep_step_with_the_turn_number),
        cmocka_unit_test(inputs_that_were_never_made_count_as_missing),
    };
    return cmocka_run_group_tests_name("decimator_row", tests, NULL, NULL);
}
