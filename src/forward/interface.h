// SPDX-License-Identifier: Apache-2.0
/** A router's interface: a port, or a VLAN of one, with its addresses. */
#ifndef RM_FORWARD_INTERFACE_H
#define RM_FORWARD_INTERFACE_H

#include "forward/prefix.h"

enum {
    RM_FORWARD_PORTS_MAX = 16,
    RM_INTERFACES_MAX = 256,
    RM_VLANS = 4096,
};

/** For a packet's way in or out, of no interface. */
#define RM_INTERFACE_NONE UINT16_MAX

/** Only `mtu` and the addresses may change while it is up. */
struct rm_interface {
    bool up;
    /** As the router numbers ports. */
    uint16_t port;
    /** 1–4094; 0: untagged frames, and those tagged for their priority alone. */
    uint16_t vlan;
    /** Frames to this address and to groups are taken, no others. */
    uint8_t mac[6];
    /** Bytes of the longest IP packet, 68 or more; IPv6 needs 1280. */
    uint32_t mtu;
    /** IPv4 packets above the next link's MTU are cut into fragments where they allow it; else they are dropped and
     * their sender hears of it. */
    bool fragments;
    /** Senders of ICMP errors: our addresses here. None: no errors are sent out of this interface. */
    struct rm_ip ipv4;
    struct rm_ip ipv6;
};

#endif
