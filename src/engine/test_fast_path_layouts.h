// SPDX-License-Identifier: Apache-2.0
/** Layouts of one record for tests of the fast path: some of every sort that it distinguishes. In each, the two bytes
 * before the last four are in no field. */
#ifndef RM_ENGINE_TEST_FAST_PATH_LAYOUTS_H
#define RM_ENGINE_TEST_FAST_PATH_LAYOUTS_H

#include "engine/test_receive_steps.h"
#include "wire/layout_parts.h"

enum fast_path_layout {
    /** Big-endian, every width, a counter of 32 bits; all of it in one register. */
    FAST_PATH_BIG,
    /** A counter of 12 bits, floats. */
    FAST_PATH_SHORT,
    /** A counter of 64 bits, lanes far apart, a constant at the end: by words. */
    FAST_PATH_WIDE,
    /** A counter of 16 bits amid a word, an id and a status of the same word. */
    FAST_PATH_SHIFTED,

    FAST_PATH_LAYOUTS,
};

/** UDP port of a layout. */
static inline uint16_t fast_path_port(enum fast_path_layout which) { return (uint16_t)(5000 + which); }

static struct rm_layout_description const fast_path_big = {
    .byte_order = RM_BIG_ENDIAN,
    .bytes = 42,
    .constant_count = 2,
    .constant = {{.at = 0, .type = RM_FIELD_U32, .value = 0xCAFE0001}, {.at = 11, .type = RM_FIELD_U8, .value = 0x5A}},
    .instrument_count = 1,
    .turn_count = 1,
    .id = {.present = true, .in = RM_IN_TURN, .at = 4, .type = RM_FIELD_U16, .shift = 4, .bits = 12},
    .status = {.present = true, .in = RM_IN_TURN, .at = 6, .type = RM_FIELD_U16},
    .counter = {.present = true, .in = RM_IN_TURN, .at = 12, .type = RM_FIELD_U32},
    .lane_count = 7,
    .lane = {{.at = 16, .type = RM_FIELD_I24},
             {.at = 19, .type = RM_FIELD_U32},
             {.at = 23, .type = RM_FIELD_I16},
             {.at = 25, .type = RM_FIELD_U8},
             {.at = 26, .type = RM_FIELD_I32},
             {.at = 30, .type = RM_FIELD_F32},
             {.at = 38, .type = RM_FIELD_I32}},
};

static struct rm_layout_description const fast_path_short = {
    .bytes = 18,
    .instrument_count = 1,
    .turn_count = 1,
    .id = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U8},
    .status = {.present = true, .in = RM_IN_TURN, .at = 1, .type = RM_FIELD_U8},
    .counter = {.present = true, .in = RM_IN_TURN, .at = 2, .type = RM_FIELD_U16, .bits = 12},
    .lane_count = 3,
    .lane = {{.at = 4, .type = RM_FIELD_F32}, {.at = 8, .type = RM_FIELD_F32}, {.at = 14, .type = RM_FIELD_F32}},
};

static struct rm_layout_description const fast_path_wide = {
    .bytes = 120,
    .constant_count = 3,
    .constant = {{.at = 0, .type = RM_FIELD_U16, .value = 0x4C42},
                 {.at = 60, .type = RM_FIELD_U16, .value = 0xFFFF},
                 {.at = 118, .type = RM_FIELD_U16, .value = 0x0D0A}},
    .instrument_count = 1,
    .instrument_at = 4,
    .turn_count = 1,
    .turn_at = 4,
    .id = {.present = true, .in = RM_IN_INSTRUMENT, .at = 0, .type = RM_FIELD_U32},
    .counter = {.present = true, .in = RM_IN_DATAGRAM, .at = 100, .type = RM_FIELD_U64},
    .lane_count = RM_LANES,
    .lane = {{.at = 0, .type = RM_FIELD_I32},
             {.at = 4, .type = RM_FIELD_I24},
             {.at = 8, .type = RM_FIELD_U24},
             {.at = 12, .type = RM_FIELD_U32},
             {.at = 24, .type = RM_FIELD_I16},
             {.at = 28, .type = RM_FIELD_U16},
             {.at = 32, .type = RM_FIELD_I8},
             {.at = 36, .type = RM_FIELD_U8},
             {.at = 60, .type = RM_FIELD_I32},
             {.at = 70, .type = RM_FIELD_I32},
             {.at = 80, .type = RM_FIELD_I32},
             {.at = 88, .type = RM_FIELD_I32}},
};

static struct rm_layout_description const fast_path_shifted = {
    .byte_order = RM_BIG_ENDIAN,
    .bytes = 16,
    .constant_count = 1,
    .constant = {{.at = 9, .type = RM_FIELD_U8, .value = 7}},
    .instrument_count = 1,
    .turn_count = 1,
    .id = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U32, .shift = 24},
    .status = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U32, .bits = 8},
    .counter = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U32, .shift = 8, .bits = 16},
    .lane_count = 2,
    .lane = {{.at = 4, .type = RM_FIELD_I32}, {.at = 12, .type = RM_FIELD_I32}},
};

static struct rm_layout_description const *const FAST_PATH_DESCRIPTION[FAST_PATH_LAYOUTS] = {
    [FAST_PATH_BIG] = &fast_path_big,
    [FAST_PATH_SHORT] = &fast_path_short,
    [FAST_PATH_WIDE] = &fast_path_wide,
    [FAST_PATH_SHIFTED] = &fast_path_shifted,
};

/** Compiles the layout for the way of reading that a rig of that lane has. */
static inline struct rm_layout *fast_path_compile(enum fast_path_layout which, enum rig_fast_path lane) {
    struct rm_layout *layout;
    struct rm_error error;
    if (rm_layout_compile(FAST_PATH_DESCRIPTION[which], &layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    if (lane == RIG_FAST_PATH_SHUT)
        rm_layout_read_by(layout, RM_BY_BYTES);
    else if (lane != RIG_FAST_PATH_AVX512 && lane != RIG_FAST_PATH_BEST)
        assert_true(rm_layout_read_by(layout, RM_BY_WORDS));
    return layout;
}

#endif
