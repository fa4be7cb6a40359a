// SPDX-License-Identifier: Apache-2.0
#include "traffic/flows.h"

#include "base/fail.h"
#include "base/zeroed.h"

enum { WINDOW_WORDS = RM_FLOW_WINDOW / 64 };

enum rm_code rm_flows_init(struct rm_flows *flows, uint16_t key, struct rm_error *error) {
    flows->key = key;
    flows->seen = rm_zeroed(RM_FLOWS, sizeof *flows->seen);
    return flows->seen != NULL ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for %d flows; free some", RM_FLOWS);
}

void rm_flows_free(struct rm_flows *flows) {
    free(flows->seen);
    flows->seen = NULL;
}

static uint64_t flow_get(_Atomic uint64_t const *count) { return atomic_load_explicit(count, memory_order_relaxed); }

static void flow_set(_Atomic uint64_t *count, uint64_t value) {
    atomic_store_explicit(count, value, memory_order_relaxed);
}

static void flow_add_one(_Atomic uint64_t *count) { flow_set(count, flow_get(count) + 1); }

/** Moves the window on until `sequence` is its newest. */
static void window_advance(struct rm_flow_seen *seen, uint64_t next, uint64_t sequence) {
    if (sequence - next >= RM_FLOW_WINDOW) {
        memset(seen->window, 0, sizeof seen->window);
        return;
    }
    for (uint64_t i = next; i < sequence; ++i)
        seen->window[i / 64 % WINDOW_WORDS] &= ~(1ull << i % 64);
}

/** Notes a sequence number in the window; returns whether it was there already. */
static bool window_note(struct rm_flow_seen *seen, uint64_t sequence) {
    uint64_t *const word = &seen->window[sequence / 64 % WINDOW_WORDS];
    uint64_t const bit = 1ull << sequence % 64;
    bool const there = (*word & bit) != 0;
    *word |= bit;
    return there;
}

/** The whole number that is nearest to the next one. */
static uint64_t whole_sequence(uint64_t next, uint32_t low) {
    int64_t const ahead = (int32_t)(low - (uint32_t)next);
    return ahead < 0 && (uint64_t)-ahead > next ? low : next + (uint64_t)ahead;
}

static void count_sequence(struct rm_flow_seen *seen, uint32_t low) {
    uint64_t const next = flow_get(&seen->next);
    uint64_t const sequence = whole_sequence(next, low);
    if (sequence >= next) {
        window_advance(seen, next, sequence);
        seen->window[sequence / 64 % WINDOW_WORDS] |= 1ull << sequence % 64;
        flow_set(&seen->next, sequence + 1);
    } else if (next - sequence <= RM_FLOW_WINDOW && window_note(seen, sequence)) {
        flow_add_one(&seen->duplicated);
    } else {
        flow_add_one(&seen->out_of_order);
    }
}

void rm_flows_count(struct rm_flows *flows, struct rm_flow_stamp const *stamp, uint64_t tsc) {
    struct rm_flow_seen *const seen = &flows->seen[stamp->flow];
    count_sequence(seen, stamp->sequence);
    flow_add_one(&seen->received);
    if (tsc >= stamp->tsc)
        rm_histogram_add(&seen->latency, tsc - stamp->tsc, 1);
    else
        flow_add_one(&seen->from_future);
}

static void add_histogram(struct rm_flow_reading *reading, struct rm_histogram const *latency) {
    uint64_t const largest = flow_get(&latency->largest);
    reading->latency_largest_ticks =
        largest > reading->latency_largest_ticks ? largest : reading->latency_largest_ticks;
    for (uint32_t i = 0; i < RM_HISTOGRAM_BUCKETS; ++i) {
        uint64_t const values = flow_get(&latency->bucket[i]);
        reading->latency[i] += values;
        reading->latency_total += values;
    }
}

void rm_flow_read(struct rm_flow_sent const *sent, struct rm_flows const *const *sides, uint32_t side_count,
                  uint32_t flow, struct rm_flow_reading *reading) {
    memset(reading, 0, sizeof *reading);
    uint64_t next = 0;
    for (uint32_t i = 0; i < side_count; ++i) {
        struct rm_flow_seen const *const seen = &sides[i]->seen[flow];
        uint64_t const seen_next = flow_get(&seen->next);
        next = seen_next > next ? seen_next : next;
        reading->duplicated += flow_get(&seen->duplicated);
        reading->out_of_order += flow_get(&seen->out_of_order);
        reading->received += flow_get(&seen->received);
        reading->from_future += flow_get(&seen->from_future);
        if (seen_next > 0)
            add_histogram(reading, &seen->latency);
    }
    uint64_t const different = reading->received - reading->duplicated;
    reading->lost = next > different ? next - different : 0;
    reading->stamped = sent != NULL ? flow_get(&sent->stamped) : 0;
}

/** A count that may have been read a moment before the one that it follows. */
static void take_away(uint64_t *count, uint64_t earlier) { *count -= earlier < *count ? earlier : *count; }

void rm_flow_reading_subtract(struct rm_flow_reading *reading, struct rm_flow_reading const *earlier) {
    take_away(&reading->stamped, earlier->stamped);
    take_away(&reading->received, earlier->received);
    take_away(&reading->duplicated, earlier->duplicated);
    take_away(&reading->out_of_order, earlier->out_of_order);
    take_away(&reading->lost, earlier->lost);
    take_away(&reading->from_future, earlier->from_future);
    take_away(&reading->latency_total, earlier->latency_total);
    uint64_t end = 0;
    for (unsigned i = 0; i < RM_HISTOGRAM_BUCKETS; ++i) {
        take_away(&reading->latency[i], earlier->latency[i]);
        if (reading->latency[i] != 0)
            end = i + 1 < RM_HISTOGRAM_BUCKETS ? rm_histogram_floor(i + 1) - 1 : UINT64_MAX;
    }
    if (end < reading->latency_largest_ticks)
        reading->latency_largest_ticks = end;
}

uint64_t rm_flow_latency_ticks(struct rm_flow_reading const *reading, double share) {
    double const wanted = share * (double)reading->latency_total;
    uint64_t values = 0;
    for (unsigned i = 0; i < RM_HISTOGRAM_BUCKETS; ++i) {
        values += reading->latency[i];
        if (values > 0 && (double)values >= wanted) {
            uint64_t const end = i + 1 < RM_HISTOGRAM_BUCKETS ? rm_histogram_floor(i + 1) - 1 : UINT64_MAX;
            return end < reading->latency_largest_ticks ? end : reading->latency_largest_ticks;
        }
    }
    return 0;
}
