// SPDX-License-Identifier: Apache-2.0
/** Cameras whose packets have a line of pixels each, with the numbers of its frame and line, and nothing about the
 * geometry: capture devices in vehicles (cmp.h, tecmp.h), and cameras with a described layout. The geometry is
 * configured. A line becomes an image fragment.
 *
 * A described layout is one of wire/layout.h, as `formats:` of a configuration has it (docs/instruments.md), with these
 * meanings: `counter` is the frame, `status` the line, `id` the camera, and the first lane begins where the pixels do.
 * It has one record; `bytes` is the length of the datagram:
 *
 *     formats:
 *       - name: line-camera
 *         layout:
 *           byte_order: big
 *           bytes: 2892
 *           constants: [{at: 0, type: u16, value: 0x4C43}]
 *           id: {at: 2, type: u16}
 *           counter: {at: 4, type: u32}
 *           status: {at: 8, type: u16}
 *           lanes: [{name: pixels, unit: counts, at: 12, type: u8}]
 *
 * Pure functions. */
#ifndef RM_FRAMES_LINES_H
#define RM_FRAMES_LINES_H

#include "frames/image.h"
#include "wire/layout.h"

struct rm_line_camera {
    /** Without padding behind the last line. */
    struct rm_image_geometry geometry;
    /** The number of a frame's first line. */
    uint32_t first_line;
};

struct rm_image_line {
    uint64_t frame;
    uint32_t line;
    uint8_t const *bytes;
    uint32_t length;
    uint64_t time;
};

/** The image fragment that a line is. False where the camera has no such line, it has another length than a line of the
 * geometry, or the geometry is none or pads its last line. */
bool rm_line_fragment(struct rm_line_camera const *camera, struct rm_image_line const *line,
                      struct rm_image_fragment *fragment);

/** Whether datagrams of the layout can be lines of the camera; RM_E_CONFIG tells what is wrong: more than one record,
 * a frame number below 16 bits, no line number, another number of bytes behind the pixels' place than a line has, or a geometry that is none. */
enum rm_code rm_line_layout_check(struct rm_layout const *layout, struct rm_line_camera const *camera,
                                  struct rm_error *error);

/** The image fragment of a UDP payload, and the number of its camera, 0 where the layout has none. The layout passed
 * rm_line_layout_check(). Returns RM_PORT_DECODED, what rm_layout_check() found wrong, or RM_PORT_BAD_LENGTH for a line
 * beyond the frame. */
enum rm_port_counter rm_line_layout_fragment(struct rm_layout const *layout, struct rm_line_camera const *camera,
                                             uint8_t const *payload, uint32_t length,
                                             struct rm_image_fragment *fragment, uint32_t *camera_id);

#endif
