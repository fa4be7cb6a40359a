// SPDX-License-Identifier: Apache-2.0
/** What stands at the other end of a port of a machine's file, where virtual instruments and cameras send: as far as it
 * follows from the port itself. The interface at the other end of a veth or of a card's cable does not. */
#ifndef RM_CONFIG_OTHER_END_H
#define RM_CONFIG_OTHER_END_H

#include "config/config.h"
#include "wire/frame.h"

/** Fills in kind, name, queues, and a memif's role, a socket's path or a UDP socket's peer. `kind` is that of the other end
 * where it is written down; NULL: the one that belongs to the port's. False: nothing can be at the other end of a port of
 * this kind, and none is written down. */
bool rm_config_other_end(struct rm_config_port const *port, enum rm_port_kind const *kind, struct rm_port_config *end);

/** Where datagrams to that port go: changes of `flow` its UDP ports; its destination, to a group that the port is a member
 * of, else to the port's own address there; and its VLAN. */
void rm_config_other_end_flow(struct rm_config_port const *port, struct rm_flow *flow);

#endif
