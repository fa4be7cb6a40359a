// SPDX-License-Identifier: Apache-2.0
/** Sends Ethernet frames to the packet port `wire` of a rig, over memif from the same process. */
#ifndef RM_CAMERAS_TEST_FRAME_SENDER_H
#define RM_CAMERAS_TEST_FRAME_SENDER_H

#include "cameras/test_camera_rig.h"
#include "net/port.h"

/** Begins and opens a rig with such a port, and a sender to it, whose link is up when this returns. */
struct rm_port *frame_sender_open(struct camera_rig *rig, char const *cameras);

/** Sends a frame; it does not get lost. */
void frame_sender_send(struct rm_port *sender, uint8_t const *frame, uint32_t length);

/** Closes both. */
void frame_sender_close(struct rm_port *sender, struct camera_rig *rig);

#endif
