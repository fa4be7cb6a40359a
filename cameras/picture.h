// SPDX-License-Identifier: Apache-2.0
/** What a virtual camera's frames show, as the bytes of its pixel format. Pictures are drawn once and sent again and again;
 * only a spot is drawn where it moves.
 *
 * A camera has RM_PICTURES of them, and frame i of a run (from 0 on) shows picture p = i mod RM_PICTURES, so that no frame
 * is like the one before. With M the largest value of a pixel, `x` and `y` from 0:
 *
 *     ramp      (x + y + p) mod (M + 1)
 *     bars      M · ((⌊8x / width⌋ + p) mod 8) / 7, rounded down
 *     checker   M where ⌊x / 32⌋ + ⌊y / 32⌋ + p is odd, else 0
 *     counter   (y · width + x + p) mod (M + 1)
 *     noise     uniform from 0 to M, drawn from seed, p and place
 *     spot      background with noise, and the spot above it: spot.h
 *
 * Padding behind lines is 0. */
#ifndef RM_CAMERAS_PICTURE_H
#define RM_CAMERAS_PICTURE_H

#include <ringmaster/error.h>

#include "frames/pixels.h"
#include "virtual_camera.h"

enum { RM_PICTURES = 4 };

struct rm_pictures {
    struct rm_image_geometry geometry;
    enum rm_pixel_packing packing;
    /** Largest value of a pixel. */
    uint32_t most;
    /** Bytes of a line with its padding, and of a picture. */
    uint32_t line_bytes;
    uint64_t bytes;
    /** RM_PICTURES of them, one behind the other. */
    uint8_t *memory;
    /** Of a spot: values of its background, and of a line that is drawn. */
    uint16_t *background, *line;
    struct rm_camera_spot spot;
    /** [picture] the lines and columns that the spot covers there. */
    struct rm_spot_box {
        uint32_t left, right, top, bottom;
    } box[RM_PICTURES];
};

/** Draws all of them. RM_E_NO_SPACE. */
enum rm_code rm_pictures_new(struct rm_virtual_camera const *camera, struct rm_pictures *pictures,
                             struct rm_error *error);
void rm_pictures_free(struct rm_pictures *pictures);

static inline uint8_t *rm_picture(struct rm_pictures const *pictures, uint64_t index) {
    return pictures->memory + index % RM_PICTURES * pictures->bytes;
}

/** Value of a pixel of picture `p`, of all patterns but the spot; up to `most`. */
uint32_t rm_pattern_value(struct rm_virtual_camera const *camera, uint32_t most, uint32_t p, uint32_t x, uint32_t y);

#endif
