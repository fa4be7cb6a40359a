// SPDX-License-Identifier: Apache-2.0
/** The overlay of virtual cameras as it is written: docs/virtual-cameras.md. NULL: the key is not there and has no constant
 * default. */
#ifndef RM_CAMERAS_CAMERAS_FILE_H
#define RM_CAMERAS_CAMERAS_FILE_H

#include "base/yaml.h"
#include "virtual_camera.h"

struct rm_virtual_file_port {
    char *name;
    enum rm_port_kind *kind;
    char *interface;
    char *destination, *destination_mac, *source_mac;
};

struct rm_virtual_file_spot {
    double *centre_x, *centre_y, *sigma_x, *sigma_y, *tilt_deg;
    double *peak, *background, *noise;
    double *move_x, *move_y, *move_hz;
    char *follow, *follow_x, *follow_y;
    double *pixels_per_unit;
};

struct rm_virtual_file_fault {
    enum rm_camera_fault_kind kind;
    double *probability;
    uint64_t *every, *first, *end;
};

struct rm_virtual_file_camera {
    char *name;
    double *rate_hz, *exposure_us;
    char *pixel_format;
    uint32_t *width, *height, *mtu;
    uint16_t *padding_x;
    enum rm_camera_pattern *pattern;
    enum rm_camera_pace *pace;
    bool *extended_ids, *configuration_first, *control;
    uint64_t *first_number;
    char *poses_as;
    struct rm_virtual_file_spot *spot;
    struct rm_virtual_file_fault *faults;
    uint32_t faults_count;
};

struct rm_virtual_file {
    uint64_t *seed;
    uint32_t *core;
    struct rm_virtual_file_port *ports;
    uint32_t ports_count;
    struct rm_virtual_file_camera *cameras;
    uint32_t cameras_count;
};

extern cyaml_schema_value_t const rm_virtual_cameras_schema;

#endif
