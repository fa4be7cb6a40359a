// SPDX-License-Identifier: Apache-2.0
/** Every instruction set gives the bits of the scalar one, at any length and alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/guard_pass.h"

enum { LONGEST = 70, ROUNDS = 4000 };

struct supplies {
    double value[LONGEST], low[LONGEST], high[LONGEST], setpoint[LONGEST], step[LONGEST], target[LONGEST];
    float sent_low[LONGEST], sent_high[LONGEST], sent[LONGEST];
};

/** Few numbers, so that they often meet, and those that are easily got wrong. */
static double any_number(void) {
    static double const odd[] = {0.0,      -0.0,      5e-324, -5e-324, 1e-40, -1e-40,
                                 INFINITY, -INFINITY, NAN,    3e38,    -3e38, 1e300};
    long const pick = random();
    if (pick % 4 == 0)
        return odd[(pick / 4) % (long)(sizeof odd / sizeof odd[0])];
    return (double)(pick % 41 - 20) * 0.1;
}

static void make_up(struct supplies *supplies) {
    for (int i = 0; i < LONGEST; ++i) {
        supplies->value[i] = any_number();
        supplies->low[i] = any_number();
        supplies->high[i] = any_number();
        supplies->setpoint[i] = any_number();
        supplies->step[i] = fabs(any_number());
        supplies->target[i] = any_number();
        supplies->sent_low[i] = (float)any_number();
        supplies->sent_high[i] = (float)any_number();
        supplies->sent[i] = 7;
    }
}

static struct rm_guard_taking pass(enum rm_simd simd, struct supplies *s, uint32_t at, uint32_t count) {
    struct rm_guard_passes const passes = rm_guard_passes_for(simd);
    struct rm_guard_taking const taking =
        passes.take(count, s->value + at, s->low + at, s->high + at, s->setpoint + at, s->step + at, s->target + at);
    passes.step(count, s->target + at, s->setpoint + at, s->step + at, s->sent_low + at, s->sent_high + at,
                s->sent + at);
    return taking;
}

static void all_give_the_same_bits(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; ++round) {
        struct supplies made;
        make_up(&made);
        uint32_t const at = (uint32_t)(random() % 9);
        uint32_t const count = (uint32_t)(random() % (LONGEST - 8));
        struct supplies expected = made;
        struct rm_guard_taking const scalar = pass(RM_SIMD_SCALAR, &expected, at, count);
        for (enum rm_simd simd = RM_SIMD_AVX2; simd <= rm_simd_best(); ++simd) {
            struct supplies got = made;
            struct rm_guard_taking const taking = pass(simd, &got, at, count);
            assert_memory_equal(&taking, &scalar, sizeof taking);
            assert_memory_equal(&got, &expected, sizeof got);
        }
    }
}

/** What no comparison is true of does not go out, and neither does what is beyond. */
static void nothing_beyond_the_limits_is_sent(void **state) {
    (void)state;
    double const target[] = {NAN, 4, -4, INFINITY, -INFINITY, 0.5};
    float const least[] = {-1, -1, -1, -1, -1, -1}, most[] = {1, 1, 1, 1, 1, 1};
    for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd) {
        double setpoint[] = {NAN, 3, -3, INFINITY, -INFINITY, 0};
        double const step[] = {1, 1, 1, 1, 1, 1};
        float sent[6];
        rm_guard_passes_for(simd).step(6, target, setpoint, step, least, most, sent);
        float const expected[] = {-1, 1, -1, 1, -1, 0.5f};
        assert_memory_equal(sent + 1, expected + 1, sizeof sent - sizeof sent[0]);
        assert_true(sent[0] >= -1 && sent[0] <= 1);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(all_give_the_same_bits),
        cmocka_unit_test(nothing_beyond_the_limits_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
