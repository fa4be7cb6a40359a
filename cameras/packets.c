// SPDX-License-Identifier: Apache-2.0
#include "packets.h"

#include <string.h>

#include "frames/fragment.h"
#include "frames/gvsp.h"

/** Ours copies best in whole cache lines. */
enum { LINE = 64 };

uint32_t rm_camera_packet_bytes(enum rm_camera_format format, bool extended_ids, uint32_t mtu) {
    uint32_t const room = mtu - RM_CAMERA_IP_UDP_BYTES;
    if (format != RM_CAMERA_GVSP)
        return (room - RM_IMAGE_FRAGMENT_HEADER_BYTES) / LINE * LINE;
    return room - (extended_ids ? RM_GVSP_EXTENDED_HEADER_BYTES : RM_GVSP_HEADER_BYTES);
}

/** Those with bytes. */
static uint32_t payload_packets(struct rm_camera_frame const *frame) {
    return (uint32_t)((frame->length + frame->packet_bytes - 1) / frame->packet_bytes);
}

uint32_t rm_camera_packets(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame) {
    return payload_packets(frame) + (camera->format == RM_CAMERA_GVSP ? 2 : 1);
}

uint32_t rm_camera_first_packet(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame) {
    return camera->format == RM_CAMERA_GVSP || camera->configuration_first ? 0 : payload_packets(frame);
}

uint32_t rm_camera_last_packet(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame) {
    bool const configuration_last = camera->format != RM_CAMERA_GVSP && !camera->configuration_first;
    return rm_camera_packets(camera, frame) - (configuration_last ? 2 : 1);
}

/** Bytes of payload packet `index`, from 0; one beyond the frame has those of packet 0. */
static uint32_t packet_part(struct rm_camera_frame const *frame, uint32_t index, uint8_t const **bytes) {
    uint64_t const offset = (uint64_t)index * frame->packet_bytes;
    bool const inside = offset < frame->length;
    uint64_t const left = frame->length - (inside ? offset : 0);
    *bytes = frame->bytes + (inside ? offset : 0);
    return left < frame->packet_bytes ? (uint32_t)left : frame->packet_bytes;
}

static uint32_t gvsp_packet_write(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame,
                                  uint32_t index, bool resent, uint8_t *payload) {
    uint32_t const trailer = payload_packets(frame) + 1;
    struct rm_gvsp_packet const packet = {
        .status = resent ? RM_GVSP_STATUS_RESENT : 0,
        .extended_ids = camera->extended_ids,
        .format = index == 0         ? RM_GVSP_LEADER
                  : index == trailer ? RM_GVSP_TRAILER
                                     : RM_GVSP_PAYLOAD,
        .block = frame->number,
        .packet = index,
        .payload_type = RM_GVSP_IMAGE,
        .time = frame->time,
        .geometry = frame->geometry,
        .height = frame->geometry.height,
    };
    uint32_t const header = rm_gvsp_write(payload, &packet);
    if (packet.format != RM_GVSP_PAYLOAD)
        return header;
    uint8_t const *bytes;
    uint32_t const length = packet_part(frame, index - 1, &bytes);
    memcpy(payload + header, bytes, length);
    return header + length;
}

static uint32_t fragment_packet_write(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame,
                                      uint32_t index, uint8_t *payload) {
    bool const configures = index == rm_camera_first_packet(camera, frame);
    uint32_t const place = camera->configuration_first ? index - 1 : index;
    struct rm_image_datagram datagram = {
        .kind = configures ? RM_IMAGE_CONFIGURATION : RM_IMAGE_FRAGMENT,
        .flags = frame->time_is_turn ? RM_IMAGE_TIME_IS_TURN : 0,
        .camera = camera->id,
        .fragment = {.frame = frame->number,
                     .fragment_bytes = frame->packet_bytes,
                     .total_bytes = frame->told_length,
                     .geometry = frame->geometry,
                     .time = frame->time},
        .exposure_start_ns = frame->exposure_start_ns,
        .exposure_end_ns = frame->exposure_end_ns,
    };
    if (configures)
        return rm_image_write(payload, &datagram);
    uint8_t const *bytes;
    datagram.fragment.offset = (uint64_t)place * frame->packet_bytes;
    datagram.fragment.length = packet_part(frame, place, &bytes);
    uint32_t const header = rm_image_write(payload, &datagram);
    memcpy(payload + header, bytes, datagram.fragment.length);
    return header + datagram.fragment.length;
}

uint32_t rm_camera_packet_write(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame,
                                uint32_t index, bool resent, uint8_t *payload) {
    return camera->format == RM_CAMERA_GVSP ? gvsp_packet_write(camera, frame, index, resent, payload)
                                            : fragment_packet_write(camera, frame, index, payload);
}
