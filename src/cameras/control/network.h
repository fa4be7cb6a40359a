// SPDX-License-Identifier: Apache-2.0
/** What the kernel knows of the way to a camera. Addresses in host byte order. */
#ifndef RM_CAMERAS_CONTROL_NETWORK_H
#define RM_CAMERAS_CONTROL_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

struct rm_way_to_camera {
    /** This host's address there. */
    uint32_t ipv4;
    uint32_t mtu_bytes;
};

/** False where no route leads there, with errno set. */
bool rm_way_to_camera(uint32_t camera_ipv4, struct rm_way_to_camera *way);

/** A socket that listens and is never read; -1 where that cannot be. */
int rm_listen_for_nothing(uint32_t ipv4, uint16_t udp_port);

#endif
