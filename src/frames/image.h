// SPDX-License-Identifier: Apache-2.0
/** What every format of camera streams comes to: an image fragment, which assembly.h puts to its place. The readers of
 * the formats (gvsp.h, fragment.h) make one of each datagram, without copying its bytes. */
#ifndef RM_FRAMES_IMAGE_H
#define RM_FRAMES_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/** Of one frame. */
struct rm_image_geometry {
    /** PFNC's (pixels.h). */
    uint32_t pixel_format;
    /** Pixels of a line, and lines. */
    uint32_t width, height;
    /** Of the first pixel in the sensor, pixels. */
    uint32_t offset_x, offset_y;
    /** Bytes behind each line, and behind the last one. */
    uint16_t padding_x, padding_y;
};

struct rm_image_fragment {
    /** Number of the frame, as its format counts it. */
    uint64_t frame;
    /** Its bytes, and where they belong in the frame. `length` 0: it has none, and tells something else. */
    uint64_t offset;
    uint8_t const *bytes;
    uint32_t length;
    /** Bytes of every fragment of the frame but the last; offsets are multiples of it. Unused where length is 0. */
    uint32_t fragment_bytes;
    /** Of the whole frame; 0: this fragment does not know. */
    uint64_t total_bytes;
    /** `geometry` and `time` are filled. */
    bool has_geometry;
    struct rm_image_geometry geometry;
    /** The device's time stamp, in its own units. */
    uint64_t time;
};

/** Bytes of a line with its padding. 0 where the pixel format is none of pixels.h, the width is 0, or above
 * RM_PIXEL_WIDTH_MAX. */
uint32_t rm_image_line_bytes(struct rm_image_geometry const *geometry);

/** Bytes of a frame: lines with their padding, and the padding behind the last. 0 where a line has none, the
 * height is 0, or above 2^20. */
uint64_t rm_image_bytes(struct rm_image_geometry const *geometry);

#endif
