// SPDX-License-Identifier: Apache-2.0
#include "engine/exception_path.h"

#include <string.h>

#include "wire/arp.h"
#include "wire/icmp.h"

enum {
    KERNEL_QUEUE = 0,
    FIRST_ANNOUNCEMENTS = 2, /**< soon after another, in case the first one is lost */
    SOON_MS = 1000,
    ANNOUNCE_MS = 60000,
};

_Static_assert((int)RM_IGMP_FRAME_BYTES <= (int)RM_SEND_BYTES && (int)RM_PORT_GROUPS_MAX <= (int)RM_IGMP_GROUPS_MAX,
               "one report holds all groups, and may be sent");
_Static_assert(RM_PORT_GROUPS_MAX <= RM_BURST && RM_PORT_GROUPS_MAX < 32,
               "one burst holds a report for each, and reports_due a bit");

static uint32_t all_groups(struct rm_slow_port const *port) { return (1u << port->group_count) - 1; }

static bool port_answers(struct rm_slow_port const *port) { return port->kernel == NULL && port->answer_ipv4 != 0; }

void rm_exception_path_init(struct rm_exception_path *exception_path) {
    for (uint32_t i = 0; i < exception_path->port_count; ++i) {
        struct rm_slow_port *const port = &exception_path->port[i];
        port->reporter.ipv4 = port->answer_ipv4;
        port->reporter.vlan = port->vlan;
        port->igmp_version = 2;
        if (!rm_port_mac(port->port, port->reporter.mac))
            rm_arp_make_mac(port->answer_ipv4, port->reporter.mac);
    }
}

/** Sends the reserved frames of `out`; those that the link does not take are gone too. Returns how many went. */
static uint32_t send_out(struct rm_exception_path *exception_path, struct rm_port *port, uint16_t queue) {
    uint32_t const sent = rm_port_send(port, queue, &exception_path->out);
    rm_port_release(port, queue, &exception_path->out);
    return sent;
}

/** Sends copies of the frames in `in`, cut to `length`, which is 0 for those that are not to be sent. Returns how many
 * went; the others found no room, or are longer than may be sent. */
static uint32_t send_copies(struct rm_exception_path *exception_path, struct rm_port *to, uint16_t queue,
                            uint32_t const length[RM_BURST]) {
    struct rm_burst const *const in = &exception_path->in;
    struct rm_burst *const out = &exception_path->out;
    uint32_t chosen[RM_BURST] = {0}, count = 0;
    for (uint32_t i = 0; i < in->count; ++i)
        if (length[i] != 0 && length[i] <= RM_SEND_BYTES)
            chosen[count++] = i;
    uint32_t const room = count != 0 ? rm_port_reserve(to, queue, out, count) : 0;
    if (room == 0)
        return 0;
    for (uint32_t i = 0; i < room; ++i) {
        memcpy(out->data[i], in->data[chosen[i]], length[chosen[i]]);
        out->length[i] = length[chosen[i]];
    }
    return send_out(exception_path, to, queue);
}

/** Notes a query that asks for groups of ours: the answer is due at a random moment before its longest wait. */
static bool note_query(struct rm_exception_path const *exception_path, struct rm_slow_port *port, uint8_t const *frame,
                       uint32_t length, uint64_t tsc) {
    struct rm_igmp_query query;
    if (port->group_count == 0 || !rm_igmp_find_query(frame, length, &query))
        return false;
    uint32_t asked = query.group == 0 ? all_groups(port) : 0;
    for (uint32_t i = 0; i < port->group_count; ++i)
        if (port->group[i] == query.group)
            asked |= 1u << i;
    if (asked == 0)
        return false;
    uint64_t const longest = query.longest_wait_ms * exception_path->ticks_per_ms;
    uint64_t const random = tsc * 0x9E3779B97F4A7C15u;
    uint64_t const due = tsc + (uint64_t)((unsigned __int128)random * longest >> 64);
    if (port->reports_due == 0 || due < port->report_tsc)
        port->report_tsc = due;
    port->reports_due |= asked;
    port->igmp_version = query.version;
    return true;
}

static uint32_t exception_path_answer_frame(struct rm_slow_port const *port, uint8_t *frame, uint32_t length) {
    uint32_t const arp = rm_arp_answer(frame, length, port->reporter.mac, port->answer_ipv4);
    return arp != 0 ? arp : rm_icmp_answer(frame, length, port->answer_ipv4);
}

static void answer_all(struct rm_exception_path *exception_path, struct rm_slow_port *port, uint64_t tsc) {
    struct rm_burst *const in = &exception_path->in;
    uint32_t length[RM_BURST], answers = 0, queries = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        queries += note_query(exception_path, port, in->data[i], in->length[i], tsc);
        length[i] = port->answer_ipv4 != 0 ? exception_path_answer_frame(port, in->data[i], in->length[i]) : 0;
        answers += length[i] != 0;
    }
    uint32_t const sent = send_copies(exception_path, port->port, rm_port_slow_queue(port->port), length);
    rm_counter_add(port->counters, RM_PORT_ANSWERED, queries + sent);
    rm_counter_add(port->counters, RM_PORT_KERNEL_FULL, answers - sent);
}

static void give_to_kernel(struct rm_exception_path *exception_path, struct rm_slow_port *port, uint64_t tsc) {
    struct rm_burst const *const in = &exception_path->in;
    for (uint32_t i = 0; i < in->count; ++i)
        note_query(exception_path, port, in->data[i], in->length[i], tsc);
    uint32_t const sent = send_copies(exception_path, port->kernel, KERNEL_QUEUE, in->length);
    rm_counter_add(port->counters, RM_PORT_TO_KERNEL, sent);
    rm_counter_add(port->counters, RM_PORT_KERNEL_FULL, in->count - sent);
}

/** What was punted. */
static uint32_t take_punted(struct rm_exception_path *exception_path, struct rm_slow_port *port, uint64_t tsc) {
    uint16_t const queue = rm_port_slow_queue(port->port);
    uint32_t const count = rm_port_receive(port->port, queue, &exception_path->in);
    if (count == 0)
        return 0;
    if (port->kernel != NULL)
        give_to_kernel(exception_path, port, tsc);
    else
        answer_all(exception_path, port, tsc);
    rm_port_release(port->port, queue, &exception_path->in);
    return count;
}

static uint32_t take_from_kernel(struct rm_exception_path *exception_path, struct rm_slow_port *port) {
    struct rm_burst *const in = &exception_path->in;
    uint32_t const count = rm_port_receive(port->kernel, KERNEL_QUEUE, in);
    if (count == 0)
        return 0;
    uint32_t const sent = send_copies(exception_path, port->port, rm_port_slow_queue(port->port), in->length);
    rm_counter_add(port->counters, RM_PORT_FROM_KERNEL, sent);
    rm_counter_add(port->counters, RM_PORT_KERNEL_FULL, count - sent);
    rm_port_release(port->kernel, KERNEL_QUEUE, in);
    return count;
}

static bool send_announcement(struct rm_exception_path *exception_path, struct rm_slow_port *port) {
    uint16_t const queue = rm_port_slow_queue(port->port);
    struct rm_burst *const out = &exception_path->out;
    if (rm_port_reserve(port->port, queue, out, 1) == 0)
        return false;
    rm_arp_announce(out->data[0], port->reporter.mac, port->answer_ipv4, port->vlan);
    out->length[0] = RM_ARP_ANNOUNCEMENT_BYTES;
    return send_out(exception_path, port->port, queue) != 0;
}

static uint32_t exception_path_announce(struct rm_exception_path *exception_path, struct rm_slow_port *port,
                                        uint64_t tsc) {
    bool const sent = !port_answers(port) || send_announcement(exception_path, port);
    port->announcements += sent;
    bool const again_soon = !sent || port->announcements < FIRST_ANNOUNCEMENTS;
    port->announce_tsc = tsc + (again_soon ? SOON_MS : ANNOUNCE_MS) * exception_path->ticks_per_ms;
    port->reports_due = all_groups(port);
    port->report_tsc = tsc;
    return port_answers(port) && sent;
}

/** One report of all that are due; returns how many groups are in those sent. */
static uint32_t report_v3(struct rm_exception_path *exception_path, struct rm_slow_port *port, uint32_t const *group,
                          uint32_t count) {
    uint16_t const queue = rm_port_slow_queue(port->port);
    struct rm_burst *const out = &exception_path->out;
    if (rm_port_reserve(port->port, queue, out, 1) == 0)
        return 0;
    out->length[0] = rm_igmp_write_report_v3(out->data[0], &port->reporter, group, count);
    return send_out(exception_path, port->port, queue) != 0 ? count : 0;
}

/** A report for each. */
static uint32_t report_v2(struct rm_exception_path *exception_path, struct rm_slow_port *port, uint32_t const *group,
                          uint32_t count) {
    uint16_t const queue = rm_port_slow_queue(port->port);
    struct rm_burst *const out = &exception_path->out;
    uint32_t const room = rm_port_reserve(port->port, queue, out, count);
    for (uint32_t i = 0; i < room; ++i)
        out->length[i] = rm_igmp_write_report_v2(out->data[i], &port->reporter, group[i]);
    return room != 0 ? send_out(exception_path, port->port, queue) : 0;
}

/** Reports the groups that are due; those that the link does not take are due again soon. */
static uint32_t exception_path_report_groups(struct rm_exception_path *exception_path, struct rm_slow_port *port,
                                             uint64_t tsc) {
    uint32_t group[RM_PORT_GROUPS_MAX] = {0}, count = 0;
    for (uint32_t i = 0; i < port->group_count; ++i)
        if (port->reports_due >> i & 1)
            group[count++] = port->group[i];
    uint32_t const sent = port->igmp_version == 3 ? report_v3(exception_path, port, group, count)
                                                  : report_v2(exception_path, port, group, count);
    for (uint32_t i = 0; i < sent; ++i)
        port->reports_due &= port->reports_due - 1; /* the lowest bit stands for the first group */
    port->report_tsc = tsc + SOON_MS * exception_path->ticks_per_ms;
    return sent;
}

uint32_t rm_exception_path_duty(void *role, uint64_t tsc) {
    struct rm_exception_path *exception_path = role;
    uint32_t work = 0;
    for (uint32_t i = 0; i < exception_path->port_count; ++i) {
        struct rm_slow_port *const port = &exception_path->port[i];
        work += take_punted(exception_path, port, tsc);
        if (port->kernel != NULL)
            work += take_from_kernel(exception_path, port);
        if (tsc >= port->announce_tsc)
            work += exception_path_announce(exception_path, port, tsc);
        if (port->reports_due != 0 && tsc >= port->report_tsc)
            work += exception_path_report_groups(exception_path, port, tsc);
    }
    return work;
}
