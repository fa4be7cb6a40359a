// SPDX-License-Identifier: Apache-2.0
#include "kernel_endpoints.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { TIMEOUT_MS = 20000, SOCKET_BYTES = 1 << 20 };

static int open_frames(int end) {
    char const *const name = end == 0 ? "veth0" : "veth1";
    int const fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
    struct sockaddr_ll const address = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_ALL),
        .sll_ifindex = (int)if_nametoindex(name),
    };
    int const bytes = SOCKET_BYTES;
    bool const open = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) == 0 &&
                      bind(fd, (struct sockaddr const *)&address, sizeof address) == 0;
    return open ? fd : -1;
}

static int open_udp(int end) {
    int const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int const fragment = IP_PMTUDISC_DONT, bytes = SOCKET_BYTES;
    struct sockaddr_in const address = {
        .sin_family = AF_INET,
        .sin_port = htons(KERNEL_UDP_PORT),
        .sin_addr.s_addr = htonl(KERNEL_FIRST_IPV4 + (uint32_t)end),
    };
    bool const open = fd >= 0 && setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &fragment, sizeof fragment) == 0 &&
                      setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) == 0 &&
                      bind(fd, (struct sockaddr const *)&address, sizeof address) == 0;
    return open ? fd : -1;
}

bool kernel_endpoints_make(struct kernel_endpoints *endpoints) {
    if (!rm_veth_pair_make(&endpoints->pair))
        return false;
    bool open = true;
    for (int end = 0; end < 2; ++end) {
        open = open && rm_veth_pair_enter(&endpoints->pair, end); /* sockets stay where they were opened */
        endpoints->frames[end] = open_frames(end);
        endpoints->udp[end] = open_udp(end);
        open = open && endpoints->frames[end] >= 0 && endpoints->udp[end] >= 0;
    }
    endpoints->icmp = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
    if (open && endpoints->icmp >= 0)
        return true;
    perror("cannot open packet, UDP and ICMP sockets in a namespace");
    kernel_endpoints_remove(endpoints);
    return false;
}

void kernel_endpoints_remove(struct kernel_endpoints *endpoints) {
    int const fds[] = {endpoints->frames[0], endpoints->frames[1], endpoints->udp[0], endpoints->udp[1],
                       endpoints->icmp};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; ++i)
        if (fds[i] >= 0)
            close(fds[i]);
    rm_veth_pair_remove(&endpoints->pair);
}

uint32_t kernel_endpoints_read(int fd, void *bytes, uint32_t most) {
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, TIMEOUT_MS), 1);
    ssize_t const length = recv(fd, bytes, most, 0);
    assert_true(length >= 0);
    return (uint32_t)length;
}

uint32_t kernel_endpoints_next(struct kernel_endpoints const *endpoints, int end, uint8_t frame[KERNEL_FRAME_MOST]) {
    for (;;) {
        struct pollfd waiting = {.fd = endpoints->frames[end], .events = POLLIN};
        assert_int_equal(poll(&waiting, 1, TIMEOUT_MS), 1);
        struct sockaddr_ll from = {0};
        socklen_t from_bytes = sizeof from;
        ssize_t const length =
            recvfrom(endpoints->frames[end], frame, KERNEL_FRAME_MOST, 0, (struct sockaddr *)&from, &from_bytes);
        assert_true(length > 0);
        if (from.sll_pkttype != PACKET_OUTGOING)
            return (uint32_t)length;
    }
}

void kernel_endpoints_send(struct kernel_endpoints const *endpoints, int end, uint8_t const *frame, uint32_t length) {
    assert_int_equal(send(endpoints->frames[end], frame, length, 0), length);
}

void kernel_endpoints_send_to(int fd, uint32_t ipv4, void const *bytes, uint32_t length) {
    struct sockaddr_in const address = {
        .sin_family = AF_INET,
        .sin_port = htons(KERNEL_UDP_PORT),
        .sin_addr.s_addr = htonl(ipv4),
    };
    assert_int_equal(sendto(fd, bytes, length, 0, (struct sockaddr const *)&address, sizeof address), length);
}
