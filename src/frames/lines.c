// SPDX-License-Identifier: Apache-2.0
#include "frames/lines.h"

#include <ringmaster/errors.h>

enum { LEAST_COUNTER_BITS = 16 };

bool rm_line_fragment(struct rm_line_camera const *camera, struct rm_image_line const *line,
                      struct rm_image_fragment *fragment) {
    uint64_t const total = camera->geometry.padding_y == 0 ? rm_image_bytes(&camera->geometry) : 0;
    uint32_t const number = line->line - camera->first_line;
    if (total == 0 || number >= camera->geometry.height)
        return false;
    uint32_t const bytes = (uint32_t)(total / camera->geometry.height);
    if (line->length != bytes)
        return false;
    *fragment = (struct rm_image_fragment){
        .frame = line->frame,
        .offset = (uint64_t)number * bytes,
        .bytes = line->bytes,
        .length = bytes,
        .fragment_bytes = bytes,
        .total_bytes = total,
        .has_geometry = true,
        .geometry = camera->geometry,
        .time = line->time,
    };
    return true;
}

static uint32_t layout_pixels_at(struct rm_layout_description const *layout) {
    return layout->instrument_at + layout->turn_at + layout->lane[0].at;
}

enum rm_code rm_line_layout_check(struct rm_layout const *layout, struct rm_line_camera const *camera,
                                  struct rm_error *error) {
    struct rm_layout_description const *const described = rm_layout_described(layout);
    uint32_t const bytes = rm_layout_single_bytes(layout), at = layout_pixels_at(described);
    uint32_t const line = rm_image_line_bytes(&camera->geometry);
    if (rm_image_bytes(&camera->geometry) == 0 || camera->geometry.padding_y != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "geometry: expected a known pixel format, a width and height above 0, and no "
                       "padding behind the last line");
    if (bytes == 0)
        return rm_fail(error, RM_E_CONFIG, "bytes: expected one record per datagram, as a datagram is one line");
    if (!described->status.present)
        return rm_fail(error, RM_E_CONFIG, "status: not there, expected the place of the line's number");
    if (rm_layout_counter_bits(layout) < LEAST_COUNTER_BITS)
        return rm_fail(error, RM_E_CONFIG, "counter: found %u bits, expected %d at least, as it is the frame's number",
                       rm_layout_counter_bits(layout), LEAST_COUNTER_BITS);
    if (at + line != bytes)
        return rm_fail(error, RM_E_CONFIG,
                       "bytes: found %u, expected %u: the pixels' place (%u), and the bytes of a line (%u)", bytes,
                       at + line, at, line);
    return RM_OK;
}

enum rm_port_counter rm_line_layout_fragment(struct rm_layout const *layout, struct rm_line_camera const *camera,
                                             uint8_t const *payload, uint32_t length,
                                             struct rm_image_fragment *fragment, uint32_t *camera_id) {
    uint32_t records;
    enum rm_port_counter const verdict = rm_layout_check(layout, payload, length, &records);
    if (verdict != RM_PORT_DECODED)
        return verdict;
    struct rm_sample sample;
    struct rm_record record;
    rm_layout_read(layout, payload, 0, &sample, &record);
    uint32_t const at = layout_pixels_at(rm_layout_described(layout));
    struct rm_image_line const line = {
        .frame = sample.counter, .line = sample.status, .bytes = payload + at, .length = length - at};
    *camera_id = sample.id;
    return rm_line_fragment(camera, &line, fragment) ? RM_PORT_DECODED : RM_PORT_BAD_LENGTH;
}
