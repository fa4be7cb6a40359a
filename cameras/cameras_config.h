// SPDX-License-Identifier: Apache-2.0
/** Virtual cameras as two files describe them: the machine's, for its receiver, and an overlay with what only a virtual
 * camera has. */
#ifndef RM_CAMERAS_CAMERAS_CONFIG_H
#define RM_CAMERAS_CAMERAS_CONFIG_H

#include <ringmaster/errors.h>

#include "virtual_camera.h"
#include "wire/frame.h"

enum { RM_CAMERAS_ANY_CORE = -1 };

/** The other end of one of the machine's ports. */
struct rm_camera_outlet {
    /** A camera sends there. */
    bool used;
    struct rm_port_config port;
    /** Addresses and VLAN; each camera has its own source and UDP port. */
    struct rm_flow flow;
};

struct rm_cameras_config {
    struct rm_config *machine;
    int32_t core;
    uint32_t camera_count;
    struct rm_virtual_camera *camera;
    /** [port of the machine] */
    struct rm_camera_outlet *port;
};

/** Reads and checks both; `overlay` NULL: all is as by default. All that is wrong is added to `errors`; then `*config` is
 * empty. Cameras whose lines go in packets of capture devices are left out: they have no virtual one. */
enum rm_code rm_cameras_config_load(char const *machine, char const *overlay, struct rm_cameras_config *config,
                                    struct rm_errors *errors);
void rm_cameras_config_free(struct rm_cameras_config *config);

#endif
