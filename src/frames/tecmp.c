// SPDX-License-Identifier: Apache-2.0
#include "frames/tecmp.h"

#include "frames/put.h"

#define UNSYNCHRONISED ((uint64_t)1 << 63)
#define TIME_MASK (((uint64_t)1 << 62) - 1)

enum rm_tecmp_fault rm_tecmp_parse(uint8_t const *bytes, uint32_t length, struct rm_tecmp_header *header) {
    if (length < RM_TECMP_HEADER_BYTES)
        return RM_TECMP_TOO_SHORT;
    if (bytes[0] != 0)
        return RM_TECMP_IS_CMP;
    if (bytes[5] != RM_TECMP_CAPTURED && bytes[5] != RM_TECMP_REPLAYED)
        return RM_TECMP_OTHER_MESSAGE;
    *header = (struct rm_tecmp_header){
        .device = rm_load16(bytes),
        .counter = rm_load16(bytes + 2),
        .version = bytes[4],
        .message_type = bytes[5],
        .data_type = rm_load16(bytes + 6),
        .flags = rm_load16(bytes + 10),
    };
    return RM_TECMP_GOOD;
}

bool rm_tecmp_next(uint8_t const *bytes, uint32_t length, uint32_t *at, struct rm_tecmp_entry *entry) {
    if (*at > length || length - *at < RM_TECMP_ENTRY_BYTES)
        return false;
    uint8_t const *const from = bytes + *at;
    uint32_t const left = length - *at - RM_TECMP_ENTRY_BYTES, content = rm_load16(from + 12);
    if (content == 0 || content > left)
        return false;
    uint64_t const time = rm_load64(from + 4);
    *entry = (struct rm_tecmp_entry){
        .interface = rm_load32(from),
        .time_ns = time & TIME_MASK,
        .is_unsynchronised = (time & UNSYNCHRONISED) != 0,
        .flags = rm_load16(from + 14),
        .bytes = from + RM_TECMP_ENTRY_BYTES,
        .length = content,
    };
    *at += RM_TECMP_ENTRY_BYTES + content;
    return true;
}

enum rm_message_part rm_tecmp_part(struct rm_tecmp_header const *header) {
    bool const first = header->flags & RM_TECMP_FIRST_PART, last = header->flags & RM_TECMP_LAST_PART;
    if (first)
        return last ? RM_PART_WHOLE : RM_PART_FIRST;
    return last ? RM_PART_LAST : RM_PART_MIDDLE;
}

uint32_t rm_tecmp_write(uint8_t bytes[RM_TECMP_HEADER_BYTES], struct rm_tecmp_header const *header) {
    uint8_t *at = put16(put16(bytes, header->device), header->counter);
    at = put16(put8(put8(at, header->version), header->message_type), header->data_type);
    at = put16(put16(at, 0), header->flags);
    return (uint32_t)(at - bytes);
}

uint32_t rm_tecmp_write_entry(uint8_t bytes[RM_TECMP_ENTRY_BYTES], struct rm_tecmp_entry const *entry) {
    uint64_t const time = (entry->time_ns & TIME_MASK) | (entry->is_unsynchronised ? UNSYNCHRONISED : 0);
    uint8_t *const at = put16(put64(put32(bytes, entry->interface), time), (uint16_t)entry->length);
    return (uint32_t)(put16(at, entry->flags) - bytes);
}

void rm_tecmp_follow(struct rm_tecmp_stream *stream, struct rm_tecmp_header const *header) {
    uint16_t const missing = (uint16_t)(header->counter - stream->counter - 1);
    if (stream->any && missing != 0) {
        stream->lost = true;
        stream->missing += missing;
    }
    stream->any = true;
    stream->counter = header->counter;
}

bool rm_tecmp_fragment(struct rm_tecmp_camera const *camera, struct rm_tecmp_stream *stream,
                       struct rm_tecmp_header const *header, struct rm_tecmp_entry const *entry,
                       struct rm_image_fragment *fragment) {
    if (header->device != camera->device || entry->interface != camera->interface ||
        (header->data_type != RM_TECMP_CSI2_V && header->data_type != RM_TECMP_CSI2_L))
        return false;
    uint32_t length = entry->length;
    uint64_t const broken = stream->join.broken;
    uint8_t const *const message =
        rm_message_join(&stream->join, rm_tecmp_part(header), header->counter, entry->bytes, &length);
    stream->lost |= stream->join.broken != broken;
    struct rm_csi2_packet packet;
    if (message == NULL)
        return false;
    if (!rm_csi2_parse(message, length, &packet)) {
        stream->lost = true;
        return false;
    }
    if (packet.channel != camera->channel)
        return false;
    struct rm_image_line line;
    bool const is_line = rm_csi2_count(&stream->lines, &packet, stream->lost, &line);
    stream->lost = false;
    if (!is_line || packet.data_type != rm_csi2_data_type(camera->lines.geometry.pixel_format))
        return false;
    line.time = entry->time_ns;
    return rm_line_fragment(&camera->lines, &line, fragment);
}
