// SPDX-License-Identifier: Apache-2.0
#include "cameras/camera_formats.h"

#include <stddef.h>

struct rm_camera_format_reader const *rm_camera_format_reader_of(enum rm_camera_format format) {
    static struct rm_camera_format_reader const *const readers[RM_CAMERA_LINES + 1] = {
        [RM_CAMERA_GVSP] = &rm_camera_gvsp_reader,   [RM_CAMERA_FRAGMENTS] = &rm_camera_fragments_reader,
        [RM_CAMERA_TECMP] = &rm_camera_tecmp_reader, [RM_CAMERA_CMP] = &rm_camera_cmp_reader,
        [RM_CAMERA_LINES] = &rm_camera_lines_reader,
    };
    return readers[format];
}
