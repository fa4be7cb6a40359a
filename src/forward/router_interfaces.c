// SPDX-License-Identifier: Apache-2.0
#include "forward/router_interfaces.h"

#include <string.h>

uint32_t rm_interfaces_named(struct rm_router_interfaces const *interfaces, char const *name) {
    for (uint32_t i = 0; i < interfaces->count; ++i)
        if (strcmp(interfaces->interface[i].name, name) == 0)
            return i;
    return RM_INTERFACE_NONE;
}

uint32_t rm_interfaces_of_port(struct rm_router_interfaces const *interfaces, uint32_t port, uint16_t vlan) {
    for (uint32_t i = 0; i < interfaces->count; ++i)
        if (interfaces->interface[i].wire.port == port && interfaces->interface[i].wire.vlan == vlan)
            return i;
    return RM_INTERFACE_NONE;
}

uint32_t rm_interfaces_of_kernel(struct rm_router_interfaces const *interfaces, uint32_t kernel_index) {
    for (uint32_t i = 0; i < interfaces->count && kernel_index != 0; ++i)
        if (interfaces->interface[i].kernel_index == kernel_index)
            return i;
    return RM_INTERFACE_NONE;
}

static bool network_holds(struct rm_router_address const *address, struct rm_ip const *ip) {
    struct rm_prefix const network = rm_prefix_of(&address->ip, address->length);
    return rm_prefix_holds(&network, ip);
}

uint32_t rm_interfaces_of_network(struct rm_router_interfaces const *interfaces, struct rm_ip const *ip) {
    uint32_t best = RM_INTERFACE_NONE;
    int longest = -1;
    for (uint32_t i = 0; i < interfaces->count; ++i) {
        struct rm_router_interface const *const interface = &interfaces->interface[i];
        for (uint32_t a = 0; a < interface->address_count && interface->wire.up; ++a)
            if (interface->address[a].length > longest && network_holds(&interface->address[a], ip)) {
                best = i;
                longest = interface->address[a].length;
            }
    }
    return best;
}

static uint32_t address_find(struct rm_router_interface const *interface, struct rm_ip const *ip) {
    uint32_t i = 0;
    while (i < interface->address_count && !rm_ip_same(&interface->address[i].ip, ip))
        ++i;
    return i;
}

/** What errors are sent from: the first address of each version. */
static void set_senders(struct rm_router_interface *interface) {
    interface->wire.ipv4 = interface->wire.ipv6 = (struct rm_ip){.ipv6 = false};
    for (uint32_t i = interface->address_count; i-- > 0;) {
        struct rm_ip const *const ip = &interface->address[i].ip;
        *(ip->ipv6 ? &interface->wire.ipv6 : &interface->wire.ipv4) = *ip;
    }
}

bool rm_interface_add_address(struct rm_router_interface *interface, struct rm_router_address const *address) {
    if (interface->address_count == RM_INTERFACE_ADDRESSES_MAX ||
        address_find(interface, &address->ip) != interface->address_count)
        return false;
    interface->address[interface->address_count++] = *address;
    set_senders(interface);
    return true;
}

bool rm_interface_remove_address(struct rm_router_interface *interface, struct rm_router_address const *address) {
    uint32_t const at = address_find(interface, &address->ip);
    if (at == interface->address_count)
        return false;
    --interface->address_count;
    memmove(&interface->address[at], &interface->address[at + 1],
            (interface->address_count - at) * sizeof interface->address[0]);
    set_senders(interface);
    return true;
}

struct rm_ip rm_interface_link_local(struct rm_router_interface const *interface) {
    uint8_t const *const mac = interface->wire.mac;
    return (struct rm_ip){
        .ipv6 = true,
        .byte = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, mac[0] ^ 2, mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]}};
}

bool rm_interface_has(struct rm_router_interface const *interface, struct rm_ip const *ip) {
    struct rm_ip const link_local = rm_interface_link_local(interface);
    return address_find(interface, ip) != interface->address_count || rm_ip_same(&link_local, ip);
}

bool rm_interface_connects(struct rm_router_interface const *interface, struct rm_ip const *ip) {
    for (uint32_t i = 0; i < interface->address_count; ++i)
        if (interface->address[i].length < rm_ip_bits(ip) && network_holds(&interface->address[i], ip))
            return true;
    return false;
}

struct rm_ip rm_interface_source(struct rm_router_interface const *interface, struct rm_ip const *target) {
    for (uint32_t i = 0; i < interface->address_count; ++i)
        if (network_holds(&interface->address[i], target))
            return interface->address[i].ip;
    return target->ipv6 ? rm_interface_link_local(interface) : interface->wire.ipv4;
}
