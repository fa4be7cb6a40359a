// SPDX-License-Identifier: Apache-2.0
/** One message of NETLINK_ROUTE, read: for kernel_tables.c. */
#ifndef RM_FORWARD_KERNEL_MESSAGE_H
#define RM_FORWARD_KERNEL_MESSAGE_H

#include <linux/netlink.h>

#include "forward/kernel_tables.h"

/** Each returns false for messages that mean nothing to a router: of other kinds, tables, families. */
bool rm_kernel_read_link(struct nlmsghdr const *message, struct rm_kernel_link *link);
bool rm_kernel_read_address(struct nlmsghdr const *message, uint32_t *index, struct rm_router_address *address);
bool rm_kernel_read_route(struct nlmsghdr const *message, struct rm_known_route *route);
bool rm_kernel_read_neighbour(struct nlmsghdr const *message, struct rm_kernel_neighbour *neighbour);

#endif
