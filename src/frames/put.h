// SPDX-License-Identifier: Apache-2.0
/** For the writers of formats that are big-endian: each writes a number, and returns the place behind it. */
#ifndef RM_FRAMES_PUT_H
#define RM_FRAMES_PUT_H

#include "wire/network_order.h"

static inline uint8_t *put8(uint8_t *at, uint8_t value) {
    *at = value;
    return at + 1;
}

static inline uint8_t *put16(uint8_t *at, uint16_t value) {
    rm_store16(at, value);
    return at + 2;
}

static inline uint8_t *put32(uint8_t *at, uint32_t value) {
    rm_store32(at, value);
    return at + 4;
}

static inline uint8_t *put64(uint8_t *at, uint64_t value) {
    return put32(put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

#endif
