// SPDX-License-Identifier: Apache-2.0
#include "wire/icmp6.h"

#include "wire/internet_checksum.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/network_order.h"

enum { ECHO_BYTES = 8 };

static bool is_echo_request(struct rm_ipv6_packet const *packet, uint8_t const ipv6[16]) {
    uint8_t const *const source = packet->header + IPV6_SOURCE;
    uint8_t const *const icmp = packet->header + RM_IPV6_BYTES;
    return packet->header[IPV6_NEXT_HEADER] == PROTOCOL_ICMPV6 && packet->payload_length >= ECHO_BYTES &&
           memcmp(packet->header + IPV6_DESTINATION, ipv6, IPV6_ADDRESS_BYTES) == 0 &&
           memcmp(source, ipv6, IPV6_ADDRESS_BYTES) != 0 && !rm_ipv6_is_multicast(source) &&
           !rm_ipv6_is_unspecified(source) && icmp[0] == ICMP6_ECHO_REQUEST && icmp[1] == 0 &&
           rm_ipv6_sum(packet->header, PROTOCOL_ICMPV6, packet->payload_length) == 0xFFFF;
}

uint32_t rm_icmp6_answer(uint8_t *frame, uint32_t length, uint8_t const ipv6[16]) {
    struct rm_ipv6_packet packet;
    if (!rm_ipv6_find(frame, length, &packet) || !is_echo_request(&packet, ipv6) || rm_is_group(frame) ||
        rm_is_group(frame + ETHERNET_SOURCE))
        return 0;
    uint8_t mac[6], asker[IPV6_ADDRESS_BYTES];
    memcpy(mac, frame, sizeof mac);
    memcpy(frame, frame + ETHERNET_SOURCE, sizeof mac);
    memcpy(frame + ETHERNET_SOURCE, mac, sizeof mac);

    uint32_t const ethernet_bytes = (uint32_t)(packet.header - frame);
    uint8_t *const header = frame + ethernet_bytes;
    memcpy(asker, header + IPV6_SOURCE, sizeof asker);
    memcpy(header + IPV6_SOURCE, ipv6, IPV6_ADDRESS_BYTES);
    memcpy(header + IPV6_DESTINATION, asker, sizeof asker);
    header[IPV6_HOP_LIMIT] = TIME_TO_LIVE;
    header[RM_IPV6_BYTES] = ICMP6_ECHO_REPLY;
    rm_ipv6_write_icmp_checksum(header, packet.payload_length);
    return rm_answer_length(ethernet_bytes + RM_IPV6_BYTES + packet.payload_length, length);
}
