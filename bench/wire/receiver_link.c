// SPDX-License-Identifier: Apache-2.0
#include "receiver_link.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "base/zeroed.h"
#include "probe.h"

enum rm_code rm_receiver_link_new(struct rm_receiver_link *received, struct rm_link *link, uint32_t instruments,
                                  uint64_t cycles, struct rm_error *error) {
    *received = (struct rm_receiver_link){.link = link, .instruments = instruments};
    received->tally = rm_zeroed(instruments, sizeof *received->tally);
    received->histogram = rm_zeroed(instruments, sizeof *received->histogram);
    if (received->tally == NULL || received->histogram == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "link %s: no memory for %u instruments", rm_link_text(link), instruments);
    for (uint32_t i = 0; i < instruments; ++i)
        rm_tally_start(&received->tally[i], &received->histogram[i]);
    return rm_cycles_new(&received->cycles, cycles, error);
}

void rm_receiver_link_free(struct rm_receiver_link *received) {
    free(received->tally);
    free(received->histogram);
    rm_cycles_free(&received->cycles);
}

void rm_receiver_link_start(struct rm_receiver_link *received, struct rm_window_plan const *plan) {
    rm_window_start(&received->window, plan, rm_tsc());
    rm_link_totals(received->link, &received->before);
}

/** An instrument has ended before a sequence number: what it sent last was of the one before. */
static void take_end(struct rm_receiver_link *received, struct rm_probe const *probe, uint64_t tsc) {
    received->tally[probe->flow].end = probe->sequence;
    received->ended = true;
    if (probe->sequence != 0)
        rm_window_take(&received->window, probe->sequence - 1, tsc);
}

static void receiver_link_take(struct rm_receiver_link *received, uint8_t const *payload, uint32_t length) {
    uint64_t const tsc = rm_tsc();
    struct rm_probe const probe = rm_probe_read(payload);
    if (probe.flow >= received->instruments || probe.sequence >= RM_PROBE_SEQUENCES) {
        ++received->unknown;
        return;
    }
    if (probe.stamp == RM_PROBE_END) {
        take_end(received, &probe, tsc);
        return;
    }
    struct rm_window *const window = &received->window;
    rm_window_take(window, probe.sequence, tsc);
    if (!rm_tally_take(&received->tally[probe.flow], &window->range, probe.sequence, tsc))
        return;
    rm_cycles_take(&received->cycles, probe.sequence - window->range.begin, tsc);
    received->bytes += length;
    received->last_tsc = tsc;
    if (received->first_tsc == 0)
        received->first_tsc = tsc;
}

void rm_receiver_link_take(struct rm_receiver_link *received, struct rm_link_burst *burst) {
    for (uint32_t i = 0; i < burst->count; ++i)
        receiver_link_take(received, burst->payload[i], burst->length[i]);
    rm_link_release(received->link, burst);
}

/** Goes through the instruments only when the end is near. */
static bool all_over(struct rm_receiver_link const *received) {
    if (!received->ended && received->window.next < received->window.range.end)
        return false;
    for (uint32_t i = 0; i < received->instruments; ++i)
        if (!rm_tally_over(&received->tally[i], &received->window.range))
            return false;
    return true;
}

bool rm_receiver_link_look(struct rm_receiver_link *received, bool stop, uint64_t tsc) {
    enum rm_window_state const was = received->window.state;
    if (was == RM_WINDOW_CLOSED)
        return false;
    struct rm_window_news const news = {.ended = received->ended, .over = all_over(received), .stop = stop};
    bool const open = rm_window_look(&received->window, &news, tsc);
    if (was < RM_WINDOW_COUNTING && received->window.state >= RM_WINDOW_COUNTING)
        rm_link_totals(received->link, &received->before);
    if (!open)
        rm_link_totals(received->link, &received->after);
    return open;
}

struct rm_receiver_sums rm_receiver_link_sums(struct rm_receiver_link const *received) {
    struct rm_receiver_sums sums = {0};
    for (uint32_t i = 0; i < received->instruments; ++i) {
        struct rm_tally const *const tally = &received->tally[i];
        sums.received += tally->received;
        sums.lost += rm_tally_lost(tally, &received->window.range);
        sums.duplicate += tally->duplicate;
        sums.reordered += tally->reordered;
    }
    return sums;
}
