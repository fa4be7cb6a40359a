// SPDX-License-Identifier: Apache-2.0
/** A frame as the packets of its stream: which there are, and the UDP payload of each. Pure functions. */
#ifndef RM_CAMERAS_PACKETS_H
#define RM_CAMERAS_PACKETS_H

#include "frames/image.h"
#include "virtual_camera.h"

enum {
    /** Longest header before the bytes of a frame, and longest packet without such bytes. */
    RM_CAMERA_HEADER_MAX = 80,
    /** IPv4 and UDP headers. */
    RM_CAMERA_IP_UDP_BYTES = 28,
};

/** A frame that is sent. */
struct rm_camera_frame {
    uint64_t number;
    /** Nanoseconds of the camera's clock; `time` is a turn where `time_is_turn`. */
    uint64_t time, exposure_start_ns, exposure_end_ns;
    bool time_is_turn;
    struct rm_image_geometry geometry;
    uint8_t const *bytes;
    uint64_t length;
    /** What its packets say of its length: `length`, but where they lie. */
    uint64_t told_length;
    /** In each packet. */
    uint32_t packet_bytes;
};

/** Bytes of a frame in each packet of at most `mtu` bytes: of GigE Vision as many as there is room for; of ours a multiple
 * of 64. */
uint32_t rm_camera_packet_bytes(enum rm_camera_format format, bool extended_ids, uint32_t mtu);

/** Leader, payload and trailer; or configuration and fragments. */
uint32_t rm_camera_packets(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame);

/** Index of what tells of the frame: the leader, or our configuration; and of the trailer, or our last fragment. */
uint32_t rm_camera_first_packet(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame);
uint32_t rm_camera_last_packet(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame);

/** Writes packet `index`; returns its length. Of GigE Vision, the index is the packet's id, and `resent` marks it so. An
 * index at or beyond their number is one beyond the frame, with the bytes of its beginning. There is room for
 * packet_bytes + RM_CAMERA_HEADER_MAX. */
uint32_t rm_camera_packet_write(struct rm_virtual_camera const *camera, struct rm_camera_frame const *frame,
                                uint32_t index, bool resent, uint8_t *payload);

#endif
