// SPDX-License-Identifier: Apache-2.0
/** What one virtual camera is: its entry of the machine's file, and what only a virtual one has, checked and resolved. */
#ifndef RM_CAMERAS_VIRTUAL_CAMERA_H
#define RM_CAMERAS_VIRTUAL_CAMERA_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "frames/image.h"

enum {
    /** Most pixels of a frame. */
    RM_VIRTUAL_PIXELS_MAX = 5 << 20,
    RM_VIRTUAL_FAULTS_MAX = 16,
    RM_VIRTUAL_STREAM_NAME_BYTES = 128,
};

/** What a frame shows: picture.h. */
enum rm_camera_pattern {
    RM_CAMERA_RAMP,
    RM_CAMERA_BARS,
    RM_CAMERA_CHECKER,
    RM_CAMERA_COUNTER,
    RM_CAMERA_NOISE,
    RM_CAMERA_SPOT,
};

/** When the packets of a frame go. */
enum rm_camera_pace {
    /** Evenly over the time from a frame to the next. */
    RM_CAMERA_SPREAD,
    /** At once, as fast as the link takes them. */
    RM_CAMERA_BURST,
};

/** What goes wrong on request: faults.h has each. */
enum rm_camera_fault_kind {
    RM_CAMERA_FAULT_LOSE,
    RM_CAMERA_FAULT_DUPLICATE,
    RM_CAMERA_FAULT_REORDER,
    RM_CAMERA_FAULT_DELAY,
    RM_CAMERA_FAULT_CORRUPT,
    RM_CAMERA_FAULT_NO_LEADER,
    RM_CAMERA_FAULT_NO_TRAILER,
    RM_CAMERA_FAULT_FALSE_SIZE,
    RM_CAMERA_FAULT_BEYOND,
    RM_CAMERA_FAULT_GEOMETRY,
    RM_CAMERA_FAULT_RESTART,
    RM_CAMERA_FAULT_JUMBO,
    RM_CAMERA_FAULT_KINDS,
};

struct rm_camera_fault {
    enum rm_camera_fault_kind kind;
    /** Of a packet or a frame; or each `every`th of them, where that is not 0. */
    double probability;
    uint64_t every;
    /** Frames of the run in which it may happen: `first` to `end` - 1, counted from 0. */
    uint64_t first, end;
};

/** The beam spot: a two-dimensional Gaussian. Pixels, and shares of the largest value. */
struct rm_camera_spot {
    double centre_x, centre_y;
    /** RMS along its axes, and the angle of the first one to x. */
    double sigma_x, sigma_y, tilt_rad;
    double peak, background, noise;
    /** A sine. */
    double move_x, move_y, move_hz;
    /** A stream of positions that it follows, "bpm01/fast"; "": none. */
    char follow[RM_VIRTUAL_STREAM_NAME_BYTES];
    /** Lanes of it, and how many pixels one of their units is. */
    char follow_x[32], follow_y[32];
    double pixels_per_unit;
};

struct rm_virtual_camera {
    char name[RM_CONFIG_CAMERA_NAME_BYTES];
    /** Index of the machine's port. */
    uint32_t port;
    enum rm_camera_format format;
    /** Where its packets come from, host byte order; 0: any. And the UDP port where they go. */
    uint32_t ipv4;
    uint16_t udp_port;
    /** Of our format. */
    uint32_t id;

    struct rm_image_geometry geometry;
    uint64_t frame_bytes;
    double rate_hz, exposure_s;
    /** Number of its first frame. */
    uint64_t first_number;
    /** Of IP packets. */
    uint32_t mtu;
    /** Of a frame in each packet. */
    uint32_t packet_bytes;
    enum rm_camera_pattern pattern;
    enum rm_camera_pace pace;
    /** GigE Vision: of 64 and 32 bits. Ours: the configuration goes first. */
    bool extended_ids, configuration_first;
    /** It is a GigE Vision device that is controlled: its stream begins when a program asks for it. */
    bool control;
    struct rm_camera_spot spot;
    uint32_t fault_count;
    struct rm_camera_fault fault[RM_VIRTUAL_FAULTS_MAX];
    /** Of all that is random. */
    uint64_t seed;
};

#endif
