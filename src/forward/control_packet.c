// SPDX-License-Identifier: Apache-2.0
#include "forward/control_parts.h"
#include "wire/arp.h"
#include "wire/icmp.h"
#include "wire/icmp6.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/neighbour_discovery.h"
#include "wire/network_order.h"

static struct rm_router_interface const *packet_interface(struct rm_control const *control,
                                                          struct rm_handoff_packet const *packet) {
    return packet->interface < control->setup.interfaces->count
               ? &control->setup.interfaces->interface[packet->interface]
               : NULL;
}

/** Where an IP packet goes; false: it is none. */
static bool packet_destination(struct rm_handoff_packet const *packet, struct rm_ip *ip) {
    struct rm_ethernet const ethernet = rm_ethernet_find(packet->frame, packet->length);
    uint8_t const *const header = packet->frame + ethernet.bytes;
    uint32_t const left = packet->length - ethernet.bytes;
    if (ethernet.bytes != 0 && ethernet.ethertype == ETHERTYPE_IPV4 && left >= RM_IPV4_BYTES) {
        *ip = rm_ip_of_ipv4(rm_load32(header + IPV4_DESTINATION));
        return true;
    }
    if (ethernet.bytes == 0 || ethernet.ethertype != ETHERTYPE_IPV6 || left < RM_IPV6_BYTES)
        return false;
    *ip = rm_ip_of_ipv6(header + IPV6_DESTINATION);
    return true;
}

/** Whether the address is ours, on whichever interface. */
static bool is_ours(struct rm_control const *control, struct rm_ip const *ip) {
    for (uint32_t i = 0; i < control->setup.interfaces->count; ++i)
        if (rm_interface_has(&control->setup.interfaces->interface[i], ip))
            return true;
    return false;
}

/** Sends the answer that control->frame was made into. */
static bool send_answer(struct rm_control *control, uint32_t port, uint32_t length) {
    if (length == 0)
        return false;
    rm_control_send(control, port, control->frame, length);
    rm_control_count(control, RM_ROUTER_ANSWERED, 1);
    return true;
}

/** What ARP tells us, and our answer. False: it is the kernel's to answer, or no ARP. */
static bool take_arp(struct rm_control *control, struct rm_router_interface const *interface,
                     struct rm_handoff_packet const *packet) {
    struct rm_arp_packet arp;
    if (!rm_arp_read(packet->frame, packet->length, &arp))
        return false;
    struct rm_ip const sender = rm_ip_of_ipv4(arp.sender_ipv4), target = rm_ip_of_ipv4(arp.target_ipv4);
    bool const for_us = rm_interface_has(interface, &target);
    if (arp.sender_ipv4 != 0 && !is_ours(control, &sender))
        rm_neighbours_heard(control->neighbours, packet->interface, &sender, arp.sender_mac, arp.reply && for_us,
                            !arp.reply && for_us, control->now_ms);
    if (interface->kernel_index != 0)
        return false;
    if (!for_us || arp.reply)
        return true;
    memcpy(control->frame, packet->frame, packet->length);
    send_answer(control, packet->port,
                rm_arp_answer(control->frame, packet->length, interface->wire.mac, arp.target_ipv4));
    return true;
}

/** The same of neighbour discovery. */
static bool take_discovery(struct rm_control *control, struct rm_router_interface const *interface,
                           struct rm_handoff_packet const *packet) {
    struct rm_nd_message message;
    if (!rm_nd_read(packet->frame, packet->length, &message))
        return false;
    struct rm_ip const target = rm_ip_of_ipv6(message.target), source = rm_ip_of_ipv6(message.source);
    bool const for_us = message.solicitation && rm_interface_has(interface, &target);
    struct rm_ip const *const told = message.solicitation ? &source : &target;
    if (message.has_mac && !rm_ip_is_none(told) && !is_ours(control, told))
        rm_neighbours_heard(control->neighbours, packet->interface, told, message.mac,
                            !message.solicitation && message.solicited, for_us, control->now_ms);
    if (interface->kernel_index != 0)
        return false;
    if (!for_us)
        return true;
    struct rm_nd_sender sender = {.vlan = interface->wire.vlan};
    memcpy(sender.mac, interface->wire.mac, sizeof sender.mac);
    memcpy(sender.ipv6, message.target, sizeof sender.ipv6);
    uint8_t const *const to_mac = message.has_mac ? message.mac : packet->frame + ETHERNET_SOURCE;
    send_answer(control, packet->port, rm_nd_write_advertisement(control->frame, &sender, message.source, to_mac));
    return true;
}

/** A ping of an address of ours, where no kernel interface answers it. */
static bool take_ping(struct rm_control *control, struct rm_router_interface const *interface,
                      struct rm_handoff_packet const *packet) {
    struct rm_ip to;
    if (interface->kernel_index != 0 || !packet_destination(packet, &to) || !is_ours(control, &to))
        return false;
    memcpy(control->frame, packet->frame, packet->length);
    uint32_t const length = to.ipv6 ? rm_icmp6_answer(control->frame, packet->length, to.byte)
                                    : rm_icmp_answer(control->frame, packet->length, rm_ip_ipv4(&to));
    return send_answer(control, packet->port, length);
}

static void wait_for_neighbour(struct rm_control *control, struct rm_handoff_packet const *packet) {
    struct rm_next_hop const *const hop = rm_routes_hop(control->setup.routes, packet->hop);
    struct rm_ip next = hop->gateway;
    if (rm_ip_is_none(&next) && !packet_destination(packet, &next))
        return;
    rm_neighbours_wait(control->neighbours, hop->interface, &next, packet, control->now_ms);
}

void rm_control_packet(struct rm_control *control, struct rm_handoff_packet const *packet) {
    struct rm_router_interface const *const interface = packet_interface(control, packet);
    if (packet->length > control->setup.longest_frame)
        return;
    if (packet->reason == RM_HANDOFF_UNRESOLVED) {
        wait_for_neighbour(control, packet);
        return;
    }
    if (interface != NULL && (take_arp(control, interface, packet) || take_discovery(control, interface, packet) ||
                              take_ping(control, interface, packet)))
        return;
    rm_control_to_kernel(control, packet->port, packet->frame, packet->length);
}
