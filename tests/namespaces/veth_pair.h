// SPDX-License-Identifier: Apache-2.0
/** Two network namespaces with a veth pair between them, for tests.
 *
 *     namespace 0: veth0, 02:00:00:00:00:01, 10.99.0.1/24      namespace 1: veth1, 02:00:00:00:00:02, 10.99.0.2/24
 *
 * No stray frames: IPv6 is off and neighbours are permanent. UDP checksums are computed in software, as a wire needs
 * them. The namespaces have no name: two holder processes keep them, which end with the process that made the pair,
 * however it ends, and everything is gone with them.
 */
#ifndef RM_TESTS_VETH_PAIR_H
#define RM_TESTS_VETH_PAIR_H

#include <stdbool.h>
#include <sys/types.h>

struct rm_veth_pair {
    pid_t holder[2]; /**< /proc/PID/ns/net is the namespace */
};

/** False, with an explanation on standard error, where this is not possible: without CAP_NET_ADMIN or iproute2. */
bool rm_veth_pair_make(struct rm_veth_pair *pair);

/** Moves the calling thread into namespace 0 or 1. */
bool rm_veth_pair_enter(struct rm_veth_pair const *pair, int end);

void rm_veth_pair_remove(struct rm_veth_pair *pair);

#endif
