// SPDX-License-Identifier: Apache-2.0
/** For tests: the wire room's functions at one end of a link, and a kernel that knows nothing of them at the other.
 *
 * A veth pair between two namespaces (bench/namespaces), with a packet socket and a UDP socket at each end: frames go
 * out and come in by the one, the kernel's own stack is behind the other. What fails here fails the test. */
#ifndef RM_TESTS_KERNEL_ENDPOINTS_H
#define RM_TESTS_KERNEL_ENDPOINTS_H

#include <stdint.h>

#include "bench/namespaces/veth_pair.h"

enum {
    KERNEL_FRAME_MOST = 1600,
    KERNEL_UDP_PORT = 2048,
    /** Of end 0; that of end 1 is one more. */
    KERNEL_FIRST_IPV4 = 0x0A630001,
};

struct kernel_endpoints {
    struct rm_veth_pair pair;
    /** Packet sockets. */
    int frames[2];
    /** Bound to KERNEL_UDP_PORT; they may be fragmented. */
    int udp[2];
    /** Raw ICMP of end 1. */
    int icmp;
};

/** False where this machine cannot: then why is on standard error. */
bool kernel_endpoints_make(struct kernel_endpoints *endpoints);
void kernel_endpoints_remove(struct kernel_endpoints *endpoints);

/** The next frame that came in at an end; returns its length. */
uint32_t kernel_endpoints_next(struct kernel_endpoints const *endpoints, int end, uint8_t frame[KERNEL_FRAME_MOST]);

/** Sends a frame out of an end. */
void kernel_endpoints_send(struct kernel_endpoints const *endpoints, int end, uint8_t const *frame, uint32_t length);

/** Sends by the UDP or the ICMP socket `fd` to an address in host byte order. */
void kernel_endpoints_send_to(int fd, uint32_t ipv4, void const *bytes, uint32_t length);

/** Waits for something to read from `fd`, and reads it; returns its length. */
uint32_t kernel_endpoints_read(int fd, void *bytes, uint32_t most);

#endif
