// SPDX-License-Identifier: Apache-2.0
#include "frames/fragment.h"

#include <string.h>

/** The first 32 bytes as they stand on the wire. */
struct image_head {
    uint16_t magic;
    uint8_t version, kind;
    uint32_t camera;
    uint64_t frame, time;
    uint32_t total_bytes;
    uint16_t fragment_bytes;
    uint8_t flags, zero;
};

/** What follows the head of a fragment. */
struct image_place {
    uint32_t offset;
    uint16_t length, zero;
};

/** What follows the head of a configuration. */
struct image_configuration {
    uint32_t pixel_format, width, height, offset_x, offset_y;
    uint16_t padding_x, padding_y;
    uint64_t exposure_start_ns, exposure_end_ns;
};

_Static_assert(sizeof(struct image_head) == RM_IMAGE_HEAD_BYTES, "no padding");
_Static_assert(sizeof(struct image_place) == RM_IMAGE_FRAGMENT_HEADER_BYTES - RM_IMAGE_HEAD_BYTES, "no padding");
_Static_assert(sizeof(struct image_configuration) == RM_IMAGE_CONFIGURATION_BYTES - RM_IMAGE_HEAD_BYTES, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

static enum rm_image_fault image_head_check(struct image_head const *head) {
    if (head->magic != RM_IMAGE_MAGIC)
        return RM_IMAGE_BAD_MAGIC;
    if (head->version != RM_IMAGE_VERSION)
        return RM_IMAGE_UNKNOWN_VERSION;
    if (head->kind != RM_IMAGE_FRAGMENT && head->kind != RM_IMAGE_CONFIGURATION)
        return RM_IMAGE_UNKNOWN_KIND;
    return head->flags & ~RM_IMAGE_TIME_IS_TURN || head->zero != 0 ? RM_IMAGE_UNKNOWN_FLAGS : RM_IMAGE_GOOD;
}

static enum rm_image_fault image_place_read(uint8_t const *payload, uint32_t length, struct image_head const *head,
                                            struct rm_image_fragment *fragment) {
    struct image_place place;
    memcpy(&place, payload + sizeof *head, sizeof place);
    if (place.zero != 0)
        return RM_IMAGE_UNKNOWN_FLAGS;
    if (place.offset % head->fragment_bytes != 0 || place.offset >= head->total_bytes)
        return RM_IMAGE_BAD_PLACE;
    uint32_t const left = head->total_bytes - place.offset;
    if (place.length != (left < head->fragment_bytes ? left : head->fragment_bytes))
        return RM_IMAGE_BAD_PLACE;
    fragment->offset = place.offset;
    fragment->bytes = payload + RM_IMAGE_FRAGMENT_HEADER_BYTES;
    fragment->length = place.length;
    return length == RM_IMAGE_FRAGMENT_HEADER_BYTES + (uint32_t)place.length ? RM_IMAGE_GOOD : RM_IMAGE_BAD_LENGTH;
}

static enum rm_image_fault image_configuration_read(uint8_t const *payload, uint32_t length,
                                                    struct rm_image_datagram *datagram) {
    struct image_configuration read;
    memcpy(&read, payload + RM_IMAGE_HEAD_BYTES, sizeof read);
    datagram->fragment.has_geometry = true;
    datagram->fragment.geometry = (struct rm_image_geometry){
        .pixel_format = read.pixel_format,
        .width = read.width,
        .height = read.height,
        .offset_x = read.offset_x,
        .offset_y = read.offset_y,
        .padding_x = read.padding_x,
        .padding_y = read.padding_y,
    };
    datagram->exposure_start_ns = read.exposure_start_ns;
    datagram->exposure_end_ns = read.exposure_end_ns;
    if (rm_image_bytes(&datagram->fragment.geometry) != datagram->fragment.total_bytes)
        return RM_IMAGE_BAD_GEOMETRY;
    return length == RM_IMAGE_CONFIGURATION_BYTES ? RM_IMAGE_GOOD : RM_IMAGE_BAD_LENGTH;
}

enum rm_image_fault rm_image_parse(uint8_t const *payload, uint32_t length, struct rm_image_datagram *datagram) {
    if (length < RM_IMAGE_HEAD_BYTES)
        return RM_IMAGE_TOO_SHORT;
    struct image_head head;
    memcpy(&head, payload, sizeof head);
    enum rm_image_fault fault = image_head_check(&head);
    if (fault != RM_IMAGE_GOOD)
        return fault;
    bool const configures = head.kind == RM_IMAGE_CONFIGURATION;
    if (length < (configures ? (uint32_t)RM_IMAGE_CONFIGURATION_BYTES : RM_IMAGE_FRAGMENT_HEADER_BYTES))
        return RM_IMAGE_BAD_LENGTH;
    if (head.total_bytes == 0 || head.fragment_bytes == 0)
        return RM_IMAGE_BAD_PLACE;
    struct rm_image_datagram found = {
        .kind = (enum rm_image_kind)head.kind,
        .flags = head.flags,
        .camera = head.camera,
        .fragment = {.frame = head.frame,
                     .fragment_bytes = head.fragment_bytes,
                     .total_bytes = head.total_bytes,
                     .time = head.time},
    };
    fault = configures ? image_configuration_read(payload, length, &found)
                       : image_place_read(payload, length, &head, &found.fragment);
    if (fault == RM_IMAGE_GOOD)
        *datagram = found;
    return fault;
}

uint32_t rm_image_write(uint8_t payload[RM_IMAGE_CONFIGURATION_BYTES], struct rm_image_datagram const *datagram) {
    struct rm_image_fragment const *const fragment = &datagram->fragment;
    struct image_head const head = {
        .magic = RM_IMAGE_MAGIC,
        .version = RM_IMAGE_VERSION,
        .kind = (uint8_t)datagram->kind,
        .camera = datagram->camera,
        .frame = fragment->frame,
        .time = fragment->time,
        .total_bytes = (uint32_t)fragment->total_bytes,
        .fragment_bytes = (uint16_t)fragment->fragment_bytes,
        .flags = datagram->flags,
    };
    memcpy(payload, &head, sizeof head);
    if (datagram->kind == RM_IMAGE_FRAGMENT) {
        struct image_place const place = {.offset = (uint32_t)fragment->offset, .length = (uint16_t)fragment->length};
        memcpy(payload + sizeof head, &place, sizeof place);
        return RM_IMAGE_FRAGMENT_HEADER_BYTES;
    }
    struct image_configuration const configuration = {
        .pixel_format = fragment->geometry.pixel_format,
        .width = fragment->geometry.width,
        .height = fragment->geometry.height,
        .offset_x = fragment->geometry.offset_x,
        .offset_y = fragment->geometry.offset_y,
        .padding_x = fragment->geometry.padding_x,
        .padding_y = fragment->geometry.padding_y,
        .exposure_start_ns = datagram->exposure_start_ns,
        .exposure_end_ns = datagram->exposure_end_ns,
    };
    memcpy(payload + sizeof head, &configuration, sizeof configuration);
    return RM_IMAGE_CONFIGURATION_BYTES;
}
