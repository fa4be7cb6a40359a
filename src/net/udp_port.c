// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/interface.h"
#include "net/port_kind.h"

enum {
    LEAST_BUFFER_BYTES = 2048,
    RECEIVE_MEMORY_BYTES = 64 << 20, /**< what the kernel may queue: 50 ms of 1 M small datagrams a second, and more */
};

/** One direction's burst, lent to recvmmsg or sendmmsg. */
struct messages {
    uint8_t *buffer; /**< RM_BURST times `buffer_bytes` */
    struct mmsghdr header[RM_BURST];
    struct iovec part[RM_BURST];
    struct sockaddr_in source[RM_BURST];
};

struct udp_port {
    alignas(64) struct rm_port port;
    int socket;
    uint32_t buffer_bytes;
    struct sockaddr_in peer;
    _Atomic uint64_t unsent; /**< refused by the kernel for another reason than a full queue */
    struct messages in;
    struct messages out;
};

static struct udp_port *udp_port_self(struct rm_port *port) { return (struct udp_port *)port; }

static uint32_t udp_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    struct udp_port *const udp = udp_port_self(port);
    int const count = recvmmsg(udp->socket, udp->in.header, RM_BURST, MSG_DONTWAIT, NULL);
    for (uint32_t i = 0; (int)i < count; ++i) {
        burst->data[i] = udp->in.buffer + i * udp->buffer_bytes;
        bool const cut = (udp->in.header[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
        burst->length[i] = cut ? RM_LENGTH_CUT : udp->in.header[i].msg_len; // half of it may look like a shorter one
        burst->source_ipv4[i] = ntohl(udp->in.source[i].sin_addr.s_addr);
        burst->checksum_good[i] = true;
    }
    return count > 0 ? (uint32_t)count : 0;
}

static void udp_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port;
    (void)queue;
    (void)burst; // one burst is lent at a time: its buffers wait for the next call
}

static uint32_t udp_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    (void)queue;
    assert(count <= RM_BURST);
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = udp_port_self(port)->out.buffer + i * udp_port_self(port)->buffer_bytes;
    return count;
}

static uint32_t udp_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)queue;
    struct udp_port *const udp = udp_port_self(port);
    for (uint32_t i = 0; i < burst->count; ++i) {
        assert(burst->length[i] > 0 && burst->length[i] <= udp->buffer_bytes);
        udp->out.part[i] = (struct iovec){.iov_base = burst->data[i], .iov_len = burst->length[i]};
    }
    int const count = sendmmsg(udp->socket, udp->out.header, burst->count, MSG_DONTWAIT);
    if (count >= 0)
        return (uint32_t)count;
    if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
        atomic_fetch_add_explicit(&udp->unsent, 1, memory_order_relaxed);
    return 0;
}

static void udp_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof memory;
    if (getsockopt(udp_port_self(port)->socket, SOL_SOCKET, SO_MEMINFO, memory, &length) == 0)
        totals->missed = memory[SK_MEMINFO_DROPS];
    totals->unsent = atomic_load_explicit(&udp_port_self(port)->unsent, memory_order_relaxed);
    totals->link_up = true;
}

static void udp_close(struct rm_port *port) {
    close(udp_port_self(port)->socket);
    free(udp_port_self(port)->in.buffer);
    free(udp_port_self(port)->out.buffer);
}

static struct rm_port_ops const udp_ops = {.framing = RM_FRAMING_UDP,
                                           .receive = udp_receive,
                                           .release = udp_release,
                                           .reserve = udp_reserve,
                                           .send = udp_send,
                                           .totals = udp_totals,
                                           .close = udp_close};

static struct sockaddr_in udp_address_of(uint32_t ipv4, uint16_t port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ipv4)};
}

/** What to do about a bind that failed. */
static char const *udp_port_advice(int why) {
    switch (why) {
    case EADDRINUSE:
        return "another socket has it; `ss -ulnp` shows whose";
    case EADDRNOTAVAIL:
        return "no interface has that address; `ip address` shows those there are";
    case EACCES:
        return "ports below 1024 need CAP_NET_BIND_SERVICE";
    default:
        return "choose another address or port";
    }
}

/** Keeps a socket to the interface that has an address: what is bound to the address itself gets no multicast. */
static bool bind_to_interface_of(int socket, uint32_t ipv4) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return false;
    bool bound = false;
    for (struct ifaddrs const *one = all; one != NULL && !bound; one = one->ifa_next) {
        struct sockaddr_in const *const address = (struct sockaddr_in const *)one->ifa_addr;
        if (address != NULL && address->sin_family == AF_INET && ntohl(address->sin_addr.s_addr) == ipv4)
            bound =
                setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, one->ifa_name, (socklen_t)strlen(one->ifa_name)) == 0;
    }
    freeifaddrs(all);
    return bound;
}

static enum rm_code bind_socket(struct udp_port *udp, struct rm_port_config const *config, struct rm_error *error) {
    struct sockaddr_in local = udp_address_of(config->bind_ipv4, config->bind_port);
    bool good = true;
    if (config->group_count != 0 && config->bind_ipv4 != 0) {
        errno = EADDRNOTAVAIL;
        good = bind_to_interface_of(udp->socket, config->bind_ipv4);
        local = udp_address_of(0, config->bind_port);
    }
    if (good && bind(udp->socket, (struct sockaddr const *)&local, sizeof local) == 0)
        return RM_OK;
    int const why = errno;
    struct in_addr const wanted = {.s_addr = htonl(config->bind_ipv4)};
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &wanted, text, sizeof text);
    return rm_fail(error, why == EADDRINUSE ? RM_E_BUSY : RM_E_SYSTEM, "port '%s': cannot receive UDP at %s:%u: %s; %s",
                   config->name, text, config->bind_port, strerror(why), udp_port_advice(why));
}

/** Of the groups that any socket of this host has joined, only our own. */
static enum rm_code join_groups(struct udp_port *udp, struct rm_port_config const *config, struct rm_error *error) {
    int const no = 0;
    if (config->group_count != 0)
        (void)setsockopt(udp->socket, IPPROTO_IP, IP_MULTICAST_ALL, &no, sizeof no);
    return rm_interface_join(udp->socket, 0, config->bind_ipv4, config, error);
}

/** As much memory as the system grants: without CAP_NET_ADMIN no more than net.core.rmem_max. */
static void ask_for_memory(int socket) {
    int const bytes = RECEIVE_MEMORY_BYTES;
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

static bool make_buffers(struct udp_port *udp, struct rm_port_config const *config) {
    udp->buffer_bytes = config->longest_frame < LEAST_BUFFER_BYTES ? LEAST_BUFFER_BYTES : config->longest_frame;
    udp->in.buffer = malloc(RM_BURST * (size_t)udp->buffer_bytes);
    udp->out.buffer = malloc(RM_BURST * (size_t)udp->buffer_bytes);
    return udp->in.buffer != NULL && udp->out.buffer != NULL;
}

static void prepare_messages(struct udp_port *udp) {
    for (uint32_t i = 0; i < RM_BURST; ++i) {
        udp->in.part[i] =
            (struct iovec){.iov_base = udp->in.buffer + i * udp->buffer_bytes, .iov_len = udp->buffer_bytes};
        udp->in.header[i].msg_hdr = (struct msghdr){.msg_name = &udp->in.source[i],
                                                    .msg_namelen = sizeof udp->in.source[i],
                                                    .msg_iov = &udp->in.part[i],
                                                    .msg_iovlen = 1};
        udp->out.header[i].msg_hdr = (struct msghdr){
            .msg_name = &udp->peer, .msg_namelen = sizeof udp->peer, .msg_iov = &udp->out.part[i], .msg_iovlen = 1};
    }
}

static enum rm_code open_socket(struct udp_port *udp, struct rm_port_config const *config, struct rm_error *error) {
    udp->socket = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (udp->socket < 0)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make a UDP socket: %s", config->name, strerror(errno));
    ask_for_memory(udp->socket);
    enum rm_code code = bind_socket(udp, config, error);
    if (code == RM_OK)
        code = join_groups(udp, config, error);
    if (code != RM_OK)
        close(udp->socket);
    return code;
}

static enum rm_code udp_port_check(struct rm_port_config const *config, struct rm_error *error) {
    if (config->queues != 1)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; a UDP socket is one", config->name,
                       config->queues);
    if (config->ring_slots != 0)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u ring slots; a UDP socket has no ring, write 0",
                       config->name, config->ring_slots);
    if (config->spread || config->exception_path)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': a UDP socket is one queue, and gives the kernel's answers by itself; it has no "
                       "software queues and no exception path",
                       config->name);
    return RM_OK;
}

enum rm_code rm_udp_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    enum rm_code code = udp_port_check(config, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct udp_port), &udp_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    struct udp_port *const udp = udp_port_self(made);
    udp->peer = udp_address_of(config->peer_ipv4, config->peer_port);
    if (!make_buffers(udp, config)) {
        code = rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for its buffers; free some memory", config->name);
    } else {
        prepare_messages(udp);
        code = open_socket(udp, config, error);
    }
    if (code == RM_OK) {
        *port = made;
        return RM_OK;
    }
    free(udp->in.buffer);
    free(udp->out.buffer);
    rm_port_free(made);
    return code;
}
