// SPDX-License-Identifier: Apache-2.0
#include "record_speed_images.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/images_writer.h"

enum { SLOTS = 8, LEASES = 3, MONO12P = 0x010C0047, WIDTH = 2500, HEIGHT = 1000, FRAGMENT_BYTES = 1436 };

_Static_assert(SPEED_FRAME_BYTES == WIDTH * HEIGHT * 3 / 2, "packed pixels of 12 bits");
_Static_assert(SPEED_FRAGMENTS == (SPEED_FRAME_BYTES + FRAGMENT_BYTES - 1) / FRAGMENT_BYTES, "those of a frame");

struct speed_camera {
    rm_owner_index object;
    struct rm_images_writer *writer;
    struct rm_follow_images follow;
    /** Slots that were never published; frames that were. */
    uint32_t unused;
    uint64_t published;
};

struct speed_images {
    char workspace[64];
    struct rm_owner *owner;
    struct rm_workspace *attached;
    struct speed_camera camera[SPEED_CAMERAS];
};

/** Noise in the lower bits, a ramp above: what a camera sends. */
static void speed_camera_fill(struct speed_camera *camera, uint32_t slot) {
    uint8_t *const bytes = rm_images_bytes(camera->writer, slot);
    uint64_t seed = slot + 1;
    for (uint32_t i = 0; i < SPEED_FRAME_BYTES; ++i) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        bytes[i] = (uint8_t)((i >> 12) + (seed >> 60));
    }
    memset(rm_images_map(camera->writer, slot), 0xFF, (SPEED_FRAGMENTS + 63) / 64 * sizeof(uint64_t));
    *rm_images_slot(camera->writer, slot) = (struct rm_image_slot){
        .turn = RM_TURN_NONE,
        .length = SPEED_FRAME_BYTES,
        .pixel_format = MONO12P,
        .width = WIDTH,
        .height = HEIGHT,
        .flags = RM_IMAGE_HAS_GEOMETRY,
        .fragment_bytes = FRAGMENT_BYTES,
        .fragments = SPEED_FRAGMENTS,
        .placed = SPEED_FRAGMENTS,
    };
}

static void speed_camera_publish(struct speed_camera *camera) {
    uint32_t const slot = camera->unused > 0 ? --camera->unused : rm_images_reclaim(camera->writer);
    if (slot == SLOTS)
        return;
    struct rm_image_slot *const image = rm_images_slot(camera->writer, slot);
    image->number = ++camera->published;
    image->tai_ns = rm_tai_ns();
    image->first_tsc = image->last_tsc = image->closed_tsc = rm_tsc();
    rm_images_publish(camera->writer, slot);
}

static enum rm_code speed_camera_open(struct speed_images *images, uint32_t index, struct rm_log *log,
                                      struct rm_archived_object *object, struct rm_error *error) {
    struct speed_camera *camera = &images->camera[index];
    camera->follow = (struct rm_follow_images){.log = log, .object = index, .tick_ns = 1};
    *object = (struct rm_archived_object){.kind = RM_BLOCK_IMAGE};
    snprintf(object->name, sizeof object->name, "cam%02u", index + 1);
    enum rm_code code = rm_images_writer_new(images->owner, camera->object, &camera->writer, error);
    for (uint32_t slot = 0; slot < SLOTS && code == RM_OK; ++slot)
        speed_camera_fill(camera, slot);
    camera->unused = SLOTS;
    if (code == RM_OK)
        code = rm_workspace_images(images->attached, object->name, &camera->follow.view, error);
    return code == RM_OK ? rm_images_reader_new(&camera->follow.view, &camera->follow.reader, error) : code;
}

enum rm_code speed_images_open(struct rm_log *log, struct rm_archived_object *object, struct speed_images **images,
                               struct rm_error *error) {
    struct speed_images *made = *images = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for cameras");
    snprintf(made->workspace, sizeof made->workspace, "/dev/shm/ringmaster-record-speed-%d", (int)getpid());
    enum rm_code code = rm_owner_new(made->workspace, "cameras", &made->owner, error);
    for (uint32_t i = 0; i < SPEED_CAMERAS && code == RM_OK; ++i) {
        char name[16];
        snprintf(name, sizeof name, "cam%02u", i + 1);
        made->camera[i].object =
            rm_owner_images(made->owner, &(struct rm_images_plan){.name = name,
                                                                  .description = "a camera",
                                                                  .slots = SLOTS,
                                                                  .leases = LEASES,
                                                                  .frame_bytes = SPEED_FRAME_BYTES,
                                                                  .fragments_max = SPEED_FRAGMENTS});
    }
    if (code == RM_OK)
        code = rm_owner_open(made->owner, error);
    if (code == RM_OK)
        code = rm_workspace_attach(made->workspace, RM_ATTACH_SERVERLESS, &made->attached, error);
    for (uint32_t i = 0; i < SPEED_CAMERAS && code == RM_OK; ++i)
        code = speed_camera_open(made, i, log, &object[i], error);
    return code;
}

uint64_t speed_images_step(struct speed_images *images, struct rm_record_moment const *moment) {
    uint64_t taken = 0;
    for (uint32_t i = 0; i < SPEED_CAMERAS; ++i) {
        struct speed_camera *camera = &images->camera[i];
        if (camera->follow.frames == camera->published)
            speed_camera_publish(camera);
        taken += rm_follow_images_step(&camera->follow, moment);
    }
    return taken;
}

uint64_t speed_images_lost(struct speed_images const *images) {
    uint64_t lost = 0;
    for (uint32_t i = 0; i < SPEED_CAMERAS; ++i)
        for (unsigned r = 0; r < RM_FOLLOW_REASONS; ++r)
            lost += images->camera[i].follow.lost[r];
    return lost;
}

void speed_images_close(struct speed_images *images) {
    for (uint32_t i = 0; i < SPEED_CAMERAS; ++i) {
        rm_follow_images_end(&images->camera[i].follow);
        rm_images_writer_free(images->camera[i].writer);
    }
    rm_workspace_detach(images->attached);
    rm_owner_close(images->owner);
    rmdir(images->workspace);
    free(images);
}
