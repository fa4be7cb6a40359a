// SPDX-License-Identifier: Apache-2.0
#include "camera_sender.h"

#include <string.h>

#include "base/timebase.h"
#include "frames/gvsp.h"
#include "spot.h"

enum { SHORT_NUMBERS = 65535 };

enum rm_code rm_camera_sender_open(struct rm_camera_sender *sender, struct rm_virtual_camera const *camera,
                                   char const *workspace, double tsc_hz, struct rm_error *error) {
    *sender = (struct rm_camera_sender){.camera = *camera, .tsc_hz = tsc_hz};
    sender->faults.camera = &sender->camera;
    rm_spot_follow_begin(&sender->follow, &sender->camera.spot, workspace);
    return rm_pictures_new(camera, &sender->pictures, error);
}

void rm_camera_sender_close(struct rm_camera_sender *sender) {
    rm_spot_follow_end(&sender->follow);
    rm_pictures_free(&sender->pictures);
    rm_packet_plan_free(&sender->plan);
}

enum rm_code rm_camera_sender_change(struct rm_camera_sender *sender, struct rm_virtual_camera const *camera,
                                     struct rm_error *error) {
    sender->camera = *camera;
    memset(sender->recent, 0, sizeof sender->recent);
    rm_pictures_free(&sender->pictures);
    return rm_pictures_new(camera, &sender->pictures, error);
}

void rm_camera_sender_start(struct rm_camera_sender *sender) {
    sender->running = true;
    sender->sending = false;
    sender->slot = sender->index = 0;
    sender->number = sender->camera.first_number;
    sender->start_tsc = rm_tsc();
    sender->start_tai_ns = rm_tai_ns();
}

void rm_camera_sender_stop(struct rm_camera_sender *sender) { sender->running = false; }

static double ticks_per_frame(struct rm_camera_sender const *sender) {
    return sender->camera.rate_hz > 0 ? sender->tsc_hz / sender->camera.rate_hz : 0;
}

static uint64_t slot_tsc(struct rm_camera_sender const *sender, uint64_t slot) {
    return sender->start_tsc + (uint64_t)((double)slot * ticks_per_frame(sender));
}

/** Frames whose time has gone altogether are not sent. */
static void skip_frames(struct rm_camera_sender *sender, uint64_t now) {
    if (sender->camera.rate_hz <= 0)
        return;
    uint64_t const due = (uint64_t)((double)(now - sender->start_tsc) / ticks_per_frame(sender));
    if (due <= sender->slot + 1)
        return;
    sender->counts.skipped += due - sender->slot;
    sender->slot = due;
}

static uint64_t number_after(struct rm_virtual_camera const *camera, uint64_t number) {
    bool const is_short = camera->format == RM_CAMERA_GVSP && !camera->extended_ids;
    return is_short ? number % SHORT_NUMBERS + 1 : number + 1;
}

static void frame_draw(struct rm_camera_sender *sender, double seconds, struct rm_camera_frame *frame) {
    frame->bytes = rm_picture(&sender->pictures, sender->index);
    if (sender->camera.pattern != RM_CAMERA_SPOT)
        return;
    double x, y;
    rm_spot_place(&sender->camera.spot, seconds, &x, &y);
    uint64_t turn;
    if (rm_spot_follow_read(&sender->follow, &x, &y, &turn) && sender->camera.format == RM_CAMERA_FRAGMENTS) {
        frame->time_is_turn = true;
        frame->time = turn;
    }
    rm_spot_draw(&sender->pictures, sender->index, x, y);
}

static bool frame_begin(struct rm_camera_sender *sender, uint64_t now) {
    skip_frames(sender, now);
    struct rm_camera_frame *const frame = &sender->recent[sender->index % RM_PICTURES];
    double const seconds = (double)(slot_tsc(sender, sender->slot) - sender->start_tsc) / sender->tsc_hz;
    uint64_t const end_ns = sender->camera.rate_hz > 0 ? sender->start_tai_ns + (uint64_t)(1e9 * seconds) : rm_tai_ns();
    uint64_t const begin_ns = end_ns - (uint64_t)(1e9 * sender->camera.exposure_s);
    *frame = (struct rm_camera_frame){
        .number = sender->number,
        .time = begin_ns,
        .exposure_start_ns = begin_ns,
        .exposure_end_ns = end_ns,
        .geometry = sender->camera.geometry,
        .length = sender->camera.frame_bytes,
        .told_length = sender->camera.frame_bytes,
        .packet_bytes = sender->camera.packet_bytes,
    };
    frame_draw(sender, seconds, frame);
    rm_camera_faults_frame(&sender->faults, sender->index, frame);
    if (!rm_camera_faults_plan(&sender->faults, sender->index, frame, &sender->plan))
        return false;
    sender->number = number_after(&sender->camera, frame->number);
    sender->frame_tsc = sender->camera.rate_hz > 0 ? slot_tsc(sender, sender->slot) : now;
    sender->slot++;
    sender->index++;
    sender->next = 0;
    sender->sending = true;
    return true;
}

static bool packet_send(struct rm_camera_sender *sender, struct rm_camera_frame const *frame,
                        struct rm_planned_packet planned, bool resent) {
    uint8_t *const buffer = rm_sender_link_buffer(sender->link);
    if (buffer == NULL)
        return false;
    uint32_t const headers =
        sender->ethernet ? RM_FRAME_HEADER_BYTES + (sender->flow.vlan != 0 ? RM_VLAN_BYTES : 0) : 0;
    uint32_t const length = rm_camera_packet_write(&sender->camera, frame, planned.index, resent, buffer + headers);
    if (planned.corrupt)
        rm_camera_faults_corrupt(buffer + headers, length);
    if (sender->ethernet)
        rm_frame_write_header(buffer, &sender->flow, length);
    rm_sender_link_commit(sender->link, headers + length, sender->link_counters, true);
    sender->counts.bytes += length;
    return true;
}

/** TSC at which packet `next` of the plan is due. */
static uint64_t packet_tsc(struct rm_camera_sender const *sender) {
    if (sender->camera.pace == RM_CAMERA_BURST)
        return sender->frame_tsc;
    return sender->frame_tsc + (uint64_t)(ticks_per_frame(sender) * sender->next / sender->plan.count);
}

bool rm_camera_sender_is_done(struct rm_camera_sender const *sender) {
    return sender->frames_wanted != 0 && sender->counts.frames >= sender->frames_wanted;
}

uint64_t rm_camera_sender_poll(struct rm_camera_sender *sender) {
    uint64_t const now = rm_tsc();
    if (!sender->running || rm_camera_sender_is_done(sender))
        return UINT64_MAX;
    if (!sender->sending && slot_tsc(sender, sender->slot) > now)
        return slot_tsc(sender, sender->slot);
    if (!sender->sending && !frame_begin(sender, now))
        return UINT64_MAX;
    struct rm_camera_frame const *const frame = &sender->recent[(sender->index - 1) % RM_PICTURES];
    for (uint32_t burst = 0; burst < RM_BURST && sender->next < sender->plan.count; ++burst, ++sender->next) {
        if (packet_tsc(sender) > now)
            return packet_tsc(sender);
        sender->link->expected = sender->plan.count - sender->next;
        packet_send(sender, frame, sender->plan.packet[sender->next], false);
    }
    if (sender->next < sender->plan.count)
        return now;
    sender->sending = false;
    sender->counts.frames++;
    return slot_tsc(sender, sender->slot);
}

static void tell_unavailable(struct rm_camera_sender *sender, uint64_t number, uint32_t index) {
    uint8_t *const buffer = rm_sender_link_buffer(sender->link);
    if (buffer == NULL)
        return;
    uint32_t const headers =
        sender->ethernet ? RM_FRAME_HEADER_BYTES + (sender->flow.vlan != 0 ? RM_VLAN_BYTES : 0) : 0;
    struct rm_gvsp_packet const packet = {.status = RM_GVSP_STATUS_UNAVAILABLE,
                                          .extended_ids = sender->camera.extended_ids,
                                          .format = RM_GVSP_PAYLOAD,
                                          .block = number,
                                          .packet = index};
    uint32_t const length = rm_gvsp_write(buffer + headers, &packet);
    if (sender->ethernet)
        rm_frame_write_header(buffer, &sender->flow, length);
    rm_sender_link_commit(sender->link, headers + length, sender->link_counters, true);
    sender->counts.unavailable++;
}

void rm_camera_sender_resend(struct rm_camera_sender *sender, uint64_t number, uint32_t index) {
    for (uint32_t r = 0; r < RM_PICTURES; ++r) {
        struct rm_camera_frame const *const frame = &sender->recent[r];
        if (frame->bytes == NULL || frame->number != number || index >= rm_camera_packets(&sender->camera, frame))
            continue;
        packet_send(sender, frame, (struct rm_planned_packet){.index = index}, true);
        sender->counts.resent++;
        return;
    }
    tell_unavailable(sender, number, index);
}
