// SPDX-License-Identifier: Apache-2.0
#include "camera_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "bench/rounds.h"
#include "frames/fragment.h"
#include "frames/pixels.h"

/** Packets of one camera in a row: more would let a frame that is whole wait for them. */
enum { LOAD_BURST = 16 };

/** Of a period, by which a camera may be late. */
enum { LOAD_BEHIND_PART = 4 };

static double const LINK_TIMEOUT_S = 5;

bool rm_camera_load_begin(struct rm_camera_load *load, struct rm_camera_load_settings const *settings,
                          struct rm_link *link, double tsc_hz, uint64_t begin_tsc) {
    uint32_t const bytes = settings->width / 2 * 3 * settings->height;
    *load = (struct rm_camera_load){.settings = *settings,
                                    .link = link,
                                    .frame_bytes = bytes,
                                    .fragments = (bytes + settings->each - 1) / settings->each,
                                    .period_ticks = (uint64_t)(tsc_hz / settings->rate_hz),
                                    .timeout_ticks = (uint64_t)(LINK_TIMEOUT_S * tsc_hz),
                                    .bytes = malloc(settings->each)};
    if (load->bytes == NULL)
        return false;
    memset(load->bytes, 0x5A, settings->each);
    load->packet_ticks = (double)load->period_ticks * settings->spread / (load->fragments + 1);
    for (uint32_t i = 0; i < settings->cameras; ++i)
        load->camera[i] =
            (struct rm_load_camera){.frame = 1, .begin_tsc = begin_tsc + load->period_ticks * i / settings->cameras};
    return true;
}

void rm_camera_load_end(struct rm_camera_load *load) { free(load->bytes); }

/** The length of the packet. */
static uint32_t load_write(struct rm_camera_load const *load, uint32_t index, uint8_t *payload) {
    struct rm_load_camera const *const camera = &load->camera[index];
    uint32_t const offset = camera->packet * load->settings.each, left = load->frame_bytes - offset;
    bool const is_last = camera->packet == load->fragments;
    uint32_t const length = is_last ? 0 : left < load->settings.each ? left : load->settings.each;
    struct rm_image_datagram const datagram = {
        .kind = is_last ? RM_IMAGE_CONFIGURATION : RM_IMAGE_FRAGMENT,
        .camera = index,
        .fragment = {.frame = camera->frame,
                     .offset = is_last ? 0 : offset,
                     .length = length,
                     .fragment_bytes = load->settings.each,
                     .total_bytes = load->frame_bytes,
                     .geometry = {.pixel_format = rm_pixel_format_named("Mono12p")->number,
                                  .width = load->settings.width,
                                  .height = load->settings.height},
                     .time = is_last ? rm_tsc() : 0},
    };
    uint32_t const header = rm_image_write(payload, &datagram);
    if (!is_last) {
        uint64_t const stamp = rm_camera_load_stamp(index, camera->frame, camera->packet);
        memcpy(payload + header, load->bytes, length);
        memcpy(payload + header, &stamp, length < sizeof stamp ? length : sizeof stamp);
    }
    return header + length;
}

/** Waits while the link is full, as a camera would for pause frames. */
static void load_send_all(struct rm_camera_load *load, struct rm_link_burst *burst) {
    uint64_t const begin = rm_tsc();
    bool waited = false;
    while (burst->count != 0) {
        load->sent += rm_link_send(load->link, burst);
        if (burst->count != 0) {
            waited = true;
            rm_pause();
            if (rm_tsc() - begin > load->timeout_ticks)
                bench_fail("the link takes nothing: the receiver has ended");
        }
    }
    uint64_t const took = rm_tsc() - begin;
    load->waits += waited;
    load->longest_wait_ticks = waited && took > load->longest_wait_ticks ? took : load->longest_wait_ticks;
}

/** A camera that is so late would send all that it missed at once: it goes on from here at its pace. */
static void load_follow(struct rm_camera_load *load, struct rm_load_camera *camera, uint64_t behind_ticks) {
    load->longest_behind_ticks = behind_ticks > load->longest_behind_ticks ? behind_ticks : load->longest_behind_ticks;
    if (behind_ticks > load->period_ticks / LOAD_BEHIND_PART)
        camera->begin_tsc += behind_ticks;
}

/** The packets of the current frame that are due. */
static uint32_t load_due(struct rm_camera_load *load, struct rm_load_camera *camera, uint64_t now) {
    if ((int64_t)(now - camera->begin_tsc) < 0)
        return 0;
    double const should = (double)(now - camera->begin_tsc) / load->packet_ticks + 1;
    uint32_t const until = should > load->fragments + 1 ? load->fragments + 1 : (uint32_t)should;
    if (until <= camera->packet)
        return 0;
    load_follow(load, camera, (uint64_t)((should - camera->packet - 1) * load->packet_ticks));
    return until - camera->packet > LOAD_BURST ? LOAD_BURST : until - camera->packet;
}

static bool load_send_camera(struct rm_camera_load *load, uint32_t index, uint64_t now, uint64_t last_tsc) {
    struct rm_load_camera *const camera = &load->camera[index];
    if (camera->packet == 0 && (int64_t)(camera->begin_tsc - last_tsc) > 0)
        return false;
    uint32_t const due = load_due(load, camera, now);
    if (due == 0)
        return false;
    struct rm_link_burst burst;
    uint32_t const room = rm_link_reserve(load->link, &burst, due);
    for (uint32_t i = 0; i < room; ++i, ++camera->packet)
        burst.length[i] = load_write(load, index, burst.payload[i]);
    load_send_all(load, &burst);
    if (camera->packet > load->fragments) {
        camera->packet = 0;
        camera->frame += 1;
        camera->begin_tsc += load->period_ticks;
    }
    return true;
}

bool rm_camera_load_send(struct rm_camera_load *load, uint64_t now, uint64_t last_tsc) {
    bool some = false;
    for (uint32_t i = 0; i < load->settings.cameras; ++i)
        some |= load_send_camera(load, i, now, last_tsc);
    return some;
}

bool rm_camera_load_rests(struct rm_camera_load const *load) {
    for (uint32_t i = 0; i < load->settings.cameras; ++i)
        if (load->camera[i].packet != 0)
            return false;
    return true;
}
