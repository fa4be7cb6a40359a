// SPDX-License-Identifier: Apache-2.0
/** A network interface of the kernel. */
#ifndef RM_NET_INTERFACE_H
#define RM_NET_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "net/port.h"

/** Finds the index of the interface that a port is configured to use. */
enum rm_code rm_interface_find(struct rm_port_config const *config, uint32_t *index, struct rm_error *error);

/** True when it is switched on, with a cable or without; asked through any socket. */
bool rm_interface_is_on(int socket, uint32_t index);

/** True when it is up and its cable is plugged in; asked through any socket. */
bool rm_interface_up(int socket, uint32_t index);

/** Joins the port's multicast groups on an interface, or for index 0 on that of address `ipv4` (0: the kernel's
 * choice), as long as `socket`, an IPv4 one, is open: the kernel tells the routers by IGMP, and the card lets them in.
 */
enum rm_code rm_interface_join(int socket, uint32_t index, uint32_t ipv4, struct rm_port_config const *config,
                               struct rm_error *error);

/** Opens a socket to ask about an interface; it also holds the port's groups on it. */
enum rm_code rm_interface_open(uint32_t index, struct rm_port_config const *config, int *socket,
                               struct rm_error *error);

#endif
