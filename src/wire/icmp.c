// SPDX-License-Identifier: Apache-2.0
#include "wire/icmp.h"

#include "wire/internet_checksum.h"
#include "wire/ipv4.h"
#include "wire/network_order.h"

enum {
    ICMP_CHECKSUM = 2,
    ICMP_IDENTIFIER = 4,
    ICMP_SEQUENCE = 6,
    ECHO_REQUEST = 0x0800, /**< type 8, code 0 */
    ECHO_REPLY = 0x0000,
};

_Static_assert((int)RM_ICMP_ECHO_BYTES == (int)RM_UDP_BYTES, "so that an echo is as long as a datagram of its content");

/** Whether one machine has this address, as far as that can be told without its netmask. */
static bool is_one_host(uint32_t ipv4) { return ipv4 >> 24 != 0 && ipv4 >> 28 < 0xE; }

/** Whether this is one whole ICMP echo of that type and code, with the right checksum. */
static bool is_echo(struct rm_ipv4_packet const *packet, uint16_t type_and_code) {
    uint8_t const *const icmp = packet->header + packet->header_bytes;
    uint32_t const length = packet->total_length - packet->header_bytes;
    return packet->header[IPV4_PROTOCOL] == PROTOCOL_ICMP && length >= RM_ICMP_ECHO_BYTES &&
           (rm_load16(packet->header + IPV4_FRAGMENT) & (MORE_FRAGMENTS | FRAGMENT_OFFSET)) == 0 &&
           rm_load16(icmp) == type_and_code && rm_checksum_fold(rm_checksum_add_bytes(0, icmp, length)) == 0xFFFF;
}

static bool is_request(struct rm_ipv4_packet const *packet, uint32_t ipv4) {
    uint32_t const source = rm_load32(packet->header + IPV4_SOURCE);
    return rm_load32(packet->header + IPV4_DESTINATION) == ipv4 && source != ipv4 && is_one_host(source) &&
           is_echo(packet, ECHO_REQUEST);
}

uint32_t rm_icmp_answer(uint8_t *frame, uint32_t length, uint32_t ipv4) {
    struct rm_ipv4_packet packet;
    if (rm_ipv4_find(frame, length, false, &packet) != RM_PORT_DECODED || !is_request(&packet, ipv4) ||
        rm_is_group(frame) || rm_is_group(frame + ETHERNET_SOURCE))
        return 0;
    uint8_t mac[6];
    memcpy(mac, frame, sizeof mac);
    memcpy(frame, frame + ETHERNET_SOURCE, sizeof mac);
    memcpy(frame + ETHERNET_SOURCE, mac, sizeof mac);

    uint32_t const ethernet_bytes = (uint32_t)(packet.header - frame);
    uint8_t *const header = frame + ethernet_bytes;
    memset(header + RM_IPV4_BYTES, 0, packet.header_bytes - RM_IPV4_BYTES);
    header[IPV4_TTL] = TIME_TO_LIVE;
    memcpy(header + IPV4_DESTINATION, header + IPV4_SOURCE, 4);
    rm_store32(header + IPV4_SOURCE, ipv4);
    rm_ipv4_write_checksum(header, packet.header_bytes);

    uint8_t *const icmp = header + packet.header_bytes;
    rm_store16(icmp, ECHO_REPLY);
    rm_write_checksum(icmp, ICMP_CHECKSUM, packet.total_length - packet.header_bytes);
    return rm_answer_length(ethernet_bytes + packet.total_length, length);
}

uint32_t rm_icmp_write_request(uint8_t *frame, struct rm_flow const *flow, uint16_t identifier, uint16_t sequence,
                               uint32_t content_bytes) {
    uint32_t const used = rm_frame_write_header(frame, flow, content_bytes) + content_bytes;
    uint8_t *const icmp = frame + used - content_bytes - RM_ICMP_ECHO_BYTES;
    uint8_t *const header = icmp - RM_IPV4_BYTES;
    header[IPV4_PROTOCOL] = PROTOCOL_ICMP;
    rm_ipv4_write_checksum(header, RM_IPV4_BYTES);
    rm_store16(icmp, ECHO_REQUEST);
    rm_store16(icmp + ICMP_IDENTIFIER, identifier);
    rm_store16(icmp + ICMP_SEQUENCE, sequence);
    for (uint32_t i = 0; i < content_bytes; ++i)
        icmp[RM_ICMP_ECHO_BYTES + i] = (uint8_t)i;
    rm_write_checksum(icmp, ICMP_CHECKSUM, RM_ICMP_ECHO_BYTES + content_bytes);
    if (used < SHORTEST_FRAME)
        memset(frame + used, 0, SHORTEST_FRAME - used);
    return used > SHORTEST_FRAME ? used : SHORTEST_FRAME;
}

bool rm_icmp_read_reply(uint8_t const *frame, uint32_t length, struct rm_icmp_echo *echo) {
    struct rm_ipv4_packet packet;
    if (rm_ipv4_find(frame, length, false, &packet) != RM_PORT_DECODED || !is_echo(&packet, ECHO_REPLY))
        return false;
    uint8_t const *const icmp = packet.header + packet.header_bytes;
    *echo = (struct rm_icmp_echo){
        .source_ipv4 = rm_load32(packet.header + IPV4_SOURCE),
        .destination_ipv4 = rm_load32(packet.header + IPV4_DESTINATION),
        .identifier = rm_load16(icmp + ICMP_IDENTIFIER),
        .sequence = rm_load16(icmp + ICMP_SEQUENCE),
        .content = icmp + RM_ICMP_ECHO_BYTES,
        .content_bytes = packet.total_length - packet.header_bytes - RM_ICMP_ECHO_BYTES,
    };
    return true;
}
