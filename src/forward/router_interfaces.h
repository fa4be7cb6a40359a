// SPDX-License-Identifier: Apache-2.0
/** The router's interfaces as the control side knows them: what the forwarding cores read (interface.h), and beside it
 * name, addresses and the kernel's number. */
#ifndef RM_FORWARD_ROUTER_INTERFACES_H
#define RM_FORWARD_ROUTER_INTERFACES_H

#include "forward/interface.h"
#include "forward/prefix_text.h"

enum {
    /** Most addresses of one interface. */
    RM_INTERFACE_ADDRESSES_MAX = 16,
    /** Bytes of a name, "PORT" or "PORT.VLAN", with the terminating zero. */
    RM_INTERFACE_NAME_BYTES = 40,
};

/** One address of ours. */
struct rm_router_address {
    struct rm_ip ip;
    /** Of the prefix of the network that the interface is in. */
    uint8_t length;
};

struct rm_router_interface {
    /** "PORT", or "PORT.VLAN" in a VLAN. */
    char name[RM_INTERFACE_NAME_BYTES];
    struct rm_interface wire;
    /** The kernel's number of the interface beside it, which answers for our addresses; 0: there is none, and the
     * router answers itself. */
    uint32_t kernel_index;
    uint32_t address_count;
    struct rm_router_address address[RM_INTERFACE_ADDRESSES_MAX];
};

struct rm_router_interfaces {
    uint32_t count;
    struct rm_router_interface interface[RM_INTERFACES_MAX];
};

/** Number of an interface; RM_INTERFACE_NONE: there is none such. */
uint32_t rm_interfaces_named(struct rm_router_interfaces const *interfaces, char const *name);
uint32_t rm_interfaces_of_port(struct rm_router_interfaces const *interfaces, uint32_t port, uint16_t vlan);
uint32_t rm_interfaces_of_kernel(struct rm_router_interfaces const *interfaces, uint32_t kernel_index);
/** The one whose network holds the address: of several that with the longest prefix. */
uint32_t rm_interfaces_of_network(struct rm_router_interfaces const *interfaces, struct rm_ip const *ip);

/** False: the interface has it already, or as many as it may. */
bool rm_interface_add_address(struct rm_router_interface *interface, struct rm_router_address const *address);
/** False: it has it not. */
bool rm_interface_remove_address(struct rm_router_interface *interface, struct rm_router_address const *address);

/** Whether the address is ours on this interface; its link-local one, made of the MAC, too. */
bool rm_interface_has(struct rm_router_interface const *interface, struct rm_ip const *ip);
/** Whether a network of the interface has the host, other than the address alone. */
bool rm_interface_connects(struct rm_router_interface const *interface, struct rm_ip const *ip);
/** The address to ask for `target` with: in its network, else link-local (IPv6), else any; none where there is none. */
struct rm_ip rm_interface_source(struct rm_router_interface const *interface, struct rm_ip const *target);
/** fe80::/64 and the MAC as RFC 4291 has it. */
struct rm_ip rm_interface_link_local(struct rm_router_interface const *interface);

#endif
