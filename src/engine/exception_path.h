// SPDX-License-Identifier: Apache-2.0
/** The exception path role: what no instrument sent.
 *
 * The receive role punts such frames (rm_port_punt). Here they go on
 *
 *     to the kernel      where a tap stands beside the port: the kernel answers, and what it sends leaves by the port
 *     to ourselves       where the port has an address to answer for: ARP, pings, IGMP queries
 *
 * and multicast groups are reported, so that switches go on forwarding them. A port that answers announces itself every
 * minute: switches forget an address that never sends, and would flood all datagrams to it to every port.
 *
 * One duty takes at most one burst from each port and one from each kernel port. Frames are copied, both ways: they are
 * few. No lock, no allocation, no log line; a tap's system calls are why this role has its own queue and, where it
 * matters, its own core.
 */
#ifndef RM_ENGINE_EXCEPTION_PATH_H
#define RM_ENGINE_EXCEPTION_PATH_H

#include <stdint.h>

#include <ringmaster/counter.h>

#include "net/port.h"
#include "wire/igmp.h"

struct rm_slow_port {
    struct rm_port *port;
    /** Its queue 0 is the kernel's side; NULL: there is none. */
    struct rm_port *kernel;
    /** Counters of `port`, set "port"; the role counts answered, to_kernel, from_kernel, kernel_full. */
    rm_counter *counters;
    /** Our address, host byte order, for ports without a kernel port; 0: nothing is answered. */
    uint32_t answer_ipv4;
    /** VLAN of what is sent unasked: 1–4094, or 0 for untagged. */
    uint16_t vlan;
    /** Number of groups to report; 0 where the kernel reports them itself. */
    uint32_t group_count;
    /** Up to RM_PORT_GROUPS_MAX multicast addresses, host byte order. */
    uint32_t const *group;

    /* What rm_exception_path_init and the duty keep. */

    /** Our MAC address, and the address and VLAN above. */
    struct rm_igmp_reporter reporter;
    /** TSC at which to announce next. */
    uint64_t announce_tsc;
    /** Announcements sent. */
    uint32_t announcements;
    /** TSC at which to report … */
    uint64_t report_tsc;
    /** … these groups, a bit each. */
    uint32_t reports_due;
    /** Version of the last query; 2 before that: all switches understand it. */
    uint8_t igmp_version;
};

struct rm_exception_path {
    struct rm_slow_port *port;
    uint32_t port_count;
    /** TSC ticks. */
    uint64_t ticks_per_ms;

    struct rm_burst in, out;
};

/** Prepares the ports that the caller has filled in; all else is zero, and the ports are open. A port that has no MAC
 * address answers with one made of its IPv4 address. */
void rm_exception_path_init(struct rm_exception_path *exception_path);

/** One turn of the duty cycle. Returns how much there was to do: frames taken, announcements, groups reported. */
uint32_t rm_exception_path_duty(void *exception_path, uint64_t tsc);

#endif
