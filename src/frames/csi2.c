// SPDX-License-Identifier: Apache-2.0
#include "frames/csi2.h"

#include <string.h>

#include "frames/pixels.h"

enum { TYPE_MASK = 0x3F, CHANNEL_SHIFT = 6, FIRST_IMAGE_TYPE = 0x18 };

bool rm_csi2_parse(uint8_t const *bytes, uint32_t length, struct rm_csi2_packet *packet) {
    if (length < RM_CSI2_HEADER_BYTES)
        return false;
    uint16_t const word = (uint16_t)(bytes[1] | bytes[2] << 8);
    struct rm_csi2_packet found = {
        .data_type = bytes[0] & TYPE_MASK, .channel = bytes[0] >> CHANNEL_SHIFT, .ecc = bytes[3]};
    if (found.data_type < RM_CSI2_LONG) {
        found.number = word;
    } else {
        if (length != (uint32_t)RM_CSI2_HEADER_BYTES + word + RM_CSI2_CHECKSUM_BYTES)
            return false;
        found.bytes = bytes + RM_CSI2_HEADER_BYTES;
        found.length = word;
        found.checksum = (uint16_t)(bytes[length - 2] | bytes[length - 1] << 8);
    }
    if (found.data_type < RM_CSI2_LONG && length != RM_CSI2_HEADER_BYTES)
        return false;
    *packet = found;
    return true;
}

uint32_t rm_csi2_write(uint8_t *bytes, struct rm_csi2_packet const *packet) {
    bool const is_long = packet->data_type >= RM_CSI2_LONG;
    uint32_t const word = is_long ? packet->length : packet->number;
    bytes[0] = (uint8_t)(packet->channel << CHANNEL_SHIFT | (packet->data_type & TYPE_MASK));
    bytes[1] = (uint8_t)word;
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = packet->ecc;
    if (!is_long)
        return RM_CSI2_HEADER_BYTES;
    uint8_t *const end = bytes + RM_CSI2_HEADER_BYTES + packet->length;
    if (packet->length != 0)
        memcpy(bytes + RM_CSI2_HEADER_BYTES, packet->bytes, packet->length);
    end[0] = (uint8_t)packet->checksum;
    end[1] = (uint8_t)(packet->checksum >> 8);
    return RM_CSI2_HEADER_BYTES + packet->length + RM_CSI2_CHECKSUM_BYTES;
}

bool rm_csi2_count(struct rm_csi2_lines *lines, struct rm_csi2_packet const *packet, bool lost,
                   struct rm_image_line *line) {
    if (lost)
        lines->known = false;
    switch (packet->data_type) {
    case RM_CSI2_FRAME_START:
        *lines =
            (struct rm_csi2_lines){.frame = packet->number != 0 ? packet->number : lines->frame + 1, .known = true};
        return false;
    case RM_CSI2_FRAME_END:
        lines->known = false;
        return false;
    case RM_CSI2_LINE_START:
        if (packet->number != 0)
            lines->line = packet->number - 1u;
        return false;
    default:
        break;
    }
    if (!lines->known || packet->data_type < FIRST_IMAGE_TYPE)
        return false;
    *line = (struct rm_image_line){
        .frame = lines->frame, .line = lines->line++, .bytes = packet->bytes, .length = packet->length};
    return true;
}

uint8_t rm_csi2_data_type(uint32_t pixel_format) {
    struct rm_pixel_format const *const format = rm_pixel_format_of(pixel_format);
    if (format == NULL)
        return 0;
    return format->packing == RM_PACKING_8       ? RM_CSI2_RAW8
           : format->packing == RM_PACKING_RAW10 ? RM_CSI2_RAW10
           : format->packing == RM_PACKING_RAW12 ? RM_CSI2_RAW12
                                                 : 0;
}
