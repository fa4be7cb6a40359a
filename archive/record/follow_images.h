// SPDX-License-Identifier: Apache-2.0
/** Follows one camera: from the slots of its frames (ringmaster/images.h) into the blocks of a log.
 *
 * A frame is leased, copied into the log's buffer, and released. While the log has no room, one lease is kept: that of
 * the frame that comes next. What the camera's slots do not hold until there is room is passed over, counted, and
 * marked with what the log's trouble was.
 */
#ifndef RM_RECORD_FOLLOW_IMAGES_H
#define RM_RECORD_FOLLOW_IMAGES_H

#include <ringmaster/workspace.h>

#include "follow.h"

struct rm_follow_images {
    /* Set by the caller. */
    struct rm_images_view view;
    struct rm_images_reader *reader;
    struct rm_log *log;
    /** Number of the object in the log. */
    uint32_t object;
    /** Nanoseconds of a tick of the TSC. */
    double tick_ns;

    /* Its own. */
    /** The frame that waits for room, where `leased`. */
    struct rm_frame frame;
    bool leased;
    /** It was marked that the recorder began with it; that its owner has ended. */
    bool told_begin, told_end;
    /** The mark of frames before the leased one that were passed over; `records` is 0 where it was written. */
    struct rm_mark untold;
    /** Sequence and TAI of the frame that was recorded last; 0: none. */
    uint64_t last, last_tai_ns;
    /** enum rm_mark_reason: why there was no room while the leased frame waited, or 0. And its errno. */
    unsigned waited;
    int waited_error;
    /** Frames in the log; and those that were lost here, by reason; of them those that the log has counted, and
     * that an event has told. */
    uint64_t frames, lost[RM_FOLLOW_REASONS], counted[RM_FOLLOW_REASONS], told[RM_FOLLOW_REASONS];
};

/** Bytes of the payload of a frame with so many bytes and fragments. */
static inline uint64_t rm_image_payload_bytes(uint64_t length, uint64_t fragments) {
    return sizeof(struct rm_archived_image) + (fragments + 63) / 64 * sizeof(uint64_t) + length;
}

/** Takes frames that have come, a few at a time, so that other cameras have their turn. Returns how many. */
uint64_t rm_follow_images_step(struct rm_follow_images *follow, struct rm_record_moment const *moment);

/** Counts as lost what still waits for room: the recorder ends. */
void rm_follow_images_give_up(struct rm_follow_images *follow);

/** Gives back what is leased, and ends the reader. */
void rm_follow_images_end(struct rm_follow_images *follow);

#endif
