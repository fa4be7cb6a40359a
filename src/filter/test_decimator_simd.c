// SPDX-License-Identifier: Apache-2.0
/** A vector version, named by the argument, gives the bits of the scalar reference, whatever comes in. */
#include "filter/test_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/stream.h>

enum { TURNS = 6000, MESON_SKIP = 77 };

static uint64_t random_bits(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/** Mostly ordinary numbers; with `wild`, now and then one that breaks careless arithmetic. */
static union rm_lane random_lane(uint64_t *seed, bool is_float, bool wild) {
    static int32_t const wild_integer[] = {INT32_MIN, INT32_MAX, INT32_MIN + 1, 16777217, -16777217, 33554435, 0, -1};
    static uint32_t const wild_float[] = {
        0x00000001, /* smallest denormal */
        0x807FFFFF, /* largest denormal, negative */
        0x80000000, /* -0 */
        0x7F7FFFFF, /* largest number */
        0xFF7FFFFF, /* and its negative: their sum overflows on the way or not, by the order */
        0x7F800000, /* infinity */
        0xFF800000, /* and its negative: together not a number */
        0x7FC12345, /* quiet NaN with a payload */
        0xFFA54321, /* signalling NaN */
    };
    uint64_t const bits = random_bits(seed);
    uint32_t const choice = (uint32_t)(bits >> 32);
    if (wild && choice % 256 == 0)
        return is_float ? (union rm_lane){.i = (int32_t)wild_float[bits % (sizeof wild_float / sizeof wild_float[0])]}
                        : (union rm_lane){.i = wild_integer[bits % (sizeof wild_integer / sizeof wild_integer[0])]};
    if (is_float)
        return (union rm_lane){.f = (float)(int32_t)(uint32_t)bits * (choice & 1 ? 1e-3f : 1e-41f)};
    return (union rm_lane){.i = (int32_t)(uint32_t)bits >> choice % 24};
}

static struct rm_record random_record(uint64_t *seed, rm_turn turn, uint16_t float_lanes, bool wild) {
    struct rm_record record = {.turn = turn, .tag = random_bits(seed)};
    for (int lane = 0; lane < RM_LANES; ++lane)
        record.lane[lane] = random_lane(seed, float_lanes >> lane & 1, wild);
    return record;
}

static void compare(enum rm_simd simd, struct rm_fir_design const *design, uint16_t float_lanes, bool wild) {
    struct rm_decimator reference, candidate;
    struct rm_decimator_input input_lanes = {.period = 1, .float_lanes = float_lanes};
    input_lanes.reduction[5] = wild ? RM_REDUCE_MAX : RM_REDUCE_FIR; /* must not disturb its neighbours */
    rm_decimator_init(&reference, design, RM_SIMD_SCALAR, &input_lanes);
    rm_decimator_init(&candidate, design, simd, &input_lanes);
    uint64_t seed = 0x9E3779B97F4A7C15ull + float_lanes;
    uint32_t outputs = 0;
    rm_turn turn = 123456789;
    for (uint32_t i = 0; i < TURNS; ++i, ++turn) {
        bool const restart = i % 1500 == 0;
        turn += restart ? 4711 : 0;
        struct rm_record const input = random_record(&seed, turn, float_lanes, wild);
        if (restart) {
            rm_decimator_start(&reference, &input);
            rm_decimator_start(&candidate, &input);
        }
        bool const missing = !restart && random_bits(&seed) % 16 == 0;
        struct rm_record expected, output;
        bool const closed = push(&reference, missing ? NULL : &input, &expected);
        assert_int_equal(push(&candidate, missing ? NULL : &input, &output), closed);
        if (!closed)
            continue;
        assert_memory_equal(&output, &expected, sizeof output);
        ++outputs;
    }
    assert_in_range(outputs, TURNS / design->decimation - 4,
                    TURNS / design->decimation + 4); /* 4 starts amid a group */
}

static void gives_the_bits_of_the_reference(void **state) {
    enum rm_simd const simd = *(enum rm_simd const *)*state;
    static uint16_t const float_lanes[] = {0x000, 0xFFF, 0x5A5, 0x00F, 0xFF0, 0x801};
    for (int d = 0; d < RM_FIR_DESIGNS; ++d)
        for (size_t i = 0; i < sizeof float_lanes / sizeof float_lanes[0]; ++i)
            for (int wild = 0; wild < 2; ++wild)
                compare(simd, &rm_fir_designs[d], float_lanes[i], wild);
}

int main(int argc, char **argv) {
    enum rm_simd simd = RM_SIMD_AVX512;
    while (argc == 2 && simd > RM_SIMD_SCALAR && strcmp(argv[1], rm_simd_name(simd)) != 0)
        --simd;
    if (argc != 2 || simd == RM_SIMD_SCALAR) {
        fprintf(stderr, "usage: %s AVX2|AVX-512\n", argv[0]);
        return EXIT_FAILURE;
    }
    if (rm_simd_best() < simd) {
        fprintf(stderr, "SKIPPED: this CPU has no %s, so its bit-identity with the reference is NOT tested\n", argv[1]);
        return MESON_SKIP;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(gives_the_bits_of_the_reference, &simd),
    };
    return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
