// SPDX-License-Identifier: Apache-2.0
/** The section `cameras` of a machine's file: who sends images, where they come in, and how they are kept. A port that
 * a camera names is polled by the receiver of cameras (src/cameras/) and not by the server. */
#ifndef RM_CONFIG_CAMERAS_H
#define RM_CONFIG_CAMERAS_H

#include <stdbool.h>
#include <stdint.h>

enum { RM_CONFIG_CAMERAS_MAX = 128, RM_CONFIG_CAMERA_NAME_BYTES = 32 };

enum rm_camera_format {
    /** GigE Vision. */
    RM_CAMERA_GVSP,
    /** Ours: docs/frames-format.md. */
    RM_CAMERA_FRAGMENTS,
    /** Capture devices in vehicles: docs/frames-lines.md. */
    RM_CAMERA_TECMP,
    RM_CAMERA_CMP,
    /** A line in each datagram, as an entry of `formats` describes it. */
    RM_CAMERA_LINES,
};

/** What becomes of a frame that is not whole: drop it, deliver it with the map, or fill it from the one before. */
enum rm_camera_incomplete { RM_CAMERA_DROP, RM_CAMERA_DELIVER, RM_CAMERA_FILL };

enum { RM_CONFIG_FEATURE_BYTES = 64, RM_CONFIG_FEATURES_MAX = 64 };

/** A feature of a camera by its GenICam name, and what it is set to before the acquisition starts; of a command "". */
struct rm_config_feature {
    char name[RM_CONFIG_FEATURE_BYTES];
    char value[RM_CONFIG_FEATURE_BYTES];
};

struct rm_config_camera {
    char name[RM_CONFIG_CAMERA_NAME_BYTES];
    /** Index. */
    uint32_t port;
    enum rm_camera_format format;
    /** Of RM_CAMERA_LINES: index of the entry of `formats`. */
    uint32_t lines;
    /** Where its datagrams go. */
    uint16_t udp_port;
    /** Where they come from, host byte order; 0: anywhere. */
    uint32_t ipv4;
    /** Its number: of our format, of a capture device's interface, of a described line's id. */
    uint32_t id;
    /** Of a capture device: its number, and the link's virtual channel. Of ASAM CMP and described lines: the number of a
     * frame's first line. */
    uint16_t device;
    uint8_t channel;
    uint16_t first_line;
    /** PFNC's number, and pixels; 0: the camera tells it. */
    uint32_t pixel_format, width, height;
    /** The longest frame. */
    uint32_t frame_bytes;
    uint32_t slots, leases;
    double deadline_ms;
    enum rm_camera_incomplete incomplete;
    /** Most packets of a frame that are asked for again, of those that it has; 0: none. GigE Vision alone. */
    double resend_percent;
    /** The beam spot's centroid, size and tilt are published. */
    bool profile;
    /** Turns from one record of its streams to the next that is possible. */
    uint32_t record_turns;
    /** In the order of the file: `ringmaster cameras control` sets them. GigE Vision alone. */
    uint32_t feature_count;
    struct rm_config_feature *feature;
};

#endif
