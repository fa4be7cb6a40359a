// SPDX-License-Identifier: Apache-2.0
/** Every description that is refused, with the words. Each is a right one with one thing changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "wire/layout.h"

/** Two instruments of three turns, little-endian, 8 + 2 × 32 bytes. */
static struct rm_layout_description right(void) {
    return (struct rm_layout_description){
        .constant_count = 2,
        .constant = {{.at = 0, .type = RM_FIELD_U16, .value = 0xBEEF}, {.at = 2, .type = RM_FIELD_U8, .value = 1}},
        .instrument_count = 2,
        .instrument_at = 8,
        .instrument_stride = 32,
        .turn_count = 3,
        .turn_at = 2,
        .turn_stride = 10,
        .id = {.present = true, .in = RM_IN_INSTRUMENT, .at = 0, .type = RM_FIELD_U16},
        .counter = {.present = true, .in = RM_IN_DATAGRAM, .at = 4, .type = RM_FIELD_U32},
        .status = {.present = true, .in = RM_IN_TURN, .at = 8, .type = RM_FIELD_U16},
        .lane_count = 2,
        .lane = {{.at = 0, .type = RM_FIELD_I32}, {.at = 4, .type = RM_FIELD_F32}},
    };
}

static void expect(struct rm_layout_description const *description, char const *text) {
    struct rm_layout *layout = NULL;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_layout_compile(description, &layout, &error);
    assert_string_equal(error.text, text);
    assert_int_equal(code, RM_E_CONFIG);
    assert_null(layout);
}

/** `change` is made to a right description called `d`. */
#define EXPECT(change, text)                                                                                           \
    do {                                                                                                               \
        struct rm_layout_description d = right();                                                                      \
        change;                                                                                                        \
        expect(&d, text);                                                                                              \
    } while (0)

static void the_right_one_is_right(void **state) {
    (void)state;
    struct rm_layout_description const description = right();
    struct rm_layout *layout;
    assert_int_equal(rm_layout_compile(&description, &layout, NULL), RM_OK);
    assert_int_equal(rm_layout_payload_bytes(layout, 2), 72);
    rm_layout_free(layout);
}

static void numbers_out_of_range(void **state) {
    (void)state;
    EXPECT(d.bytes = 9217, "bytes: found 9217, expected 0 to 9216");
    EXPECT(d.lane_count = 0, "lanes: found 0, expected 1 to 12");
    EXPECT(d.lane_count = 13, "lanes: found 13, expected 1 to 12");
    EXPECT(d.constant_count = 9, "constants: found 9, expected 0 to 8");
    EXPECT(d.instrument_count = 1025, "instruments.count: found 1025, expected 0 to 1024");
    EXPECT(d.instrument_at = 9217, "instruments.at: found 9217, expected 0 to 9216");
    EXPECT(d.instrument_stride = UINT32_MAX, "instruments.stride: found 4294967295, expected 0 to 9216");
    EXPECT(d.turn_count = 0, "turns.count: found 0, expected 1 to 1024");
    EXPECT(d.turn_at = UINT32_MAX, "turns.at: found 4294967295, expected 0 to 9216");
    EXPECT(d.turn_stride = 9217, "turns.stride: found 9217, expected 0 to 9216");
    EXPECT(d.lane[1].at = UINT32_MAX, "lanes[1].at: found 4294967295, expected 0 to 9216");
    EXPECT(d.constant[1].at = 9217, "constants[1].at: found 9217, expected 0 to 9216");
    EXPECT(d.id.at = UINT32_MAX - 1, "id.at: found 4294967294, expected 0 to 9216");
}

static void fields_of_the_wrong_kind(void **state) {
    (void)state;
    EXPECT(d.counter.present = false, "counter: is missing, expected the field that counts records");
    EXPECT(d.counter.type = RM_FIELD_I32, "counter.type: expected an unsigned one: u8, u16, u24, u32 or u64");
    EXPECT(d.counter.type = RM_FIELD_F32, "counter.type: expected an unsigned one: u8, u16, u24, u32 or u64");
    EXPECT(d.counter.shift = 32, "counter.shift: found 32, expected 0 to 31");
    EXPECT(d.counter.bits = 33, "counter.bits: found 33, but 32 bits of 32 are left after the shift");
    EXPECT((d.counter.shift = 20, d.counter.bits = 13),
           "counter.bits: found 13, but 12 bits of 32 are left after the shift");
    EXPECT(d.id.type = RM_FIELD_U64, "id.type: found u64, expected u8, u16, u24 or u32");
    EXPECT(d.status.type = RM_FIELD_U64, "status.type: found u64, expected u8, u16, u24 or u32");
    EXPECT(d.status.type = RM_FIELD_U32, "status: has 32 bits, expected at most 16: choose them by shift and bits");
    EXPECT(d.lane[0].type = RM_FIELD_U64, "lanes[0].type: found u64, expected one of at most 32 bits");
    EXPECT(d.constant[0].type = RM_FIELD_I16, "constants[0].type: expected an unsigned one: u8, u16, u24, u32 or u64");
    EXPECT(d.constant[1].value = 256, "constants[1].value: does not fit 8 bits");
    EXPECT(d.constant[1].at = 1, "constants[1]: byte 1 has another value by a constant before it");
}

static void shapes_that_do_not_fit(void **state) {
    (void)state;
    EXPECT(d.turn_stride = 9, "turns.stride: found 9, expected at least 10, where a turn's last field ends");
    EXPECT(d.instrument_stride = 31,
           "instruments.stride: found 31, expected at least 32, where an instrument's last field ends");
    EXPECT((d.instrument_count = 0, d.instrument_stride = 0),
           "instruments.stride: found 0, expected at least 32, where an instrument's last field ends");
    EXPECT(d.bytes = 71, "bytes: the last field ends at byte 72 of 71, expected a payload of 72 to 9216");
    EXPECT((d.bytes = 73, d.instrument_count = 0),
           "bytes: leaves 65 for instruments of 32 each, expected a multiple, or instruments.count");
    EXPECT((d.bytes = 8, d.instrument_count = 0),
           "bytes: leaves 0 for instruments of 32 each, expected a multiple, or instruments.count");
    EXPECT((d.bytes = 80, d.counter.at = 77), "bytes: a field of the datagram ends at byte 81, beyond a payload of 80");
    EXPECT((d.instrument_count = 0, d.counter.at = 40),
           "bytes: a field of the datagram ends at byte 44, beyond a payload of 40");
    EXPECT((d.instrument_count = 1024, d.instrument_stride = 32),
           "instruments.count: 1024 instruments of 3 turns each, expected at most 1024 records");
    EXPECT((d.instrument_count = 300, d.instrument_stride = 32),
           "bytes: the last field ends at byte 9608 of 9608, expected a payload of 9608 to 9216");
    EXPECT((d.instrument_count = 0, d.instrument_at = 9200),
           "instruments: the first one ends at byte 9232, expected at most 9216");
}

static void a_payload_too_short_for_a_word(void **state) {
    (void)state;
    struct rm_layout_description const description = {
        .instrument_count = 1,
        .turn_count = 1,
        .counter = {.present = true, .in = RM_IN_TURN, .at = 0, .type = RM_FIELD_U16},
        .lane_count = 1,
        .lane = {{.at = 2, .type = RM_FIELD_I32}},
    };
    expect(&description, "bytes: the payload has 6, expected at least 8");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_right_one_is_right),         cmocka_unit_test(numbers_out_of_range),
        cmocka_unit_test(fields_of_the_wrong_kind),       cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(a_payload_too_short_for_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
