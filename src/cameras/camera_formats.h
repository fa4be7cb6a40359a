// SPDX-License-Identifier: Apache-2.0
/** How each format's payloads become image fragments: one reader per format, each in a file of its own. */
#ifndef RM_CAMERAS_CAMERA_FORMATS_H
#define RM_CAMERAS_CAMERA_FORMATS_H

#include "cameras/camera.h"

struct rm_camera_format_reader {
    /** Whether a payload is this camera's, as far as the format has ids. True also where it is too short to tell: the
     * first camera that listens there counts what is wrong. */
    bool (*names)(struct rm_camera const *camera, uint8_t const *payload, uint32_t length);
    /** Takes it: rm_camera_put for each fragment. Returns how the datagram ended, RM_CAMERA_PLACED to
     * RM_CAMERA_GATHERED. */
    enum rm_camera_counter (*take)(struct rm_camera *camera, uint8_t const *payload, uint32_t length, uint64_t tsc);
    /** A payload may hold pieces of several cameras, and each is shown it. */
    bool is_shared;
    /** It is what follows the EtherType RM_CAPTURE_ETHERTYPE, and no UDP payload. */
    bool is_captured;
};

extern struct rm_camera_format_reader const rm_camera_gvsp_reader;
extern struct rm_camera_format_reader const rm_camera_fragments_reader;
extern struct rm_camera_format_reader const rm_camera_tecmp_reader;
extern struct rm_camera_format_reader const rm_camera_cmp_reader;
extern struct rm_camera_format_reader const rm_camera_lines_reader;

struct rm_camera_format_reader const *rm_camera_format_reader_of(enum rm_camera_format format);

#endif
