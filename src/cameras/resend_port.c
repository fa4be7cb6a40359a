// SPDX-License-Identifier: Apache-2.0
#include "cameras/resend_port.h"

#include <string.h>

enum { MAC_BYTES = 6, MULTICAST_PREFIX = 0xE };

bool rm_resend_way_of_frame(uint8_t const *frame, struct rm_datagram const *datagram, struct rm_flow *way) {
    if (datagram->destination_ipv4 >> 28 == MULTICAST_PREFIX)
        return false;
    *way = (struct rm_flow){.source_ipv4 = datagram->destination_ipv4,
                            .destination_ipv4 = datagram->source_ipv4,
                            .source_port = datagram->destination_port,
                            .destination_port = RM_GVCP_PORT,
                            .vlan = datagram->vlan == RM_VLAN_NONE ? 0 : datagram->vlan};
    memcpy(way->source_mac, frame, MAC_BYTES);
    memcpy(way->destination_mac, frame + MAC_BYTES, MAC_BYTES);
    return true;
}

void rm_resend_way_of_socket(uint32_t source_ipv4, struct rm_flow *way) {
    *way = (struct rm_flow){.destination_ipv4 = source_ipv4, .destination_port = RM_GVCP_PORT};
}

static uint32_t resend_send_by_socket(struct rm_port *port, struct rm_flow const *way,
                                      struct rm_gvcp_resend const *request, uint32_t count) {
    uint32_t sent = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t payload[RM_GVCP_RESEND_LONGEST];
        uint32_t const length = rm_gvcp_write_resend(payload, &request[i]);
        sent += rm_port_send_to(port, way->destination_ipv4, way->destination_port, payload, length);
    }
    return sent;
}

static uint32_t resend_send_frames(struct rm_port *port, uint16_t queue, struct rm_flow const *way,
                                   struct rm_gvcp_resend const *request, uint32_t count) {
    struct rm_burst burst;
    uint32_t const room = rm_port_reserve(port, queue, &burst, count);
    for (uint32_t i = 0; i < room; ++i) {
        uint8_t payload[RM_GVCP_RESEND_LONGEST];
        uint32_t const length = rm_gvcp_write_resend(payload, &request[i]);
        uint32_t const header = rm_frame_write_header(burst.data[i], way, length);
        memcpy(burst.data[i] + header, payload, length);
        rm_frame_write_udp_checksum(burst.data[i], length);
        burst.length[i] = header + length;
    }
    uint32_t const sent = rm_port_send(port, queue, &burst);
    rm_port_release(port, queue, &burst);
    return sent;
}

uint32_t rm_resend_send(struct rm_port *port, uint16_t queue, struct rm_flow const *way,
                        struct rm_gvcp_resend const *request, uint32_t count) {
    if (rm_port_framing(port) == RM_FRAMING_UDP)
        return resend_send_by_socket(port, way, request, count);
    return resend_send_frames(port, queue, way, request, count);
}
