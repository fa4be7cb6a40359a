// SPDX-License-Identifier: Apache-2.0
#include "outbox.h"

#include "base/timebase.h"

static double const LOOK_SECONDS = 20e-3;

void rm_outbox_start(struct rm_outbox *outbox, struct rm_link *link, uint32_t payload_bytes, uint64_t drop_every,
                     double tsc_hz, struct rm_stop const *stop) {
    *outbox = (struct rm_outbox){.link = link,
                                 .stop = stop,
                                 .payload_bytes = payload_bytes,
                                 .drop_every = drop_every,
                                 .look_ticks = (uint64_t)(LOOK_SECONDS * tsc_hz)};
}

void rm_outbox_check(struct rm_outbox *outbox) {
    if (!outbox->lost)
        outbox->lost = rm_link_check(outbox->link, &outbox->error) != RM_OK;
}

/** Waiting for room: since when, and when to look at the link next. */
struct outbox_wait {
    uint64_t since_tsc, look_tsc;
};

/** True when waiting on is of use; spends a moment. */
static bool outbox_wait_on(struct rm_outbox *outbox, struct outbox_wait *wait) {
    rm_pause();
    uint64_t const now = rm_tsc();
    if (wait->since_tsc == 0)
        *wait = (struct outbox_wait){now, now + outbox->look_ticks};
    if (rm_stop_requested(outbox->stop))
        return false;
    if (now >= wait->look_tsc) {
        rm_outbox_check(outbox);
        wait->look_tsc = now + outbox->look_ticks;
    }
    return !outbox->lost;
}

static void wait_end(struct rm_outbox *outbox, struct outbox_wait *wait) {
    if (wait->since_tsc == 0)
        return;
    uint64_t const ticks = rm_tsc() - wait->since_tsc;
    ++outbox->waits;
    outbox->waited_ticks += ticks;
    if (ticks > outbox->longest_wait_ticks)
        outbox->longest_wait_ticks = ticks;
    wait->since_tsc = 0;
}

/** Fills in the probes of a reserved burst. */
static void outbox_fill(struct rm_outbox *outbox, struct rm_probe const *probes) {
    for (uint32_t i = 0; i < outbox->burst.count; ++i) {
        rm_probe_write(outbox->burst.payload[i], &probes[i]);
        outbox->burst.length[i] = outbox->payload_bytes;
    }
}

/** Sends as many of the probes as there are buffers for now; returns how many went, 0 when waiting has become useless.
 */
static uint32_t outbox_send_some(struct rm_outbox *outbox, struct rm_probe const *probes, uint32_t count) {
    struct rm_link_burst *const burst = &outbox->burst;
    struct outbox_wait wait = {0};
    while (rm_link_reserve(outbox->link, burst, count) == 0)
        if (!outbox_wait_on(outbox, &wait))
            return 0;
    wait_end(outbox, &wait);
    outbox_fill(outbox, probes);
    uint32_t sent = 0;
    bool sending = true;
    while (burst->count != 0 && sending) {
        uint32_t const taken = rm_link_send(outbox->link, burst);
        sent += taken;
        if (taken != 0)
            wait_end(outbox, &wait);
        else
            sending = outbox_wait_on(outbox, &wait);
    }
    wait_end(outbox, &wait);
    if (burst->count != 0)
        rm_link_release(outbox->link, burst);
    return sent;
}

void rm_outbox_flush(struct rm_outbox *outbox) {
    uint32_t gone = 0, taken = 1;
    while (gone < outbox->count && taken != 0 && !outbox->lost) {
        taken = outbox_send_some(outbox, outbox->pending + gone, outbox->count - gone);
        gone += taken;
    }
    outbox->sent += gone;
    outbox->unsent += outbox->count - gone;
    outbox->count = 0;
}

void rm_outbox_say_end(struct rm_outbox *outbox, uint32_t first, uint32_t count, uint64_t sequence) {
    struct rm_link_burst *const burst = &outbox->burst;
    for (uint32_t said = 0, some = 1; said < count && some != 0; said += some) {
        uint32_t const left = count - said;
        some = rm_link_reserve(outbox->link, burst, left < RM_BURST ? left : RM_BURST);
        for (uint32_t i = 0; i < some; ++i) {
            struct rm_probe const probe = {(uint16_t)(first + said + i), sequence, RM_PROBE_END};
            rm_probe_write(burst->payload[i], &probe);
            burst->length[i] = outbox->payload_bytes;
        }
        if (some != 0)
            (void)rm_link_send(outbox->link, burst);
        if (burst->count != 0)
            rm_link_release(outbox->link, burst);
    }
}
