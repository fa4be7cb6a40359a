// SPDX-License-Identifier: Apache-2.0
#include "follow_images.h"

#include <string.h>

enum {
    /** Frames of a camera that are taken before others have their turn. */
    FRAMES_AT_ONCE = 4,
};

/** TAI of a stamp of the TSC, by the frame's first one. */
static uint64_t slot_tai_ns(struct rm_image_slot const *slot, uint64_t tsc, double tick_ns) {
    return tsc < slot->first_tsc ? slot->tai_ns : slot->tai_ns + (uint64_t)((double)(tsc - slot->first_tsc) * tick_ns);
}

static struct rm_archived_image image_of(struct rm_frame const *frame, double tick_ns) {
    struct rm_image_slot const *slot = frame->slot;
    return (struct rm_archived_image){
        .sequence = frame->sequence,
        .number = slot->number,
        .device_time = slot->device_time,
        .turn = (slot->flags & RM_IMAGE_HAS_TURN) != 0 ? slot->turn : RM_TURN_NONE,
        .exposure_start_ns = slot->exposure_start_ns,
        .exposure_end_ns = slot->exposure_end_ns,
        .tai_ns = slot->tai_ns,
        .last_tai_ns = slot_tai_ns(slot, slot->last_tsc, tick_ns),
        .closed_tai_ns = slot_tai_ns(slot, slot->closed_tsc, tick_ns),
        .published_tai_ns = slot_tai_ns(slot, slot->published_tsc, tick_ns),
        .length = slot->length,
        .passed_over = frame->passed_over,
        .map_bytes = (slot->fragments + 63) / 64 * (uint32_t)sizeof(uint64_t),
        .pixel_format = slot->pixel_format,
        .width = slot->width,
        .height = slot->height,
        .offset_x = slot->offset_x,
        .offset_y = slot->offset_y,
        .padding_x = slot->padding_x,
        .padding_y = slot->padding_y,
        .status = slot->status,
        .flags = slot->flags,
        .fragment_bytes = slot->fragment_bytes,
        .fragments = slot->fragments,
        .placed = slot->placed,
        .resent = slot->resent,
    };
}

/** Writes a mark of the camera; false: there is no room. Its times are those of the frames around what is missing. */
static bool follow_images_mark(struct rm_follow_images *follow, struct rm_record_moment const *moment,
                               struct rm_mark const *mark, uint64_t until_tai_ns) {
    size_t bytes;
    void *payload = rm_log_room(follow->log, sizeof *mark, &bytes, moment->now_ns, moment->tai_ns);
    if (payload == NULL)
        return false;
    memcpy(payload, mark, sizeof *mark);
    uint64_t const from_tai_ns = follow->last_tai_ns > 0 ? follow->last_tai_ns : until_tai_ns;
    struct rm_block block = {
        .kind = RM_BLOCK_MARK,
        .object = follow->object,
        .count = 1,
        .stored_bytes = sizeof *mark,
        .plain_bytes = sizeof *mark,
        .first_turn = RM_TURN_NONE,
        .first_tai_ns = from_tai_ns < until_tai_ns ? from_tai_ns : until_tai_ns,
        .last_tai_ns = until_tai_ns,
    };
    rm_log_append(follow->log, &block);
    return true;
}

/** Why frames were passed over. */
static unsigned follow_images_reason(struct rm_follow_images const *follow) {
    return follow->waited != 0 ? follow->waited : RM_MARK_LAPPED;
}

/** Leases the next frame; false: there is none just now. What was passed over is counted. */
static bool follow_images_lease(struct rm_follow_images *follow, struct rm_record_moment const *moment) {
    enum rm_frame_read const verdict = rm_images_next(follow->reader, 0, &follow->frame);
    if (verdict == RM_FRAME_ENDED && !follow->told_end && follow->last > 0) {
        struct rm_mark const mark = {
            .reason = RM_MARK_OWNER_GONE, .first_turn = RM_TURN_NONE, .last_turn = RM_TURN_NONE};
        follow->told_end = follow_images_mark(follow, moment, &mark, moment->tai_ns);
    }
    if (verdict != RM_FRAME_OK)
        return false;
    follow->leased = true;
    follow->told_end = false;
    follow->untold = (struct rm_mark){.reason = follow_images_reason(follow),
                                      .error = follow->waited_error,
                                      .first_turn = RM_TURN_NONE,
                                      .last_turn = RM_TURN_NONE,
                                      .records = follow->frame.passed_over};
    follow->lost[follow->untold.reason] += follow->untold.records;
    follow->waited = 0;
    follow->waited_error = 0;
    return true;
}

/** Marks what stands before the leased frame: that the recorder began, or what it passed over. False: there is no room. */
static bool follow_images_tell(struct rm_follow_images *follow, struct rm_record_moment const *moment) {
    struct rm_mark const began = {.reason = RM_MARK_BEGAN, .first_turn = RM_TURN_NONE, .last_turn = RM_TURN_NONE};
    uint64_t const tai_ns = follow->frame.slot->tai_ns;
    follow->told_begin = follow->told_begin || follow_images_mark(follow, moment, &began, tai_ns);
    if (follow->untold.records > 0 && follow_images_mark(follow, moment, &follow->untold, tai_ns))
        follow->untold.records = 0;
    return follow->told_begin && follow->untold.records == 0;
}

/** Copies the leased frame into the log; false: there is no room. */
static bool follow_images_copy(struct rm_follow_images *follow, struct rm_record_moment const *moment) {
    struct rm_archived_image const image = image_of(&follow->frame, follow->tick_ns);
    uint32_t const bytes = (uint32_t)rm_image_payload_bytes(image.length, image.fragments);
    size_t room;
    uint8_t *payload = rm_log_room(follow->log, bytes, &room, moment->now_ns, moment->tai_ns);
    if (payload == NULL)
        return false;
    memcpy(payload, &image, sizeof image);
    memcpy(payload + sizeof image, follow->frame.map, image.map_bytes);
    memcpy(payload + sizeof image + image.map_bytes, follow->frame.bytes, image.length);
    struct rm_block block = {
        .kind = RM_BLOCK_IMAGE,
        .turn_epoch = (uint16_t)(moment->clock.anchored ? moment->clock.turn_epoch : 0),
        .object = follow->object,
        .count = 1,
        .stored_bytes = bytes,
        .plain_bytes = bytes,
        .first_turn = image.turn,
        .first_tai_ns = image.tai_ns,
        .last_tai_ns = image.tai_ns,
    };
    rm_log_append(follow->log, &block);
    return true;
}

/** Writes the leased frame, and releases it. */
static bool follow_images_write(struct rm_follow_images *follow, struct rm_record_moment const *moment) {
    if (!follow_images_tell(follow, moment) || !follow_images_copy(follow, moment)) {
        follow->waited = follow->log->trouble != 0 ? follow->log->trouble : RM_MARK_DISK_SLOW;
        follow->waited_error = follow->log->trouble_error;
        return false;
    }
    follow->last = follow->frame.sequence;
    follow->last_tai_ns = follow->frame.slot->tai_ns;
    ++follow->frames;
    rm_images_release(follow->reader, &follow->frame);
    follow->leased = false;
    return true;
}

uint64_t rm_follow_images_step(struct rm_follow_images *follow, struct rm_record_moment const *moment) {
    uint64_t taken = 0;
    while (taken < FRAMES_AT_ONCE && (follow->leased || follow_images_lease(follow, moment)) &&
           follow_images_write(follow, moment))
        ++taken;
    return taken;
}

void rm_follow_images_give_up(struct rm_follow_images *follow) {
    if (!follow->leased)
        return;
    uint64_t const newest = atomic_load_explicit(&follow->view.header->newest, memory_order_acquire);
    follow->lost[follow_images_reason(follow)] += newest - follow->frame.sequence + 1;
}

void rm_follow_images_end(struct rm_follow_images *follow) {
    if (follow->leased)
        rm_images_release(follow->reader, &follow->frame);
    follow->leased = false;
    rm_images_reader_free(follow->reader);
    follow->reader = NULL;
}
