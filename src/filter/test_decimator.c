// SPDX-License-Identifier: Apache-2.0
#include "filter/test_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rm_decimator ready(struct rm_fir_design const *design) {
    struct rm_decimator decimator;
    init(&decimator, design, rm_simd_best(), ALL_LANES_FLOAT);
    return decimator;
}

static float noise(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed / 1e3f;
}

static void the_tables_say_what_the_designs_are(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        struct rm_fir_design const *const design = &rm_fir_designs[d];
        assert_int_equal(design->centre, (design->taps - 1) / 2);
        assert_int_equal(design->overlap * design->decimation, design->taps + 1);
        assert_int_equal(design->centre % design->decimation, design->decimation - 1);
        double sum = 0;
        for (uint32_t i = 0; i < design->taps; ++i) {
            assert_true(tap(design, i) == tap(design, design->taps - 1 - i));
            sum += (double)tap(design, i);
        }
        assert_true(fabs(sum - design->gain) < 1e-15);
        assert_true(fabs(design->gain - 1) <= 3e-8); /* half the last bit of the largest tap there is */
    }
}

/** An impulse at any turn comes out as the taps: in every output exactly the tap that the label turn calls for. */
static void an_impulse_gives_the_taps(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        struct rm_fir_design const *const design = &rm_fir_designs[d];
        for (rm_turn impulse = 600; impulse < 600 + design->decimation; ++impulse) {
            struct rm_decimator decimator = ready(design);
            struct rm_record output;
            uint32_t seen = 0;
            for (rm_turn turn = 0; turn < 1200; ++turn) {
                struct rm_record const input = record_of(turn, turn == impulse ? 1 : 0);
                if (!push(&decimator, &input, &output))
                    continue;
                int64_t const index = (int64_t)impulse - (int64_t)output.turn + design->centre;
                bool const inside = index >= 0 && index < design->taps;
                assert_true(output.lane[0].f == (inside ? tap(design, (uint32_t)index) : 0));
                seen += inside;
            }
            assert_int_equal(seen, impulse % design->decimation == 0 ? design->overlap - 1 : design->overlap);
        }
    }
}

static void a_step_settles_at_the_gain(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        struct rm_decimator decimator = ready(&rm_fir_designs[d]);
        struct rm_record output = {.turn = RM_TURN_NONE};
        for (rm_turn turn = 0; turn < 480; ++turn) {
            struct rm_record const input = record_of(turn, 1000);
            push(&decimator, &input, &output);
        }
        assert_int_equal(output.turn, 479 - rm_fir_designs[d].centre);
        assert_true(fabs((double)output.lane[0].f - 1000 * rm_fir_designs[d].gain) < 1e-3);
        for (int lane = 1; lane < RM_LANES; ++lane)
            assert_int_equal(output.lane[lane].i, 0);
    }
}

static void outputs_close_on_the_last_turn_of_a_group(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        uint32_t const centre = rm_fir_designs[d].centre, decimation = rm_fir_designs[d].decimation;
        for (rm_turn start = 1000; start < 1000 + decimation; ++start) {
            struct rm_decimator decimator = ready(&rm_fir_designs[d]);
            struct rm_record output, input = record_of(start, 1);
            rm_decimator_start(&decimator, &input);
            for (; input.turn < start + 300; ++input.turn) {
                bool const closed = push(&decimator, &input, &output);
                assert_int_equal(closed, input.turn % decimation == decimation - 1);
                if (closed)
                    assert_int_equal(output.turn, input.turn - centre);
                if (closed)
                    assert_int_equal(output.turn % decimation, 0);
            }
        }
    }
}

static void outputs_centred_before_turn_zero_are_not_made(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        struct rm_decimator decimator = ready(&rm_fir_designs[d]);
        struct rm_record output, input = record_of(0, 1);
        rm_decimator_start(&decimator, &input);
        while (!push(&decimator, &input, &output))
            ++input.turn;
        assert_int_equal(input.turn, rm_fir_designs[d].centre);
        assert_int_equal(output.turn, 0);
    }
}

/** Two decimators that started at different turns give the same bits once no tap reaches before the later start. */
static void the_start_is_forgotten(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        rm_turn const later_start = 1037;
        struct rm_decimator early = ready(&rm_fir_designs[d]), late = ready(&rm_fir_designs[d]);
        uint32_t seed = 1, compared = 0, differed = 0;
        for (rm_turn turn = 1000; turn < 1600; ++turn) {
            struct rm_record input = record_of(turn, noise(&seed)), a, b;
            input.tag = rm_tag_full_rate(turn * 2246, 0);
            if (turn == 1000)
                rm_decimator_start(&early, &input);
            if (turn == later_start)
                rm_decimator_start(&late, &input);
            bool const closed = push(&early, &input, &a);
            if (turn < later_start)
                continue;
            assert_int_equal(push(&late, &input, &b), closed);
            if (!closed)
                continue;
            if (a.turn >= later_start + rm_fir_designs[d].centre) {
                assert_memory_equal(&a, &b, sizeof a);
                ++compared;
            } else {
                differed += memcmp(&a, &b, sizeof a) != 0;
            }
        }
        assert_true(compared > 20);
        assert_true(differed > 0);
    }
}

/** rm_decimator_start is a short cut for pushing the value over and over. */
static void a_start_is_a_long_past_of_the_same_value(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        for (rm_turn start = 1200; start < 1200 + rm_fir_designs[d].decimation; ++start) {
            struct rm_decimator slow = ready(&rm_fir_designs[d]), quick = ready(&rm_fir_designs[d]);
            struct rm_record first = record_of(start, 12345.678f), past = first, a, b;
            first.tag = rm_tag_full_rate(777 << 16, 0x8001);
            past.tag = rm_tag_full_rate(777 << 16, 0);
            for (past.turn = 0; past.turn < start - 1000; ++past.turn)
                push(&slow, &past, &a);
            while (slow.own.next_turn < start)
                push(&slow, NULL, &a);
            rm_decimator_start(&quick, &first);
            assert_int_equal(quick.own.next_turn, start);
            assert_memory_equal(&quick.sum[1], &slow.sum[1], sizeof quick.sum - sizeof quick.sum[0]);
            assert_memory_equal(quick.group_status, slow.group_status, sizeof quick.group_status);
            for (uint32_t i = 1; i < rm_fir_designs[d].overlap; ++i) {
                uint32_t const here = (quick.begun_at + i) % rm_fir_designs[d].overlap;
                uint32_t const there = (slow.begun_at + i) % rm_fir_designs[d].overlap;
                assert_int_equal(quick.output_status[here], slow.output_status[there]);
                assert_int_equal(quick.own.missing - quick.output_before[here],
                                 slow.own.missing - slow.output_before[there]);
            }

            uint32_t seed = 9;
            for (rm_turn turn = start; turn < start + 300; ++turn) {
                struct rm_record input = record_of(turn, noise(&seed));
                bool const closed = push(&quick, turn == start ? &first : &input, &a);
                assert_int_equal(push(&slow, turn == start ? &first : &input, &b), closed);
                if (closed)
                    assert_memory_equal(&a, &b, sizeof a);
            }
        }
    }
}

static void a_start_counts_the_past_as_missing(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        uint32_t const centre = rm_fir_designs[d].centre;
        struct rm_decimator decimator = ready(&rm_fir_designs[d]);
        struct rm_record output, input = record_of(5000, 1);
        rm_decimator_start(&decimator, &input);
        for (; input.turn < 5300; ++input.turn) {
            if (!push(&decimator, &input, &output))
                continue;
            int64_t const before_start = 5000 - (int64_t)(output.turn - centre);
            assert_int_equal(rm_tag_missing(output.tag), before_start > 0 ? before_start : 0);
        }
    }
}

/** The turns of these tests: some single ones missing, then a long gap. */
static bool is_missing(rm_turn turn) {
    return turn == 515 || turn == 516 || turn == 528 || turn % 97 == 3 || (turn >= 700 && turn < 950);
}

static void missing_turns_are_counted_under_the_taps_and_repeat_the_last_value(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        uint32_t const centre = rm_fir_designs[d].centre;
        struct rm_decimator decimator = ready(&rm_fir_designs[d]), filled = ready(&rm_fir_designs[d]);
        struct rm_record last = record_of(0, 0), output = last, reference = last;
        uint32_t seed = 3, outputs = 0;
        for (rm_turn turn = 0; turn < 1400; ++turn) {
            if (!is_missing(turn))
                last.lane[0].f = noise(&seed);
            last.turn = turn;
            bool const closed = push(&decimator, is_missing(turn) ? NULL : &last, &output);
            assert_int_equal(push(&filled, &last, &reference), closed);
            if (!closed)
                continue;
            uint16_t expected = 0;
            for (rm_turn t = output.turn > centre ? output.turn - centre : 0; t <= output.turn + centre; ++t)
                expected += is_missing(t);
            assert_int_equal(rm_tag_missing(output.tag), expected);
            assert_int_equal(rm_tag_missing(reference.tag), 0);
            assert_memory_equal(output.lane, reference.lane, sizeof output.lane);
            ++outputs;
        }
        assert_true(outputs > 100);
    }
}

static uint16_t status_within(rm_turn marked, uint16_t status, rm_turn output, uint32_t centre) {
    return marked + centre >= output && marked <= output + centre ? status : 0;
}

/** Turn `marked` has one status, turn `marked` + 40 another, all others none. */
static void mark_two_turns(struct rm_fir_design const *design, rm_turn marked) {
    struct rm_decimator decimator = ready(design);
    struct rm_record output;
    for (rm_turn turn = 0; turn < 1200; ++turn) {
        struct rm_record input = record_of(turn, 0);
        uint16_t const status = turn == marked ? 0x8001 : turn == marked + 40 ? 0x0100 : 0;
        input.tag = rm_tag_full_rate(0xFFFFFFFFFFFF, status);
        bool const missing = turn == marked + 1; /* must not repeat the status */
        if (!push(&decimator, missing ? NULL : &input, &output))
            continue;
        uint16_t const expected = status_within(marked, 0x8001, output.turn, design->centre) |
                                  status_within(marked + 40, 0x0100, output.turn, design->centre);
        assert_int_equal(rm_tag_status(output.tag), expected);
    }
}

/** One input with a status marks the outputs that it has a tap in, and no other. */
static void status_is_the_or_over_the_taps(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d)
        for (rm_turn marked = 600; marked < 600 + rm_fir_designs[d].decimation; ++marked)
            mark_two_turns(&rm_fir_designs[d], marked);
}

static void the_tag_has_the_time_of_the_last_input_that_was_there(void **state) {
    (void)state;
    struct rm_decimator decimator = ready(rm_fir_find("low_latency", 12));
    struct rm_record output = {.turn = 0};
    for (rm_turn turn = 0; turn < 24; ++turn) {
        struct rm_record input = record_of(turn, 0);
        input.tag = rm_tag_full_rate(turn << 16 | 0xABCD, 0);
        push(&decimator, turn >= 21 ? NULL : &input, &output);
    }
    assert_int_equal(output.turn, 12);
    assert_int_equal(output.tag, rm_tag_decimated(20 << 16, 0, 3));
}

/** A NaN or an infinity spoils its lane in the outputs it has a tap in, and nothing else. */
static void what_is_not_finite_leaves_with_its_taps(void **state) {
    (void)state;
    union rm_lane const bad[] = {{.i = (int32_t)0xFFA54321} /* signalling NaN */, {.f = INFINITY}, {.f = -INFINITY}};
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        uint32_t const centre = rm_fir_designs[d].centre;
        for (rm_turn spoilt = 600; spoilt < 636; ++spoilt) {
            struct rm_decimator decimator = ready(&rm_fir_designs[d]);
            struct rm_record output;
            for (rm_turn turn = 0; turn < 1200; ++turn) {
                struct rm_record input = record_of(turn, 1);
                input.lane[1].f = 1;
                if (turn == spoilt)
                    input.lane[0] = bad[spoilt / 12 % 3];
                if (!push(&decimator, &input, &output))
                    continue;
                bool const spoils = spoilt + centre >= output.turn && spoilt <= output.turn + centre;
                assert_int_equal(isfinite(output.lane[0].f), !spoils);
                assert_true(isfinite(output.lane[1].f));
                if (isnan(output.lane[0].f))
                    assert_int_equal(output.lane[0].i, 0x7FC00000);
            }
        }
    }
}

static void integer_lanes_are_converted_to_nearest_even(void **state) {
    (void)state;
    int32_t const value[][2] = {{16777217, 16777216}, {16777219, 16777220}, {-16777217, -16777216}, {1000001, 1000001}};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; ++i) {
        struct rm_decimator as_integer, as_float;
        init(&as_integer, rm_fir_find("sharp", 12), rm_simd_best(), 0x2);
        init(&as_float, rm_fir_find("sharp", 12), rm_simd_best(), 0x3);
        struct rm_record a = {.turn = 24}, b = {.turn = 24}, output_a = {.turn = 0}, output_b;
        a.lane[0].i = value[i][0];
        b.lane[0].f = (float)value[i][1];
        a.lane[1].f = b.lane[1].f = 0.1f;
        rm_decimator_start(&as_integer, &a);
        rm_decimator_start(&as_float, &b);
        for (; a.turn < 300; ++a.turn, ++b.turn) {
            bool const closed = push(&as_integer, &a, &output_a);
            push(&as_float, &b, &output_b);
            if (closed)
                assert_memory_equal(output_a.lane, output_b.lane, sizeof output_a.lane);
        }
        assert_true(fabs((double)output_a.lane[0].f / value[i][0] - 1) < 1e-5);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_tables_say_what_the_designs_are),
        cmocka_unit_test(an_impulse_gives_the_taps),
        cmocka_unit_test(a_step_settles_at_the_gain),
        cmocka_unit_test(outputs_close_on_the_last_turn_of_a_group),
        cmocka_unit_test(outputs_centred_before_turn_zero_are_not_made),
        cmocka_unit_test(the_start_is_forgotten),
        cmocka_unit_test(a_start_is_a_long_past_of_the_same_value),
        cmocka_unit_test(a_start_counts_the_past_as_missing),
        cmocka_unit_test(missing_turns_are_counted_under_the_taps_and_repeat_the_last_value),
        cmocka_unit_test(status_is_the_or_over_the_taps),
        cmocka_unit_test(the_tag_has_the_time_of_the_last_input_that_was_there),
        cmocka_unit_test(what_is_not_finite_leaves_with_its_taps),
        cmocka_unit_test(integer_lanes_are_converted_to_nearest_even),
    };
    return cmocka_run_group_tests_name("decimator", tests, NULL, NULL);
}
