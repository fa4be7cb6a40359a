// SPDX-License-Identifier: Apache-2.0
/** Two network namespaces with veth pairs between them, for tests and benches. Link 0, 1, … is:
 *
 *     namespace 0: veth0, 02:00:00:00:00:01, 10.99.0.1/24      namespace 1: veth1, 02:00:00:00:00:02, 10.99.0.2/24
 *     namespace 0: veth2, 02:00:00:00:01:01, 10.99.1.1/24      namespace 1: veth3, 02:00:00:00:01:02, 10.99.1.2/24
 *
 * No stray frames: IPv6 is off and neighbours are permanent. UDP checksums are computed in software, as a wire needs
 * them. The namespaces have no name: two holder processes keep them, which end with the process that made the pair,
 * however it ends, and everything is gone with them.
 */
#ifndef RM_BENCH_VETH_PAIR_H
#define RM_BENCH_VETH_PAIR_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    RM_VETH_LINKS_MAX = 16,
    /** Smallest and largest MTU of a link: the smallest is IPv4's. */
    RM_VETH_MTU_MIN = 68,

    RM_VETH_MTU_MAX = 65535,
};

struct rm_veth_pair {
    /** /proc/PID/ns/net is the namespace. */
    pid_t holder[2];
};

/** What lies between the namespaces. */
struct rm_veth_links {
    /** 1 … RM_VETH_LINKS_MAX. */
    int count;
    /** Bytes of IP that a frame carries, RM_VETH_MTU_MIN … RM_VETH_MTU_MAX. */
    int mtu;
};

/** One link of MTU 1500. False, with an explanation on standard error, where this is not possible: without
 * CAP_NET_ADMIN or iproute2. */
bool rm_veth_pair_make(struct rm_veth_pair *pair);

/** The same with other links. */
bool rm_veth_links_make(struct rm_veth_pair *pair, struct rm_veth_links links);

/** Moves the calling thread into namespace 0 or 1. */
bool rm_veth_pair_enter(struct rm_veth_pair const *pair, int end);

void rm_veth_pair_remove(struct rm_veth_pair *pair);

#endif
