// SPDX-License-Identifier: Apache-2.0
/** The section `cameras` as it is written (file.h). */
#ifndef RM_CONFIG_CAMERAS_FILE_H
#define RM_CONFIG_CAMERAS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/yaml.h"
#include "config/cameras.h"

struct rm_file_camera {
    char *name;
    char *port;
    char *format;
    /** NULL: the port's. */
    uint16_t *udp_port;
    /** NULL: any. */
    char *address;
    uint32_t *id;
    /** NULL: the camera tells it, as the next two. */
    char *pixel_format;
    uint32_t *width, *height;
    uint32_t *frame_bytes;
    uint32_t *slots, *leases;
    double *deadline_ms;
    enum rm_camera_incomplete *incomplete;
    double *resend_percent;
    bool *profile;
    uint32_t *record_turns;
};

/** An entry of the list. */
extern cyaml_schema_value_t const rm_config_camera_schema;

#endif
