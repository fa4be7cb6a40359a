// SPDX-License-Identifier: Apache-2.0
#include "wire/frame.h"

#include <arpa/inet.h>
#include <string.h>

#include "wire/internet_checksum.h"

enum {
    ETHERTYPE_IPV4 = 0x0800,
    PROTOCOL_UDP = 17,
    DONT_FRAGMENT = 0x4000,
    FRAGMENT_MASK = 0x3FFF, /**< more fragments, and the offset */
    TIME_TO_LIVE = 64,
};

/** Byte offsets of fields, each from the start of its own header. */
enum {
    ETHERNET_TYPE = 12,
    IPV4_TOTAL_LENGTH = 2,
    IPV4_FRAGMENT = 6,
    IPV4_TTL = 8,
    IPV4_PROTOCOL = 9,
    IPV4_CHECKSUM = 10,
    IPV4_SOURCE = 12,
    IPV4_DESTINATION = 16,
    UDP_SOURCE = 0,
    UDP_DESTINATION = 2,
    UDP_LENGTH = 4,
    UDP_CHECKSUM = 6,
};

static uint16_t load_memory16(uint8_t const *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint16_t load16(uint8_t const *bytes) { return __builtin_bswap16(load_memory16(bytes)); }

static uint32_t load32(uint8_t const *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap32(value);
}

static void store_memory16(uint8_t *bytes, uint16_t value) { memcpy(bytes, &value, sizeof value); }

static void store16(uint8_t *bytes, uint16_t value) { store_memory16(bytes, __builtin_bswap16(value)); }

static void store32(uint8_t *bytes, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(bytes, &value, sizeof value);
}

/** The folded sum over pseudo-header, UDP header and payload: what is in the checksum field counts too. */
static uint16_t udp_sum(uint8_t const *ipv4, uint8_t const *udp, uint32_t udp_length) {
    uint64_t addresses;
    memcpy(&addresses, ipv4 + IPV4_SOURCE, sizeof addresses);
    uint64_t const protocol = __builtin_bswap16(PROTOCOL_UDP);
    uint64_t const sum = rm_checksum_add(addresses, protocol + load_memory16(udp + UDP_LENGTH));
    return rm_checksum_fold(rm_checksum_add_bytes(sum, udp, udp_length));
}

/** `available` is what the IPv4 total length leaves for UDP; bytes that it holds beyond the UDP length are ignored. */
static enum rm_port_counter parse_udp(uint8_t const *ipv4, uint8_t const *udp, uint32_t available, bool checksum_good,
                                      struct rm_datagram *datagram) {
    if (available < RM_UDP_BYTES)
        return RM_PORT_TRUNCATED;
    uint32_t const udp_length = load16(udp + UDP_LENGTH);
    if (udp_length < RM_UDP_BYTES || udp_length > available)
        return RM_PORT_TRUNCATED;
    bool const checksum_present = load_memory16(udp + UDP_CHECKSUM) != 0;
    if (checksum_present && !checksum_good && udp_sum(ipv4, udp, udp_length) != 0xFFFF)
        return RM_PORT_BAD_UDP_CHECKSUM;
    *datagram = (struct rm_datagram){
        .payload = udp + RM_UDP_BYTES,
        .length = udp_length - RM_UDP_BYTES,
        .source_ipv4 = load32(ipv4 + IPV4_SOURCE),
        .destination_ipv4 = load32(ipv4 + IPV4_DESTINATION),
        .source_port = load16(udp + UDP_SOURCE),
        .destination_port = load16(udp + UDP_DESTINATION),
    };
    return RM_PORT_DECODED;
}

/** `available` may hold Ethernet padding beyond the total length. */
static enum rm_port_counter parse_ipv4(uint8_t const *ipv4, uint32_t available, bool checksum_good,
                                       struct rm_datagram *datagram) {
    if (available < RM_IPV4_BYTES)
        return RM_PORT_TRUNCATED;
    uint32_t const header_bytes = (ipv4[0] & 0x0Fu) * 4u;
    if (ipv4[0] >> 4 != 4 || header_bytes < RM_IPV4_BYTES)
        return RM_PORT_BAD_IP_HEADER;
    if (available < header_bytes)
        return RM_PORT_TRUNCATED;
    if (!checksum_good && rm_checksum_fold(rm_checksum_add_bytes(0, ipv4, header_bytes)) != 0xFFFF)
        return RM_PORT_BAD_IP_HEADER;
    uint32_t const total_length = load16(ipv4 + IPV4_TOTAL_LENGTH);
    if (total_length < header_bytes)
        return RM_PORT_BAD_IP_HEADER;
    if (total_length > available)
        return RM_PORT_TRUNCATED;
    if (load16(ipv4 + IPV4_FRAGMENT) & FRAGMENT_MASK)
        return RM_PORT_FRAGMENT;
    if (ipv4[IPV4_PROTOCOL] != PROTOCOL_UDP)
        return RM_PORT_NOT_UDP;
    return parse_udp(ipv4, ipv4 + header_bytes, total_length - header_bytes, checksum_good, datagram);
}

enum rm_port_counter rm_frame_parse(uint8_t const *frame, uint32_t length, bool checksum_good,
                                    struct rm_datagram *datagram) {
    if (length < RM_ETHERNET_BYTES)
        return RM_PORT_TRUNCATED;
    if (load16(frame + ETHERNET_TYPE) != ETHERTYPE_IPV4)
        return RM_PORT_NOT_IPV4;
    return parse_ipv4(frame + RM_ETHERNET_BYTES, length - RM_ETHERNET_BYTES, checksum_good, datagram);
}

void rm_frame_write_header(uint8_t *frame, struct rm_flow const *flow, uint32_t payload_length) {
    uint8_t *const ipv4 = frame + RM_ETHERNET_BYTES;
    uint8_t *const udp = ipv4 + RM_IPV4_BYTES;
    memset(frame, 0, RM_FRAME_HEADER_BYTES);

    memcpy(frame, flow->destination_mac, 6);
    memcpy(frame + 6, flow->source_mac, 6);
    store16(frame + ETHERNET_TYPE, ETHERTYPE_IPV4);

    ipv4[0] = 4 << 4 | RM_IPV4_BYTES / 4;
    store16(ipv4 + IPV4_TOTAL_LENGTH, (uint16_t)(RM_IPV4_BYTES + RM_UDP_BYTES + payload_length));
    store16(ipv4 + IPV4_FRAGMENT, DONT_FRAGMENT);
    ipv4[IPV4_TTL] = TIME_TO_LIVE;
    ipv4[IPV4_PROTOCOL] = PROTOCOL_UDP;
    store32(ipv4 + IPV4_SOURCE, flow->source_ipv4);
    store32(ipv4 + IPV4_DESTINATION, flow->destination_ipv4);
    uint16_t const sum = rm_checksum_fold(rm_checksum_add_bytes(0, ipv4, RM_IPV4_BYTES));
    store_memory16(ipv4 + IPV4_CHECKSUM, (uint16_t)~sum);

    store16(udp + UDP_SOURCE, flow->source_port);
    store16(udp + UDP_DESTINATION, flow->destination_port);
    store16(udp + UDP_LENGTH, (uint16_t)(RM_UDP_BYTES + payload_length));
}

void rm_frame_write_udp_checksum(uint8_t *frame, uint32_t payload_length) {
    uint8_t const *const ipv4 = frame + RM_ETHERNET_BYTES;
    uint8_t *const udp = frame + RM_ETHERNET_BYTES + RM_IPV4_BYTES;
    store_memory16(udp + UDP_CHECKSUM, 0);
    uint16_t const checksum = (uint16_t)~udp_sum(ipv4, udp, RM_UDP_BYTES + payload_length);
    store_memory16(udp + UDP_CHECKSUM, checksum ? checksum : 0xFFFF);
}

bool rm_ipv4_parse(char const *text, uint32_t *ipv4) {
    struct in_addr address;
    if (inet_pton(AF_INET, text, &address) != 1)
        return false;
    *ipv4 = ntohl(address.s_addr);
    return true;
}

void rm_ipv4_format(uint32_t ipv4, char text[16]) {
    struct in_addr const address = {.s_addr = htonl(ipv4)};
    inet_ntop(AF_INET, &address, text, 16);
}
