// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <stdlib.h>

#include "base/fail.h"
#include "instruments/noise.h"
#include "spot.h"

enum { BARS = 8, SQUARE = 32 };

uint32_t rm_pattern_value(struct rm_virtual_camera const *camera, uint32_t most, uint32_t p, uint32_t x, uint32_t y) {
    uint64_t const place = (uint64_t)y * camera->geometry.width + x;
    switch (camera->pattern) {
    case RM_CAMERA_BARS:
        return most * ((uint32_t)((uint64_t)x * BARS / camera->geometry.width + p) % BARS) / (BARS - 1);
    case RM_CAMERA_CHECKER:
        return (x / SQUARE + y / SQUARE + p) % 2 != 0 ? most : 0;
    case RM_CAMERA_COUNTER:
        return (uint32_t)(place + p) & most;
    case RM_CAMERA_NOISE:
        return rm_noise_u32((uint32_t)place ^ (uint32_t)rm_noise_u64(camera->seed + p)) & most;
    default:
        return (x + y + p) & most;
    }
}

static void pattern_draw(struct rm_virtual_camera const *camera, struct rm_pictures *pictures, uint32_t p) {
    uint8_t *at = rm_picture(pictures, p);
    for (uint32_t y = 0; y < pictures->geometry.height; ++y, at += pictures->line_bytes) {
        for (uint32_t x = 0; x < pictures->geometry.width; ++x)
            pictures->line[x] = (uint16_t)rm_pattern_value(camera, pictures->most, p, x, y);
        rm_pack16(pictures->packing, pictures->line, pictures->geometry.width, at);
    }
}

enum rm_code rm_pictures_new(struct rm_virtual_camera const *camera, struct rm_pictures *pictures,
                             struct rm_error *error) {
    struct rm_image_geometry const *const geometry = &camera->geometry;
    struct rm_pixel_format const *const format = rm_pixel_format_of(geometry->pixel_format);
    *pictures = (struct rm_pictures){
        .geometry = *geometry,
        .packing = format->packing,
        .most = (1u << rm_pixel_bits(format->packing)) - 1,
        .line_bytes = rm_image_line_bytes(geometry),
        .bytes = rm_image_bytes(geometry),
        .memory = calloc(RM_PICTURES, rm_image_bytes(geometry)),
        .line = calloc(geometry->width, sizeof(uint16_t)),
        .spot = camera->spot,
    };
    bool const has_spot = camera->pattern == RM_CAMERA_SPOT;
    if (has_spot)
        pictures->background = calloc((size_t)geometry->width * geometry->height, sizeof(uint16_t));
    if (pictures->memory == NULL || pictures->line == NULL || (has_spot && pictures->background == NULL)) {
        rm_pictures_free(pictures);
        return rm_fail(error, RM_E_NO_SPACE, "camera \"%s\": no memory for %d pictures of %llu bytes", camera->name,
                       RM_PICTURES, (unsigned long long)rm_image_bytes(geometry));
    }
    if (has_spot)
        rm_spot_begin(pictures, camera->seed);
    for (uint32_t p = 0; p < RM_PICTURES && !has_spot; ++p)
        pattern_draw(camera, pictures, p);
    return RM_OK;
}

void rm_pictures_free(struct rm_pictures *pictures) {
    free(pictures->memory);
    free(pictures->background);
    free(pictures->line);
    *pictures = (struct rm_pictures){0};
}
