// SPDX-License-Identifier: Apache-2.0
/** What was compressed comes back, bit by bit; what was damaged is refused or comes back wrong, and never harms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/archive.h>

#include "codec.h"

enum { RECORDS_MAX = 3000, WORDS_MAX = 52 };

static uint32_t plain[RECORDS_MAX * WORDS_MAX], scratch[RECORDS_MAX * WORDS_MAX], back[RECORDS_MAX * WORDS_MAX];
static uint8_t stored[sizeof plain + 1024];
static uint64_t seed = 1;

static uint32_t random_word(void) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 32);
}

/** Columns that walk by a few units, or by anything. */
static void fill(size_t records, size_t words, uint32_t step) {
    for (size_t r = 0; r < records; ++r)
        for (size_t w = 0; w < words; ++w)
            plain[r * words + w] = (r > 0 ? plain[(r - 1) * words + w] : random_word()) + random_word() % step;
}

static void test_it_comes_back(void **state) {
    static size_t const RECORDS[] = {1, 2, 7, 100, 1000, RECORDS_MAX};
    static size_t const WORDS[] = {1, 4, 8, 16, WORDS_MAX};
    (void)state;
    for (unsigned r = 0; r < 6; ++r)
        for (unsigned w = 0; w < 5; ++w)
            for (unsigned c = 0; c < 2; ++c) {
                size_t const bytes = RECORDS[r] * WORDS[w] * 4;
                fill(RECORDS[r], WORDS[w], 16);
                size_t const length = rm_codec_encode(plain, bytes, WORDS[w] * 4, c ? "zstd" : "lz4", scratch, stored);
                if (length == 0)
                    continue;
                memset(back, 0xAA, bytes);
                assert_true(rm_codec_decode(stored, length, WORDS[w] * 4, scratch, back, bytes));
                assert_memory_equal(back, plain, bytes);
            }
}

static void test_it_gets_smaller_where_little_changes(void **state) {
    (void)state;
    fill(RECORDS_MAX, 16, 16);
    size_t const bytes = RECORDS_MAX * 64ul;
    assert_in_range(rm_codec_encode(plain, bytes, 64, "zstd", scratch, stored), 1, bytes / 5);
    assert_in_range(rm_codec_encode(plain, bytes, 64, "lz4", scratch, stored), 1, bytes / 4);
}

static void test_images_come_back(void **state) {
    static uint32_t const FORMATS[] = {0x01080001, 0x010A0046, 0x010C0047, 0x01100007, 0};
    struct rm_archived_image image = {.number = 4711};
    (void)state;
    for (unsigned f = 0; f < sizeof FORMATS / sizeof FORMATS[0]; ++f)
        for (unsigned c = 0; c < 2; ++c) {
            size_t const bytes = sizeof image + 5003; /* no multiple of anything */
            image.pixel_format = FORMATS[f];
            for (size_t i = 0; i < bytes; ++i)
                ((uint8_t *)plain)[i] = (uint8_t)(i / 100 + random_word() % 2);
            memcpy(plain, &image, sizeof image);
            size_t const length = rm_codec_encode_image(plain, bytes, c ? "zstd" : "lz4", stored);
            assert_in_range(length, sizeof image + 1, bytes - 1);
            assert_memory_equal(stored, &image, sizeof image); /* what it is shows without decoding */
            memset(back, 0xAA, bytes);
            assert_true(rm_codec_decode_image(stored, length, back, bytes));
            assert_memory_equal(back, plain, bytes);
            assert_false(rm_codec_decode_image(stored, length - 1, back, bytes));
            assert_false(rm_codec_decode_image(stored, length, back, bytes + 1));
            assert_false(rm_codec_decode_image(stored, sizeof image, back, bytes));
        }
}

static void test_noise_stays_as_it_is(void **state) {
    (void)state;
    fill(RECORDS_MAX, 16, UINT32_MAX);
    assert_int_equal(rm_codec_encode(plain, RECORDS_MAX * 64ul, 64, "lz4", scratch, stored), 0);
}

static void test_damage_does_no_harm(void **state) {
    (void)state;
    fill(1000, 16, 16);
    size_t const length = rm_codec_encode(plain, 64000, 64, "zstd", scratch, stored);
    assert_true(length > 0);
    for (unsigned i = 0; length > 0 && i < 2000; ++i) {
        size_t const at = i < 32 ? i % 16 : random_word() % length;
        uint8_t const before = stored[at];
        stored[at] ^= (uint8_t)(1u << (random_word() % 8));
        uint8_t *exact = malloc(length); /* so that a sanitizer sees what is read beyond */
        assert_non_null(exact);
        memcpy(exact, stored, length);
        rm_codec_decode(exact, length, 64, scratch, back, 64000);
        free(exact);
        stored[at] = before;
    }
    assert_false(rm_codec_decode(stored, length, 64, scratch, back, 63936));
    assert_false(rm_codec_decode(stored, length - 1, 64, scratch, back, 64000));
    assert_false(rm_codec_decode(stored, 3, 64, scratch, back, 64000));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_it_comes_back),       cmocka_unit_test(test_it_gets_smaller_where_little_changes),
        cmocka_unit_test(test_images_come_back),    cmocka_unit_test(test_noise_stays_as_it_is),
        cmocka_unit_test(test_damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
