// SPDX-License-Identifier: Apache-2.0
/** The probe: what every datagram of a measurement begins with. Little-endian, 18 bytes, the smallest payload that an
 * Ethernet frame carries unpadded.
 *
 *     0   u16   flow       number of the instrument
 *     2   u64   sequence   number of the cycle: a gap is a loss; below 2^63, what is beyond is none of a cycle
 *     10  u64   stamp      TSC ticks of the time at which it was due to be sent
 *
 * Stamps of one machine's processes compare: its cores' time stamp counters run as one.
 */
#ifndef RM_BENCH_WIRE_PROBE_H
#define RM_BENCH_WIRE_PROBE_H

#include <stdint.h>
#include <string.h>

/** Stamp of a datagram that is no measurement: it says that the instrument has ended before `sequence`, so that a loss
 * at the very end is counted too. */
#define RM_PROBE_END UINT64_MAX

/** No cycle has this sequence number or a higher one, so that sums of them do not overflow. */
#define RM_PROBE_SEQUENCES (UINT64_C(1) << 63)

/** Sequence number of the question whether the other end is there. It belongs to no cycle. */
#define RM_PROBE_HELLO UINT64_MAX

enum {
    RM_PROBE_BYTES = 18,
    RM_PROBE_SEQUENCE = 2,
    RM_PROBE_STAMP = 10,
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the probe is little-endian, and so are our machines");

struct rm_probe {
    uint16_t flow;
    uint64_t sequence;
    uint64_t stamp;
};

/** Writes a probe at the start of a payload, at any alignment. The bytes behind it stay as they are. */
static inline void rm_probe_write(uint8_t *payload, struct rm_probe const *probe) {
    memcpy(payload, &probe->flow, sizeof probe->flow);
    memcpy(payload + RM_PROBE_SEQUENCE, &probe->sequence, sizeof probe->sequence);
    memcpy(payload + RM_PROBE_STAMP, &probe->stamp, sizeof probe->stamp);
}

/** Reads a probe from a payload of at least RM_PROBE_BYTES. */
static inline struct rm_probe rm_probe_read(uint8_t const *payload) {
    struct rm_probe probe;
    memcpy(&probe.flow, payload, sizeof probe.flow);
    memcpy(&probe.sequence, payload + RM_PROBE_SEQUENCE, sizeof probe.sequence);
    memcpy(&probe.stamp, payload + RM_PROBE_STAMP, sizeof probe.stamp);
    return probe;
}

#endif
