// SPDX-License-Identifier: Apache-2.0
/** Sends requests of resend.h to a camera, by the port that its packets come in: from the socket itself on a port of the
 * kernel, as an Ethernet frame on all others. */
#ifndef RM_CAMERAS_RESEND_PORT_H
#define RM_CAMERAS_RESEND_PORT_H

#include "frames/gvsp.h"
#include "net/port.h"
#include "wire/frame.h"

enum {
    /** UDP port of a camera's control channel. */
    RM_GVCP_PORT = 3956,
};

/** The way back to the camera, from the last datagram that came of it. `frame` and `datagram` of a packet port, as
 * rm_frame_parse() left it. A stream to a multicast group has no way back here: its source address is not known. */
bool rm_resend_way_of_frame(uint8_t const *frame, struct rm_datagram const *datagram, struct rm_flow *way);

/** The same of a udp port, by the sender's address. */
void rm_resend_way_of_socket(uint32_t source_ipv4, struct rm_flow *way);

/** Sends `count` ≤ RM_BURST requests; returns how many the port has taken. The others are lost, as a packet may be: their
 * packets are asked for again after the timeout. */
uint32_t rm_resend_send(struct rm_port *port, uint16_t queue, struct rm_flow const *way,
                        struct rm_gvcp_resend const *request, uint32_t count);

#endif
