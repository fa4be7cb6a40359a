// SPDX-License-Identifier: Apache-2.0
/** Fills bursts for one sink and sees them off. A full link is waited for, spinning, as pause frames would make a
 * sender wait; each wait is counted with the group whose datagram was at the head of the queue. A link that is down,
 * or a call to stop, ends the wait: then what was in the burst is given up and not counted as sent.
 */
#ifndef RM_INSTRUMENTS_SENDER_LINK_H
#define RM_INSTRUMENTS_SENDER_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>

#include "sink.h"

struct rm_sender_link {
    struct rm_sink sink;
    atomic_bool const *stop;
    /** How often a waiting sender asks whether the link is still up. */
    uint64_t look_ticks;
    /** Buffers that will be asked for before the next flush, as far as known. */
    uint32_t expected;
    /** Of the burst's buffers. */
    uint32_t filled;
    /** The link went down; the caller clears it. */
    bool lost;
    /** Called again and again while it waits; or NULL. */
    void (*meanwhile)(void *state);

    void *meanwhile_state;
    /** counters (set `sender`) of the datagram that each buffer is of. */
    rm_counter *owner[RM_BURST];
    /** The buffer is the last of its datagram, the only one of most. */
    bool last[RM_BURST];

    struct rm_burst burst;
};

void rm_sender_link_init(struct rm_sender_link *link, struct rm_sink const *sink, double tsc_hz,
                         atomic_bool const *stop);

/** The buffer for the next datagram or fragment; sends a full burst first. NULL when the link is lost or the sender is
 * to stop. */
uint8_t *rm_sender_link_buffer(struct rm_sender_link *link);

/** The buffer has been filled with `length` bytes of the group whose counters these are; with the last ones of its
 * datagram, or not. */
void rm_sender_link_commit(struct rm_sender_link *link, uint32_t length, rm_counter *counters, bool last);

/** Sends what was filled, and gives back the buffers that were not. */
void rm_sender_link_flush(struct rm_sender_link *link);

#endif
