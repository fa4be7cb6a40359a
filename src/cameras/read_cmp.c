// SPDX-License-Identifier: Apache-2.0
/* Lines behind a capture device that sends ASAM CMP. Several cameras may share a packet. */
#include "cameras/camera_formats.h"
#include "frames/cmp.h"
#include "wire/network_order.h"

enum { DEVICE_AT = 2 };

/** The first byte of TECMP is 0. */
static bool cmp_names(struct rm_camera const *camera, uint8_t const *payload, uint32_t length) {
    return length < RM_CMP_HEADER_BYTES ||
           (payload[0] != 0 && rm_load16(payload + DEVICE_AT) == camera->config->device);
}

static enum rm_camera_counter cmp_take(struct rm_camera *camera, uint8_t const *payload, uint32_t length,
                                       uint64_t tsc) {
    struct rm_cmp_camera const told = {.device = camera->config->device,
                                       .interface = camera->config->id,
                                       .channel = camera->config->channel,
                                       .lines = camera->line_camera};
    struct rm_cmp_header header;
    struct rm_cmp_message message;
    struct rm_image_fragment fragment;
    enum rm_cmp_fault const fault = rm_cmp_parse(payload, length, &header);
    if (fault != RM_CMP_GOOD)
        return fault == RM_CMP_TOO_SHORT ? RM_CAMERA_TOO_SHORT : RM_CAMERA_GATHERED;
    enum rm_camera_counter ending = RM_CAMERA_GATHERED;
    for (uint32_t at = RM_CMP_HEADER_BYTES; rm_cmp_next(payload, length, &at, &message);)
        if (rm_cmp_fragment(&told, &camera->capture.join, &header, &message, &fragment))
            ending = rm_camera_put(camera, &fragment, tsc);
    return ending;
}

struct rm_camera_format_reader const rm_camera_cmp_reader = {
    .names = cmp_names, .take = cmp_take, .is_shared = true, .is_captured = true};
