// SPDX-License-Identifier: Apache-2.0
#include "wire/frame.h"

#include "wire/internet_checksum.h"
#include "wire/ipv4.h"
#include "wire/network_order.h"

/** The folded sum over pseudo-header, UDP header and payload: what is in the checksum field counts too. Not
 * inlined: its loop would take the registers of the loop around rm_frame_parse. */
static __attribute__((noinline)) uint16_t udp_sum(uint8_t const *addresses, uint8_t const *udp, uint32_t udp_length) {
    uint64_t const protocol = __builtin_bswap16(PROTOCOL_UDP);
    uint64_t const sum = rm_checksum_add(rm_load_memory64(addresses), protocol + rm_load_memory16(udp + UDP_LENGTH));
    return rm_checksum_fold(rm_checksum_add_bytes(sum, udp, udp_length));
}

/** Whether the checksum is the bare sum of the pseudo-header: what Linux leaves there for a card to finish, and nothing
 * finishes where sender and receiver are on one host. Not inlined: few frames come here. */
static __attribute__((noinline)) bool is_unfinished(uint8_t const *addresses, uint8_t const *udp) {
    uint64_t const protocol = __builtin_bswap16(PROTOCOL_UDP);
    uint64_t const sum = rm_checksum_add(rm_load_memory64(addresses), protocol + rm_load_memory16(udp + UDP_LENGTH));
    return rm_checksum_fold(sum) == rm_load_memory16(udp + UDP_CHECKSUM);
}

/** `available` is what the IPv4 total length leaves for UDP; bytes that it holds beyond the UDP length are ignored. */
static inline enum rm_port_counter find_udp(uint8_t const *addresses, uint8_t const *udp, uint32_t available,
                                            bool checksum_good, uint16_t vlan, struct rm_datagram *datagram) {
    if (available < RM_UDP_BYTES)
        return RM_PORT_TRUNCATED;
    uint32_t const udp_length = rm_load16(udp + UDP_LENGTH);
    if (udp_length < RM_UDP_BYTES || udp_length > available)
        return RM_PORT_TRUNCATED;
    bool const checksum_present = rm_load_memory16(udp + UDP_CHECKSUM) != 0;
    enum rm_port_counter verdict = RM_PORT_DECODED;
    if (checksum_present && !checksum_good && udp_sum(addresses, udp, udp_length) != 0xFFFF) {
        if (!is_unfinished(addresses, udp))
            return RM_PORT_BAD_UDP_CHECKSUM;
        verdict = RM_PORT_UNFINISHED_CHECKSUM;
    }
    *datagram = (struct rm_datagram){
        .payload = udp + RM_UDP_BYTES,
        .length = udp_length - RM_UDP_BYTES,
        .source_ipv4 = rm_load32(addresses),
        .destination_ipv4 = rm_load32(addresses + IPV4_DESTINATION - IPV4_SOURCE),
        .source_port = rm_load16(udp + UDP_SOURCE),
        .destination_port = rm_load16(udp + UDP_DESTINATION),
        .vlan = vlan,
    };
    return verdict;
}

enum rm_port_counter rm_udp_find(uint8_t const *addresses, uint8_t const *udp, uint32_t available, bool checksum_good,
                                 uint16_t vlan, struct rm_datagram *datagram) {
    return find_udp(addresses, udp, available, checksum_good, vlan, datagram);
}

/** Any frame, step by step. */
static enum rm_port_counter parse_any(uint8_t const *frame, uint32_t length, bool checksum_good,
                                      struct rm_datagram *datagram) {
    struct rm_ipv4_packet packet;
    enum rm_port_counter const ipv4 = rm_ipv4_find(frame, length, checksum_good, &packet);
    if (ipv4 != RM_PORT_DECODED)
        return ipv4;
    if (rm_load16(packet.header + IPV4_FRAGMENT) & (MORE_FRAGMENTS | FRAGMENT_OFFSET)) {
        datagram->source_ipv4 = rm_load32(packet.header + IPV4_SOURCE);
        return RM_PORT_FRAGMENT;
    }
    if (packet.header[IPV4_PROTOCOL] != PROTOCOL_UDP)
        return RM_PORT_NOT_UDP;
    return rm_udp_find(packet.header + IPV4_SOURCE, packet.header + packet.header_bytes,
                       packet.total_length - packet.header_bytes, checksum_good, packet.vlan, datagram);
}

/** UDP over IPv4 without options, whole, with room for all three headers in
 * `length` and in the total length, which is within `length`. Header fields are compared several at a time, in memory
 * order. */
static inline bool is_plain_frame(uint8_t const *frame, uint32_t length) {
    uint8_t const *const ipv4 = frame + RM_ETHERNET_BYTES;
    if (length < RM_FRAME_HEADER_BYTES)
        return false;
    uint32_t const type_version_words = rm_load_memory32(frame + ETHERNET_TYPE) & 0x00FFFFFF;
    uint32_t const fragment_protocol = rm_load_memory32(ipv4 + IPV4_FRAGMENT) & 0xFF00FF3F;
    uint32_t const total_length = rm_load16(ipv4 + IPV4_TOTAL_LENGTH);
    return type_version_words == 0x450008 && fragment_protocol == (uint32_t)PROTOCOL_UDP << 24 &&
           total_length >= RM_IPV4_BYTES + RM_UDP_BYTES && total_length <= length - RM_ETHERNET_BYTES;
}

/** False where the frame must be gone through step by step. Of a tagged one, `frame` and `length` leave out as many
 * bytes in front as the tag has, so that all behind it stands where it does in an untagged one. */
static inline bool parse_plain(uint8_t const *frame, uint32_t length, bool checksum_good, uint16_t vlan,
                               struct rm_datagram *datagram, enum rm_port_counter *verdict) {
    uint8_t const *const ipv4 = frame + RM_ETHERNET_BYTES;
    if (!is_plain_frame(frame, length) || (!checksum_good && !rm_ipv4_plain_header_sums_up(ipv4)))
        return false;
    uint32_t const available = rm_load16(ipv4 + IPV4_TOTAL_LENGTH) - RM_IPV4_BYTES;
    *verdict = find_udp(ipv4 + IPV4_SOURCE, ipv4 + RM_IPV4_BYTES, available, checksum_good, vlan, datagram);
    return true;
}

/** Not inlined, so that what is tagged costs nothing where nothing is. */
static __attribute__((noinline)) enum rm_port_counter parse_other(uint8_t const *frame, uint32_t length,
                                                                  bool checksum_good, struct rm_datagram *datagram) {
    bool const tagged =
        length >= RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES && rm_load16(frame + ETHERNET_TYPE) == ETHERTYPE_VLAN;
    uint16_t const vlan = tagged ? rm_load16(frame + RM_ETHERNET_BYTES) & VLAN_ID_MASK : RM_VLAN_NONE;
    enum rm_port_counter verdict;
    if (tagged && parse_plain(frame + RM_VLAN_BYTES, length - RM_VLAN_BYTES, checksum_good, vlan, datagram, &verdict))
        return verdict;
    return parse_any(frame, length, checksum_good, datagram);
}

enum rm_port_counter rm_frame_parse(uint8_t const *frame, uint32_t length, bool checksum_good,
                                    struct rm_datagram *datagram) {
    enum rm_port_counter verdict;
    if (__builtin_expect(parse_plain(frame, length, checksum_good, RM_VLAN_NONE, datagram, &verdict), 1))
        return verdict;
    return parse_other(frame, length, checksum_good, datagram);
}

uint32_t rm_frame_write_header(uint8_t *frame, struct rm_flow const *flow, uint32_t payload_length) {
    uint32_t const ethernet_bytes =
        rm_ethernet_write(frame, flow->destination_mac, flow->source_mac, flow->vlan, ETHERTYPE_IPV4);
    uint8_t *const ipv4 = frame + ethernet_bytes;
    uint8_t *const udp = ipv4 + RM_IPV4_BYTES;
    memset(ipv4, 0, RM_IPV4_BYTES + RM_UDP_BYTES);

    ipv4[0] = 4 << 4 | RM_IPV4_BYTES / 4;
    rm_store16(ipv4 + IPV4_TOTAL_LENGTH, (uint16_t)(RM_IPV4_BYTES + RM_UDP_BYTES + payload_length));
    rm_store16(ipv4 + IPV4_FRAGMENT, DONT_FRAGMENT);
    ipv4[IPV4_TTL] = TIME_TO_LIVE;
    ipv4[IPV4_PROTOCOL] = PROTOCOL_UDP;
    rm_store32(ipv4 + IPV4_SOURCE, flow->source_ipv4);
    rm_store32(ipv4 + IPV4_DESTINATION, flow->destination_ipv4);
    rm_ipv4_write_checksum(ipv4, RM_IPV4_BYTES);

    rm_store16(udp + UDP_SOURCE, flow->source_port);
    rm_store16(udp + UDP_DESTINATION, flow->destination_port);
    rm_store16(udp + UDP_LENGTH, (uint16_t)(RM_UDP_BYTES + payload_length));
    return ethernet_bytes + RM_IPV4_BYTES + RM_UDP_BYTES;
}

void rm_frame_write_udp_checksum(uint8_t *frame, uint32_t payload_length) {
    bool const tagged = rm_load16(frame + ETHERNET_TYPE) == ETHERTYPE_VLAN;
    uint8_t *const ipv4 = frame + RM_ETHERNET_BYTES + (tagged ? RM_VLAN_BYTES : 0);
    uint8_t *const udp = ipv4 + RM_IPV4_BYTES;
    rm_store_memory16(udp + UDP_CHECKSUM, 0);
    uint16_t const checksum = (uint16_t)~udp_sum(ipv4 + IPV4_SOURCE, udp, RM_UDP_BYTES + payload_length);
    rm_store_memory16(udp + UDP_CHECKSUM, checksum ? checksum : 0xFFFF);
}
