// SPDX-License-Identifier: Apache-2.0
#include "forward/kernel_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fail.h"
#include "forward/kernel_message.h"

enum {
    MESSAGE_BYTES = 32768, /**< of what the kernel sends at once */
    REQUEST_BYTES = 256,
    QUEUE_BYTES = 8 << 20, /**< of changes that were not read yet */
    AGAIN_MS = 100,        /**< several reasons to ask for all again are one */
    MESSAGES_MAX = 64,     /**< of one call of follow */
};

struct rm_kernel_tables {
    struct mnl_socket *socket;
    struct rm_kernel_events events;
    bool dump_again;
    bool interrupted; /**< something changed while the kernel told all: it may be told wrongly */
    uint64_t dump_again_ms, dumps;
    uint32_t sequence;
};

static enum rm_code kernel_refuses(struct rm_error *error, char const *what) {
    return rm_fail(error, RM_E_SYSTEM, "netlink: %s: %s", what, strerror(errno));
}

static void want_dump(struct rm_kernel_tables *tables) { tables->dump_again = true; }

static void route_message(struct rm_kernel_tables *tables, struct nlmsghdr const *message) {
    struct rm_kernel_events const *const events = &tables->events;
    struct rm_known_route route;
    bool const gone = message->nlmsg_type == RTM_DELROUTE;
    if (!rm_kernel_read_route(message, &route))
        return;
    /* Of IPv6 routes of several paths, one path may be told of alone. */
    if (route.prefix.ip.ipv6 && (gone || (message->nlmsg_flags & NLM_F_APPEND) != 0))
        want_dump(tables);
    events->route(events->context, &route, gone);
}

static int one_message(struct nlmsghdr const *message, void *context) {
    struct rm_kernel_tables *const tables = context;
    struct rm_kernel_events const *const events = &tables->events;
    struct rm_kernel_link link;
    struct rm_router_address address;
    struct rm_kernel_neighbour neighbour;
    uint32_t index;
    tables->interrupted |= (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    switch (message->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        if (rm_kernel_read_link(message, &link))
            events->link(events->context, &link);
        break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
        if (rm_kernel_read_address(message, &index, &address))
            events->address(events->context, index, &address, message->nlmsg_type == RTM_DELADDR);
        break;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
        route_message(tables, message);
        break;
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
        if (rm_kernel_read_neighbour(message, &neighbour))
            events->neighbour(events->context, &neighbour);
        break;
    default:
        break;
    }
    return MNL_CB_OK;
}

/** A change: links and addresses take routes with them in silence. */
static int one_change(struct nlmsghdr const *message, void *context) {
    bool const takes_routes =
        message->nlmsg_type == RTM_NEWLINK || message->nlmsg_type == RTM_DELLINK || message->nlmsg_type == RTM_DELADDR;
    if (takes_routes)
        want_dump(context);
    return one_message(message, context);
}

/** Asks for all of one kind, and tells it. */
static enum rm_code dump_kind(struct rm_kernel_tables *tables, struct mnl_socket *socket, uint16_t type, uint8_t family,
                              struct rm_error *error) {
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *const request = mnl_nlmsg_put_header(buffer);
    request->nlmsg_type = type;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request->nlmsg_seq = ++tables->sequence;
    struct ifinfomsg *const header = mnl_nlmsg_put_extra_header(request, sizeof *header); /* the longest of all */
    header->ifi_family = family;
    if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
        return kernel_refuses(error, "cannot ask");
    for (int more = MNL_CB_OK; more > MNL_CB_STOP;) {
        ssize_t const bytes = mnl_socket_recvfrom(socket, buffer, sizeof buffer);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0)
            return kernel_refuses(error, "no answer");
        more = mnl_cb_run(buffer, (size_t)bytes, tables->sequence, mnl_socket_get_portid(socket), one_message, tables);
        if (more == MNL_CB_ERROR && errno == EINTR) { /* libmnl's word for an interrupted dump */
            tables->interrupted = true;
            return RM_OK;
        }
        if (more == MNL_CB_ERROR)
            return kernel_refuses(error, "cannot read the answer");
    }
    return RM_OK;
}

static struct mnl_socket *kernel_socket(unsigned groups, struct rm_error *error) {
    struct mnl_socket *const socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (socket == NULL || mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
        kernel_refuses(error, "cannot make a socket");
        if (socket != NULL)
            mnl_socket_close(socket);
        return NULL;
    }
    return socket;
}

/** Tells all that there is. Another socket than that of the changes, whose answers are told apart so. */
static enum rm_code dump_all(struct rm_kernel_tables *tables, struct rm_error *error) {
    static struct {
        uint16_t type;
        uint8_t family;
    } const kinds[] = {{RTM_GETLINK, AF_UNSPEC},
                       {RTM_GETADDR, AF_UNSPEC},
                       {RTM_GETROUTE, AF_INET},
                       {RTM_GETROUTE, AF_INET6},
                       {RTM_GETNEIGH, AF_UNSPEC}};
    struct mnl_socket *const socket = kernel_socket(0, error);
    if (socket == NULL)
        return RM_E_SYSTEM;
    enum rm_code code = RM_OK;
    tables->dump_again = tables->interrupted = false;
    ++tables->dumps;
    tables->events.begin(tables->events.context);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && code == RM_OK && !tables->interrupted; ++i)
        code = dump_kind(tables, socket, kinds[i].type, kinds[i].family, error);
    mnl_socket_close(socket);
    if (code == RM_OK && !tables->interrupted)
        tables->events.end(tables->events.context);
    else
        want_dump(tables);
    return code;
}

enum rm_code rm_kernel_tables_start(struct rm_kernel_tables **made, struct rm_kernel_events const *events,
                                    struct rm_error *error) {
    struct rm_kernel_tables *const tables = calloc(1, sizeof *tables);
    if (tables == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to follow the kernel's routes");
    tables->events = *events;
    tables->socket = kernel_socket(RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE |
                                       RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE,
                                   error);
    if (tables->socket == NULL) {
        free(tables);
        return RM_E_SYSTEM;
    }
    int const bytes = QUEUE_BYTES, fd = mnl_socket_get_fd(tables->socket);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); /* as much as an ordinary user may */
    fcntl(fd, F_SETFL, O_NONBLOCK);
    enum rm_code const code = dump_all(tables, error);
    if (code == RM_OK)
        *made = tables;
    else
        rm_kernel_tables_stop(tables);
    return code;
}

void rm_kernel_tables_stop(struct rm_kernel_tables *tables) {
    if (tables == NULL)
        return;
    mnl_socket_close(tables->socket);
    free(tables);
}

uint32_t rm_kernel_tables_follow(struct rm_kernel_tables *tables, uint64_t now_ms) {
    char buffer[MESSAGE_BYTES];
    uint32_t messages = 0;
    while (messages < MESSAGES_MAX) {
        ssize_t const bytes = mnl_socket_recvfrom(tables->socket, buffer, sizeof buffer);
        if (bytes < 0 && errno == ENOBUFS)
            want_dump(tables);
        if (bytes < 0 && (errno == ENOBUFS || errno == EINTR))
            continue;
        if (bytes <= 0)
            break;
        mnl_cb_run(buffer, (size_t)bytes, 0, 0, one_change, tables);
        ++messages;
    }
    if (!tables->dump_again) {
        tables->dump_again_ms = now_ms + AGAIN_MS;
        return messages;
    }
    if (now_ms >= tables->dump_again_ms) {
        dump_all(tables, NULL);
        tables->dump_again_ms = now_ms + AGAIN_MS;
    }
    return messages;
}

uint64_t rm_kernel_tables_dumps(struct rm_kernel_tables const *tables) { return tables->dumps; }

/** Sends a request, and waits for the kernel's word. */
static enum rm_code kernel_request(struct nlmsghdr *request, char const *what, struct rm_error *error) {
    char buffer[MESSAGE_BYTES];
    struct mnl_socket *const socket = kernel_socket(0, error);
    if (socket == NULL)
        return RM_E_SYSTEM;
    request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
    request->nlmsg_seq = 1;
    ssize_t bytes = mnl_socket_sendto(socket, request, request->nlmsg_len);
    if (bytes >= 0)
        bytes = mnl_socket_recvfrom(socket, buffer, sizeof buffer);
    bool const done =
        bytes >= 0 && mnl_cb_run(buffer, (size_t)bytes, 1, mnl_socket_get_portid(socket), NULL, NULL) >= 0;
    enum rm_code const code = done || errno == EEXIST ? RM_OK : kernel_refuses(error, what);
    mnl_socket_close(socket);
    return code;
}

static struct nlmsghdr *link_request(char buffer[REQUEST_BYTES], uint32_t index, unsigned flags) {
    struct nlmsghdr *const request = mnl_nlmsg_put_header(buffer);
    request->nlmsg_type = RTM_NEWLINK;
    struct ifinfomsg *const header = mnl_nlmsg_put_extra_header(request, sizeof *header);
    header->ifi_index = (int)index;
    header->ifi_flags = flags;
    header->ifi_change = IFF_UP;
    return request;
}

/* It is switched off before: its link-local address is made of the MAC that it has when it is switched on. */
enum rm_code rm_kernel_set_link(uint32_t index, uint8_t const mac[6], uint32_t mtu, struct rm_error *error) {
    char buffer[REQUEST_BYTES];
    enum rm_code const code =
        kernel_request(link_request(buffer, index, 0), "cannot switch the kernel interface off", error);
    if (code != RM_OK)
        return code;
    struct nlmsghdr *const request = link_request(buffer, index, IFF_UP);
    mnl_attr_put(request, IFLA_ADDRESS, 6, mac);
    mnl_attr_put_u32(request, IFLA_MTU, mtu);
    return kernel_request(request, "cannot set MAC address and MTU of the kernel interface", error);
}

enum rm_code rm_kernel_add_address(uint32_t index, struct rm_router_address const *address, struct rm_error *error) {
    char buffer[REQUEST_BYTES];
    struct nlmsghdr *const request = mnl_nlmsg_put_header(buffer);
    request->nlmsg_type = RTM_NEWADDR;
    request->nlmsg_flags = NLM_F_CREATE;
    struct ifaddrmsg *const header = mnl_nlmsg_put_extra_header(request, sizeof *header);
    size_t const bytes = rm_ip_bits(&address->ip) / 8u;
    header->ifa_family = address->ip.ipv6 ? AF_INET6 : AF_INET;
    header->ifa_prefixlen = address->length;
    header->ifa_index = index;
    header->ifa_flags = address->ip.ipv6 ? IFA_F_NODAD : 0; /* ours from the start */
    mnl_attr_put(request, IFA_LOCAL, bytes, address->ip.byte);
    mnl_attr_put(request, IFA_ADDRESS, bytes, address->ip.byte);
    if (!address->ip.ipv6 && address->length < 31) {
        uint32_t const network = rm_ip_ipv4(&address->ip) | (uint32_t)(UINT64_C(0xFFFFFFFF) >> address->length);
        struct rm_ip const broadcast = rm_ip_of_ipv4(network);
        mnl_attr_put(request, IFA_BROADCAST, bytes, broadcast.byte);
    }
    return kernel_request(request, "cannot give the kernel interface its address", error);
}
