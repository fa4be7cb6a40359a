// SPDX-License-Identifier: Apache-2.0
/* A line of pixels in each datagram, as the file describes it: docs/frames-lines.md. */
#include "cameras/camera_formats.h"
#include "frames/lines.h"

static bool lines_name(struct rm_camera const *camera, uint8_t const *payload, uint32_t length) {
    struct rm_layout const *const layout = camera->lines->layout;
    uint32_t records;
    struct rm_sample sample;
    struct rm_record record;
    if (!rm_layout_described(layout)->id.present ||
        rm_layout_check(layout, payload, length, &records) != RM_PORT_DECODED)
        return true;
    rm_layout_read(layout, payload, 0, &sample, &record);
    return sample.id == camera->config->id;
}

static enum rm_camera_counter lines_fault(struct rm_layout const *layout, enum rm_port_counter fault, uint32_t length) {
    if (fault == RM_PORT_BAD_MAGIC)
        return RM_CAMERA_FOREIGN;
    return length == rm_layout_single_bytes(layout) ? RM_CAMERA_BAD_PLACE : RM_CAMERA_TOO_SHORT;
}

static enum rm_camera_counter lines_take(struct rm_camera *camera, uint8_t const *payload, uint32_t length,
                                         uint64_t tsc) {
    struct rm_layout const *const layout = camera->lines->layout;
    struct rm_image_fragment fragment;
    uint32_t id;
    enum rm_port_counter const ending =
        rm_line_layout_fragment(layout, &camera->line_camera, payload, length, &fragment, &id);
    return ending == RM_PORT_DECODED ? rm_camera_put(camera, &fragment, tsc) : lines_fault(layout, ending, length);
}

struct rm_camera_format_reader const rm_camera_lines_reader = {.names = lines_name, .take = lines_take};
