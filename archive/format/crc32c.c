// SPDX-License-Identifier: Apache-2.0
#include "crc32c.h"

#include <string.h>

static uint32_t const POLYNOMIAL = 0x82F63B78u;

/** Bytes of one of the three strips that are summed side by side: one instruction takes three clocks, and the next one
 * of another strip need not wait for it. */
enum { STRIP_BYTES = 1024, STRIPS = 3 };

uint32_t rm_crc32c_scalar(void const *data, size_t bytes) {
    uint8_t const *at = data;
    uint32_t crc = ~0u;
    for (size_t i = 0; i < bytes; ++i) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ (POLYNOMIAL & -(crc & 1));
    }
    return ~crc;
}

static uint64_t crc32c_word(uint8_t const *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/** What multiplies a sum by x^(8 × STRIP_BYTES): for each of its four bytes, what this byte gives. */
struct crc32c_shift {
    uint32_t of[4][256];
};

__attribute__((target("sse4.2"))) static void crc32c_shift_make(struct crc32c_shift *shift) {
    for (unsigned byte = 0; byte < 4; ++byte)
        for (uint32_t value = 0; value < 256; ++value) {
            uint64_t crc = (uint64_t)value << 8 * byte;
            for (unsigned word = 0; word < STRIP_BYTES / 8; ++word)
                crc = __builtin_ia32_crc32di(crc, 0);
            shift->of[byte][value] = (uint32_t)crc;
        }
}

static uint32_t crc32c_shifted(struct crc32c_shift const *shift, uint32_t crc) {
    return shift->of[0][crc & 0xFF] ^ shift->of[1][crc >> 8 & 0xFF] ^ shift->of[2][crc >> 16 & 0xFF] ^
           shift->of[3][crc >> 24];
}

__attribute__((target("sse4.2"))) static uint32_t crc32c_fast(struct crc32c_shift const *shift, uint8_t const *at,
                                                              size_t bytes) {
    uint64_t crc = ~0u;
    for (; bytes >= STRIPS * STRIP_BYTES; bytes -= STRIPS * STRIP_BYTES, at += STRIPS * STRIP_BYTES) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < STRIP_BYTES; i += 8) {
            crc = __builtin_ia32_crc32di(crc, crc32c_word(at + i));
            second = __builtin_ia32_crc32di(second, crc32c_word(at + STRIP_BYTES + i));
            third = __builtin_ia32_crc32di(third, crc32c_word(at + 2 * (size_t)STRIP_BYTES + i));
        }
        crc = crc32c_shifted(shift, (uint32_t)crc) ^ (uint32_t)second;
        crc = crc32c_shifted(shift, (uint32_t)crc) ^ (uint32_t)third;
    }
    for (; bytes >= 8; bytes -= 8, at += 8)
        crc = __builtin_ia32_crc32di(crc, crc32c_word(at));
    uint32_t last = (uint32_t)crc;
    for (; bytes > 0; --bytes, ++at)
        last = __builtin_ia32_crc32qi(last, *at);
    return ~last;
}

/** The table, made when the library is loaded, and constant from then on. */
static struct crc32c_shift shift_by_strip;

__attribute__((constructor)) static void crc32c_prepare(void) {
    if (__builtin_cpu_supports("sse4.2"))
        crc32c_shift_make(&shift_by_strip);
}

uint32_t rm_crc32c(void const *data, size_t bytes) {
    if (!__builtin_cpu_supports("sse4.2"))
        return rm_crc32c_scalar(data, bytes);
    return crc32c_fast(&shift_by_strip, data, bytes);
}
