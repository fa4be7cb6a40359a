// SPDX-License-Identifier: Apache-2.0
#include "cameras/camera_publish.h"

#include "base/timebase.h"

/** The turn, where the frame tells it or the server's clock does. */
static void slot_describe_turn(struct rm_image_slot *slot, struct rm_camera *camera,
                               struct rm_camera_told const *told) {
    slot->turn = told->turn;
    if (told->marks & RM_IMAGE_HAS_TURN)
        return;
    slot->turn = rm_camera_clock_turn(camera->clock, slot->first_tsc);
    slot->flags |= slot->turn != RM_TURN_NONE ? RM_IMAGE_HAS_TURN : 0;
}

static void slot_describe_geometry(struct rm_image_slot *slot, struct rm_image const *image) {
    struct rm_image_geometry const *const geometry = &image->geometry;
    if (!image->has_geometry)
        return;
    slot->flags |= RM_IMAGE_HAS_GEOMETRY;
    slot->flags |= image->geometry_changed ? RM_IMAGE_GEOMETRY_CHANGED : 0;
    slot->pixel_format = geometry->pixel_format;
    slot->width = geometry->width;
    slot->height = geometry->height;
    slot->offset_x = geometry->offset_x;
    slot->offset_y = geometry->offset_y;
    slot->padding_x = geometry->padding_x;
    slot->padding_y = geometry->padding_y;
}

/** All but `sequence`, which readers look at meanwhile, and `published_tsc`. */
static void slot_describe(struct rm_image_slot *slot, struct rm_camera *camera, struct rm_image const *image) {
    static struct rm_camera_told const nothing = {.turn = RM_TURN_NONE};
    struct rm_camera_told const *told = &camera->told[image->frame % RM_CAMERA_TOLD];
    told = told->frame == image->frame ? told : &nothing;
    double const age_s = (double)(int64_t)(rm_tsc() - image->first_ticks) / camera->ticks_per_second;
    slot->number = image->frame;
    slot->device_time = image->time;
    slot->exposure_start_ns = told->exposure_start_ns;
    slot->exposure_end_ns = told->exposure_end_ns;
    slot->first_tsc = image->first_ticks;
    slot->last_tsc = image->newest_ticks;
    slot->closed_tsc = image->closed_ticks;
    slot->tai_ns = rm_tai_ns() - (uint64_t)(int64_t)(age_s * 1e9);
    slot->length = image->length;
    slot->pixel_format = slot->width = slot->height = 0;
    slot->offset_x = slot->offset_y = slot->padding_x = slot->padding_y = 0;
    slot->status = image->status;
    slot->flags = told->marks;
    slot->fragment_bytes = image->fragment_bytes;
    slot->fragments = image->fragments;
    slot->placed = image->placed;
    slot->resent = camera->resend == NULL ? 0 : rm_resend_asked(camera->resend, image);
    slot_describe_geometry(slot, image);
    slot_describe_turn(slot, camera, told);
}

/** Dropped ones among them. */
static uint64_t frames_closed(uint64_t const *counts) {
    return counts[RM_FRAMES_WHOLE] + counts[RM_FRAMES_INCOMPLETE] + counts[RM_FRAMES_FILLED] +
           counts[RM_FRAMES_DROPPED];
}

/** For the frames in flight, one that begins, and the one to fill from; half of all at most. */
static uint32_t camera_wanted_slots(struct rm_camera const *camera) {
    uint64_t const *const counts = rm_assembly_counts(camera->assembly);
    uint64_t const in_flight = counts[RM_FRAMES_BEGUN] - frames_closed(counts);
    uint64_t const wanted = in_flight + 2, most = camera->config->slots / 2;
    uint64_t const bounded = wanted < most ? wanted : most;
    return bounded > RM_CAMERA_OWN_SLOTS ? (uint32_t)bounded : RM_CAMERA_OWN_SLOTS;
}

static void camera_reclaim(struct rm_camera *camera) {
    uint32_t const wanted = camera_wanted_slots(camera);
    while (camera->own_slots < wanted) {
        uint32_t const slot = rm_images_reclaim(camera->writer);
        if (slot == camera->config->slots)
            return;
        rm_assembly_release(camera->assembly, camera->published[slot]);
        ++camera->own_slots;
    }
}

/** A camera that begins its numbers anew tells anew. */
static void camera_forget_told(struct rm_camera *camera, uint64_t frame) {
    struct rm_camera_told *const told = &camera->told[frame % RM_CAMERA_TOLD];
    if (told->frame == frame)
        *told = (struct rm_camera_told){0};
}

static void camera_publish(struct rm_camera *camera, struct rm_image const *image) {
    struct rm_image_slot *const slot = rm_images_slot(camera->writer, image->slot);
    slot_describe(slot, camera, image);
    camera_forget_told(camera, image->frame);
    camera->published[image->slot] = image;
    --camera->own_slots;
    uint64_t const sequence = rm_images_publish(camera->writer, image->slot);
    rm_counter_add(camera->counters, RM_CAMERA_PUBLISHED, 1);
    rm_counter_add(camera->counters, RM_CAMERA_BYTES, image->length);
    rm_camera_record(camera, slot, sequence);
}

void rm_camera_publish_closed(struct rm_camera *camera) {
    uint64_t const *const counts = rm_assembly_counts(camera->assembly);
    uint64_t const closed = frames_closed(counts);
    if (closed == camera->closed && counts[RM_FRAMES_BEGUN] == camera->begun)
        return; /* as after most fragments */
    camera->closed = closed;
    camera->begun = counts[RM_FRAMES_BEGUN];
    for (struct rm_image const *image; (image = rm_assembly_take(camera->assembly)) != NULL;)
        camera_publish(camera, image);
    camera_reclaim(camera);
    camera->is_touched = true;
}
