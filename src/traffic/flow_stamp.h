// SPDX-License-Identifier: Apache-2.0
/** The stamp in the payload of a flow's frame, right behind the UDP or TCP header. 18 bytes, little-endian, so that it
 * fits into a 64-byte frame of UDP over IPv4:
 *
 *     offset  bytes
 *          0      2  magic: 'R', 'M'
 *          2      2  check
 *          4      2  flow: 128 · port of the generator + flow of the port
 *          6      4  the low 32 bits of the sequence number: of each flow 0, 1, 2, …
 *         10      8  time: the TSC when the frame was made; rm_clock_tai_ns (clock.h) makes TAI of it
 *
 * `check` makes the nine 16-bit words sum up to the key, in the one's complement sum of RFC 1071. The key is drawn when
 * the server starts. So frames of others, also of another server or an earlier life of this one, are told apart but
 * for one in 2^32; and whatever a stamp holds, it adds the same to the checksum of UDP or TCP, which need not be
 * computed anew.
 */
#ifndef RM_TRAFFIC_FLOW_STAMP_H
#define RM_TRAFFIC_FLOW_STAMP_H

#include "traffic/traffic.h"
#include "wire/internet_checksum.h"

enum {
    RM_FLOW_STAMP_BYTES = 18,
    RM_FLOW_STAMP_MAGIC = 'R' | 'M' << 8,
    /** Flows of all ports. */
    RM_FLOWS = RM_TRAFFIC_PORTS_MAX * RM_TRAFFIC_FLOWS_MAX,
};

struct rm_flow_stamp {
    /** Below RM_FLOWS. */
    uint16_t flow;
    uint32_t sequence;
    uint64_t tsc;
};

/** Makes a key of any number: 1 … 0xFFFE, for 0 and 0xFFFF are the same to the sum. */
static inline uint16_t rm_flow_stamp_key(uint64_t number) { return (uint16_t)(1 + number % 0xFFFE); }

/** What the stamps of one burst have in common. */
static inline uint64_t rm_flow_stamp_base(uint64_t tsc, uint16_t key) {
    return rm_checksum_add(tsc, RM_FLOW_STAMP_MAGIC + (uint64_t)(uint16_t)~key);
}

/** Writes a stamp; `base` is rm_flow_stamp_base of its time. */
static inline void rm_flow_stamp_write(uint8_t *bytes, struct rm_flow_stamp const *stamp, uint64_t base) {
    uint64_t const sum = rm_checksum_add(base, (uint64_t)stamp->flow + stamp->sequence);
    uint64_t const head = RM_FLOW_STAMP_MAGIC | (uint64_t)(uint16_t)~rm_checksum_fold(sum) << 16 |
                          (uint64_t)stamp->flow << 32 | (uint64_t)(uint16_t)stamp->sequence << 48;
    memcpy(bytes, &head, sizeof head);
    rm_store_memory16(bytes + 8, (uint16_t)(stamp->sequence >> 16));
    memcpy(bytes + 10, &stamp->tsc, sizeof stamp->tsc);
}

/** Reads RM_FLOW_STAMP_BYTES. False, and `*stamp` as it was, where they are no stamp of this key. */
static inline bool rm_flow_stamp_read(uint8_t const *bytes, uint16_t key, struct rm_flow_stamp *stamp) {
    uint64_t const head = rm_load_memory64(bytes), tsc = rm_load_memory64(bytes + 10);
    uint16_t const sequence_high = rm_load_memory16(bytes + 8), flow = (uint16_t)(head >> 32);
    uint64_t const sum = rm_checksum_add(rm_checksum_add(head, sequence_high), tsc);
    if ((uint16_t)head != RM_FLOW_STAMP_MAGIC || rm_checksum_fold(sum) != key || flow >= RM_FLOWS)
        return false;
    *stamp = (struct rm_flow_stamp){flow, (uint32_t)sequence_high << 16 | (uint32_t)(head >> 48), tsc};
    return true;
}

#endif
