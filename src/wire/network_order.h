// SPDX-License-Identifier: Apache-2.0
/** Numbers as they stand in headers: big-endian, at any alignment. Those called `memory` are not swapped: they serve
 * for sums, and for comparison with constants that were swapped beforehand. */
#ifndef RM_WIRE_NETWORK_ORDER_H
#define RM_WIRE_NETWORK_ORDER_H

#include <stdint.h>
#include <string.h>

static inline uint16_t rm_load_memory16(uint8_t const *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint32_t rm_load_memory32(uint8_t const *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint64_t rm_load_memory64(uint8_t const *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint16_t rm_load16(uint8_t const *bytes) { return __builtin_bswap16(rm_load_memory16(bytes)); }

static inline uint32_t rm_load32(uint8_t const *bytes) { return __builtin_bswap32(rm_load_memory32(bytes)); }

static inline uint64_t rm_load64(uint8_t const *bytes) { return __builtin_bswap64(rm_load_memory64(bytes)); }

static inline void rm_store_memory16(uint8_t *bytes, uint16_t value) { memcpy(bytes, &value, sizeof value); }

static inline void rm_store16(uint8_t *bytes, uint16_t value) { rm_store_memory16(bytes, __builtin_bswap16(value)); }

static inline void rm_store32(uint8_t *bytes, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(bytes, &value, sizeof value);
}

#endif
