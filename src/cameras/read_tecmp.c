// SPDX-License-Identifier: Apache-2.0
/* Lines behind a capture device that sends TECMP. Several cameras may share a packet. */
#include "cameras/camera_formats.h"
#include "frames/tecmp.h"
#include "wire/network_order.h"

enum { DEVICE_BYTES = 2 };

/** The first byte of ASAM CMP is not 0, so no device of ours has its number. */
static bool tecmp_names(struct rm_camera const *camera, uint8_t const *payload, uint32_t length) {
    return length < DEVICE_BYTES || rm_load16(payload) == camera->config->device;
}

static enum rm_camera_counter tecmp_take(struct rm_camera *camera, uint8_t const *payload, uint32_t length,
                                         uint64_t tsc) {
    struct rm_tecmp_camera const told = {.device = camera->config->device,
                                         .interface = camera->config->id,
                                         .channel = camera->config->channel,
                                         .lines = camera->line_camera};
    struct rm_tecmp_header header;
    struct rm_tecmp_entry entry;
    struct rm_image_fragment fragment;
    enum rm_tecmp_fault const fault = rm_tecmp_parse(payload, length, &header);
    if (fault != RM_TECMP_GOOD)
        return fault == RM_TECMP_TOO_SHORT ? RM_CAMERA_TOO_SHORT : RM_CAMERA_GATHERED;
    rm_tecmp_follow(&camera->capture, &header);
    enum rm_camera_counter ending = RM_CAMERA_GATHERED;
    for (uint32_t at = RM_TECMP_HEADER_BYTES; rm_tecmp_next(payload, length, &at, &entry);)
        if (rm_tecmp_fragment(&told, &camera->capture, &header, &entry, &fragment))
            ending = rm_camera_put(camera, &fragment, tsc);
    return ending;
}

struct rm_camera_format_reader const rm_camera_tecmp_reader = {
    .names = tecmp_names, .take = tecmp_take, .is_shared = true, .is_captured = true};
