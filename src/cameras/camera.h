// SPDX-License-Identifier: Apache-2.0
/** One camera of the receiver: from a datagram's payload to published frames.
 *
 * Its assembly puts fragments into slots of its images (fabric/images_writer.h). A frame that closes is published at
 * once, and stays until it is the oldest that no reader has leased; the assembly always has CAMERA_OWN_SLOTS of its own,
 * which leases cannot take (ringmaster/images.h).
 *
 *     rm_camera_plan → rm_owner_open → rm_camera_open
 *     rm_camera_take … ; rm_camera_tend; rm_camera_show
 *     rm_camera_close → rm_owner_close
 *
 * For one thread from rm_camera_open on. */
#ifndef RM_CAMERAS_CAMERA_H
#define RM_CAMERAS_CAMERA_H

#include <stdbool.h>

#include <ringmaster/counter.h>
#include <ringmaster/owner.h>

#include "cameras/camera_clock.h"
#include "cameras/resend.h"
#include "cameras/resend_port.h"
#include "config/cameras.h"
#include "fabric/images_writer.h"
#include "format/format.h"
#include "frames/assembly.h"
#include "frames/cmp.h"
#include "frames/tecmp.h"

enum {
    /** Frames in flight, one that begins, and the one to fill from. */
    RM_CAMERA_OWN_SLOTS = RM_IMAGE_SLOTS_OWN - 1,
    /** Frames of which is remembered what was told beside the image, a power of two. */
    RM_CAMERA_TOLD = 16,
};

struct rm_camera_format_reader;

/** What datagrams tell of a frame beside its image. */
struct rm_camera_told {
    uint64_t frame;
    uint64_t turn;
    uint64_t exposure_start_ns, exposure_end_ns;
    /** enum rm_image_marks, of these. */
    uint32_t marks;
};

/** What GigE Vision's packets do not tell. */
struct rm_camera_gvsp {
    /** Bytes of a payload packet; 0: none came. */
    uint32_t packet_bytes;
    /** A first packet has told them. */
    bool is_sure;
    bool extended_ids;
};

struct rm_camera {
    struct rm_config_camera const *config;
    /** Of RM_CAMERA_LINES. */
    struct rm_format const *lines;
    struct rm_camera_format_reader const *reader;
    /** Of rm_camera_plan. */
    rm_owner_index images_index, counters_index, frames_index;
    struct rm_owner *owner;
    struct rm_images_writer *writer;
    struct rm_assembly *assembly;
    rm_counter *counters;
    struct rm_camera_clock *clock;
    double ticks_per_second;
    /** Which image lies in a slot that is published. */
    struct rm_image const *published[RM_IMAGE_SLOTS_MAX];
    /** Slots that are not. */
    uint32_t own_slots;
    /** Frames that had closed, and begun, when last looked at. */
    uint64_t closed, begun;
    struct rm_camera_told told[RM_CAMERA_TOLD];
    struct rm_camera_gvsp gvsp;
    /** Of formats that send lines: their geometry; and what is remembered of a capture device's stream. Of ASAM CMP that
     * is the message alone that comes in parts. */
    struct rm_line_camera line_camera;
    struct rm_tecmp_stream capture;
    /** Asks for packets again; NULL: this camera is not asked. */
    struct rm_resend *resend;
    /** The way that requests go, once it is known, and the burst that it was learnt from. */
    struct rm_flow way;
    bool has_way;
    uint64_t way_tsc;
    /** The one sender that is heard where the file names none, host byte order, and when. */
    uint32_t sender_ipv4;
    uint64_t sender_tsc;
    /** The turn of the newest record; RM_TURN_NONE: there is none. */
    rm_turn recorded;
    /** There is something to show. */
    bool is_touched;
};

/** Adds its objects to an owner that is not open yet. */
void rm_camera_plan(struct rm_camera *camera, struct rm_owner *owner);

/** The owner is open. `config`, `format`, `clock` and `ticks_per_second` are set. */
enum rm_code rm_camera_open(struct rm_camera *camera, struct rm_owner *owner, struct rm_error *error);
void rm_camera_close(struct rm_camera *camera);

/** Whether a datagram from there is its own, as far as addresses tell. */
bool rm_camera_listens(struct rm_camera const *camera, uint32_t source_ipv4, uint16_t udp_port);

/** Takes a payload whose format says that it is this camera's (camera_formats.h), and publishes what it completes. */
void rm_camera_take(struct rm_camera *camera, uint8_t const *payload, uint32_t length, uint32_t source_ipv4,
                    uint64_t tsc);

/** What a reader of a format calls: puts a fragment to its place. Returns how it ended. */
enum rm_camera_counter rm_camera_put(struct rm_camera *camera, struct rm_image_fragment const *fragment, uint64_t tsc);

/** What is told of a frame; a reader of a format adds to it. */
struct rm_camera_told *rm_camera_told(struct rm_camera *camera, uint64_t frame);

/** Closes what has reached its deadline, also while nothing comes. `tsc` is now. */
void rm_camera_tend(struct rm_camera *camera, uint64_t tsc);

/** Fills in what is to be asked for now; returns how many requests. */
uint32_t rm_camera_ask(struct rm_camera *camera, uint64_t tsc, struct rm_gvcp_resend request[RM_RESEND_REQUESTS]);

/** Frames are in flight, so that time matters. */
bool rm_camera_waits(struct rm_camera const *camera);

/** Shows the counters, where they have changed. */
void rm_camera_show(struct rm_camera *camera);

#endif
