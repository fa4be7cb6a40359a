// SPDX-License-Identifier: Apache-2.0
/** The ports of a file that cameras name: opened, polled by a thread each, watched and closed. */
#ifndef RM_CAMERAS_RECEIVER_PORTS_H
#define RM_CAMERAS_RECEIVER_PORTS_H

#include "cameras/camera_port.h"

struct rm_camera_ports {
    struct rm_config const *config;
    uint32_t count;
    struct rm_camera_port *port;
    /** [port] of the segment's counters. */
    rm_owner_index *counters_index;
    /** [port] Their cameras lie here one after the other. */
    struct rm_camera **camera;
    bool is_net_started;
};

/** Groups cameras, as many as the file has, by port. False without memory. */
bool rm_camera_ports_make(struct rm_camera_ports *ports, struct rm_config const *config, struct rm_camera *cameras,
                          atomic_bool const *stop);

/** Adds their counters to an owner that is not open yet. */
void rm_camera_ports_plan(struct rm_camera_ports *ports, struct rm_owner *owner);

/** Starts DPDK where one of them needs it, and opens them. */
enum rm_code rm_camera_ports_open(struct rm_camera_ports *ports, struct rm_owner *owner, struct rm_error *error);

/** Starts the threads. */
enum rm_code rm_camera_ports_start(struct rm_camera_ports *ports, struct rm_error *error);

/** Shows what the devices count. */
void rm_camera_ports_watch(struct rm_camera_ports *ports);

/** Waits for the threads, whose `*stop` was set, and closes the ports. */
void rm_camera_ports_close(struct rm_camera_ports *ports);

#endif
