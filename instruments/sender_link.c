// SPDX-License-Identifier: Apache-2.0
#include "sender_link.h"

#include <stddef.h>

#include "base/timebase.h"
#include "lock_step.h"

enum { QUEUE = 0 };

static double const LOOK_SECONDS = 1e-3;

void rm_sender_link_init(struct rm_sender_link *link, struct rm_port *port, double tsc_hz, atomic_bool const *stop) {
    *link = (struct rm_sender_link){.port = port, .stop = stop, .look_ticks = (uint64_t)(LOOK_SECONDS * tsc_hz)};
}

bool rm_sender_link_works(struct rm_sender_link const *link) {
    return link->pair != NULL ? rm_pair_works(link->pair) : rm_port_check(link->port, NULL) == RM_OK;
}

/* One of these for each of the port's own: to one server, or to both. */

static uint32_t link_reserve(struct rm_sender_link *link, uint32_t wanted) {
    return link->pair != NULL ? rm_pair_reserve(link->pair, &link->burst, wanted)
                              : rm_port_reserve(link->port, QUEUE, &link->burst, wanted);
}

static uint32_t link_send(struct rm_sender_link *link) {
    return link->pair != NULL ? rm_pair_send(link->pair, &link->burst) : rm_port_send(link->port, QUEUE, &link->burst);
}

static void link_release(struct rm_sender_link *link, struct rm_burst *burst) {
    if (link->pair != NULL)
        rm_pair_release(link->pair, burst);
    else
        rm_port_release(link->port, QUEUE, burst);
}

/** Waiting for a link: since when, and when to ask next whether it is up. */
struct link_wait {
    uint64_t since_tsc;
    uint64_t look_tsc;
};

static struct link_wait wait_begin(struct rm_sender_link const *link) {
    uint64_t const now = rm_tsc();
    return (struct link_wait){now, now + link->look_ticks};
}

/** True when waiting on is of use; spends a moment. */
static bool sender_link_wait_on(struct rm_sender_link *link, struct link_wait *wait) {
    rm_pause();
    if (atomic_load_explicit(link->stop, memory_order_relaxed))
        return false;
    if (link->lock_step != NULL && !rm_lock_step_wait(link->lock_step)) {
        link->hangs = true;
        return false;
    }
    uint64_t const now = rm_tsc();
    if (link->meanwhile != NULL)
        link->meanwhile(link->meanwhile_state);
    if (now < wait->look_tsc)
        return true;
    wait->look_tsc = now + link->look_ticks;
    link->lost = !rm_sender_link_works(link);
    return !link->lost;
}

static void wait_end(struct rm_sender_link const *link, struct link_wait const *wait, rm_counter *counters) {
    if (link->lock_step != NULL && !link->hangs)
        rm_lock_step_go_on(link->lock_step);
    uint64_t const ticks = rm_tsc() - wait->since_tsc;
    rm_counter_add(counters, RM_SENDER_WAITS, 1);
    rm_counter_add(counters, RM_SENDER_WAIT_TICKS, ticks);
    if (ticks > rm_counter_get(counters, RM_SENDER_LONGEST_WAIT_TICKS))
        rm_counter_set(counters, RM_SENDER_LONGEST_WAIT_TICKS, ticks);
}

/** Sends filled buffers until all are gone (true) or waiting has become useless. */
static bool send_filled(struct rm_sender_link *link) {
    uint32_t gone = 0;
    bool sending = true;
    link->burst.count = link->filled;
    while (link->burst.count != 0 && sending) {
        struct link_wait wait = wait_begin(link);
        bool waited = false;
        uint32_t taken;
        while ((taken = link_send(link)) == 0 && sending) {
            waited = true;
            sending = sender_link_wait_on(link, &wait);
        }
        if (waited)
            wait_end(link, &wait, link->owner[gone]);
        for (uint32_t i = gone; i < gone + taken; ++i)
            rm_counter_add(link->owner[i], RM_SENDER_SENT, link->last[i]);
        gone += taken;
    }
    return link->burst.count == 0;
}

/** Buffers beyond the filled ones: a fault has kept datagrams from being sent. */
static void take_spare(struct rm_sender_link const *link, struct rm_burst *spare) {
    spare->count = 0;
    for (uint32_t i = link->filled; i < link->burst.count; ++i) {
        spare->data[spare->count] = link->burst.data[i];
        spare->handle[spare->count] = link->burst.handle[i];
        ++spare->count;
    }
}

void rm_sender_link_flush(struct rm_sender_link *link) {
    struct rm_burst spare;
    take_spare(link, &spare);
    if (link->filled != 0 && !send_filled(link))
        link_release(link, &link->burst);
    if (spare.count != 0)
        link_release(link, &spare);
    link->burst.count = 0;
    link->filled = 0;
}

static bool sender_link_reserve(struct rm_sender_link *link) {
    uint32_t const wanted = link->expected == 0 ? 1 : link->expected > RM_BURST ? RM_BURST : link->expected;
    struct link_wait wait = wait_begin(link);
    while ((link->burst.count = link_reserve(link, wanted)) == 0)
        if (!sender_link_wait_on(link, &wait))
            return false;
    return true;
}

uint8_t *rm_sender_link_buffer(struct rm_sender_link *link) {
    if (link->filled == link->burst.count) {
        rm_sender_link_flush(link);
        if (link->lost || !sender_link_reserve(link))
            return NULL;
    }
    return link->burst.data[link->filled];
}

void rm_sender_link_commit(struct rm_sender_link *link, uint32_t length, rm_counter *counters, bool last) {
    link->burst.length[link->filled] = length;
    link->owner[link->filled] = counters;
    link->last[link->filled] = last;
    ++link->filled;
    if (link->expected != 0)
        --link->expected;
}
