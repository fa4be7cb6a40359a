// SPDX-License-Identifier: Apache-2.0
/** The table of formats; each packing against one written bit by bit; every instruction set against the reference, at
 * every width up to 150, right before a page that may not be touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/pixels.h"
#include "wire/test_guard_page.h"

enum { WIDEST = 150, ROUNDS = 3 };

static void every_format_is_found_by_name_and_number(void **state) {
    (void)state;
    bool seen[RM_PACKINGS][RM_PATTERNS] = {{false}};
    size_t count = 0;
    for (struct rm_pixel_format const *format; (format = rm_pixel_format_at(count)) != NULL; ++count) {
        assert_ptr_equal(rm_pixel_format_of(format->number), format);
        assert_ptr_equal(rm_pixel_format_named(format->name), format);
        assert_false(seen[format->packing][format->pattern]);
        seen[format->packing][format->pattern] = true;
        /* PFNC: the third byte is how many bits a pixel takes */
        assert_int_equal(rm_pixel_line_bytes(format->packing, 8), format->number >> 16 & 0xFF);
    }
    assert_int_equal(count, RM_PACKINGS * RM_PATTERNS);
    assert_null(rm_pixel_format_of(0));
    assert_null(rm_pixel_format_named("Mono9"));
}

static void lines_have_the_bytes_of_their_pixels(void **state) {
    (void)state;
    assert_int_equal(rm_pixel_line_bytes(RM_PACKING_8, 1441), 1441);
    assert_int_equal(rm_pixel_line_bytes(RM_PACKING_12, 1441), 2882);
    assert_int_equal(rm_pixel_line_bytes(RM_PACKING_10P, 5), 7);
    assert_int_equal(rm_pixel_line_bytes(RM_PACKING_12P, 3), 5);
    assert_int_equal(rm_pixel_line_bytes(RM_PACKING_12_PACKED, 3), 5);
    assert_int_equal(rm_pixel_line_bytes(RM_PACKING_RAW10, 5), 10);
    assert_int_equal(rm_pixel_line_bytes(RM_PACKING_RAW12, 3), 6);
    for (uint32_t packing = 0; packing < RM_PACKINGS; ++packing)
        assert_int_equal(rm_pixel_line_bytes((enum rm_pixel_packing)packing, 0), 0);
}

/** Where bit `bit` of pixel `i` is, as a bit of the line, counted from the lowest of byte 0. */
static uint32_t place_of_bit(enum rm_pixel_packing packing, uint32_t i, uint32_t bit) {
    switch (packing) {
    case RM_PACKING_8:
        return 8 * i + bit;
    case RM_PACKING_10:
    case RM_PACKING_12:
    case RM_PACKING_16:
        return 16 * i + bit;
    case RM_PACKING_10P:
        return 10 * i + bit;
    case RM_PACKING_12P:
        return 12 * i + bit;
    case RM_PACKING_10_PACKED: /* 9…2 in the first or last byte of three, 1…0 in the low or high half of the middle */
        return i / 2 * 24 + (bit >= 2 ? 16 * (i % 2) + bit - 2 : 8 + 4 * (i % 2) + bit);
    case RM_PACKING_12_PACKED:
        return i / 2 * 24 + (bit >= 4 ? 16 * (i % 2) + bit - 4 : 8 + 4 * (i % 2) + bit);
    case RM_PACKING_RAW10:
        return i / 4 * 40 + (bit >= 2 ? 8 * (i % 4) + bit - 2 : 32 + 2 * (i % 4) + bit);
    default:
        return i / 2 * 24 + (bit >= 4 ? 8 * (i % 2) + bit - 4 : 16 + 4 * (i % 2) + bit);
    }
}

static void make_line(uint8_t *line, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i)
        line[i] = (uint8_t)(random() >> 5);
}

static void the_reference_is_what_the_bits_say(void **state) {
    (void)state;
    struct rm_unpackers const unpack = rm_unpackers_for(RM_SIMD_SCALAR);
    for (uint32_t p = 0; p < RM_PACKINGS; ++p) {
        enum rm_pixel_packing const packing = (enum rm_pixel_packing)p;
        uint8_t line[2 * WIDEST], eight[WIDEST];
        uint16_t sixteen[WIDEST];
        make_line(line, sizeof line);
        unpack.to16(packing, line, WIDEST, sixteen);
        unpack.to8(packing, line, WIDEST, eight);
        for (uint32_t i = 0; i < WIDEST; ++i) {
            uint32_t value = 0;
            for (uint32_t bit = 0; bit < rm_pixel_bits(packing); ++bit) {
                uint32_t const at = place_of_bit(packing, i, bit);
                value |= (uint32_t)(line[at / 8] >> at % 8 & 1) << bit;
            }
            assert_int_equal(sixteen[i], value);
            assert_int_equal(eight[i], value >> (rm_pixel_bits(packing) - 8));
        }
    }
}

/** What is read ends at a guard page; so does what is written. */
static void check_width(enum rm_simd simd, enum rm_pixel_packing packing, uint32_t width, uint8_t *const guard[2]) {
    struct rm_unpackers const reference = rm_unpackers_for(RM_SIMD_SCALAR), tested = rm_unpackers_for(simd);
    uint32_t const bytes = rm_pixel_line_bytes(packing, width);
    uint8_t *const line = guard[0] - bytes;
    uint16_t wanted16[WIDEST], *const got16 = (uint16_t *)(void *)guard[1] - width;
    uint8_t wanted8[WIDEST], *const got8 = guard[1] - width;
    make_line(line, bytes);
    reference.to16(packing, line, width, wanted16);
    reference.to8(packing, line, width, wanted8);
    uint8_t *const before16 = (uint8_t *)got16 - 1;
    *before16 = 0x77;
    tested.to16(packing, line, width, got16);
    assert_int_equal(*before16, 0x77);
    assert_memory_equal(got16, wanted16, sizeof *got16 * width);
    got8[-1] = 0x55;
    tested.to8(packing, line, width, got8);
    assert_int_equal(got8[-1], 0x55);
    assert_memory_equal(got8, wanted8, width);
}

static void all_instruction_sets_give_the_same_bits(void **state) {
    (void)state;
    uint8_t *const guard[2] = {guard_page_new(), guard_page_new()};
    if (guard[0] == NULL || guard[1] == NULL) {
        fail_msg("no memory");
        return;
    }
    for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd)
        for (uint32_t packing = 0; packing < RM_PACKINGS; ++packing)
            for (uint32_t width = 0; width <= WIDEST; ++width)
                for (int round = 0; round < ROUNDS; ++round)
                    check_width(simd, (enum rm_pixel_packing)packing, width, guard);
    guard_page_free(guard[0]);
    guard_page_free(guard[1]);
}

/** A line that was packed gives its values back, ends at a guard page, and has zeros where no pixel has bits. */
static void what_is_packed_is_unpacked_again(void **state) {
    (void)state;
    uint8_t *const guard = guard_page_new();
    if (guard == NULL) {
        fail_msg("no memory");
        return;
    }
    for (uint32_t p = 0; p < RM_PACKINGS; ++p)
        for (uint32_t width = 1; width <= WIDEST; ++width) {
            enum rm_pixel_packing const packing = (enum rm_pixel_packing)p;
            uint32_t const bytes = rm_pixel_line_bytes(packing, width);
            uint8_t *const line = guard - bytes;
            uint16_t value[WIDEST], got[WIDEST], zero[WIDEST] = {0};
            uint32_t const mask = (1u << rm_pixel_bits(packing)) - 1;
            memset(line, 0xA5, bytes);
            rm_pack16(packing, zero, width, line);
            for (uint32_t i = 0; i < bytes; ++i)
                assert_int_equal(line[i], 0);
            memset(line, 0xA5, bytes);
            for (uint32_t i = 0; i < width; ++i)
                value[i] = (uint16_t)random();
            rm_pack16(packing, value, width, line);
            rm_unpackers_for(RM_SIMD_SCALAR).to16(packing, line, width, got);
            for (uint32_t i = 0; i < width; ++i)
                assert_int_equal(got[i], value[i] & mask);
        }
    guard_page_free(guard);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_format_is_found_by_name_and_number),
        cmocka_unit_test(lines_have_the_bytes_of_their_pixels),
        cmocka_unit_test(the_reference_is_what_the_bits_say),
        cmocka_unit_test(all_instruction_sets_give_the_same_bits),
        cmocka_unit_test(what_is_packed_is_unpacked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
