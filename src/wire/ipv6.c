// SPDX-License-Identifier: Apache-2.0
#include "wire/ipv6.h"

#include "wire/icmp6.h"
#include "wire/internet_checksum.h"
#include "wire/ipv4.h"
#include "wire/network_order.h"

bool rm_ipv6_find(uint8_t const *frame, uint32_t length, struct rm_ipv6_packet *packet) {
    struct rm_ethernet const ethernet = rm_ethernet_find(frame, length);
    if (ethernet.bytes == 0 || ethernet.ethertype != ETHERTYPE_IPV6 || length - ethernet.bytes < RM_IPV6_BYTES)
        return false;
    uint8_t const *const header = frame + ethernet.bytes;
    uint32_t const payload_length = rm_load16(header + IPV6_PAYLOAD_LENGTH);
    if (header[0] >> 4 != 6 || payload_length > length - ethernet.bytes - RM_IPV6_BYTES)
        return false;
    *packet = (struct rm_ipv6_packet){header, payload_length, ethernet.vlan};
    return true;
}

void rm_ipv6_write(uint8_t *header, uint8_t const source[16], uint8_t const destination[16], uint8_t next_header,
                   uint8_t hop_limit, uint16_t payload_length) {
    rm_store32(header, 6u << 28);
    rm_store16(header + IPV6_PAYLOAD_LENGTH, payload_length);
    header[IPV6_NEXT_HEADER] = next_header;
    header[IPV6_HOP_LIMIT] = hop_limit;
    memmove(header + IPV6_SOURCE, source, IPV6_ADDRESS_BYTES);
    memmove(header + IPV6_DESTINATION, destination, IPV6_ADDRESS_BYTES);
}

uint16_t rm_ipv6_sum(uint8_t const *header, uint8_t next_header, uint32_t length) {
    uint8_t rest[8] = {0};
    rm_store32(rest, length);
    rest[7] = next_header;
    uint64_t sum = rm_checksum_add_bytes(0, header + IPV6_SOURCE, 2 * IPV6_ADDRESS_BYTES);
    sum = rm_checksum_add_bytes(sum, rest, sizeof rest);
    return rm_checksum_fold(rm_checksum_add_bytes(sum, header + RM_IPV6_BYTES, length));
}

void rm_ipv6_write_icmp_checksum(uint8_t *header, uint32_t length) {
    uint8_t *const checksum = header + RM_IPV6_BYTES + ICMP6_CHECKSUM;
    rm_store_memory16(checksum, 0);
    rm_store_memory16(checksum, (uint16_t)~rm_ipv6_sum(header, PROTOCOL_ICMPV6, length));
}
