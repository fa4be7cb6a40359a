// SPDX-License-Identifier: Apache-2.0
/** How long from a camera's last packet to the frame in the application's hands?
 *
 *     ringmaster-frames-latency [OPTION VALUE]… WORKSPACE LINK CPU SECONDS
 *
 * A receiver of cameras runs in WORKSPACE, on another core, and has cameras cam01 … of format `fragments`, with ids from 0
 * on. One thread on CPU is both the cameras and the application: it sends on LINK (bench/wire/link_endpoint.h), and
 * whenever nothing is due it asks for frames, so nothing waits for anything but the receiver. A frame that is leased is
 * looked at in three places, and released.
 *
 * First it sends until a frame of each camera has come; then it measures. Prints a JSON object:
 *
 *     after_last_fragment_us   from the arrival at the receiver's port of the packet that closed the frame, to the lease
 *     after_sent_us            from the writing of that packet, right before it was sent: with the way through the kernel
 *     published_us             from that arrival to the frame's being published: the receiver's part
 *     sent, seen, whole        frames: that were sent, leased, and those without a missing fragment
 *     lost                     sent and not seen whole
 *     wrong                    leased with other bytes than were sent
 *     passed_over              of those lost: this reader came too late
 *     waits, longest_wait_us   of the sender, for a link that was full
 *     longest_behind_us        of a packet to its pace: what the thread was kept from its core
 *     share                    of its core that the thread had
 *     bytes_per_s              of whole frames
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/images.h>
#include <ringmaster/workspace.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "bench/rounds.h"
#include "bench/wire/polling.h"
#include "camera_load.h"

enum { FRAMES_MAX = 1 << 20, LOOKED_AT = 3 };

static double const FIRST_S = 30, DRAIN_S = 3, SETTLE_S = 0.3;

static char const usage[] = "Usage: ringmaster-frames-latency [OPTION VALUE]… WORKSPACE LINK CPU SECONDS\n\n"
                            "  --cameras N      cam01 … in the workspace; 1\n"
                            "  --width PIXELS   of a frame of Mono12p; 2500\n"
                            "  --height LINES   1000\n"
                            "  --each BYTES     of a fragment; 1408\n"
                            "  --rate HZ        frames a second of each camera; 30\n"
                            "  --spread SHARE   of a frame's period, over which its packets go; 0.5\n";

struct frame_times {
    double *us;
    size_t count;
    double sum;
};

/** Frames of one camera. */
struct seen_camera {
    struct rm_images_reader *reader;
    uint64_t seen, whole, wrong, passed_over;
};

struct latency_bench {
    struct rm_camera_load load;
    double tsc_hz;
    /** Of its core that this thread had while it measured. */
    double share;
    /** Frames with numbers from here on are measured: of each camera. */
    uint64_t first_frame[RM_LOAD_CAMERAS_MAX];
    bool measures;
    struct seen_camera camera[RM_LOAD_CAMERAS_MAX];
    struct frame_times after_last, after_sent, published;
};

static void times_take(struct frame_times *times, uint64_t from, uint64_t to, double tsc_hz) {
    if (times->us == NULL)
        times->us = bench_allocate(FRAMES_MAX * sizeof *times->us);
    if (times->count == FRAMES_MAX)
        return;
    double const us = (double)(int64_t)(to - from) / tsc_hz * 1e6;
    times->us[times->count++] = us;
    times->sum += us;
}

static void times_print(char const *name, struct frame_times *times) {
    if (times->count == 0) {
        printf("\"%s\": null, ", name);
        return;
    }
    struct bench_figure const figure = bench_figure_of(times->us, times->count, 0);
    printf("\"%s\": {\"min\": %.3f, \"mean\": %.3f, \"median\": %.3f, \"p99\": %.3f, \"max\": %.3f, \"count\": %zu}, ",
           name, figure.low, times->sum / (double)times->count, figure.median, figure.p99, figure.max, figure.count);
}

/** Whether some of its fragments are what was sent. */
static bool frame_is_right(struct rm_camera_load const *load, uint32_t index, struct rm_frame const *frame) {
    uint32_t const place[LOOKED_AT] = {0, (uint32_t)(frame->sequence % (load->fragments - 1)), load->fragments - 2};
    if (frame->slot->length != load->frame_bytes)
        return false;
    for (int i = 0; i < LOOKED_AT; ++i) {
        uint64_t stamp;
        memcpy(&stamp, frame->bytes + (size_t)place[i] * load->settings.each, sizeof stamp);
        if (stamp != rm_camera_load_stamp(index, frame->slot->number, place[i]))
            return false;
    }
    return true;
}

static void bench_take_frame(struct latency_bench *bench, uint32_t index, struct rm_frame const *frame, uint64_t now) {
    struct seen_camera *const camera = &bench->camera[index];
    struct rm_image_slot const *const slot = frame->slot;
    bool const whole = slot->status == RM_IMAGE_WHOLE;
    if (slot->number < bench->first_frame[index])
        return;
    camera->seen += 1;
    camera->whole += whole;
    camera->wrong += whole && !frame_is_right(&bench->load, index, frame);
    camera->passed_over += frame->passed_over;
    if (!bench->measures || !whole)
        return;
    times_take(&bench->after_last, slot->last_tsc, now, bench->tsc_hz);
    times_take(&bench->after_sent, slot->device_time, now, bench->tsc_hz);
    times_take(&bench->published, slot->last_tsc, slot->published_tsc, bench->tsc_hz);
}

/** Leases what has come. */
static void bench_look(struct latency_bench *bench) {
    for (uint32_t i = 0; i < bench->load.settings.cameras; ++i) {
        struct rm_frame frame;
        enum rm_frame_read const read = rm_images_next(bench->camera[i].reader, 0, &frame);
        uint64_t const now = rm_tsc();
        if (read == RM_FRAME_ENDED)
            bench_fail("the receiver has ended");
        if (read != RM_FRAME_OK)
            continue;
        bench_take_frame(bench, i, &frame, now);
        rm_images_release(bench->camera[i].reader, &frame);
    }
}

static uint64_t bench_in(struct latency_bench const *bench, double seconds) {
    return rm_tsc() + (uint64_t)(seconds * bench->tsc_hz);
}

static bool all_seen(struct latency_bench const *bench) {
    for (uint32_t i = 0; i < bench->load.settings.cameras; ++i)
        if (bench->camera[i].seen == 0)
            return false;
    return true;
}

/** Until a frame of each has come, and memory is warm. */
static void bench_warm(struct latency_bench *bench) {
    uint64_t const give_up = bench_in(bench, FIRST_S);
    while (!all_seen(bench)) {
        if (rm_tsc() > give_up)
            bench_fail("no frame of some camera came within 30 s");
        rm_camera_load_send(&bench->load, rm_tsc(), UINT64_MAX / 2);
        bench_look(bench);
    }
    uint64_t const warm = bench_in(bench, SETTLE_S);
    while (rm_tsc() < warm) {
        rm_camera_load_send(&bench->load, rm_tsc(), UINT64_MAX / 2);
        bench_look(bench);
    }
}

static uint64_t camera_sent(struct latency_bench const *bench, uint32_t index) {
    return bench->load.camera[index].frame - bench->first_frame[index];
}

static uint64_t bench_lost(struct latency_bench const *bench) {
    uint64_t lost = 0;
    for (uint32_t i = 0; i < bench->load.settings.cameras; ++i)
        lost += camera_sent(bench, i) - bench->camera[i].whole;
    return lost;
}

/** A frame of each camera: on a host that is busy enough, not even that is sent in a second. */
static bool each_was_sent(struct latency_bench const *bench) {
    for (uint32_t i = 0; i < bench->load.settings.cameras; ++i)
        if (bench->load.camera[i].frame <= bench->first_frame[i])
            return false;
    return true;
}

/** Returns how many seconds it was. */
static double bench_measure(struct latency_bench *bench, double seconds) {
    bench_warm(bench);
    for (uint32_t i = 0; i < bench->load.settings.cameras; ++i) {
        bench->first_frame[i] = bench->load.camera[i].frame + (bench->load.camera[i].packet != 0);
        bench->camera[i] = (struct seen_camera){.reader = bench->camera[i].reader};
    }
    bench->load.waits = bench->load.longest_wait_ticks = bench->load.longest_behind_ticks = 0;
    bench->measures = true;
    double const cpu_s = rm_thread_seconds();
    uint64_t const begin = rm_tsc(), end = bench_in(bench, seconds);
    while (rm_tsc() < end || !each_was_sent(bench)) {
        rm_camera_load_send(&bench->load, rm_tsc(), UINT64_MAX / 2);
        bench_look(bench);
    }
    uint64_t const last = rm_tsc();
    while (!rm_camera_load_rests(&bench->load)) {
        rm_camera_load_send(&bench->load, rm_tsc(), last);
        bench_look(bench);
    }
    double const took = (double)(last - begin) / bench->tsc_hz;
    bench->share = (rm_thread_seconds() - cpu_s) / ((double)(rm_tsc() - begin) / bench->tsc_hz);
    for (uint64_t const give_up = bench_in(bench, DRAIN_S); rm_tsc() < give_up && bench_lost(bench) != 0;)
        bench_look(bench);
    return took;
}

static void bench_report(struct latency_bench *bench, double seconds) {
    struct rm_camera_load const *const load = &bench->load;
    uint64_t sent = 0, seen = 0, whole = 0, wrong = 0, passed_over = 0;
    for (uint32_t i = 0; i < load->settings.cameras; ++i) {
        struct seen_camera const *const camera = &bench->camera[i];
        sent += camera_sent(bench, i);
        seen += camera->seen;
        whole += camera->whole;
        wrong += camera->wrong;
        passed_over += camera->passed_over;
    }
    double const us = 1e6 / bench->tsc_hz;
    putchar('{');
    times_print("after_last_fragment_us", &bench->after_last);
    times_print("after_sent_us", &bench->after_sent);
    times_print("published_us", &bench->published);
    printf("\"sent\": %llu, \"seen\": %llu, \"whole\": %llu, \"lost\": %llu, \"wrong\": %llu, \"passed_over\": %llu, "
           "\"waits\": %llu, \"longest_wait_us\": %.1f, \"longest_behind_us\": %.1f, \"share\": %.4f, \"bytes_per_s\": "
           "%.0f}\n",
           (unsigned long long)sent, (unsigned long long)seen, (unsigned long long)whole,
           (unsigned long long)(sent - whole), (unsigned long long)wrong, (unsigned long long)passed_over,
           (unsigned long long)load->waits, (double)load->longest_wait_ticks * us,
           (double)load->longest_behind_ticks * us, bench->share, (double)whole * load->frame_bytes / seconds);
}

static void bench_open_readers(struct latency_bench *bench, char const *name, uint32_t cameras) {
    struct rm_workspace *workspace;
    struct rm_error error;
    bench_must(rm_workspace_attach(name, RM_ATTACH_SERVERLESS, &workspace, &error), &error);
    for (uint32_t i = 0; i < cameras; ++i) {
        char camera[16];
        struct rm_images_view view;
        snprintf(camera, sizeof camera, "cam%02u", i + 1);
        bench_must(rm_workspace_images(workspace, camera, &view, &error), &error);
        bench_must(rm_images_reader_new(&view, &bench->camera[i].reader, &error), &error);
    }
}

int main(int argc, char **argv) {
    char const *workspace = NULL, *text = NULL;
    uint64_t cpu = 0, cameras = 1, width = 2500, height = 1000, each = 1408;
    double seconds = 0;
    struct rm_camera_load_settings settings = {.rate_hz = 30, .spread = 0.5};
    struct rm_option options[] = {
        {"cameras", &cameras, 1, RM_LOAD_CAMERAS_MAX, .kind = RM_OPTION_WHOLE},
        {"width", &width, 16, 1 << 14, .kind = RM_OPTION_WHOLE},
        {"height", &height, 16, 1 << 14, .kind = RM_OPTION_WHOLE},
        {"each", &each, RM_LOAD_STAMP_BYTES, RM_LINK_MTU_MAX, .kind = RM_OPTION_WHOLE},
        {"rate", &settings.rate_hz, 0.1, 1e4, .kind = RM_OPTION_NUMBER},
        {"spread", &settings.spread, 0.01, 1, .kind = RM_OPTION_NUMBER},
        {"WORKSPACE", &workspace, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"LINK", &text, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"SECONDS", &seconds, 1e-2, 1e5, .kind = RM_OPTION_NUMBER, .place = RM_WORD},
    };
    rm_options_or_exit(argc, argv, usage, options, sizeof options / sizeof *options);
    settings.cameras = (uint32_t)cameras;
    settings.width = (uint32_t)width / 2 * 2;
    settings.height = (uint32_t)height;
    settings.each = (uint32_t)each;
    static struct latency_bench bench;
    struct rm_link_config config;
    struct rm_link *link;
    struct rm_error error;
    bench_must(rm_link_parse(text, &config, &error), &error);
    if (each + 40 > rm_link_largest_payload(&config))
        bench_fail("--each: a fragment does not fit the link");
    bench_must(rm_links_open(&config, 1, &link, &error), &error);
    bench_pin((uint32_t)cpu);
    bench.tsc_hz = rm_tsc_hz_measure();
    bench_open_readers(&bench, workspace, settings.cameras);
    if (!rm_camera_load_begin(&bench.load, &settings, link, bench.tsc_hz, rm_tsc()) || bench.load.fragments < 3)
        bench_fail("--each: expected three fragments of a frame at least, and memory");
    bench_report(&bench, bench_measure(&bench, seconds));
    rm_camera_load_end(&bench.load);
    for (uint32_t i = 0; i < settings.cameras; ++i)
        rm_images_reader_free(bench.camera[i].reader);
    rm_links_close(&link, 1);
    return 0;
}
