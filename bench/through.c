// SPDX-License-Identifier: Apache-2.0
/** Both ends of something that forwards: offers frames to one memif link as fast as it takes them, or at a rate, and
 * counts those that come out of another.
 *
 *     ringmaster-through IN OUT CPU SETTLE SECONDS [--mac MAC] [--destinations N] [--bytes N | --imix] [--rate PPS]
 *                       [--stamps]
 *
 * IN and OUT are memif's sockets, which it makes, or interfaces, as af_xdp:veth0; it sends to IN. Frames are UDP over IPv4 to the station MAC, in turn
 * to a host in each of N networks 16.0.0.0/24, 16.0.1.0/24, … in random order (N beyond 131072: to some of them).
 *
 * With --imix frames have 64, 594 and 1518 bytes, 7 : 4 : 1. With --stamps each has the time when it was offered, and what
 * it took until the other end had it is told.
 *
 * It lets frames through for SETTLE seconds, prints "begin", and measures for SECONDS. With a rate, a frame that the
 * link does not take at its time is lost: nothing is sent again. It prints a JSON object: frames offered and received,
 * in how long, in each tenth of a second, the share of its core that it had, and its longest pause;
 * with --stamps quantiles of the latency, within 6 %.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "net/port.h"
#include "quantile.h"
#include "wire/address.h"
#include "wire/frame.h"

enum {
    TENTHS_MAX = 6000,
    FRAMES_MAX = 1 << 17,
    FRAMES_LEAST = 1 << 10,
    LINE_BYTES = 64,
    FCS_BYTES = 4,
    UDP_PORT = 9,
    STAMP_BYTES = 8, /**< the last of a frame: the time stamp counter */
    IMIX_LONGEST = 1518,
    DISCARDS = 2, /**< for each burst that is sent: what comes out is never in the way */
    FIRST_NETWORK = 16 << 24,
};

/** The simple IMIX: 7 : 4 : 1, spread evenly. */
static uint32_t const IMIX[] = {64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594, 64};

static char const AF_XDP[] = "af_xdp:";

static double const TIMEOUT_S = 20.0, DRAIN_S = 0.05;

/** What is offered, and where. */
struct through {
    struct rm_port *in;
    struct rm_port *out;
    uint8_t *frames;
    uint32_t frame_count;
    uint32_t stride;
    /** Of the longest, and of each, without FCS. */
    uint32_t bytes;
    uint32_t *length;
    bool imix;
    /** Whether frames are stamped; and what those that came out took, in ticks. */
    bool stamps;
    struct rm_histogram latency;
    /** The next of the frames. */
    uint32_t at;
    /** Frames a tick; 0: as fast as the link takes them. */
    double per_tick;
    uint64_t begin;
    uint64_t last;
    uint64_t longest_pause;
    uint64_t offered;
    uint64_t received;
};

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint32_t draw(uint32_t below) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 32) * below >> 32);
}

static void make_frames(struct through *through, uint8_t const mac[6], uint32_t destinations) {
    for (uint32_t i = 0; i < through->frame_count; ++i) {
        uint8_t *const frame = through->frames + (size_t)i * through->stride;
        struct rm_flow flow = {.source_mac = {2, 0, 0, 0, 1, 1},
                               .source_ipv4 = 10u << 24 | 2,
                               .destination_ipv4 = FIRST_NETWORK + (draw(destinations) << 8 | 9),
                               .source_port = (uint16_t)(1024 + draw(60000)),
                               .destination_port = UDP_PORT};
        memcpy(flow.destination_mac, mac, sizeof flow.destination_mac);
        through->length[i] = through->imix ? IMIX[i % (sizeof IMIX / sizeof *IMIX)] - FCS_BYTES : through->bytes;
        rm_frame_write_header(frame, &flow, through->length[i] - RM_FRAME_HEADER_BYTES);
    }
}

static void stamp_burst(struct rm_burst const *burst) {
    uint64_t const now = rm_tsc();
    for (uint32_t i = 0; i < burst->count; ++i)
        memcpy(burst->data[i] + burst->length[i] - STAMP_BYTES, &now, sizeof now);
}

/** Takes what has come out; returns how much. */
static uint32_t take_burst(struct through *through) {
    if (!through->stamps)
        return rm_port_discard(through->out, 0);
    struct rm_burst burst;
    uint32_t const count = rm_port_receive(through->out, 0, &burst);
    uint64_t const now = rm_tsc();
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t stamp;
        memcpy(&stamp, burst.data[i] + burst.length[i] - STAMP_BYTES, sizeof stamp);
        rm_histogram_add(&through->latency, now - stamp, 1);
    }
    if (count != 0)
        rm_port_release(through->out, 0, &burst);
    return count;
}

/** Offers a burst of `count` frames; returns how many were taken. */
static uint32_t offer_burst(struct through *through, uint32_t count) {
    struct rm_burst burst;
    burst.count = count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const frame = (through->at + i) & (through->frame_count - 1);
        burst.data[i] = through->frames + (size_t)frame * through->stride;
        burst.length[i] = through->length[frame];
    }
    if (through->stamps)
        stamp_burst(&burst);
    uint32_t const taken = rm_port_send_from(through->in, 0, &burst);
    through->at += taken;
    return taken;
}

/** Frames whose time has come. */
static uint32_t due_frames(struct through const *through, uint64_t now) {
    if (through->per_tick == 0)
        return RM_BURST;
    uint64_t const due = (uint64_t)((double)(now - through->begin) * through->per_tick) - through->offered;
    return due < RM_BURST ? (uint32_t)due : RM_BURST;
}

static void through_step(struct through *through, uint64_t now) {
    if (now - through->last > through->longest_pause)
        through->longest_pause = now - through->last;
    through->last = now;
    uint32_t const due = due_frames(through, now);
    uint32_t const taken = due != 0 ? offer_burst(through, due) : 0;
    through->offered += through->per_tick == 0 ? taken : due;
    for (uint32_t i = 0; i < DISCARDS; ++i)
        through->received += take_burst(through);
}

static void step_until(struct through *through, uint64_t end) {
    for (uint64_t now = rm_tsc(); now < end; now = rm_tsc())
        through_step(through, now);
}

/** Until something comes out. */
static bool wait_for_first(struct through *through, double tsc_hz) {
    uint64_t const end = rm_tsc() + (uint64_t)(TIMEOUT_S * tsc_hz);
    while (through->received == 0 && rm_tsc() < end) {
        offer_burst(through, 1);
        through->received += take_burst(through);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return through->received != 0;
}

static void begin_anew(struct through *through) {
    through->begin = through->last = rm_tsc();
    through->longest_pause = through->offered = through->received = 0;
    memset(&through->latency, 0, sizeof through->latency);
}

static void drain(struct through *through, double tsc_hz) {
    uint64_t const end = rm_tsc() + (uint64_t)(DRAIN_S * tsc_hz);
    while (rm_tsc() < end)
        through->received += take_burst(through);
}

/** Below which `share` of the frames lies. */
static double latency_ns(struct through const *through, double share, double tsc_hz) {
    return bench_quantile(&through->latency, share) * 1e9 / tsc_hz;
}

static void through_measure(struct through *through, double seconds, double tsc_hz) {
    static uint64_t tenth[TENTHS_MAX];
    int count = 0;
    if (through->per_tick != 0)
        drain(through, tsc_hz); // what is under way was offered before
    double const cpu = cpu_seconds();
    begin_anew(through);
    uint64_t const end = through->begin + (uint64_t)(seconds * tsc_hz);
    for (uint64_t before = 0; rm_tsc() < end && count < TENTHS_MAX; before = through->received) {
        uint64_t const next = through->begin + (uint64_t)((count + 1) * 0.1 * tsc_hz);
        step_until(through, next < end ? next : end);
        tenth[count++] = through->received - before;
    }
    double const took = (double)(rm_tsc() - through->begin) / tsc_hz, share = (cpu_seconds() - cpu) / took;
    double const pause_us = (double)through->longest_pause / tsc_hz * 1e6;
    if (through->per_tick != 0)
        drain(through, tsc_hz);
    printf("{\"offered\": %llu, \"received\": %llu, \"seconds\": %.6f, \"share\": %.4f, \"longest_pause_us\": %.1f, "
           "\"sub_rates_pps\": [",
           (unsigned long long)through->offered, (unsigned long long)through->received, took, share, pause_us);
    for (int i = 0; i < count; ++i)
        printf("%s%.0f", i == 0 ? "" : ", ", (double)tenth[i] / 0.1);
    putchar(']');
    if (through->stamps)
        printf(", \"latency_p50_ns\": %.0f, \"latency_p99_ns\": %.0f", latency_ns(through, 0.5, tsc_hz),
               latency_ns(through, 0.99, tsc_hz));
    puts("}");
}

static struct rm_port *open_link(char const *name, char const *path, uint32_t bytes, struct rm_error *error) {
    struct rm_port_config config = {.kind = RM_PORT_MEMIF, .queues = 1, .memif_server = true, .longest_frame = bytes};
    if (strncmp(path, AF_XDP, strlen(AF_XDP)) == 0) {
        config.kind = RM_PORT_AF_XDP;
        config.claim_count = 1;
        config.claim[0] = UDP_PORT;
        snprintf(config.interface, sizeof config.interface, "%s", path + strlen(AF_XDP));
    }
    struct rm_port *port = NULL;
    snprintf(config.name, sizeof config.name, "%s", name);
    snprintf(config.socket_path, sizeof config.socket_path, "%s", path);
    return rm_port_open(&config, &port, error) == RM_OK ? port : NULL;
}

int main(int argc, char **argv) {
    char const *in = NULL, *out = NULL, *station = "02:00:00:00:00:01";
    static struct through through;
    uint8_t mac[6];
    uint64_t cpu = 0, destinations = 1, bytes = 64;
    double settle = 0, seconds = 0, rate = 0;
    struct rm_option options[] = {
        {"IN", &in, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"OUT", &out, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"SETTLE", &settle, 0, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_WORD},
        {"SECONDS", &seconds, 1e-3, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_WORD},
        {"mac", &station, .kind = RM_OPTION_TEXT},
        {"destinations", &destinations, 1, 1 << 20, .kind = RM_OPTION_WHOLE},
        {"bytes", &bytes, 64, RM_LONGEST_FRAME_MAX, .kind = RM_OPTION_WHOLE},
        {"imix", &through.imix, .kind = RM_OPTION_FLAG},
        {"stamps", &through.stamps, .kind = RM_OPTION_FLAG},
        {"rate", &rate, 0, 1e9, .kind = RM_OPTION_NUMBER},
    };
    rm_options_or_exit(argc, argv,
                       "Usage: ringmaster-through IN OUT CPU SETTLE SECONDS [--mac MAC] [--destinations N] "
                       "[--bytes N | --imix] [--rate PPS] [--stamps]\n  --bytes are those of a frame with its FCS\n",
                       options, sizeof options / sizeof *options);
    if (!rm_mac_parse(station, mac)) {
        fprintf(stderr, "%s: --mac: found \"%s\", expected 02:00:00:00:00:01\n", argv[0], station);
        return 1;
    }
    bytes = through.imix ? IMIX_LONGEST : bytes;
    through.bytes = (uint32_t)bytes - FCS_BYTES;
    through.stride = (through.bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    // As many frames as there are destinations, of short ones; for long ones they would be more than a cache.
    for (through.frame_count = FRAMES_LEAST; through.frame_count < destinations && through.frame_count < FRAMES_MAX &&
                                             through.frame_count * through.stride < FRAMES_MAX * LINE_BYTES;)
        through.frame_count *= 2;
    through.frames = calloc(through.frame_count, through.stride);
    through.length = calloc(through.frame_count, sizeof *through.length);
    struct rm_net_config const net = {.prefix = "ringmaster-through"};
    struct rm_error error = {.text = "no memory"};
    if (through.frames == NULL || through.length == NULL || rm_net_start(&net, &error) != RM_OK ||
        (through.in = open_link("in", in, (uint32_t)bytes, &error)) == NULL ||
        (through.out = open_link("out", out, (uint32_t)bytes, &error)) == NULL) {
        fprintf(stderr, "%s: %s\n", argv[0], error.text);
        free(through.frames);
        free(through.length);
        return 1;
    }
    make_frames(&through, mac, (uint32_t)destinations);
    double const tsc_hz = rm_tsc_hz_measure();
    through.per_tick = rate / tsc_hz;
    bool const pinned = rm_pin((uint32_t)cpu, &error) == RM_OK;
    bool const good = pinned && wait_for_first(&through, tsc_hz);
    if (good) {
        begin_anew(&through);
        step_until(&through, through.begin + (uint64_t)(settle * tsc_hz));
        puts("begin");
        fflush(stdout);
        through_measure(&through, seconds, tsc_hz);
    } else if (pinned) {
        fprintf(stderr, "%s: nothing came through within %.0f s\n", argv[0], TIMEOUT_S);
    } else {
        fprintf(stderr, "%s: %s\n", argv[0], error.text);
    }
    rm_port_close(through.in);
    rm_port_close(through.out);
    rm_net_stop();
    free(through.frames);
    free(through.length);
    return good ? 0 : 1;
}
