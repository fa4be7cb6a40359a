// SPDX-License-Identifier: Apache-2.0
#include "wire/ipv4.h"

#include "wire/internet_checksum.h"
#include "wire/network_order.h"

enum { TAGS_MOST = 2 };

static bool is_tag(uint16_t ethertype) { return ethertype == ETHERTYPE_VLAN || ethertype == ETHERTYPE_SERVICE_VLAN; }

struct rm_ethernet rm_ethernet_find(uint8_t const *frame, uint32_t length) {
    if (length < RM_ETHERNET_BYTES)
        return (struct rm_ethernet){0};
    struct rm_ethernet found = {RM_ETHERNET_BYTES, rm_load16(frame + ETHERNET_TYPE), RM_VLAN_NONE};
    for (int tags = 0; tags < TAGS_MOST && is_tag(found.ethertype); ++tags) {
        if (length < found.bytes + RM_VLAN_BYTES)
            return (struct rm_ethernet){0};
        found.vlan = rm_load16(frame + found.bytes) & VLAN_ID_MASK;
        found.ethertype = rm_load16(frame + found.bytes + 2);
        found.bytes += RM_VLAN_BYTES;
    }
    return found;
}

enum rm_port_counter rm_ipv4_find(uint8_t const *frame, uint32_t length, bool checksum_good,
                                  struct rm_ipv4_packet *packet) {
    struct rm_ethernet const ethernet = rm_ethernet_find(frame, length);
    if (ethernet.bytes == 0)
        return RM_PORT_TRUNCATED;
    if (ethernet.ethertype != ETHERTYPE_IPV4)
        return RM_PORT_NOT_IPV4;
    uint8_t const *const ipv4 = frame + ethernet.bytes;
    uint32_t const available = length - ethernet.bytes;
    if (available < RM_IPV4_BYTES)
        return RM_PORT_TRUNCATED;
    uint32_t const header_bytes = (ipv4[0] & 0x0Fu) * 4u;
    if (ipv4[0] >> 4 != 4 || header_bytes < RM_IPV4_BYTES)
        return RM_PORT_BAD_IP_HEADER;
    if (available < header_bytes)
        return RM_PORT_TRUNCATED;
    if (!checksum_good && rm_checksum_fold(rm_checksum_add_bytes(0, ipv4, header_bytes)) != 0xFFFF)
        return RM_PORT_BAD_IP_HEADER;
    uint32_t const total_length = rm_load16(ipv4 + IPV4_TOTAL_LENGTH);
    if (total_length < header_bytes)
        return RM_PORT_BAD_IP_HEADER;
    if (total_length > available)
        return RM_PORT_TRUNCATED;
    *packet = (struct rm_ipv4_packet){ipv4, header_bytes, total_length, ethernet.vlan};
    return RM_PORT_DECODED;
}

uint32_t rm_ethernet_write(uint8_t *frame, uint8_t const destination[6], uint8_t const source[6], uint16_t vlan,
                           uint16_t ethertype) {
    memcpy(frame, destination, 6);
    memcpy(frame + ETHERNET_SOURCE, source, 6);
    uint8_t *type = frame + ETHERNET_TYPE;
    if (vlan != 0) {
        rm_store16(type, ETHERTYPE_VLAN);
        rm_store16(type + 2, vlan & VLAN_ID_MASK);
        type += RM_VLAN_BYTES;
    }
    rm_store16(type, ethertype);
    return (uint32_t)(type + 2 - frame);
}

void rm_write_checksum(uint8_t *bytes, uint32_t at, uint32_t length) {
    rm_store_memory16(bytes + at, 0);
    rm_store_memory16(bytes + at, (uint16_t)~rm_checksum_fold(rm_checksum_add_bytes(0, bytes, length)));
}
