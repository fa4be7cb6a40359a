// SPDX-License-Identifier: Apache-2.0
/** What cameras send that are measured: frames in our format (frames/fragment.h), at a fixed rate, in even packets over a
 * part of each period, over one link. The cameras are as far apart in their phase as they can be. One that is kept from
 * sending for a quarter of its period goes on at its pace, and sends less.
 *
 * The configuration packet closes each frame. Its time is the TSC at which it was written, right before it is sent. Each
 * fragment begins with a number by which a reader knows its place: rm_camera_load_stamp. */
#ifndef RM_BENCH_FRAMES_CAMERA_LOAD_H
#define RM_BENCH_FRAMES_CAMERA_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/wire/link_endpoint.h"

enum { RM_LOAD_CAMERAS_MAX = 16, RM_LOAD_STAMP_BYTES = 8 };

struct rm_camera_load_settings {
    uint32_t cameras;
    /** Of a frame of Mono12p, pixels; the width is even. */
    uint32_t width, height;
    /** Bytes of a fragment. */
    uint32_t each;
    double rate_hz;
    /** Of a period, 0–1, over which a frame's packets go. */
    double spread;
};

struct rm_load_camera {
    /** Number of the frame that is being sent, from 1 on, and of its next packet. */
    uint64_t frame;
    uint32_t packet;
    uint64_t begin_tsc;
};

struct rm_camera_load {
    struct rm_camera_load_settings settings;
    struct rm_link *link;
    uint32_t frame_bytes, fragments;
    uint64_t period_ticks, timeout_ticks;
    double packet_ticks;
    struct rm_load_camera camera[RM_LOAD_CAMERAS_MAX];
    uint8_t *bytes;
    /** Packets that were sent; times that the link was full, and the longest wait then, in ticks. */
    uint64_t sent, waits, longest_wait_ticks;
    /** By how much a packet was late to its pace, at most, in ticks. */
    uint64_t longest_behind_ticks;
};

/** The first frame begins at `begin_tsc`. False: no memory. */
bool rm_camera_load_begin(struct rm_camera_load *load, struct rm_camera_load_settings const *settings,
                          struct rm_link *link, double tsc_hz, uint64_t begin_tsc);
void rm_camera_load_end(struct rm_camera_load *load);

/** Sends what is due, at most some packets of each camera. After `last_tsc` no frame begins. True: there was some. Ends the
 * program where the link takes nothing for seconds. */
bool rm_camera_load_send(struct rm_camera_load *load, uint64_t now, uint64_t last_tsc);

/** No camera is within a frame. */
bool rm_camera_load_rests(struct rm_camera_load const *load);

/** What a fragment begins with. */
static inline uint64_t rm_camera_load_stamp(uint32_t camera, uint64_t frame, uint32_t fragment) {
    return (uint64_t)camera << 56 | frame << 16 | fragment;
}

#endif
