// SPDX-License-Identifier: Apache-2.0
#include "traffic/pcap_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static double const SPEED_MIN = 1e-3, SPEED_MAX = 1e6;
static double const LAP_GAP_LEAST_NS = 1000;

struct pcap_source {
    struct rm_source source;
    struct rm_pcap_frames frames;
    uint64_t laps;
    /** The next frame: of which lap, and which. */
    uint64_t lap;
    uint32_t next;

    uint64_t start_tsc;
    /** [frame] when it is due, after the lap has begun; NULL: without times. */
    uint64_t *due_ticks;
    /** More than the last of them. */
    uint64_t lap_ticks;
};

/** A source is the first member of its kind. */
static struct pcap_source *pcap_source_of(struct rm_source *source) { return (struct pcap_source *)source; }

static void pcap_source_start(struct rm_source *source, uint64_t tsc) {
    struct pcap_source *const pcap = pcap_source_of(source);
    pcap->start_tsc = tsc;
    pcap->lap = 0;
    pcap->next = 0;
}

static void pcap_source_advance(struct pcap_source *pcap) {
    if (++pcap->next < pcap->frames.count)
        return;
    pcap->next = 0;
    ++pcap->lap;
}

static uint32_t pcap_source_fill(struct rm_source *source, struct rm_burst *burst, uint64_t tsc) {
    (void)tsc;
    struct pcap_source *const pcap = pcap_source_of(source);
    uint32_t filled = 0;
    for (; filled < burst->count && pcap->lap < pcap->laps; ++filled) {
        struct rm_pcap_frame const *const frame = &pcap->frames.frame[pcap->next];
        uint8_t *const bytes = pcap->frames.bytes + frame->offset;
        if (source->lends)
            burst->data[filled] = bytes;
        else
            memcpy(burst->data[filled], bytes, frame->length);
        burst->length[filled] = frame->length;
        pcap_source_advance(pcap);
    }
    return filled;
}

/** How many frames of a lap are due when so much of it has gone: the first that is not. */
static uint32_t pcap_source_due_in_lap(struct pcap_source const *pcap, uint64_t ticks) {
    uint32_t low = 0, high = pcap->frames.count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (pcap->due_ticks[middle] <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t pcap_source_due(struct rm_source *source, uint64_t tsc) {
    struct pcap_source const *const pcap = pcap_source_of(source);
    uint64_t const gone = tsc > pcap->start_tsc ? tsc - pcap->start_tsc : 0;
    if (pcap->lap >= pcap->laps)
        return 1; /* so that `fill` is asked, and says that it has ended */
    if (pcap->lap * pcap->lap_ticks + pcap->due_ticks[pcap->next] > gone)
        return 0;
    uint64_t const lap = gone / pcap->lap_ticks, count = pcap->frames.count;
    if (lap >= pcap->laps)
        return (pcap->laps - pcap->lap) * count - pcap->next;
    return (lap - pcap->lap) * count + pcap_source_due_in_lap(pcap, gone % pcap->lap_ticks) - pcap->next;
}

static void pcap_source_skip(struct rm_source *source, uint64_t count) {
    struct pcap_source *const pcap = pcap_source_of(source);
    uint64_t const place = pcap->next + count % pcap->frames.count;
    pcap->lap += count / pcap->frames.count + place / pcap->frames.count;
    pcap->next = (uint32_t)(place % pcap->frames.count);
}

static void pcap_source_free(struct rm_source *source) {
    struct pcap_source *const pcap = pcap_source_of(source);
    rm_pcap_frames_free(&pcap->frames);
    free(pcap->due_ticks);
    free(pcap);
}

static struct rm_source_ops const ops_with_times = {.start = pcap_source_start,
                                                    .fill = pcap_source_fill,
                                                    .due = pcap_source_due,
                                                    .skip = pcap_source_skip,
                                                    .free = pcap_source_free};
static struct rm_source_ops const ops_without_times = {
    .start = pcap_source_start, .fill = pcap_source_fill, .skip = pcap_source_skip, .free = pcap_source_free};

static enum rm_code pcap_source_make_times(struct pcap_source *pcap, struct rm_pcap_plan const *plan,
                                           struct rm_error *error) {
    struct rm_pcap_frames const *const frames = &pcap->frames;
    pcap->due_ticks = calloc(frames->count, sizeof *pcap->due_ticks);
    if (pcap->due_ticks == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for the times of %u frames", plan->path, frames->count);
    double const ticks_per_ns = plan->tsc_hz * 1e-9 / plan->speed;
    for (uint32_t i = 0; i < frames->count; ++i)
        pcap->due_ticks[i] = (uint64_t)((double)frames->frame[i].at_ns * ticks_per_ns);
    uint64_t const last_ns = frames->frame[frames->count - 1].at_ns;
    double const mean_ns = frames->count > 1 ? (double)last_ns / (frames->count - 1) : 0;
    double const gap_ns = mean_ns > LAP_GAP_LEAST_NS ? mean_ns : LAP_GAP_LEAST_NS;
    double const gap_ticks = gap_ns * ticks_per_ns;
    pcap->lap_ticks = pcap->due_ticks[frames->count - 1] + (gap_ticks > 1 ? (uint64_t)gap_ticks : 1);
    return RM_OK;
}

enum rm_code rm_pcap_source_make(struct rm_pcap_plan const *plan, struct rm_source **source, struct rm_error *error) {
    if (plan->speed != 0 && !(plan->speed >= SPEED_MIN && plan->speed <= SPEED_MAX))
        return rm_fail(error, RM_E_ARGUMENT, "speed of a capture: found %g, expected %g … %g, or 0 for the port's pace",
                       plan->speed, SPEED_MIN, SPEED_MAX);
    struct pcap_source *const pcap = calloc(1, sizeof *pcap);
    if (pcap == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to replay it", plan->path);
    pcap->source.ops = plan->speed > 0 ? &ops_with_times : &ops_without_times;
    pcap->laps = plan->laps != 0 ? plan->laps : UINT64_MAX;
    enum rm_code code = rm_pcap_frames_load(plan->path, plan->longest_frame, RM_PCAP_MEMORY_MAX, &pcap->frames, error);
    if (code == RM_OK && plan->speed > 0)
        code = pcap_source_make_times(pcap, plan, error);
    if (code != RM_OK) {
        pcap_source_free(&pcap->source);
        return code;
    }
    *source = &pcap->source;
    return RM_OK;
}

struct rm_pcap_frames const *rm_pcap_source_frames(struct rm_source const *source) {
    return &((struct pcap_source const *)source)->frames;
}
