// SPDX-License-Identifier: Apache-2.0
/** Datagrams that are held for a while before they go on, in the order in which they came: a known delay. */
#ifndef RM_BENCH_WIRE_HOLD_H
#define RM_BENCH_WIRE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { RM_HOLD_DATAGRAMS = 8192 };

struct rm_hold {
    /** RM_HOLD_DATAGRAMS times `payload_bytes`. */
    uint8_t *payloads;
    /** Bytes of the largest payload. */
    uint32_t payload_bytes;
    /** Numbers of datagrams put and taken so far. */
    uint64_t put, taken;

    uint64_t due[RM_HOLD_DATAGRAMS];
    uint32_t length[RM_HOLD_DATAGRAMS];
};

/** False when there is no memory. */
bool rm_hold_make(struct rm_hold *hold, uint32_t payload_bytes);
void rm_hold_free(struct rm_hold *hold);

static inline uint64_t rm_hold_count(struct rm_hold const *hold) { return hold->put - hold->taken; }

/** Copies a payload of at most `payload_bytes`, for when the TSC is at `due`; the caller has seen that there is room.
 */
void rm_hold_put(struct rm_hold *hold, uint8_t const *payload, uint32_t length, uint64_t due);

/** TSC at which the oldest is due; UINT64_MAX when there is none. */
static inline uint64_t rm_hold_due(struct rm_hold const *hold) {
    return rm_hold_count(hold) == 0 ? UINT64_MAX : hold->due[hold->taken % RM_HOLD_DATAGRAMS];
}

/** Copies the oldest out and returns its length; there must be one. */
uint32_t rm_hold_take(struct rm_hold *hold, uint8_t *payload);

#endif
