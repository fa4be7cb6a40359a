// SPDX-License-Identifier: Apache-2.0
/** Which packets of a camera's frames are asked for again, and when (GigE Vision: PACKETRESEND_CMD). The decision alone:
 * time and packets come in, requests come out, and nothing is sent. resend_port.h sends them.
 *
 * A packet of a frame in flight is missing
 *
 *  - before the furthest one that came, once `reorder_packets` behind it came, or at `reorder_ticks` after it was first
 *    found missing;
 *  - behind the furthest, once the trailer came, a newer frame began, or nothing of the frame came for `quiet_ticks`: a
 *    sender may pause.
 *    Where the total is not known, that is the next packet alone: a payload or the trailer, so it exists.
 *
 * It is asked for then, and again when it has not come after `timeout_ticks`, after twice that, and so on, `tries` times
 * in all. The leader is a packet like the others: without it a frame has no geometry.
 *
 * Three bounds hold: `percent` of the packets of a frame, rounded up, and all its repeats among them; `packets_per_second`
 * of the camera, of which a tenth of a second's may be asked for at once; and nothing at or after the frame's deadline.
 * What the camera says it no longer has is not asked for again.
 *
 * Frames are closed by their assembly: one that waits for packets needs a deadline, and `later`, that leave it the time.
 *
 *     struct rm_gvcp_resend request[RM_RESEND_REQUESTS];
 *     rm_resend_note(resend, &packet);                      // each packet, after rm_assembly_put()
 *     uint32_t count = rm_resend_poll(resend, assembly, now, request);      // after a burst, and while none comes
 *
 * For one thread. Nothing is allocated after rm_resend_new(). */
#ifndef RM_CAMERAS_RESEND_H
#define RM_CAMERAS_RESEND_H

#include "frames/assembly.h"
#include "frames/gvsp.h"

enum {
    /** Most requests of one rm_resend_poll(). */
    RM_RESEND_REQUESTS = 32,
    /** Most times that a packet is asked for. */
    RM_RESEND_TRIES_MAX = 10,
};

struct rm_resend_settings {
    /** As of the assembly. */
    uint32_t slots, fragments_max;
    uint64_t deadline_ticks;
    /** Of the packets of a frame, 0 … 100. */
    double percent;
    uint64_t ticks_per_second;
    uint32_t packets_per_second;
    uint32_t reorder_packets;
    uint64_t reorder_ticks, quiet_ticks, timeout_ticks;
    /** 1 … RM_RESEND_TRIES_MAX. */
    uint32_t tries;
};

/** Since the beginning. */
struct rm_resend_counts {
    uint64_t requests;
    /** Packets that were asked for, repeats among them; and those that were asked for more than once, once each time. */
    uint64_t packets, repeats;
    /** Packets that the camera no longer had. */
    uint64_t unavailable;
    /** Frames that reached their percentage, and polls that the second's bound cut short. */
    uint64_t frames_over_budget, polls_over_budget;
};

struct rm_resend;

/** What the receiver uses, with the camera's percentage and deadline: 16 packets or 0.5 ms for those out of order, half
 * of the deadline for a quiet frame, 5 ms for the first timeout, 5 tries, 10000 packets a second. */
struct rm_resend_settings rm_resend_usual(double percent, uint64_t deadline_ticks, uint64_t ticks_per_second);

/** NULL when there is no memory, or settings are out of their ranges. */
struct rm_resend *rm_resend_new(struct rm_resend_settings const *settings);

/** NULL is allowed. */
void rm_resend_free(struct rm_resend *resend);

/** Takes from a packet what the assembly does not keep: that a block's trailer came, or that a packet is gone. Cheap for
 * all others. */
void rm_resend_note(struct rm_resend *resend, struct rm_gvsp_packet const *packet);

/** Fills in what is to be asked for now, and counts it as asked; returns how many requests. Runs of packets are one
 * request. Looks at frames at most every fifth of `reorder_ticks`, and returns 0 at once between. */
uint32_t rm_resend_poll(struct rm_resend *resend, struct rm_assembly const *assembly, uint64_t now_ticks,
                        struct rm_gvcp_resend request[RM_RESEND_REQUESTS]);

/** Packets of an image that were asked for: of one in flight, or closed since and not yet released. */
uint32_t rm_resend_asked(struct rm_resend const *resend, struct rm_image const *image);

struct rm_resend_counts const *rm_resend_counts(struct rm_resend const *resend);

#endif
