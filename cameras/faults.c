// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/noise.h"

char const *rm_camera_fault_name(enum rm_camera_fault_kind kind) {
    static char const *const names[RM_CAMERA_FAULT_KINDS] = {
        [RM_CAMERA_FAULT_LOSE] = "lose",
        [RM_CAMERA_FAULT_DUPLICATE] = "duplicate",
        [RM_CAMERA_FAULT_REORDER] = "reorder",
        [RM_CAMERA_FAULT_DELAY] = "delay",
        [RM_CAMERA_FAULT_CORRUPT] = "corrupt",
        [RM_CAMERA_FAULT_NO_LEADER] = "no_leader",
        [RM_CAMERA_FAULT_NO_TRAILER] = "no_trailer",
        [RM_CAMERA_FAULT_FALSE_SIZE] = "false_size",
        [RM_CAMERA_FAULT_BEYOND] = "beyond",
        [RM_CAMERA_FAULT_GEOMETRY] = "geometry",
        [RM_CAMERA_FAULT_RESTART] = "restart",
        [RM_CAMERA_FAULT_JUMBO] = "jumbo",
    };
    return names[kind];
}

/** Whether one of the camera's faults of a kind happens now; `packet` is 0 of what happens to frames. */
static bool fault_happens(struct rm_camera_faults *faults, enum rm_camera_fault_kind kind, uint64_t frame,
                          uint32_t packet) {
    bool happens = false;
    for (uint32_t f = 0; f < faults->camera->fault_count; ++f) {
        struct rm_camera_fault const *const fault = &faults->camera->fault[f];
        if (fault->kind != kind || frame < fault->first || frame >= fault->end)
            continue;
        uint64_t const seen = ++faults->seen[f];
        uint64_t const key = rm_noise_u64(faults->camera->seed + f) ^ rm_noise_u64(frame << 24 | packet);
        happens |= fault->every != 0 ? seen % fault->every == 0 : rm_noise_uniform(key) < fault->probability;
    }
    faults->happened[kind] += happens;
    return happens;
}

void rm_camera_faults_frame(struct rm_camera_faults *faults, uint64_t index, struct rm_camera_frame *frame) {
    if (fault_happens(faults, RM_CAMERA_FAULT_RESTART, index, 0))
        frame->number = faults->camera->first_number;
    if (fault_happens(faults, RM_CAMERA_FAULT_GEOMETRY, index, 0))
        faults->half_height = !faults->half_height;
    if (faults->half_height && frame->geometry.height > 1) {
        frame->geometry.height /= 2;
        frame->length = frame->told_length = rm_image_bytes(&frame->geometry);
    }
    if (fault_happens(faults, RM_CAMERA_FAULT_FALSE_SIZE, index, 0)) {
        frame->geometry.height *= 2;
        frame->told_length = rm_image_bytes(&frame->geometry);
    }
    if (fault_happens(faults, RM_CAMERA_FAULT_JUMBO, index, 0))
        frame->packet_bytes = RM_JUMBO_BYTES;
}

static void plan_add(struct rm_packet_plan *plan, uint32_t index, bool corrupt) {
    plan->packet[plan->count++] = (struct rm_planned_packet){index, corrupt};
}

/** Moves what is to go late from where it stands to the end. */
static void plan_delay(struct rm_camera_faults *faults, uint64_t frame, struct rm_packet_plan *plan) {
    uint32_t kept = 0, late = 0;
    struct rm_planned_packet *const end = plan->packet + plan->count;
    for (uint32_t i = 0; i < plan->count; ++i)
        if (fault_happens(faults, RM_CAMERA_FAULT_DELAY, frame, plan->packet[i].index))
            end[late++] = plan->packet[i];
        else
            plan->packet[kept++] = plan->packet[i];
    memmove(plan->packet + kept, end, late * sizeof *end);
}

static void plan_reorder(struct rm_camera_faults *faults, uint64_t frame, struct rm_packet_plan *plan) {
    for (uint32_t i = 0; i + 1 < plan->count; ++i)
        if (fault_happens(faults, RM_CAMERA_FAULT_REORDER, frame, plan->packet[i].index)) {
            struct rm_planned_packet const first = plan->packet[i];
            plan->packet[i] = plan->packet[i + 1];
            plan->packet[++i] = first;
        }
}

static void plan_packets(struct rm_camera_faults *faults, uint64_t index, struct rm_camera_frame const *frame,
                         struct rm_packet_plan *plan) {
    uint32_t const count = rm_camera_packets(faults->camera, frame);
    uint32_t const no_first = fault_happens(faults, RM_CAMERA_FAULT_NO_LEADER, index, 0)
                                  ? rm_camera_first_packet(faults->camera, frame)
                                  : UINT32_MAX;
    uint32_t const no_last = fault_happens(faults, RM_CAMERA_FAULT_NO_TRAILER, index, 0)
                                 ? rm_camera_last_packet(faults->camera, frame)
                                 : UINT32_MAX;
    bool const beyond = fault_happens(faults, RM_CAMERA_FAULT_BEYOND, index, 0);
    for (uint32_t i = 0; i < count; ++i) {
        if (beyond && i == 1)
            plan_add(plan, count, false);
        if (i == no_first || i == no_last || fault_happens(faults, RM_CAMERA_FAULT_LOSE, index, i))
            continue;
        bool const corrupt = fault_happens(faults, RM_CAMERA_FAULT_CORRUPT, index, i);
        plan_add(plan, i, corrupt);
        if (fault_happens(faults, RM_CAMERA_FAULT_DUPLICATE, index, i))
            plan_add(plan, i, corrupt);
    }
}

bool rm_camera_faults_plan(struct rm_camera_faults *faults, uint64_t index, struct rm_camera_frame const *frame,
                           struct rm_packet_plan *plan) {
    /* each packet twice and one beyond, and as much room again for those that are delayed */
    uint32_t const most = 4 * rm_camera_packets(faults->camera, frame) + 2;
    if (most > plan->capacity) {
        struct rm_planned_packet *const larger = realloc(plan->packet, most * sizeof *larger);
        if (larger == NULL)
            return false;
        plan->packet = larger;
        plan->capacity = most;
    }
    plan->count = 0;
    plan_packets(faults, index, frame, plan);
    plan_reorder(faults, index, plan);
    plan_delay(faults, index, plan);
    return true;
}

void rm_camera_faults_corrupt(uint8_t *payload, uint32_t length) { payload[length - 1] ^= 1; }

void rm_packet_plan_free(struct rm_packet_plan *plan) {
    free(plan->packet);
    *plan = (struct rm_packet_plan){0};
}
