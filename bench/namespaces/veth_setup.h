// SPDX-License-Identifier: Apache-2.0
/** What is done inside the two namespaces of a veth pair. The calling process has entered the one in question. */
#ifndef RM_BENCH_VETH_SETUP_H
#define RM_BENCH_VETH_SETUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "veth_pair.h"

/** Keeps the namespace's kernel from sending of its own accord. False where the kernel refuses. */
bool rm_veth_quieten(void);

/** From namespace 1: makes a link whose end 0 goes to the namespace that `other_holder` holds. */
bool rm_veth_link_make(int link, int mtu, pid_t other_holder);

/** Gives an end its address, its neighbour and its checksums, and takes it up. */
bool rm_veth_link_up(int link, int end);

/** Waits until the kernel has noticed that both ends are up, some milliseconds later. */
bool rm_veth_link_wait(int link, int end);

#endif
