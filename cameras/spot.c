// SPDX-License-Identifier: Apache-2.0
#include "spot.h"

#include <math.h>
#include <string.h>

#include "instruments/noise.h"

/** Groups of pixels begin at multiples of this in every packing, and at a byte. */
enum { GROUP = 4 };

static double const REACH_SIGMA = 5;

static uint16_t clamp_value(double value, uint32_t most) {
    return (uint16_t)(value <= 0 ? 0 : value >= most ? most : (uint32_t)(value + 0.5));
}

static uint8_t *spot_bytes(struct rm_pictures const *pictures, uint64_t picture, uint32_t x, uint32_t y) {
    return rm_picture(pictures, picture) + (uint64_t)y * pictures->line_bytes +
           rm_pixel_line_bytes(pictures->packing, x);
}

void rm_spot_begin(struct rm_pictures *pictures, uint64_t seed) {
    struct rm_image_geometry const *const geometry = &pictures->geometry;
    uint64_t const pixels = (uint64_t)geometry->width * geometry->height;
    for (uint64_t i = 0; i < pixels; ++i)
        pictures->background[i] =
            clamp_value((pictures->spot.background + pictures->spot.noise * rm_noise_normal(seed + i)) * pictures->most,
                        pictures->most);
    for (uint32_t y = 0; y < geometry->height; ++y)
        rm_pack16(pictures->packing, pictures->background + (uint64_t)y * geometry->width, geometry->width,
                  spot_bytes(pictures, 0, 0, y));
    for (uint32_t p = 1; p < RM_PICTURES; ++p)
        memcpy(rm_picture(pictures, p), rm_picture(pictures, 0), pictures->bytes);
    for (uint32_t p = 0; p < RM_PICTURES; ++p)
        pictures->box[p] = (struct rm_spot_box){0};
}

/** From `centre - reach` to `centre + reach`, as far as that is in a line or column of `size` pixels. */
static void spot_reach(double centre, double reach, uint32_t size, uint32_t *first, uint32_t *end) {
    double const low = floor(centre - reach), high = ceil(centre + reach) + 1;
    *first = low <= 0 ? 0 : low >= size ? size : (uint32_t)low;
    *end = high <= 0 ? 0 : high >= size ? size : (uint32_t)high;
}

static struct rm_spot_box spot_box(struct rm_pictures const *pictures, double x, double y) {
    struct rm_camera_spot const *const spot = &pictures->spot;
    double const c = cos(spot->tilt_rad), s = sin(spot->tilt_rad);
    struct rm_spot_box box;
    spot_reach(x, REACH_SIGMA * hypot(spot->sigma_x * c, spot->sigma_y * s), pictures->geometry.width, &box.left,
               &box.right);
    spot_reach(y, REACH_SIGMA * hypot(spot->sigma_x * s, spot->sigma_y * c), pictures->geometry.height, &box.top,
               &box.bottom);
    box.left -= box.left % GROUP;
    box.right += (GROUP - box.right % GROUP) % GROUP;
    if (box.right > pictures->geometry.width)
        box.right = pictures->geometry.width;
    return box;
}

/** A line of the box, with the spot or without. */
static void spot_line(struct rm_pictures *pictures, uint64_t picture, struct rm_spot_box const *box, uint32_t line,
                      double const *at) {
    struct rm_camera_spot const *const spot = &pictures->spot;
    uint16_t const *const background = pictures->background + (uint64_t)line * pictures->geometry.width;
    double const c = cos(spot->tilt_rad), s = sin(spot->tilt_rad);
    for (uint32_t x = box->left; x < box->right; ++x) {
        double value = background[x];
        if (at != NULL) {
            double const dx = x - at[0], dy = line - at[1];
            double const u = (dx * c + dy * s) / spot->sigma_x, v = (dy * c - dx * s) / spot->sigma_y;
            value += spot->peak * pictures->most * exp(-0.5 * (u * u + v * v));
        }
        pictures->line[x] = clamp_value(value, pictures->most);
    }
    rm_pack16(pictures->packing, pictures->line + box->left, box->right - box->left,
              spot_bytes(pictures, picture, box->left, line));
}

void rm_spot_draw(struct rm_pictures *pictures, uint64_t picture, double x, double y) {
    struct rm_spot_box *const box = &pictures->box[picture % RM_PICTURES];
    for (uint32_t line = box->top; line < box->bottom; ++line)
        spot_line(pictures, picture, box, line, NULL);
    *box = spot_box(pictures, x, y);
    for (uint32_t line = box->top; line < box->bottom && box->left < box->right; ++line)
        spot_line(pictures, picture, box, line, (double const[]){x, y});
}

void rm_spot_place(struct rm_camera_spot const *spot, double seconds, double *x, double *y) {
    double const phase = sin(2 * M_PI * spot->move_hz * seconds);
    *x = spot->centre_x + spot->move_x * phase;
    *y = spot->centre_y + spot->move_y * phase;
}
