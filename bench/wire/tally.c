// SPDX-License-Identifier: Apache-2.0
#include "tally.h"

enum { REMEMBERED = 64 };

void rm_tally_start(struct rm_tally *tally, struct rm_histogram *histogram) {
    *tally = (struct rm_tally){.end = UINT64_MAX, .interval_least = UINT64_MAX, .histogram = histogram};
}

static bool tally_range_contains(struct rm_tally_range const *window, uint64_t sequence) {
    return sequence >= window->begin && sequence < window->end;
}

static void take_interval(struct rm_tally *tally, uint64_t ticks) {
    ++tally->intervals;
    tally->interval_sum += ticks;
    if (ticks < tally->interval_least)
        tally->interval_least = ticks;
    rm_histogram_add(tally->histogram, ticks, 1);
}

/** A sequence number at or beyond `next`. */
static bool take_newer(struct rm_tally *tally, struct rm_tally_range const *window, uint64_t sequence, uint64_t tsc) {
    uint64_t const ahead = sequence - tally->next;
    bool const first = tally->next == 0, counts = tally_range_contains(window, sequence);
    if (ahead == 0 && !first && counts && sequence > window->begin)
        take_interval(tally, tsc - tally->last_tsc);
    tally->came = ahead + 1 < REMEMBERED ? tally->came << (ahead + 1) | 1 : 1;
    tally->next = sequence + 1;
    tally->last_tsc = tsc;
    tally->received += counts;
    return counts;
}

static bool take_older(struct rm_tally *tally, struct rm_tally_range const *window, uint64_t sequence) {
    uint64_t const back = tally->next - 1 - sequence;
    uint64_t const bit = back < REMEMBERED ? 1ull << back : 0;
    bool const fresh = bit != 0 && (tally->came & bit) == 0, counts = tally_range_contains(window, sequence);
    tally->came |= bit;
    tally->received += fresh && counts;
    tally->reordered += fresh && counts;
    tally->duplicate += !fresh && counts;
    return fresh && counts;
}

bool rm_tally_take(struct rm_tally *tally, struct rm_tally_range const *window, uint64_t sequence, uint64_t tsc) {
    if (sequence >= tally->next)
        return take_newer(tally, window, sequence, tsc);
    return take_older(tally, window, sequence);
}

static uint64_t tally_range_end(struct rm_tally const *tally, struct rm_tally_range const *window) {
    return tally->end < window->end ? tally->end : window->end;
}

uint64_t rm_tally_lost(struct rm_tally const *tally, struct rm_tally_range const *window) {
    uint64_t const end = tally_range_end(tally, window);
    uint64_t const meant = end > window->begin ? end - window->begin : 0;
    return meant > tally->received ? meant - tally->received : 0;
}

bool rm_tally_over(struct rm_tally const *tally, struct rm_tally_range const *window) {
    return tally->end != UINT64_MAX || tally->next >= window->end;
}
