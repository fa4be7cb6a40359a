// SPDX-License-Identifier: Apache-2.0
#include "catch_link.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "probe.h"

enum rm_code rm_catch_link_new(struct rm_catch_link *caught, struct rm_link *link, uint32_t instruments,
                               uint64_t cycles, struct rm_error *error) {
    *caught = (struct rm_catch_link){.link = link, .instruments = instruments};
    caught->tally = aligned_alloc(64, instruments * sizeof *caught->tally);
    caught->histogram = aligned_alloc(64, instruments * sizeof *caught->histogram);
    if (caught->tally == NULL || caught->histogram == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "link %s: no memory for %u instruments", rm_link_text(link), instruments);
    memset(caught->histogram, 0, instruments * sizeof *caught->histogram);
    for (uint32_t i = 0; i < instruments; ++i)
        rm_tally_start(&caught->tally[i], &caught->histogram[i]);
    return rm_cycles_new(&caught->cycles, cycles, error);
}

void rm_catch_link_free(struct rm_catch_link *caught) {
    free(caught->tally);
    free(caught->histogram);
    rm_cycles_free(&caught->cycles);
}

void rm_catch_link_start(struct rm_catch_link *caught, struct rm_window_plan const *plan) {
    rm_window_start(&caught->window, plan, rm_tsc());
    rm_link_totals(caught->link, &caught->before);
}

/** An instrument has ended before a sequence number: what it sent last was of the one before. */
static void take_end(struct rm_catch_link *caught, struct rm_probe const *probe, uint64_t tsc) {
    caught->tally[probe->flow].end = probe->sequence;
    caught->ended = true;
    if (probe->sequence != 0)
        rm_window_take(&caught->window, probe->sequence - 1, tsc);
}

static void take(struct rm_catch_link *caught, uint8_t const *payload, uint32_t length) {
    uint64_t const tsc = rm_tsc();
    struct rm_probe const probe = rm_probe_read(payload);
    if (probe.flow >= caught->instruments || probe.sequence >= RM_PROBE_SEQUENCES) {
        ++caught->unknown;
        return;
    }
    if (probe.stamp == RM_PROBE_END) {
        take_end(caught, &probe, tsc);
        return;
    }
    struct rm_window *const window = &caught->window;
    rm_window_take(window, probe.sequence, tsc);
    if (!rm_tally_take(&caught->tally[probe.flow], &window->range, probe.sequence, tsc))
        return;
    rm_cycles_take(&caught->cycles, probe.sequence - window->range.begin, tsc);
    caught->bytes += length;
    caught->last_tsc = tsc;
    if (caught->first_tsc == 0)
        caught->first_tsc = tsc;
}

void rm_catch_link_take(struct rm_catch_link *caught, struct rm_link_burst *burst) {
    for (uint32_t i = 0; i < burst->count; ++i)
        take(caught, burst->payload[i], burst->length[i]);
    rm_link_release(caught->link, burst);
}

/** Goes through the instruments only when the end is near. */
static bool all_over(struct rm_catch_link const *caught) {
    if (!caught->ended && caught->window.next < caught->window.range.end)
        return false;
    for (uint32_t i = 0; i < caught->instruments; ++i)
        if (!rm_tally_over(&caught->tally[i], &caught->window.range))
            return false;
    return true;
}

bool rm_catch_link_look(struct rm_catch_link *caught, bool stop, uint64_t tsc) {
    enum rm_window_state const was = caught->window.state;
    if (was == RM_WINDOW_CLOSED)
        return false;
    struct rm_window_news const news = {.ended = caught->ended, .over = all_over(caught), .stop = stop};
    bool const open = rm_window_look(&caught->window, &news, tsc);
    if (was < RM_WINDOW_COUNTING && caught->window.state >= RM_WINDOW_COUNTING)
        rm_link_totals(caught->link, &caught->before);
    if (!open)
        rm_link_totals(caught->link, &caught->after);
    return open;
}

struct rm_catch_sums rm_catch_link_sums(struct rm_catch_link const *caught) {
    struct rm_catch_sums sums = {0};
    for (uint32_t i = 0; i < caught->instruments; ++i) {
        struct rm_tally const *const tally = &caught->tally[i];
        sums.received += tally->received;
        sums.lost += rm_tally_lost(tally, &caught->window.range);
        sums.duplicate += tally->duplicate;
        sums.reordered += tally->reordered;
    }
    return sums;
}
