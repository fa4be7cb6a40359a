// SPDX-License-Identifier: Apache-2.0
/** The one's complement sum of RFC 1071, over 64-bit words.
 *
 * Words are added in memory order of a little-endian machine. The sum of RFC 1071 does not care which way its bytes are
 * swapped as long as it is stored back the same way, so nothing here swaps any.
 */
#ifndef RM_WIRE_INTERNET_CHECKSUM_H
#define RM_WIRE_INTERNET_CHECKSUM_H

#include <stdbool.h>

#include "wire/network_order.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the fabric and the native format are little-endian");

/** Adds a word with its carry brought round. */
static inline uint64_t rm_checksum_add(uint64_t sum, uint64_t word) {
    sum += word;
    return sum + (sum < word);
}

/** Adds `length` bytes at any alignment; an odd last byte counts as if a zero followed. Only the last piece of a whole
 * may have an odd length. Four words at a time, in pairs that do not wait for each other: of 168 BPMs in two fragments
 * that takes 110 of 262 ns (bench/costs/frame.c). */
static inline uint64_t rm_checksum_add_bytes(uint64_t sum, uint8_t const *bytes, uint32_t length) {
    for (; length >= 32; bytes += 32, length -= 32) {
        uint64_t part = rm_checksum_add(rm_load_memory64(bytes), rm_load_memory64(bytes + 8));
        uint64_t rest = rm_checksum_add(rm_load_memory64(bytes + 16), rm_load_memory64(bytes + 24));
        sum = rm_checksum_add(sum, rm_checksum_add(part, rest));
    }
    for (; length >= 8; bytes += 8, length -= 8)
        sum = rm_checksum_add(sum, rm_load_memory64(bytes));
    if (length >= 4) {
        sum = rm_checksum_add(sum, rm_load_memory32(bytes));
        bytes += 4;
        length -= 4;
    }
    if (length >= 2) {
        sum = rm_checksum_add(sum, rm_load_memory16(bytes));
        bytes += 2;
        length -= 2;
    }
    return length ? rm_checksum_add(sum, *bytes) : sum;
}

/** The sum in 16 bits: 0xFFFF over data that holds its own right checksum. Its complement, stored in memory order, is
 * the checksum of data whose checksum field was zero. */
static inline uint16_t rm_checksum_fold(uint64_t sum) {
    sum += sum << 32 | sum >> 32; /* both halves' sum, with its carry, in the upper half */
    uint32_t half = (uint32_t)(sum >> 32);
    half += half << 16 | half >> 16;
    return (uint16_t)(half >> 16);
}

/** Whether the checksum of an IPv4 header without options is right. */
static inline bool rm_ipv4_plain_header_sums_up(uint8_t const *ipv4) {
    uint64_t const sum = rm_checksum_add(rm_load_memory64(ipv4), rm_load_memory64(ipv4 + 8));
    return rm_checksum_fold(rm_checksum_add(sum, rm_load_memory32(ipv4 + 16))) == 0xFFFF;
}

#endif
