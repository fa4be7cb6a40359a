// SPDX-License-Identifier: Apache-2.0
#include "cameras/camera_profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "cameras/record_turn.h"

#define WAIT_NS 100000000ull

enum { PROFILE_RECORDS = 16384 };

_Static_assert((int)RM_PROFILE_LANES <= (int)RM_LANES, "they fit into a record");

#define PIXELS "pixels"

static struct rm_lane_info const profile_lanes[RM_PROFILE_LANES] = {
    [RM_PROFILE_LANE_X] = {.name = "x", .unit = PIXELS, .type = RM_LANE_F32, .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_Y] = {.name = "y", .unit = PIXELS, .type = RM_LANE_F32, .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_SIGMA_MAJOR] = {.name = "sigma_major",
                                     .unit = PIXELS,
                                     .type = RM_LANE_F32,
                                     .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_SIGMA_MINOR] = {.name = "sigma_minor",
                                     .unit = PIXELS,
                                     .type = RM_LANE_F32,
                                     .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_TILT] = {.name = "tilt", .unit = "rad", .type = RM_LANE_F32, .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_INTENSITY] = {.name = "intensity",
                                   .unit = "counts",
                                   .type = RM_LANE_F32,
                                   .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_BACKGROUND] = {.name = "background",
                                    .unit = "counts",
                                    .type = RM_LANE_F32,
                                    .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_PEAK] = {.name = "peak", .unit = "counts", .type = RM_LANE_I32, .reduction = RM_REDUCE_MAX},
    [RM_PROFILE_LANE_SATURATED] = {.name = "saturated",
                                   .unit = PIXELS,
                                   .type = RM_LANE_I32,
                                   .reduction = RM_REDUCE_MAX},
    [RM_PROFILE_LANE_MARKS] = {.name = "marks", .type = RM_LANE_I32, .reduction = RM_REDUCE_OR},
    [RM_PROFILE_LANE_NUMBER] = {.name = "number", .type = RM_LANE_I32, .reduction = RM_REDUCE_LAST},
    [RM_PROFILE_LANE_SKIPPED] = {.name = "skipped", .unit = "frames", .type = RM_LANE_I32, .reduction = RM_REDUCE_MAX},
};

bool rm_camera_profiles_make(struct rm_camera_profiles *profiles, struct rm_config const *config) {
    *profiles = (struct rm_camera_profiles){.config = config};
    for (uint32_t i = 0; i < config->camera_count; ++i)
        profiles->count += config->camera[i].profile;
    if (profiles->count == 0)
        return true;
    profiles->camera = calloc(profiles->count, sizeof *profiles->camera);
    profiles->reader = calloc(profiles->count, sizeof(struct rm_images_reader *));
    profiles->profiler = rm_profiler_new(RM_SIMD_BEST);
    return profiles->camera != NULL && profiles->reader != NULL && profiles->profiler != NULL;
}

static rm_owner_index profile_stream_plan(struct rm_config_camera const *camera, struct rm_owner *owner) {
    struct rm_stream stream = {
        .capacity = PROFILE_RECORDS,
        .period = camera->record_turns,
        .instrument_kind = RM_KIND_APPLICATION,
        .source_ipv4 = camera->ipv4,
        .lane_count = RM_PROFILE_LANES,
        .gain = 1,
        .filter = "on-change",
    };
    memcpy(stream.lane, profile_lanes, sizeof profile_lanes);
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/profile", camera->name);
    return rm_owner_stream(owner, name, "the beam spot in frames of the camera, on the axis of turns", &stream);
}

void rm_camera_profiles_plan(struct rm_camera_profiles *profiles, struct rm_owner *owner) {
    struct rm_profiled_camera *camera = profiles->camera;
    for (uint32_t i = 0; i < profiles->config->camera_count; ++i)
        if (profiles->config->camera[i].profile) {
            struct rm_config_camera const *const config = &profiles->config->camera[i];
            *camera++ = (struct rm_profiled_camera){
                .config = config, .stream = profile_stream_plan(config, owner), .recorded = RM_TURN_NONE};
        }
}

static struct rm_record profile_record(struct rm_image_slot const *slot, struct rm_beam_profile const *profile) {
    struct rm_record record = {.tag = rm_tag_full_rate(slot->first_tsc, (uint16_t)profile->marks)};
    record.lane[RM_PROFILE_LANE_X].f = (float)profile->x;
    record.lane[RM_PROFILE_LANE_Y].f = (float)profile->y;
    record.lane[RM_PROFILE_LANE_SIGMA_MAJOR].f = (float)profile->sigma_major;
    record.lane[RM_PROFILE_LANE_SIGMA_MINOR].f = (float)profile->sigma_minor;
    record.lane[RM_PROFILE_LANE_TILT].f = (float)profile->tilt_rad;
    record.lane[RM_PROFILE_LANE_INTENSITY].f = (float)profile->intensity;
    record.lane[RM_PROFILE_LANE_BACKGROUND].f = (float)profile->background;
    record.lane[RM_PROFILE_LANE_PEAK].i = (int32_t)profile->peak;
    record.lane[RM_PROFILE_LANE_SATURATED].i = (int32_t)profile->saturated;
    record.lane[RM_PROFILE_LANE_MARKS].i = (int32_t)profile->marks;
    record.lane[RM_PROFILE_LANE_NUMBER].i = (int32_t)slot->number;
    return record;
}

/** Whether a record was put. */
static bool profiles_take(struct rm_camera_profiles *profiles, struct rm_profiled_camera *camera,
                          struct rm_frame const *frame) {
    struct rm_image_slot const *const slot = frame->slot;
    struct rm_image_geometry const geometry = {.pixel_format = slot->pixel_format,
                                               .width = slot->width,
                                               .height = slot->height,
                                               .padding_x = (uint16_t)slot->padding_x,
                                               .padding_y = (uint16_t)slot->padding_y};
    struct rm_beam_profile profile;
    rm_turn const turn = rm_camera_record_turn(camera->config->record_turns, camera->recorded, slot);
    if (turn == RM_TURN_NONE || slot->status != RM_IMAGE_WHOLE ||
        !rm_profiler_measure(profiles->profiler, &geometry, frame->bytes, slot->length, &profile))
        return false;
    struct rm_record record = profile_record(slot, &profile);
    record.turn = turn;
    record.lane[RM_PROFILE_LANE_SKIPPED].i = (int32_t)camera->skipped;
    if (!rm_owner_stream_put(profiles->owner, camera->stream, &record, rm_tsc()))
        return false;
    camera->recorded = turn;
    camera->skipped = 0;
    return true;
}

static void profiles_look(struct rm_camera_profiles *profiles, uint32_t index) {
    struct rm_profiled_camera *const camera = &profiles->camera[index];
    struct rm_frame frame;
    if (rm_images_newest(profiles->reader[index], 0, &frame) != RM_FRAME_OK)
        return;
    camera->skipped += frame.passed_over;
    camera->skipped += !profiles_take(profiles, camera, &frame);
    rm_images_release(profiles->reader[index], &frame);
}

static void *profiles_run(void *argument) {
    struct rm_camera_profiles *const profiles = argument;
    while (!atomic_load_explicit(profiles->stop, memory_order_relaxed)) {
        rm_images_wait(profiles->reader, profiles->count, WAIT_NS);
        for (uint32_t i = 0; i < profiles->count; ++i)
            profiles_look(profiles, i);
    }
    return NULL;
}

static enum rm_code profiles_attach(struct rm_camera_profiles *profiles, struct rm_error *error) {
    enum rm_code code =
        rm_workspace_attach(profiles->config->workspace, RM_ATTACH_SERVERLESS, &profiles->workspace, error);
    for (uint32_t i = 0; code == RM_OK && i < profiles->count; ++i) {
        struct rm_images_view view;
        code = rm_workspace_images(profiles->workspace, profiles->camera[i].config->name, &view, error);
        if (code == RM_OK)
            code = rm_images_reader_new(&view, &profiles->reader[i], error);
    }
    return code;
}

enum rm_code rm_camera_profiles_start(struct rm_camera_profiles *profiles, struct rm_owner *owner,
                                      atomic_bool const *stop, struct rm_error *error) {
    if (profiles->count == 0)
        return RM_OK;
    profiles->owner = owner;
    profiles->stop = stop;
    enum rm_code const code = profiles_attach(profiles, error);
    if (code != RM_OK)
        return code;
    int const why = pthread_create(&profiles->thread, NULL, profiles_run, profiles);
    if (why != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot start a thread: %s", strerror(why));
    profiles->is_running = true;
    return RM_OK;
}

void rm_camera_profiles_end(struct rm_camera_profiles *profiles) {
    if (profiles->is_running)
        pthread_join(profiles->thread, NULL);
    for (uint32_t i = 0; profiles->reader != NULL && i < profiles->count; ++i)
        rm_images_reader_free(profiles->reader[i]);
    rm_workspace_detach(profiles->workspace);
    rm_profiler_free(profiles->profiler);
    free(profiles->reader);
    free(profiles->camera);
    *profiles = (struct rm_camera_profiles){.config = NULL};
}
