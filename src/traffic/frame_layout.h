// SPDX-License-Identifier: Apache-2.0
/** Where the headers of a template's frames lie: offsets in bytes from the first byte of the frame. */
#ifndef RM_TRAFFIC_FRAME_LAYOUT_H
#define RM_TRAFFIC_FRAME_LAYOUT_H

#include "traffic/traffic.h"
#include "wire/frame.h"

enum {
    RM_IPV6_BYTES = 40,
    /** Without options. */
    RM_TCP_BYTES = 20,
    RM_UDP_CHECKSUM_AT = 6,
    RM_TCP_CHECKSUM_AT = 16,
};

struct rm_frame_layout {
    /** Of the IPv4 or IPv6 header. */
    uint32_t ip;
    /** Of the UDP or TCP header. */
    uint32_t transport;
    uint32_t payload;
    /** Of the UDP or TCP checksum. */
    uint32_t transport_checksum;
};

static inline struct rm_frame_layout rm_frame_layout(struct rm_traffic_template const *template) {
    bool const udp = template->protocol == RM_TRAFFIC_UDP;
    struct rm_frame_layout layout = {.ip = RM_ETHERNET_BYTES + (template->tagged ? RM_VLAN_BYTES : 0u)};
    layout.transport = layout.ip + (template->ipv6 ? RM_IPV6_BYTES : RM_IPV4_BYTES);
    layout.payload = layout.transport + (udp ? RM_UDP_BYTES : RM_TCP_BYTES);
    layout.transport_checksum = layout.transport + (udp ? RM_UDP_CHECKSUM_AT : RM_TCP_CHECKSUM_AT);
    return layout;
}

#endif
