// SPDX-License-Identifier: Apache-2.0
/** Native datagrams: round trips, every length, every wrong header byte, records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

#include "wire/native.h"
#include "wire/test_guard_page.h"

static union rm_lane const lanes[RM_LANES] = {{.i = 1},         {.i = -2},    {.f = 0.5f}, {.i = INT32_MAX},
                                              {.i = INT32_MIN}, {.f = -3e8f}, {.i = 7},    {.i = 8},
                                              {.i = 9},         {.i = 10},    {.i = 11},   {.i = 0x0C0B}};

static void written_datagrams_parse(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    for (uint32_t lane_count = 1; lane_count <= RM_LANES; ++lane_count) {
        uint32_t const expected_length = RM_NATIVE_HEADER_BYTES + 4 * lane_count;
        uint8_t *const payload = guard - expected_length;
        uint32_t const length =
            rm_native_write(payload, RM_KIND_LLRF, 0xBEEF, 0x8001, UINT64_MAX - 1, lanes, lane_count);
        assert_int_equal(length, expected_length);

        struct rm_native native;
        assert_int_equal(rm_native_parse(payload, length, &native), RM_PORT_DECODED);
        assert_int_equal(native.kind, RM_KIND_LLRF);
        assert_int_equal(native.instrument, 0xBEEF);
        assert_int_equal(native.status, 0x8001);
        assert_true(native.turn == UINT64_MAX - 1);
        assert_int_equal(native.lane_count, lane_count);
        assert_ptr_equal(native.lanes, payload + RM_NATIVE_HEADER_BYTES);
        assert_memory_equal(native.lanes, lanes, 4 * lane_count);

        struct rm_record record;
        memset(&record, 0xA5, sizeof record);
        rm_native_record(&native, 77, 0x1234567890ABCDEFu, &record);
        assert_true(record.turn == 77);
        assert_true(record.tag == 0x1234567890ABCDEFu);
        assert_memory_equal(record.lane, lanes, 4 * lane_count);
        for (uint32_t lane = lane_count; lane < RM_LANES; ++lane)
            assert_int_equal(record.lane[lane].i, 0);
    }
    guard_page_free(guard);
}

static void impossible_lane_counts_write_nothing(void **state) {
    (void)state;
    uint8_t payload[RM_NATIVE_LONGEST] = {0};
    uint8_t const untouched[RM_NATIVE_LONGEST] = {0};
    assert_int_equal(rm_native_write(payload, RM_KIND_BPM, 1, 0, 1, lanes, 0), 0);
    assert_int_equal(rm_native_write(payload, RM_KIND_BPM, 1, 0, 1, lanes, RM_LANES + 1), 0);
    assert_memory_equal(payload, untouched, sizeof payload);
}

static enum rm_port_counter expected_for_length(uint32_t length) {
    if (length < RM_NATIVE_SHORTEST)
        return RM_PORT_TOO_SHORT;
    if (length > RM_NATIVE_LONGEST)
        return RM_PORT_TOO_LONG;
    return length % 4 ? RM_PORT_BAD_LENGTH : RM_PORT_DECODED;
}

static void every_length_is_judged_without_reading_on(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    assert_non_null(guard);
    uint8_t payload[2 * RM_NATIVE_LONGEST] = {0};
    rm_native_write(payload, RM_KIND_BPM, 1, 0, 1, lanes, RM_LANES);
    for (uint32_t length = 0; length <= sizeof payload; ++length) {
        struct rm_native native;
        uint8_t const *const copy = guard_page_copy(guard, payload, length);
        assert_int_equal(rm_native_parse(copy, length, &native), expected_for_length(length));
    }
    struct rm_native native;
    assert_int_equal(rm_native_parse(guard, UINT32_MAX, &native), RM_PORT_TOO_LONG);
    guard_page_free(guard);
}

static void assert_judged(uint32_t offset, uint8_t value, enum rm_port_counter expected) {
    uint8_t payload[RM_NATIVE_LONGEST];
    struct rm_native native;
    uint32_t const length = rm_native_write(payload, RM_KIND_BPM, 1, 0, 1, lanes, 4);
    payload[offset] = value;
    assert_int_equal(rm_native_parse(payload, length, &native), expected);
}

static void every_wrong_header_byte_is_named(void **state) {
    (void)state;
    for (unsigned value = 0; value <= 0xFF; ++value) {
        uint8_t const byte = (uint8_t)value;
        bool const known_kind = byte >= RM_KIND_BPM && byte <= RM_KIND_POWER_SUPPLY;
        assert_judged(0, byte, byte == 'R' ? RM_PORT_DECODED : RM_PORT_BAD_MAGIC);
        assert_judged(1, byte, byte == 'M' ? RM_PORT_DECODED : RM_PORT_BAD_MAGIC);
        assert_judged(2, byte, byte == RM_NATIVE_VERSION ? RM_PORT_DECODED : RM_PORT_UNKNOWN_VERSION);
        assert_judged(3, byte, known_kind ? RM_PORT_DECODED : RM_PORT_UNKNOWN_KIND);
        for (uint32_t free_offset = 4; free_offset < RM_NATIVE_HEADER_BYTES; ++free_offset)
            assert_judged(free_offset, byte, RM_PORT_DECODED);
    }
}

static void length_is_judged_before_magic_before_version_before_kind(void **state) {
    (void)state;
    uint8_t payload[RM_NATIVE_LONGEST] = {0};
    struct rm_native native;
    assert_int_equal(rm_native_parse(payload, 21, &native), RM_PORT_BAD_LENGTH);
    assert_int_equal(rm_native_parse(payload, 24, &native), RM_PORT_BAD_MAGIC);
    memcpy(payload, "RM", 2);
    assert_int_equal(rm_native_parse(payload, 24, &native), RM_PORT_UNKNOWN_VERSION);
    payload[2] = RM_NATIVE_VERSION;
    assert_int_equal(rm_native_parse(payload, 24, &native), RM_PORT_UNKNOWN_KIND);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(written_datagrams_parse),
        cmocka_unit_test(impossible_lane_counts_write_nothing),
        cmocka_unit_test(every_length_is_judged_without_reading_on),
        cmocka_unit_test(every_wrong_header_byte_is_named),
        cmocka_unit_test(length_is_judged_before_magic_before_version_before_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
