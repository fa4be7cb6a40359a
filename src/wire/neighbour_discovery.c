// SPDX-License-Identifier: Apache-2.0
#include "wire/neighbour_discovery.h"

#include "wire/address.h"
#include "wire/icmp6.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/network_order.h"

enum {
    SOLICITATION = 135,
    ADVERTISEMENT = 136,
    ND_FLAGS = 4, /**< of an advertisement */
    ND_TARGET = 8,
    ND_BYTES = 24,
    ROUTER_FLAG = 0x80,
    SOLICITED_FLAG = 0x40,
    OVERRIDE_FLAG = 0x20,
    SOURCE_MAC_OPTION = 1,
    TARGET_MAC_OPTION = 2,
    OPTION_UNIT_BYTES = 8,
    HOP_LIMIT = 255, /**< no router has forwarded it, so it comes from this link */
};

static uint8_t const all_nodes[IPV6_ADDRESS_BYTES] = {0xFF, 0x02, [15] = 1};

/** ff02::1:ff00:0/104 and the last 24 bits of the address. */
static void write_solicited_group(uint8_t const ipv6[16], uint8_t group[16]) {
    static uint8_t const start[13] = {0xFF, 0x02, [11] = 1, 0xFF};
    memcpy(group, start, sizeof start);
    memcpy(group + sizeof start, ipv6 + sizeof start, IPV6_ADDRESS_BYTES - sizeof start);
}

/** Goes through the options; false where one is broken. */
static bool read_options(uint8_t const *option, uint32_t length, struct rm_nd_message *message) {
    uint8_t const wanted = message->solicitation ? SOURCE_MAC_OPTION : TARGET_MAC_OPTION;
    while (length >= 2) {
        uint32_t const bytes = option[1] * (uint32_t)OPTION_UNIT_BYTES;
        if (bytes == 0 || bytes > length)
            return false;
        if (option[0] == wanted && bytes == OPTION_UNIT_BYTES && !message->has_mac) {
            message->has_mac = true;
            memcpy(message->mac, option + 2, sizeof message->mac);
        }
        option += bytes;
        length -= bytes;
    }
    return length == 0;
}

/** The rules of RFC 4861, 7.1.1 and 7.1.2, that concern more than one field. */
static bool nd_is_sound(struct rm_nd_message const *message, uint8_t const destination[16]) {
    uint8_t group[IPV6_ADDRESS_BYTES];
    if (rm_ipv6_is_multicast(message->target) || rm_ipv6_is_multicast(message->source) ||
        (message->has_mac && rm_is_group(message->mac)))
        return false;
    if (!message->solicitation)
        return !message->solicited || !rm_ipv6_is_multicast(destination);
    write_solicited_group(message->target, group);
    return !rm_ipv6_is_unspecified(message->source) ||
           (!message->has_mac && memcmp(destination, group, sizeof group) == 0);
}

bool rm_nd_read(uint8_t const *frame, uint32_t length, struct rm_nd_message *message) {
    struct rm_ipv6_packet packet;
    if (!rm_ipv6_find(frame, length, &packet) || packet.header[IPV6_NEXT_HEADER] != PROTOCOL_ICMPV6 ||
        packet.header[IPV6_HOP_LIMIT] != HOP_LIMIT || packet.payload_length < ND_BYTES)
        return false;
    uint8_t const *const icmp = packet.header + RM_IPV6_BYTES;
    if ((icmp[0] != SOLICITATION && icmp[0] != ADVERTISEMENT) || icmp[1] != 0 ||
        rm_ipv6_sum(packet.header, PROTOCOL_ICMPV6, packet.payload_length) != 0xFFFF)
        return false;
    struct rm_nd_message found = {
        .solicitation = icmp[0] == SOLICITATION,
        .solicited = icmp[0] == ADVERTISEMENT && (icmp[ND_FLAGS] & SOLICITED_FLAG) != 0,
        .override = icmp[0] == ADVERTISEMENT && (icmp[ND_FLAGS] & OVERRIDE_FLAG) != 0,
        .vlan = packet.vlan,
    };
    memcpy(found.source, packet.header + IPV6_SOURCE, sizeof found.source);
    memcpy(found.target, icmp + ND_TARGET, sizeof found.target);
    if (!read_options(icmp + ND_BYTES, packet.payload_length - ND_BYTES, &found) ||
        !nd_is_sound(&found, packet.header + IPV6_DESTINATION))
        return false;
    *message = found;
    return true;
}

/** A message about `target` with the sender's MAC address as its option. Returns the frame's length. */
static uint32_t nd_write(uint8_t *frame, struct rm_nd_sender const *sender, uint8_t const destination[16],
                         uint8_t const destination_mac[6], uint8_t const target[16], uint8_t const kind[2]) {
    uint32_t const ethernet_bytes =
        rm_ethernet_write(frame, destination_mac, sender->mac, sender->vlan, ETHERTYPE_IPV6);
    uint8_t *const header = frame + ethernet_bytes, *const icmp = header + RM_IPV6_BYTES;
    uint32_t const bytes = ND_BYTES + OPTION_UNIT_BYTES;
    rm_ipv6_write(header, sender->ipv6, destination, PROTOCOL_ICMPV6, HOP_LIMIT, (uint16_t)bytes);
    memset(icmp, 0, ND_BYTES);
    icmp[0] = kind[0];
    icmp[ND_FLAGS] = kind[1];
    memcpy(icmp + ND_TARGET, target, IPV6_ADDRESS_BYTES);
    icmp[ND_BYTES] = kind[0] == SOLICITATION ? SOURCE_MAC_OPTION : TARGET_MAC_OPTION;
    icmp[ND_BYTES + 1] = 1;
    memcpy(icmp + ND_BYTES + 2, sender->mac, sizeof sender->mac);
    rm_ipv6_write_icmp_checksum(header, bytes);
    return ethernet_bytes + RM_IPV6_BYTES + bytes;
}

uint32_t rm_nd_write_solicitation(uint8_t frame[RM_ND_FRAME_BYTES], struct rm_nd_sender const *sender,
                                  uint8_t const target[16], uint8_t const *mac) {
    static uint8_t const kind[] = {SOLICITATION, 0};
    uint8_t group[IPV6_ADDRESS_BYTES], group_mac[6];
    if (mac != NULL)
        return nd_write(frame, sender, target, mac, target, kind);
    write_solicited_group(target, group);
    rm_ipv6_multicast_mac(group, group_mac);
    return nd_write(frame, sender, group, group_mac, target, kind);
}

uint32_t rm_nd_write_advertisement(uint8_t frame[RM_ND_FRAME_BYTES], struct rm_nd_sender const *sender,
                                   uint8_t const *to, uint8_t const *to_mac) {
    bool const to_one = to != NULL && !rm_ipv6_is_unspecified(to);
    uint8_t const kind[] = {ADVERTISEMENT, (uint8_t)(ROUTER_FLAG | OVERRIDE_FLAG | (to_one ? SOLICITED_FLAG : 0))};
    uint8_t everybody[6];
    rm_ipv6_multicast_mac(all_nodes, everybody);
    return to_one ? nd_write(frame, sender, to, to_mac, sender->ipv6, kind)
                  : nd_write(frame, sender, all_nodes, everybody, sender->ipv6, kind);
}
