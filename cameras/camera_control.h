// SPDX-License-Identifier: Apache-2.0
/** The control channel of a virtual camera: a kernel socket at its address, whose commands begin and end its stream. */
#ifndef RM_CAMERAS_CAMERA_CONTROL_H
#define RM_CAMERAS_CAMERA_CONTROL_H

#include "camera_sender.h"
#include "device.h"

struct rm_camera_control {
    struct rm_camera_device device;
    struct rm_camera_sender *sender;
    /** At the camera's address, and for discoveries that are broadcast; -1: none. */
    int socket, broadcasts;
    /** Makes the sender's link lead to an address and UDP port. False: it cannot. */
    bool (*lead)(void *state, uint32_t ipv4, uint16_t port);
    void *state;
};

/** RM_E_SYSTEM where the camera's address or port 3956 cannot be had. */
enum rm_code rm_camera_control_open(struct rm_camera_control *control, struct rm_camera_sender *sender,
                                    struct rm_error *error);
void rm_camera_control_close(struct rm_camera_control *control);

/** Answers what has come. */
void rm_camera_control_poll(struct rm_camera_control *control);

#endif
