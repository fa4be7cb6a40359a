// SPDX-License-Identifier: Apache-2.0
/** A receiver in this process, of cameras that a test describes, and a sender of datagrams to its sockets on loopback. */
#ifndef RM_CAMERAS_TEST_CAMERA_RIG_H
#define RM_CAMERAS_TEST_CAMERA_RIG_H

#include <netinet/in.h>

#include <ringmaster/counter.h>
#include <ringmaster/frames.h>
#include <ringmaster/workspace.h>

#include "frames/fragment.h"
#include "frames/gvsp.h"

enum {
    RIG_WIDTH = 64,
    RIG_HEIGHT = 40,
    RIG_BYTES = RIG_WIDTH * RIG_HEIGHT,
    RIG_EACH = 500,
    RIG_FRAGMENTS = (RIG_BYTES + RIG_EACH - 1) / RIG_EACH,
    RIG_MONO8 = 0x01080001,
    /** Most bytes of a part. */
    RIG_PART_BYTES = RM_IMAGE_CONFIGURATION_BYTES + RIG_EACH,
};

struct camera_rig {
    char folder[64];
    char file[128];
    struct rm_frames *frames;
    struct rm_workspace *workspace;
    /** Sends from 127.0.0.1; and another one, from 127.0.0.2. */
    int socket, other;
    uint16_t udp_port;
};

/** Opens `cameras`, the list of the file in YAML, on a socket named `wire`; a test's own workspace. */
void rig_open(struct camera_rig *rig, char const *cameras);

/** The same in two steps, with another port than a socket: its folder, and an entry of `ports` named `wire`. */
void rig_begin(struct camera_rig *rig);
void rig_open_on(struct camera_rig *rig, char const *port, char const *cameras);
void rig_close(struct camera_rig *rig);

/** Byte `at` of a frame. */
uint8_t rig_pixel(uint64_t frame, uint32_t at);

/** A fragment of a frame, or for -1 its configuration, of our format; returns its length. */
uint32_t rig_part(uint8_t payload[RIG_PART_BYTES], uint32_t camera, uint64_t frame, int part);
void rig_send_part(struct camera_rig const *rig, int file, uint32_t camera, uint64_t frame, int part);
void rig_send_whole(struct camera_rig const *rig, uint32_t camera, uint64_t frame);

/** Leader, packets 1 to RIG_FRAGMENTS, trailer of GigE Vision: packet ids 0 … RIG_FRAGMENTS + 1. */
void rig_send_packet(struct camera_rig const *rig, uint64_t block, uint32_t packet);

void rig_send(struct camera_rig const *rig, int file, void const *payload, uint32_t length);

/** The next frame of any camera; it comes. */
uint32_t rig_next(struct camera_rig *rig, struct rm_frame *frame);

/** Checks it, byte by byte, as rig_pixel says; where fragments are missing, for zeros. Releases it. */
void rig_check(struct camera_rig *rig, uint32_t camera, struct rm_frame *frame, uint64_t number, uint32_t missing);

uint64_t rig_count(struct camera_rig const *rig, char const *camera, enum rm_camera_counter counter);
uint64_t rig_port_count(struct camera_rig const *rig, enum rm_port_counter counter);

/** Waits until all `datagrams` that were sent so far have been received. */
void rig_await_received(struct camera_rig const *rig, uint64_t datagrams);

/** Waits until a counter that is shown after a burst is `least` or more. */
void rig_await_shown(struct camera_rig const *rig, char const *camera, enum rm_camera_counter counter, uint64_t least);

#endif
