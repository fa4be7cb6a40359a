// SPDX-License-Identifier: Apache-2.0
/** What is to go out on one link: probes are put in, and go out in bursts. Waits while the link is full, as pause
 * frames would make it, and keeps account of that. */
#ifndef RM_BENCH_WIRE_OUTBOX_H
#define RM_BENCH_WIRE_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "link_endpoint.h"
#include "probe.h"
#include "stop.h"

struct rm_outbox {
    struct rm_link *link;
    struct rm_stop const *stop;
    uint32_t payload_bytes;
    /** Probes that were put in and not yet sent. */
    uint32_t count;

    struct rm_probe pending[RM_BURST];
    struct rm_link_burst burst;
    /** Every so many-th probe is left out on purpose; 0: none. */
    uint64_t drop_every;
    /** Probes put in so far. */
    uint64_t offered;
    /** Probes of those that were left out on purpose. */
    uint64_t dropped;
    /** Probes that the link took. */
    uint64_t sent;
    /** Probes put in, and neither sent nor dropped, because the link had ended or the program was to stop. */
    uint64_t unsent;

    uint64_t waits;
    uint64_t waited_ticks, longest_wait_ticks;
    /** TSC ticks of waiting after which the link is checked. */
    uint64_t look_ticks;
    /** The link has ended: `error` says how. */
    bool lost;

    struct rm_error error;
};

void rm_outbox_start(struct rm_outbox *outbox, struct rm_link *link, uint32_t payload_bytes, uint64_t drop_every,
                     double tsc_hz, struct rm_stop const *stop);

/** Sends the probes that are in it. */
void rm_outbox_flush(struct rm_outbox *outbox);

/** Puts a probe in, and flushes when the outbox is full. */
static inline void rm_outbox_put(struct rm_outbox *outbox, struct rm_probe const *probe) {
    ++outbox->offered;
    if (outbox->drop_every != 0 && outbox->offered % outbox->drop_every == 0) {
        ++outbox->dropped;
        return;
    }
    outbox->pending[outbox->count++] = *probe;
    if (outbox->count == RM_BURST)
        rm_outbox_flush(outbox);
}

/** Checks whether the link still works; if not, it is lost. Cold path. */
void rm_outbox_check(struct rm_outbox *outbox);

/** Says that the instruments `first` … first + count - 1 have ended before `sequence`. Tries once, and is not among the
 * sent: say it again after a while. */
void rm_outbox_say_end(struct rm_outbox *outbox, uint32_t first, uint32_t count, uint64_t sequence);

#endif
