// SPDX-License-Identifier: Apache-2.0
#include "frames/cmp.h"

#include "frames/put.h"

enum { PART_SHIFT = 2, PART_MASK = 3 << PART_SHIFT, TYPE_MASK = 0x3F, CHANNEL_MASK = 0x0F };

enum rm_cmp_fault rm_cmp_parse(uint8_t const *bytes, uint32_t length, struct rm_cmp_header *header) {
    if (length < RM_CMP_HEADER_BYTES)
        return RM_CMP_TOO_SHORT;
    if (bytes[0] == 0)
        return RM_CMP_IS_TECMP;
    if (bytes[4] != RM_CMP_CAPTURED)
        return RM_CMP_OTHER_MESSAGE;
    *header = (struct rm_cmp_header){
        .version = bytes[0], .device = rm_load16(bytes + 2), .stream = bytes[5], .counter = rm_load16(bytes + 6)};
    return RM_CMP_GOOD;
}

bool rm_cmp_next(uint8_t const *bytes, uint32_t length, uint32_t *at, struct rm_cmp_message *message) {
    if (*at > length || length - *at < RM_CMP_MESSAGE_BYTES)
        return false;
    uint8_t const *const from = bytes + *at;
    uint32_t const left = length - *at - RM_CMP_MESSAGE_BYTES, content = rm_load16(from + 14);
    if (from[13] == 0 || content > left)
        return false;
    *message = (struct rm_cmp_message){
        .time_ns = rm_load64(from),
        .interface = rm_load32(from + 8),
        .part = (enum rm_message_part)((from[12] & PART_MASK) >> PART_SHIFT),
        .flags = from[12] & (uint8_t)~PART_MASK,
        .payload_type = from[13],
        .bytes = from + RM_CMP_MESSAGE_BYTES,
        .length = content,
    };
    *at += RM_CMP_MESSAGE_BYTES + content;
    return true;
}

bool rm_cmp_csi2_parse(uint8_t const *bytes, uint32_t length, struct rm_cmp_csi2 *csi2) {
    if (length < RM_CMP_CSI2_BYTES)
        return false;
    uint16_t const word = rm_load16(bytes + 14);
    bool const is_long = (bytes[8] & TYPE_MASK) >= RM_CSI2_LONG;
    uint32_t const content = is_long ? word : 0;
    if (length != RM_CMP_CSI2_BYTES + content)
        return false;
    *csi2 = (struct rm_cmp_csi2){
        .flags = rm_load16(bytes),
        .frame = rm_load16(bytes + 4),
        .line = rm_load16(bytes + 6),
        .packet = {.data_type = bytes[8] & TYPE_MASK,
                   .channel = bytes[9] & CHANNEL_MASK,
                   .ecc = bytes[11],
                   .checksum = rm_load16(bytes + 12),
                   .number = is_long ? 0 : word,
                   .bytes = is_long ? bytes + RM_CMP_CSI2_BYTES : NULL,
                   .length = content},
    };
    return true;
}

uint32_t rm_cmp_write(uint8_t bytes[RM_CMP_HEADER_BYTES], struct rm_cmp_header const *header) {
    uint8_t *at = put16(put8(put8(bytes, header->version), 0), header->device);
    at = put16(put8(put8(at, RM_CMP_CAPTURED), header->stream), header->counter);
    return (uint32_t)(at - bytes);
}

uint32_t rm_cmp_write_message(uint8_t bytes[RM_CMP_MESSAGE_BYTES], struct rm_cmp_message const *message) {
    uint8_t *at = put32(put64(bytes, message->time_ns), message->interface);
    at = put8(at, (uint8_t)((message->flags & ~PART_MASK) | (int)message->part << PART_SHIFT));
    return (uint32_t)(put16(put8(at, message->payload_type), (uint16_t)message->length) - bytes);
}

uint32_t rm_cmp_write_csi2(uint8_t bytes[RM_CMP_CSI2_BYTES], struct rm_cmp_csi2 const *csi2) {
    struct rm_csi2_packet const *const packet = &csi2->packet;
    bool const is_long = packet->data_type >= RM_CSI2_LONG;
    uint8_t *at = put16(put16(put16(put16(bytes, csi2->flags), 0), csi2->frame), csi2->line);
    at = put8(put8(put8(put8(at, packet->data_type), packet->channel), 0), packet->ecc);
    at = put16(put16(at, packet->checksum), is_long ? (uint16_t)packet->length : packet->number);
    return (uint32_t)(at - bytes);
}

bool rm_cmp_fragment(struct rm_cmp_camera const *camera, struct rm_message_join *join,
                     struct rm_cmp_header const *header, struct rm_cmp_message const *message,
                     struct rm_image_fragment *fragment) {
    if (header->device != camera->device || message->interface != camera->interface ||
        message->payload_type != RM_CMP_CSI2 || message->flags & RM_CMP_BAD_PAYLOAD)
        return false;
    uint32_t length = message->length;
    uint8_t const *const whole = rm_message_join(join, message->part, header->counter, message->bytes, &length);
    struct rm_cmp_csi2 csi2;
    if (whole == NULL || !rm_cmp_csi2_parse(whole, length, &csi2))
        return false;
    if (csi2.flags & (RM_CMP_CRC_ERROR | RM_CMP_ECC_UNCORRECTED) || csi2.packet.channel != camera->channel ||
        csi2.packet.data_type != rm_csi2_data_type(camera->lines.geometry.pixel_format))
        return false;
    struct rm_image_line const line = {.frame = csi2.frame,
                                       .line = csi2.line,
                                       .bytes = csi2.packet.bytes,
                                       .length = csi2.packet.length,
                                       .time = message->time_ns};
    return rm_line_fragment(&camera->lines, &line, fragment);
}
