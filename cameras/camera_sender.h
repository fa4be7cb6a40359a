// SPDX-License-Identifier: Apache-2.0
/** Sends the frames of one virtual camera: each is planned when it is due, and its packets go by the camera's pace. */
#ifndef RM_CAMERAS_CAMERA_SENDER_H
#define RM_CAMERAS_CAMERA_SENDER_H

#include <ringmaster/counter.h>

#include "faults.h"
#include "follow.h"
#include "instruments/sender_link.h"
#include "picture.h"
#include "wire/frame.h"

struct rm_camera_counts {
    /** Frames of which all packets were given to the link, and the bytes of these. */
    uint64_t frames, bytes;
    /** Frames whose time had gone before they could begin. */
    uint64_t skipped;
    /** Packets that a program had sent again, and requests for what was gone. */
    uint64_t resent, unavailable;
};

struct rm_camera_sender {
    /** Its own, which a program changes where it controls the camera. */
    struct rm_virtual_camera camera;
    struct rm_pictures pictures;
    struct rm_camera_faults faults;
    struct rm_spot_follow follow;
    struct rm_packet_plan plan;
    /** The newest of RM_PICTURES frames at `index` - 1, for those who ask for packets again. */
    struct rm_camera_frame recent[RM_PICTURES];

    struct rm_sender_link *link;
    struct rm_flow flow;
    bool ethernet;

    double tsc_hz;
    /** False: nothing is sent. */
    bool running;
    /** Frames after which it ends; 0: none. */
    uint64_t frames_wanted;
    /** Frames begun since it was started, and the number of the next one. */
    uint64_t index, number;
    /** Of the frame that is sent: its place in the plan, and when it was due. */
    uint32_t next;
    bool sending;
    uint64_t frame_tsc;
    /** When frame 0 was due, and how many have been due since. */
    uint64_t start_tsc, start_tai_ns, slot;
    struct rm_camera_counts counts;
    /** Of the link, which knows the packets that the port has taken: RM_SENDER_SENT. */
    rm_counter link_counters[RM_SENDER_COUNTERS];
};

/** Draws its pictures. Link and flow are set by the caller. */
enum rm_code rm_camera_sender_open(struct rm_camera_sender *sender, struct rm_virtual_camera const *camera,
                                   char const *workspace, double tsc_hz, struct rm_error *error);
void rm_camera_sender_close(struct rm_camera_sender *sender);

/** Goes on as another camera, with pictures of its own. RM_E_NO_SPACE: it has none. */
enum rm_code rm_camera_sender_change(struct rm_camera_sender *sender, struct rm_virtual_camera const *camera,
                                     struct rm_error *error);

/** Begins with the next frame now. */
void rm_camera_sender_start(struct rm_camera_sender *sender);
void rm_camera_sender_stop(struct rm_camera_sender *sender);

/** It has sent all frames that were wanted of it. */
bool rm_camera_sender_is_done(struct rm_camera_sender const *sender);

/** Puts packets that are due into its link, at most RM_BURST. Returns the TSC at which the next one is due; UINT64_MAX:
 * none will be. */
uint64_t rm_camera_sender_poll(struct rm_camera_sender *sender);

/** Sends packet `index` of block `number` again, if it is still there. */
void rm_camera_sender_resend(struct rm_camera_sender *sender, uint64_t number, uint32_t index);

#endif
