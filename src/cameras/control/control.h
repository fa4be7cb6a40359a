// SPDX-License-Identifier: Apache-2.0
/** Control of a GigE Vision camera, by Aravis and the kernel's interface on the camera's network, whatever port its
 * frames come in by. The camera sends them to the address of this host there: a packet port on the interface takes them
 * before the kernel, or beside it. */
#ifndef RM_CAMERAS_CONTROL_CONTROL_H
#define RM_CAMERAS_CONTROL_CONTROL_H

#include <stdio.h>

#include <arv.h>

#include <ringmaster/error.h>

#include "config/config.h"

struct rm_camera_control {
    struct rm_config_camera const *camera;
    struct rm_config_port const *port;
    ArvDevice *device;
    /** Its frames go there; host byte order. */
    uint32_t destination_ipv4;
    /** Bytes of a packet, its IP header among them, as the camera has taken it. */
    uint32_t packet_bytes;
    /** A socket that is never read: without one the kernel would answer the frames of a packet port that nobody listens, at
     * which cameras stop. -1: there is none. */
    int listener;
    bool acquires;
};

/** Opens the camera, and takes control of it: from now on its heartbeat is kept, in a thread of Aravis'. Sets packet size,
 * features and destination, and starts the acquisition. `camera` and `port` are set, the rest is 0. Close it also after
 * an error, which names the camera, and the feature where it is about one. */
enum rm_code rm_camera_control_start(struct rm_camera_control *control, struct rm_error *error);

/** Stops acquisition and stream, and leaves control. */
void rm_camera_control_close(struct rm_camera_control *control);

/** A line: who sends where. */
void rm_camera_control_print(struct rm_camera_control const *control, FILE *out);

#endif
