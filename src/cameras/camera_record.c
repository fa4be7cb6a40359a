// SPDX-License-Identifier: Apache-2.0
/* The stream CAM/frames: a record for each frame, at its turn. The stream is there from the beginning, and empty as long
 * as no turn is known: neither the frames tell theirs, nor does a server's clock run, which may begin any time later. */
#include <stdio.h>
#include <string.h>

#include "cameras/camera_publish.h"
#include "cameras/record_turn.h"

enum { FRAMES_RECORDS = 16384 };

enum frames_lane {
    LANE_NUMBER,
    LANE_SEQUENCE,
    LANE_STATUS,
    LANE_MISSING,
    LANE_WIDTH,
    LANE_HEIGHT,
    LANE_PIXEL_FORMAT,
    LANE_BYTES,
    LANE_TRANSFER,
    LANE_LATENCY,
    LANE_RESENT,
    LANE_FLAGS,
    FRAMES_LANES,
};

_Static_assert((int)FRAMES_LANES <= (int)RM_LANES, "they fit into a record");

static struct rm_lane_info const frames_lanes[FRAMES_LANES] = {
    [LANE_NUMBER] = {.name = "number", .type = RM_LANE_I32, .reduction = RM_REDUCE_LAST},
    [LANE_SEQUENCE] = {.name = "sequence", .type = RM_LANE_I32, .reduction = RM_REDUCE_LAST},
    [LANE_STATUS] = {.name = "status", .type = RM_LANE_I32, .reduction = RM_REDUCE_MAX},
    [LANE_MISSING] = {.name = "missing", .unit = "fragments", .type = RM_LANE_I32, .reduction = RM_REDUCE_MAX},
    [LANE_WIDTH] = {.name = "width", .unit = "pixels", .type = RM_LANE_I32, .reduction = RM_REDUCE_LAST},
    [LANE_HEIGHT] = {.name = "height", .unit = "pixels", .type = RM_LANE_I32, .reduction = RM_REDUCE_LAST},
    [LANE_PIXEL_FORMAT] = {.name = "pixel_format", .type = RM_LANE_I32, .reduction = RM_REDUCE_LAST},
    [LANE_BYTES] = {.name = "bytes", .unit = "B", .type = RM_LANE_I32, .reduction = RM_REDUCE_LAST},
    [LANE_TRANSFER] = {.name = "transfer", .unit = "us", .type = RM_LANE_F32, .reduction = RM_REDUCE_MAX},
    [LANE_LATENCY] = {.name = "latency", .unit = "us", .type = RM_LANE_F32, .reduction = RM_REDUCE_MAX},
    [LANE_RESENT] = {.name = "resent", .unit = "fragments", .type = RM_LANE_I32, .reduction = RM_REDUCE_MAX},
    [LANE_FLAGS] = {.name = "flags", .type = RM_LANE_I32, .reduction = RM_REDUCE_OR},
};

void rm_camera_plan_frames(struct rm_camera *camera, struct rm_owner *owner) {
    struct rm_stream stream = {
        .capacity = FRAMES_RECORDS,
        .period = camera->config->record_turns,
        .instrument_kind = RM_KIND_APPLICATION,
        .source_ipv4 = camera->config->ipv4,
        .lane_count = FRAMES_LANES,
        .gain = 1,
        .filter = "on-change",
    };
    memcpy(stream.lane, frames_lanes, sizeof frames_lanes);
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/frames", camera->config->name);
    camera->frames_index = rm_owner_stream(owner, name, "each frame of the camera, on the axis of turns", &stream);
}

static float ticks_to_us(struct rm_camera const *camera, uint64_t from, uint64_t to) {
    return (float)((double)(int64_t)(to - from) / camera->ticks_per_second * 1e6);
}

void rm_camera_record(struct rm_camera *camera, struct rm_image_slot const *slot, uint64_t sequence) {
    struct rm_record record = {.turn = rm_camera_record_turn(camera->config->record_turns, camera->recorded, slot),
                               .tag = rm_tag_full_rate(slot->first_tsc, (uint16_t)slot->status)};
    record.lane[LANE_NUMBER].i = (int32_t)slot->number;
    record.lane[LANE_SEQUENCE].i = (int32_t)sequence;
    record.lane[LANE_STATUS].i = (int32_t)slot->status;
    record.lane[LANE_MISSING].i = (int32_t)(slot->fragments - slot->placed);
    record.lane[LANE_WIDTH].i = (int32_t)slot->width;
    record.lane[LANE_HEIGHT].i = (int32_t)slot->height;
    record.lane[LANE_PIXEL_FORMAT].i = (int32_t)slot->pixel_format;
    record.lane[LANE_BYTES].i = (int32_t)slot->length;
    record.lane[LANE_TRANSFER].f = ticks_to_us(camera, slot->first_tsc, slot->last_tsc);
    record.lane[LANE_LATENCY].f = ticks_to_us(camera, slot->last_tsc, slot->published_tsc);
    record.lane[LANE_RESENT].i = (int32_t)slot->resent;
    record.lane[LANE_FLAGS].i = (int32_t)slot->flags;
    bool const stored = record.turn != RM_TURN_NONE &&
                        rm_owner_stream_put(camera->owner, camera->frames_index, &record, slot->published_tsc);
    if (stored)
        camera->recorded = record.turn;
    rm_counter_add(camera->counters, stored ? RM_CAMERA_RECORDED : RM_CAMERA_UNRECORDED, 1);
}
