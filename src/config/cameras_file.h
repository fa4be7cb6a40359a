// SPDX-License-Identifier: Apache-2.0
/** The section `cameras` as it is written (file.h). */
#ifndef RM_CONFIG_CAMERAS_FILE_H
#define RM_CONFIG_CAMERAS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/yaml.h"
#include "config/cameras.h"

struct rm_file_feature {
    char *name;
    char *value;
};

struct rm_file_camera {
    char *name;
    char *port;
    char *format;
    /** NULL: the port's. */
    uint16_t *udp_port;
    /** NULL: any. */
    char *address;
    uint32_t *id;
    /** NULL: not told. */
    uint16_t *device;
    uint8_t *channel;
    uint16_t *first_line;
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
    struct rm_file_feature *features;
    uint32_t features_count;
};

/** An entry of the list. */
extern cyaml_schema_value_t const rm_config_camera_schema;

#endif
