// SPDX-License-Identifier: Apache-2.0
/** IGMP (RFC 2236, RFC 3376): switches forward a multicast group to the hosts that report it, and ask from time to
 * time which hosts still want it. Pure functions; addresses in host byte order. */
#ifndef RM_WIRE_IGMP_H
#define RM_WIRE_IGMP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /** Most groups of one report. */
    RM_IGMP_GROUPS_MAX = 64,
    /** Bytes of the longest frame written here. */
    RM_IGMP_FRAME_BYTES = 18 + 24 + 8 + 8 * RM_IGMP_GROUPS_MAX,
};

struct rm_igmp_query {
    /** The group that the query asks about; 0: all groups. */
    uint32_t group;
    /** The answer is due at a random moment within this time, so that not all hosts answer at once. */
    uint32_t longest_wait_ms;
    /** Version of the answer: 2 or 3. */
    uint8_t version;
};

/** Finds a query. False for everything that is not a valid query of version 2 or 3. */
bool rm_igmp_find_query(uint8_t const *frame, uint32_t length, struct rm_igmp_query *query);

/** The host that reports. */
struct rm_igmp_reporter {
    uint8_t mac[6];
    /** Its address; 0: it has none. */
    uint32_t ipv4;
    /** 1–4094, or 0 for untagged frames. */
    uint16_t vlan;
};

/** Writes a report of version 2: this one group is wanted. Every switch and router understands it. Returns its length.
 */
uint32_t rm_igmp_write_report_v2(uint8_t frame[RM_IGMP_FRAME_BYTES], struct rm_igmp_reporter const *reporter,
                                 uint32_t group);

/** Writes a report of version 3: these 1 … RM_IGMP_GROUPS_MAX groups are wanted, from any source. Returns its length.
 */
uint32_t rm_igmp_write_report_v3(uint8_t frame[RM_IGMP_FRAME_BYTES], struct rm_igmp_reporter const *reporter,
                                 uint32_t const *group, uint32_t group_count);

#endif
