// SPDX-License-Identifier: Apache-2.0
#include "frames/gvsp.h"

#include <string.h>

#include "frames/put.h"

enum {
    EXTENDED_IDS = 0x80,
    PACKET_ID_24 = 0xFFFFFF,
    PAYLOAD_TYPE_AT = 2,
    LEADER_BYTES = 12,
    IMAGE_LEADER_BYTES = 36,
    CHUNK_INFO_BYTES = 8,
};

static bool payload_type_is_known(uint16_t payload_type) {
    uint32_t const type = payload_type & ~RM_GVSP_CHUNKS;
    return type == RM_GVSP_IMAGE || type == RM_GVSP_CHUNK_DATA || type == RM_GVSP_EXTENDED_CHUNK_DATA;
}

static bool payload_type_has_geometry(uint16_t payload_type) {
    return (payload_type & ~RM_GVSP_CHUNKS) != RM_GVSP_CHUNK_DATA;
}

static uint32_t leader_bytes(uint16_t payload_type) {
    return payload_type_has_geometry(payload_type) ? IMAGE_LEADER_BYTES : LEADER_BYTES;
}

static uint32_t trailer_bytes(uint16_t payload_type) {
    uint32_t const extra = payload_type & RM_GVSP_CHUNKS ? CHUNK_INFO_BYTES : 0;
    return extra + ((payload_type & ~RM_GVSP_CHUNKS) == RM_GVSP_EXTENDED_CHUNK_DATA ? 16 : 8);
}

static void leader_read(uint8_t const *at, struct rm_gvsp_packet *packet) {
    packet->time = rm_load64(at + 4);
    packet->has_geometry = payload_type_has_geometry(packet->payload_type);
    if (!packet->has_geometry)
        return;
    packet->geometry = (struct rm_image_geometry){
        .pixel_format = rm_load32(at + 12),
        .width = rm_load32(at + 16),
        .height = rm_load32(at + 20),
        .offset_x = rm_load32(at + 24),
        .offset_y = rm_load32(at + 28),
        .padding_x = rm_load16(at + 32),
        .padding_y = rm_load16(at + 34),
    };
}

static void trailer_read(uint8_t const *at, struct rm_gvsp_packet *packet) {
    uint32_t const type = packet->payload_type & ~(uint32_t)RM_GVSP_CHUNKS;
    if (type == RM_GVSP_IMAGE) {
        packet->height = rm_load32(at + 4);
        at += 8;
    } else {
        packet->block_bytes = rm_load32(at + 4);
        at += 8;
    }
    if (type == RM_GVSP_EXTENDED_CHUNK_DATA) {
        packet->height = rm_load32(at);
        packet->layout = rm_load32(at + 4);
        at += 8;
    }
    if (packet->payload_type & RM_GVSP_CHUNKS) {
        packet->block_bytes = rm_load32(at);
        packet->layout = rm_load32(at + 4);
    }
}

/** Of a whole header; returns its length. */
static uint32_t gvsp_header_read(uint8_t const *payload, struct rm_gvsp_packet *packet) {
    bool const extended = payload[4] & EXTENDED_IDS;
    uint16_t const second = rm_load16(payload + 2);
    *packet = (struct rm_gvsp_packet){
        .status = rm_load16(payload),
        .extended_ids = extended,
        .format = payload[4] & (uint8_t)~EXTENDED_IDS,
        .flags = extended ? second : 0,
        .block = extended ? rm_load64(payload + 8) : second,
        .packet = extended ? rm_load32(payload + 16) : rm_load32(payload + 4) & PACKET_ID_24,
    };
    return extended ? RM_GVSP_EXTENDED_HEADER_BYTES : RM_GVSP_HEADER_BYTES;
}

/** What is behind the header of a packet whose format is known. */
static enum rm_gvsp_fault gvsp_content_read(uint8_t const *at, uint32_t length, struct rm_gvsp_packet *packet) {
    if (packet->format == RM_GVSP_PAYLOAD) {
        packet->bytes = at;
        packet->length = length;
        return length == 0 ? RM_GVSP_TOO_SHORT : RM_GVSP_GOOD;
    }
    if (length < PAYLOAD_TYPE_AT + 2)
        return RM_GVSP_TOO_SHORT;
    packet->payload_type = rm_load16(at + PAYLOAD_TYPE_AT);
    if (!payload_type_is_known(packet->payload_type))
        return RM_GVSP_OTHER_PAYLOAD;
    bool const leads = packet->format != RM_GVSP_TRAILER, trails = packet->format != RM_GVSP_LEADER;
    uint32_t const leader = leads ? leader_bytes(packet->payload_type) : 0;
    uint32_t const both = leader + (trails ? trailer_bytes(packet->payload_type) : 0);
    if (length < both)
        return RM_GVSP_TOO_SHORT;
    if (leads)
        leader_read(at, packet);
    if (trails)
        trailer_read(at + leader, packet);
    if (leads && trails) {
        packet->bytes = at + both;
        packet->length = length - both;
    }
    return RM_GVSP_GOOD;
}

enum rm_gvsp_fault rm_gvsp_parse(uint8_t const *payload, uint32_t length, struct rm_gvsp_packet *packet) {
    if (length < RM_GVSP_HEADER_BYTES || (payload[4] & EXTENDED_IDS && length < RM_GVSP_EXTENDED_HEADER_BYTES))
        return RM_GVSP_TOO_SHORT;
    struct rm_gvsp_packet found;
    uint32_t const header = gvsp_header_read(payload, &found);
    if (found.format < RM_GVSP_LEADER || found.format > RM_GVSP_ALL_IN)
        return RM_GVSP_OTHER_FORMAT;
    if (found.block == 0)
        return RM_GVSP_NO_BLOCK;
    if (found.status < RM_GVSP_STATUS_ERROR) {
        enum rm_gvsp_fault const fault = gvsp_content_read(payload + header, length - header, &found);
        if (fault != RM_GVSP_GOOD)
            return fault;
        bool const first = found.format == RM_GVSP_LEADER || found.format == RM_GVSP_ALL_IN;
        if (first != (found.packet == 0))
            return RM_GVSP_BAD_PACKET_ID;
    }
    *packet = found;
    return RM_GVSP_GOOD;
}

bool rm_gvsp_fragment(struct rm_gvsp_packet const *packet, uint32_t packet_bytes, struct rm_image_fragment *fragment) {
    if (packet->status >= RM_GVSP_STATUS_ERROR)
        return false;
    bool const plain_image = packet->has_geometry && packet->payload_type == RM_GVSP_IMAGE;
    bool const whole = packet->format == RM_GVSP_ALL_IN;
    uint64_t const total = whole         ? packet->length
                           : plain_image ? rm_image_bytes(&packet->geometry)
                                         : packet->block_bytes;
    *fragment = (struct rm_image_fragment){
        .frame = packet->block,
        .offset = packet->format == RM_GVSP_PAYLOAD ? (uint64_t)(packet->packet - 1) * packet_bytes : 0,
        .bytes = packet->bytes,
        .length = packet->length,
        .fragment_bytes = whole ? packet->length : packet_bytes,
        .total_bytes = total,
        .has_geometry = packet->has_geometry,
        .geometry = packet->geometry,
        .time = packet->time,
    };
    return true;
}

uint32_t rm_gvsp_payload_packets(uint64_t total, uint32_t packet_bytes) {
    return (uint32_t)((total + packet_bytes - 1) / packet_bytes);
}

static uint8_t *put_leader(uint8_t *at, struct rm_gvsp_packet const *packet) {
    at = put64(put16(put16(at, 0), packet->payload_type), packet->time);
    if (!payload_type_has_geometry(packet->payload_type))
        return at;
    struct rm_image_geometry const *const geometry = &packet->geometry;
    uint32_t const words[] = {geometry->pixel_format, geometry->width, geometry->height, geometry->offset_x,
                              geometry->offset_y};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        at = put32(at, words[i]);
    return put16(put16(at, geometry->padding_x), geometry->padding_y);
}

static uint8_t *put_trailer(uint8_t *at, struct rm_gvsp_packet const *packet) {
    uint32_t const type = packet->payload_type & ~(uint32_t)RM_GVSP_CHUNKS;
    at = put16(put16(at, 0), packet->payload_type);
    at = put32(at, type == RM_GVSP_IMAGE ? packet->height : packet->block_bytes);
    if (type == RM_GVSP_EXTENDED_CHUNK_DATA)
        at = put32(put32(at, packet->height), packet->layout);
    if (packet->payload_type & RM_GVSP_CHUNKS)
        at = put32(put32(at, packet->block_bytes), packet->layout);
    return at;
}

uint32_t rm_gvsp_write(uint8_t *payload, struct rm_gvsp_packet const *packet) {
    uint8_t *at = put16(payload, packet->status);
    at = put16(at, packet->extended_ids ? packet->flags : (uint16_t)packet->block);
    uint32_t const format = packet->extended_ids ? (packet->format | EXTENDED_IDS) : packet->format;
    at = put32(at, format << 24 | (packet->extended_ids ? 0 : packet->packet & PACKET_ID_24));
    if (packet->extended_ids)
        at = put32(put64(at, packet->block), packet->packet);
    if (packet->status >= RM_GVSP_STATUS_ERROR)
        return (uint32_t)(at - payload);
    if (packet->format == RM_GVSP_LEADER || packet->format == RM_GVSP_ALL_IN)
        at = put_leader(at, packet);
    if (packet->format == RM_GVSP_TRAILER || packet->format == RM_GVSP_ALL_IN)
        at = put_trailer(at, packet);
    return (uint32_t)(at - payload);
}

bool rm_gvsp_last_chunk(uint8_t const *block, uint64_t length, struct rm_gvsp_chunk *chunk) {
    if (length < RM_GVSP_CHUNK_TAIL_BYTES)
        return false;
    uint8_t const *const tail = block + length - RM_GVSP_CHUNK_TAIL_BYTES;
    uint32_t const bytes = rm_load32(tail + 4);
    if (bytes > length - RM_GVSP_CHUNK_TAIL_BYTES)
        return false;
    *chunk = (struct rm_gvsp_chunk){.id = rm_load32(tail), .bytes = tail - bytes, .length = bytes};
    return true;
}

uint32_t rm_gvcp_write_resend(uint8_t payload[RM_GVCP_RESEND_LONGEST], struct rm_gvcp_resend const *resend) {
    enum { KEY = 0x42, FLAG_EXTENDED_IDS = 0x10, COMMAND = 0x0040 };
    uint32_t const mask = resend->extended_ids ? UINT32_MAX : PACKET_ID_24;
    payload[0] = KEY;
    payload[1] = resend->extended_ids ? FLAG_EXTENDED_IDS : 0;
    uint8_t *at = put16(payload + 2, COMMAND);
    at = put16(at, resend->extended_ids ? 20 : 12);
    at = put16(at, resend->request);
    at = put16(at, resend->channel);
    at = put16(at, resend->extended_ids ? 0 : (uint16_t)resend->block);
    at = put32(put32(at, resend->first & mask), resend->last & mask);
    if (resend->extended_ids)
        at = put64(at, resend->block);
    return (uint32_t)(at - payload);
}
