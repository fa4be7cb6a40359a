// SPDX-License-Identifier: Apache-2.0
/** What a described port is to others: the source of its first template. */
#ifndef RM_TRAFFIC_GENERATOR_IDENTITY_H
#define RM_TRAFFIC_GENERATOR_IDENTITY_H

#include "traffic/arp_ping.h"
#include "traffic/traffic.h"

/** A MAC address as traffic.h has it, byte by byte. */
static inline void rm_generator_mac(uint64_t number, uint8_t mac[6]) {
    for (int i = 0; i < 6; ++i)
        mac[i] = (uint8_t)(number >> 8 * (5 - i));
}

/** False where it has no IPv4 address. */
static inline bool rm_generator_identity(struct rm_traffic const *traffic, struct rm_arp_ping_identity *identity) {
    struct rm_traffic_template const *const first = &traffic->template[0];
    if (traffic->template_count == 0 || first->ipv6)
        return false;
    rm_generator_mac(first->field[RM_TRAFFIC_SOURCE_MAC].start, identity->mac);
    identity->ipv4 = (uint32_t)first->field[RM_TRAFFIC_SOURCE_ADDRESS].start;
    identity->vlan = first->tagged ? (uint16_t)first->field[RM_TRAFFIC_VLAN].start : 0;
    return true;
}

#endif
