// SPDX-License-Identifier: Apache-2.0
/* Our own format: docs/frames-format.md. */
#include "cameras/camera_formats.h"
#include "frames/fragment.h"

#include <string.h>

enum { CAMERA_AT = 4 };

static bool fragments_name(struct rm_camera const *camera, uint8_t const *payload, uint32_t length) {
    uint32_t id;
    if (length < RM_IMAGE_HEAD_BYTES)
        return true;
    memcpy(&id, payload + CAMERA_AT, sizeof id); /* little-endian, as we are */
    return id == camera->config->id;
}

static enum rm_camera_counter fragments_fault(enum rm_image_fault fault) {
    switch (fault) {
    case RM_IMAGE_TOO_SHORT:
    case RM_IMAGE_BAD_LENGTH:
        return RM_CAMERA_TOO_SHORT;
    case RM_IMAGE_BAD_MAGIC:
    case RM_IMAGE_UNKNOWN_VERSION:
        return RM_CAMERA_FOREIGN;
    case RM_IMAGE_BAD_PLACE:
        return RM_CAMERA_BAD_PLACE;
    case RM_IMAGE_BAD_GEOMETRY:
        return RM_CAMERA_BAD_GEOMETRY;
    default:
        return RM_CAMERA_UNSUPPORTED;
    }
}

/** Turn and exposure, which are not the assembly's. */
static void fragments_tell(struct rm_camera *camera, struct rm_image_datagram const *datagram) {
    struct rm_camera_told *const told = rm_camera_told(camera, datagram->fragment.frame);
    if (datagram->flags & RM_IMAGE_TIME_IS_TURN) {
        told->turn = datagram->fragment.time;
        told->marks |= RM_IMAGE_HAS_TURN | RM_IMAGE_TURN_SENT;
    }
    if (datagram->kind != RM_IMAGE_CONFIGURATION)
        return;
    told->exposure_start_ns = datagram->exposure_start_ns;
    told->exposure_end_ns = datagram->exposure_end_ns;
    told->marks |= RM_IMAGE_HAS_EXPOSURE;
}

static enum rm_camera_counter fragments_take(struct rm_camera *camera, uint8_t const *payload, uint32_t length,
                                             uint64_t tsc) {
    struct rm_image_datagram datagram;
    enum rm_image_fault const fault = rm_image_parse(payload, length, &datagram);
    if (fault != RM_IMAGE_GOOD)
        return fragments_fault(fault);
    fragments_tell(camera, &datagram);
    return rm_camera_put(camera, &datagram.fragment, tsc);
}

struct rm_camera_format_reader const rm_camera_fragments_reader = {.names = fragments_name, .take = fragments_take};
