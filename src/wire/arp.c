// SPDX-License-Identifier: Apache-2.0
#include "wire/arp.h"

#include "wire/ipv4.h"
#include "wire/network_order.h"

enum {
    ARP_BYTES = 28,
    ARP_KIND_BYTES = 6, /**< hardware type, protocol type, the lengths of their addresses: the same in all we know */
    ARP_OPERATION = 6,
    ARP_SENDER_MAC = 8,
    ARP_SENDER_IPV4 = 14,
    ARP_TARGET_MAC = 18,
    ARP_TARGET_IPV4 = 24,
    REQUEST = 1,
    REPLY = 2,
};

static uint8_t const ethernet_and_ipv4[ARP_KIND_BYTES] = {0, 1, 0x08, 0x00, 6, 4};

/** The ARP packet in a frame, or NULL; `*ethernet` is what lies before it. */
static uint8_t const *arp_find(uint8_t const *frame, uint32_t length, struct rm_ethernet *ethernet) {
    *ethernet = rm_ethernet_find(frame, length);
    if (ethernet->bytes == 0 || ethernet->ethertype != ETHERTYPE_ARP || length - ethernet->bytes < ARP_BYTES)
        return NULL;
    uint8_t const *const arp = frame + ethernet->bytes;
    return memcmp(arp, ethernet_and_ipv4, ARP_KIND_BYTES) == 0 && !rm_is_group(arp + ARP_SENDER_MAC) ? arp : NULL;
}

bool rm_arp_read(uint8_t const *frame, uint32_t length, struct rm_arp_packet *packet) {
    struct rm_ethernet ethernet;
    uint8_t const *const arp = arp_find(frame, length, &ethernet);
    uint16_t const operation = arp != NULL ? rm_load16(arp + ARP_OPERATION) : 0;
    if (operation != REQUEST && operation != REPLY)
        return false;
    packet->reply = operation == REPLY;
    memcpy(packet->sender_mac, arp + ARP_SENDER_MAC, sizeof packet->sender_mac);
    packet->sender_ipv4 = rm_load32(arp + ARP_SENDER_IPV4);
    packet->target_ipv4 = rm_load32(arp + ARP_TARGET_IPV4);
    packet->vlan = ethernet.vlan;
    return true;
}

uint32_t rm_arp_answer(uint8_t *frame, uint32_t length, uint8_t const mac[6], uint32_t ipv4) {
    struct rm_ethernet ethernet;
    uint8_t const *const found = arp_find(frame, length, &ethernet);
    if (found == NULL || rm_load16(found + ARP_OPERATION) != REQUEST || rm_load32(found + ARP_TARGET_IPV4) != ipv4 ||
        rm_load32(found + ARP_SENDER_IPV4) == ipv4)
        return 0;
    uint8_t *const arp = frame + ethernet.bytes;
    memcpy(frame, arp + ARP_SENDER_MAC, 6);
    memcpy(frame + ETHERNET_SOURCE, mac, 6);
    rm_store16(arp + ARP_OPERATION, REPLY);
    memcpy(arp + ARP_TARGET_MAC, arp + ARP_SENDER_MAC, 10);
    memcpy(arp + ARP_SENDER_MAC, mac, 6);
    rm_store32(arp + ARP_SENDER_IPV4, ipv4);
    return rm_answer_length(ethernet.bytes + ARP_BYTES, length);
}

void rm_arp_request(uint8_t frame[RM_ARP_REQUEST_BYTES], uint8_t const mac[6], uint32_t ipv4, uint32_t target_ipv4,
                    uint16_t vlan) {
    static uint8_t const everybody[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    memset(frame, 0, RM_ARP_REQUEST_BYTES);
    uint32_t const ethernet_bytes = rm_ethernet_write(frame, everybody, mac, vlan, ETHERTYPE_ARP);
    uint8_t *const arp = frame + ethernet_bytes;
    memcpy(arp, ethernet_and_ipv4, ARP_KIND_BYTES);
    rm_store16(arp + ARP_OPERATION, REQUEST);
    memcpy(arp + ARP_SENDER_MAC, mac, 6);
    rm_store32(arp + ARP_SENDER_IPV4, ipv4);
    rm_store32(arp + ARP_TARGET_IPV4, target_ipv4);
}

void rm_arp_announce(uint8_t frame[RM_ARP_ANNOUNCEMENT_BYTES], uint8_t const mac[6], uint32_t ipv4, uint16_t vlan) {
    rm_arp_request(frame, mac, ipv4, ipv4, vlan);
}

void rm_arp_make_mac(uint32_t ipv4, uint8_t mac[6]) {
    rm_store16(mac, 0x0200);
    rm_store32(mac + 2, ipv4);
}
