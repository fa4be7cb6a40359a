// SPDX-License-Identifier: Apache-2.0
#include "frames/image.h"

#include "frames/pixels.h"

enum { HEIGHT_MAX = 1 << 20 };

uint64_t rm_image_bytes(struct rm_image_geometry const *geometry) {
    struct rm_pixel_format const *const format = rm_pixel_format_of(geometry->pixel_format);
    if (format == NULL || geometry->width == 0 || geometry->width > RM_PIXEL_WIDTH_MAX || geometry->height == 0 ||
        geometry->height > HEIGHT_MAX)
        return 0;
    uint64_t const line = (uint64_t)rm_pixel_line_bytes(format->packing, geometry->width) + geometry->padding_x;
    return line * geometry->height + geometry->padding_y;
}
