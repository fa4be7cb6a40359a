// SPDX-License-Identifier: Apache-2.0
/** The one's complement sum of RFC 1071, over 64-bit words.
 *
 * Words are added in memory order of a little-endian machine. The sum of RFC 1071 does not care which way its bytes are
 * swapped as long as it is stored back the same way, so nothing here swaps any.
 */
#ifndef RM_WIRE_INTERNET_CHECKSUM_H
#define RM_WIRE_INTERNET_CHECKSUM_H

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the fabric and the native format are little-endian");

/** Adds a word with its carry brought round. */
static inline uint64_t rm_checksum_add(uint64_t sum, uint64_t word) {
    sum += word;
    return sum + (sum < word);
}

/** Adds `length` bytes at any alignment; an odd last byte counts as if a zero followed. Only the last piece of a whole
 * may have an odd length. */
static inline uint64_t rm_checksum_add_bytes(uint64_t sum, uint8_t const *bytes, uint32_t length) {
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = rm_checksum_add(sum, word);
    }
    if (length >= 4) {
        uint32_t word;
        memcpy(&word, bytes, 4);
        sum = rm_checksum_add(sum, word);
        bytes += 4;
        length -= 4;
    }
    if (length >= 2) {
        uint16_t word;
        memcpy(&word, bytes, 2);
        sum = rm_checksum_add(sum, word);
        bytes += 2;
        length -= 2;
    }
    return length ? rm_checksum_add(sum, *bytes) : sum;
}

/** The sum in 16 bits: 0xFFFF over data that holds its own right checksum. Its complement, stored in memory order, is
 * the checksum of data whose checksum field was zero. */
static inline uint16_t rm_checksum_fold(uint64_t sum) {
    sum = (sum & 0xFFFFFFFFu) + (sum >> 32);                     /* at most 0x1FFFFFFFE */
    sum = (sum & 0xFFFFu) + (sum >> 16 & 0xFFFFu) + (sum >> 32); /* at most 0x1FFFE */
    return (uint16_t)((sum & 0xFFFFu) + (sum >> 16));            /* so no further carry */
}

#endif
