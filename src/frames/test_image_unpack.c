// SPDX-License-Identifier: Apache-2.0
/** Whole images as programs unpack them: lines with padding, and sizes that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <ringmaster/pixels.h>

#include "frames/pixels.h"

enum { MONO8 = 0x01080001, MONO12P = 0x010C0047 };

static void test_find(void **state) {
    (void)state;
    struct rm_pixels pixels;
    for (size_t i = 0; rm_pixel_format_at(i) != NULL; ++i) {
        struct rm_pixel_format const *const format = rm_pixel_format_at(i);
        assert_true(rm_pixels_find(format->number, &pixels));
        assert_string_equal(pixels.name, format->name);
        assert_int_equal(pixels.bits, rm_pixel_bits(format->packing));
        uint64_t const line = rm_pixels_line_bytes(format->number, 64);
        assert_int_equal(line, rm_pixel_line_bytes(format->packing, 64));
        assert_true(pixels.bytes == 0 ? line == 80 || line == 96 : line == 64 * pixels.bytes);
    }
    assert_false(rm_pixels_find(0, &pixels));
    assert_int_equal(rm_pixels_line_bytes(0, 64), 0);
    assert_int_equal(rm_pixels_line_bytes(MONO8, UINT32_MAX), 0);
}

/** Three pixels of 12 bits take five bytes; two bytes of padding stand between the lines. */
static void test_lines_with_padding(void **state) {
    (void)state;
    uint8_t const bytes[] = {0x21, 0x43, 0x65, 0x87, 0x09, 0xEE, 0xEE, 0xBA, 0xDC, 0xFE, 0x10, 0x02};
    uint16_t const expected[] = {0x321, 0x654, 0x987, 0xCBA, 0xFED, 0x210};
    uint16_t values[7] = {[6] = 0xABCD};
    assert_true(rm_pixels_unpack(MONO12P, 3, 2, 2, bytes, sizeof bytes, values));
    assert_memory_equal(values, expected, sizeof expected);
    assert_int_equal(values[6], 0xABCD);
}

static void test_sizes_that_do_not_fit(void **state) {
    (void)state;
    uint8_t const bytes[12] = {0};
    uint16_t values[6];
    assert_false(rm_pixels_unpack(MONO12P, 3, 2, 2, bytes, 11, values));
    assert_false(rm_pixels_unpack(MONO12P, 3, 2, 3, bytes, 12, values));
    assert_false(rm_pixels_unpack(MONO12P, 3, UINT32_MAX, UINT32_MAX, bytes, 12, values));
    assert_false(rm_pixels_unpack(MONO12P, 3, 0, 0, bytes, 12, values));
    assert_false(rm_pixels_unpack(MONO12P, 0, 2, 0, bytes, 12, values));
    assert_false(rm_pixels_unpack(MONO8, UINT32_MAX, 1, 0, bytes, 12, values));
    assert_false(rm_pixels_unpack(0, 3, 2, 0, bytes, 12, values));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_lines_with_padding),
        cmocka_unit_test(test_sizes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
