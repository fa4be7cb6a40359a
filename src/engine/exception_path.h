// SPDX-License-Identifier: Apache-2.0
/** The exception path role: what no instrument sent.
 *
 * The receive role punts such frames (rm_port_punt). Here they go on
 *
 *     to the kernel      where a tap stands beside the port: the kernel answers, and what it sends leaves by the port
 *     to ourselves       where the port has an address to answer for: ARP, pings, IGMP queries
 *
 * and multicast groups are reported, so that switches go on forwarding them. A port that answers says every minute that
 * it is there: switches forget who never sends, and would flood all its instruments' datagrams to everybody.
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
    /** Set "port", of `port`: answered, to_kernel, from_kernel, kernel_full are ours. */
    rm_counter *counters;
    /** Our address, host byte order, for ports without a kernel port; 0: nothing is answered. */
    uint32_t answer_ipv4;
    /** Of what is sent unasked: 1–4094, or 0 for untagged. */
    uint16_t vlan;
    /** To report; 0 where the kernel reports them itself. */
    uint32_t group_count;
    /** Up to RM_PORT_GROUPS_MAX multicast addresses, host byte order. */
    uint32_t const *group;

    /* What rm_exception_path_init and the duty keep. */

    /** Our MAC address, and the above. */
    struct rm_igmp_reporter reporter;
    /** When to announce next. */
    uint64_t announce_tsc;
    /** Sent. */
    uint32_t announcements;
    /** When to report … */
    uint64_t report_tsc;
    /** … these groups, a bit each. */
    uint32_t reports_due;
    /** As last asked in; 2 before that: everybody understands it. */
    uint8_t igmp_version;
};

struct rm_exception_path {
    struct rm_slow_port *port;
    uint32_t port_count;
    /** Of the TSC. */
    uint64_t ticks_per_ms;

    struct rm_burst in, out;
};

/** Makes ready what the caller has filled in, all else zero; ports are open. A port that has no MAC address answers
 * with one made of its IPv4 address. */
void rm_exception_path_init(struct rm_exception_path *exception_path);

/** One turn of the duty cycle. Returns how much there was to do: frames taken, announcements, groups reported. */
uint32_t rm_exception_path_duty(void *exception_path, uint64_t tsc);

#endif
