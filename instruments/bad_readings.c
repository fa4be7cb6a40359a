// SPDX-License-Identifier: Apache-2.0
#include "bad_readings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/stream.h>

#include "base/fail.h"
#include "noise.h"

enum { HALVES = 2, BPM_LANES = 4, NOT_SWAPPED = UINT32_MAX };

static double const LANE_MOST = 2147483647.0;

struct rm_bad_reading {
    /** RM_EVENT_GOOD: none. */
    enum rm_ring_event_kind fault;
    double nm[2];
    /** Index of the reading whose lanes it has, or NOT_SWAPPED. */
    uint32_t swapped;
    /** `held` is what it repeats. */
    bool holds;
    union rm_lane held[RM_LANES];
};

enum rm_code rm_bad_readings_make(struct rm_ring_config const *ring, struct rm_bad_readings *readings,
                                  struct rm_error *error) {
    size_t const lanes = RM_LANES * (ring->instrument_count + 1ul);
    *readings = (struct rm_bad_readings){
        .ring = ring,
        .reading = calloc(HALVES * (ring->instrument_count + 1ul), sizeof *readings->reading),
        .read = calloc(lanes, sizeof *readings->read),
        .sent = calloc(lanes, sizeof *readings->sent),
    };
    if (readings->reading == NULL || readings->read == NULL || readings->sent == NULL) {
        rm_bad_readings_free(readings);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the readings of %u instruments", ring->instrument_count);
    }
    for (uint32_t r = 0; r < HALVES * ring->instrument_count; ++r)
        readings->reading[r] = (struct rm_bad_reading){.fault = RM_EVENT_GOOD, .swapped = NOT_SWAPPED};
    return RM_OK;
}

void rm_bad_readings_free(struct rm_bad_readings *readings) {
    free(readings->reading);
    free(readings->read);
    free(readings->sent);
    *readings = (struct rm_bad_readings){0};
}

/* ── what befalls them ── */

static void swap_cables(struct rm_bad_readings *readings, struct rm_ring_event const *event, bool begins) {
    for (uint32_t half = 0; half < HALVES; ++half) {
        uint32_t index[2];
        for (int side = 0; side < 2; ++side) {
            struct rm_ring_event_reading const *of = &event->reading[side];
            index[side] = HALVES * of->instrument + (of->bpm == 0 ? half : of->bpm - 1);
        }
        readings->reading[index[0]].swapped = begins ? index[1] : NOT_SWAPPED;
        readings->reading[index[1]].swapped = begins ? index[0] : NOT_SWAPPED;
    }
}

static void change_reading(struct rm_bad_readings *readings, struct rm_ring_event const *event, uint32_t index,
                           bool begins) {
    struct rm_bad_reading *reading = &readings->reading[index];
    if (event->kind == RM_EVENT_GOOD && reading->swapped != NOT_SWAPPED)
        readings->reading[reading->swapped].swapped = NOT_SWAPPED;
    if (event->kind == RM_EVENT_GOOD)
        reading->swapped = NOT_SWAPPED;
    if (!begins && reading->fault != event->kind) /* another one has come since */
        return;
    reading->fault = begins ? event->kind : RM_EVENT_GOOD;
    reading->nm[0] = event->x_nm;
    reading->nm[1] = event->y_nm;
    reading->holds = false;
}

void rm_bad_readings_begin_or_end(struct rm_bad_readings *readings, struct rm_ring_event const *event, bool begins) {
    if (event->kind == RM_EVENT_SWAPPED_CABLES) {
        swap_cables(readings, event, begins);
    } else {
        for (uint32_t r = 0; r < event->reading_count; ++r)
            for (uint32_t half = 0; half < HALVES; ++half)
                if (event->reading[r].bpm == 0 || event->reading[r].bpm == half + 1)
                    change_reading(readings, event, HALVES * event->reading[r].instrument + half, begins);
    }
    readings->bad = 0;
    for (uint32_t r = 0; r < HALVES * readings->ring->instrument_count; ++r)
        readings->bad += readings->reading[r].fault != RM_EVENT_GOOD || readings->reading[r].swapped != NOT_SWAPPED;
}

/* ── what they send ── */

/** The lanes of a reading within its instrument's: of BPMs, four each; of others all, and those are the first's. */
static void find_lanes_of_half(struct rm_bad_readings const *readings, uint32_t index, uint32_t *first,
                               uint32_t *count) {
    bool const pair = readings->ring->instruments[index / HALVES].kind == RM_KIND_BPM;
    uint32_t const half = index % HALVES;
    *first = pair ? half * BPM_LANES : 0;
    *count = pair ? BPM_LANES : half == 0 ? RM_LANES : 0;
}

static void add_to_lane(union rm_lane *lane, double nm) {
    lane->i = (int32_t)lrint(fmax(-LANE_MOST, fmin(LANE_MOST, lane->i + nm)));
}

static void spoil_position(struct rm_bad_readings const *readings, struct rm_bad_reading const *reading, rm_turn turn,
                           uint32_t index, union rm_lane *lanes) {
    uint64_t const random =
        rm_noise_u64(rm_noise_u64(turn ^ rm_noise_u64(readings->ring->beam.seed)) ^ rm_noise_u64(index));
    for (uint32_t plane = 0; plane < 2; ++plane) {
        double const noise = rm_noise_normal(random ^ plane);
        if (reading->fault == RM_EVENT_NOISY)
            add_to_lane(&lanes[plane], reading->nm[plane] * noise);
        else if (reading->fault == RM_EVENT_OFFSET)
            add_to_lane(&lanes[plane], reading->nm[plane]);
        else if (reading->fault == RM_EVENT_INVERTED)
            add_to_lane(&lanes[plane], -2.0 * lanes[plane].i);
    }
}

static void spoil_reading(struct rm_bad_readings *readings, uint32_t index, rm_turn turn, union rm_lane *instrument) {
    struct rm_bad_reading *reading = &readings->reading[index];
    uint32_t first, count;
    find_lanes_of_half(readings, index, &first, &count);
    union rm_lane *lanes = instrument + first;
    if (count == 0 || reading->fault == RM_EVENT_GOOD)
        return;
    if (reading->fault == RM_EVENT_DEAD) {
        memset(lanes, 0, count * sizeof *lanes);
    } else if (reading->fault != RM_EVENT_FROZEN) {
        spoil_position(readings, reading, turn, index, lanes);
    } else if (reading->holds) {
        memcpy(lanes, reading->held, count * sizeof *lanes);
    } else {
        memcpy(reading->held, lanes, count * sizeof *lanes);
        reading->holds = true;
    }
}

/** The lanes of another instrument at this turn, as read; it may be among those in hand. */
static union rm_lane const *read_other(struct rm_bad_readings const *readings, uint32_t instrument, uint32_t first,
                                       uint32_t count, struct rm_bad_readings_source const *source) {
    if (instrument - first < count)
        return readings->read + (size_t)(instrument - first) * RM_LANES;
    return source->read(source->state, instrument);
}

static void exchange_lanes(struct rm_bad_readings *readings, uint32_t index, uint32_t first, uint32_t count,
                           struct rm_bad_readings_source const *source) {
    uint32_t const other = readings->reading[index].swapped;
    uint32_t to, from, lanes;
    if (other == NOT_SWAPPED)
        return;
    find_lanes_of_half(readings, index, &to, &lanes);
    find_lanes_of_half(readings, other, &from, &lanes);
    memcpy(readings->sent + (size_t)(index / HALVES - first) * RM_LANES + to,
           read_other(readings, other / HALVES, first, count, source) + from, lanes * sizeof(union rm_lane));
}

union rm_lane const *rm_bad_readings_spoil(struct rm_bad_readings *readings, rm_turn turn, uint32_t first,
                                           uint32_t count, union rm_lane const *lanes,
                                           struct rm_bad_readings_source const *source) {
    size_t const bytes = (size_t)count * RM_LANES * sizeof *lanes;
    memcpy(readings->read, lanes, bytes); /* reading another instrument may write over `lanes` */
    memcpy(readings->sent, lanes, bytes);
    for (uint32_t r = HALVES * first; r < HALVES * (first + count); ++r)
        exchange_lanes(readings, r, first, count, source);
    for (uint32_t r = HALVES * first; r < HALVES * (first + count); ++r)
        spoil_reading(readings, r, turn, readings->sent + (size_t)(r / HALVES - first) * RM_LANES);
    return readings->sent;
}
