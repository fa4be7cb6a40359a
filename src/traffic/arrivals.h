// SPDX-License-Identifier: Apache-2.0
/** The receiving half of a generator's port: what comes is counted by size and kind, and stamps by their flows. */
#ifndef RM_TRAFFIC_ARRIVALS_H
#define RM_TRAFFIC_ARRIVALS_H

#include <ringmaster/counter.h>

#include "net/port.h"
#include "traffic/flows.h"

/** What a frame is, as far as it is counted. */
struct rm_arrival {
    bool arp;
    /** Also ICMPv6. */
    bool icmp;
    /** Shorter than its own headers say. */
    bool broken;
    /** Offset of what follows the UDP or TCP header; 0: it has none. */
    uint32_t payload;
};

/** Looks at a frame of `length` bytes without FCS, with up to two VLAN tags. Reads no byte beyond it. Checksums are not
 * looked at, nor payloads of fragments. */
struct rm_arrival rm_arrival_of(uint8_t const *frame, uint32_t length);

/** Counts a received burst into set "generator", and its stamps into `flows`. `latency` gets those of all flows. */
void rm_arrivals_count(struct rm_burst const *burst, uint64_t tsc, rm_counter *counters, struct rm_flows *flows,
                       struct rm_histogram *latency);

#endif
