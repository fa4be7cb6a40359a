// SPDX-License-Identifier: Apache-2.0
#include "frames/image.h"

#include "frames/pixels.h"

enum { HEIGHT_MAX = 1 << 20 };

uint32_t rm_image_line_bytes(struct rm_image_geometry const *geometry) {
    struct rm_pixel_format const *const format = rm_pixel_format_of(geometry->pixel_format);
    if (format == NULL || geometry->width == 0 || geometry->width > RM_PIXEL_WIDTH_MAX)
        return 0;
    return rm_pixel_line_bytes(format->packing, geometry->width) + geometry->padding_x;
}

uint64_t rm_image_bytes(struct rm_image_geometry const *geometry) {
    uint64_t const line = rm_image_line_bytes(geometry);
    if (line == 0 || geometry->height == 0 || geometry->height > HEIGHT_MAX)
        return 0;
    return line * geometry->height + geometry->padding_y;
}
