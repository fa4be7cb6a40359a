// SPDX-License-Identifier: Apache-2.0
/** Fills bursts for one port, and sends them. While a link is full it spins, as pause frames would make a sender wait.
 * Each wait is counted with the group whose datagram is at the head of the queue. A link that is down, a call to stop,
 * or in lock-step a server that hangs, ends the wait: then what is in the burst is given up and not counted as sent. */
#ifndef RM_INSTRUMENTS_SENDER_LINK_H
#define RM_INSTRUMENTS_SENDER_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>

#include "net/port.h"
#include "pair.h"

struct rm_lock_step;

struct rm_sender_link {
    struct rm_port *port;
    /** It and the same port of the other server of a pair; NULL: there is one server. */
    struct rm_pair *pair;
    atomic_bool const *stop;
    /** TSC ticks after which a waiting sender asks again whether the link is still up. */
    uint64_t look_ticks;
    /** Buffers that will be asked for before the next flush, as far as known. */
    uint32_t expected;
    /** How many of the burst's buffers are filled. */
    uint32_t filled;
    /** The link went down; the caller clears it. */
    bool lost;
    /** In lock-step the link has taken nothing for RM_LOCK_STEP_SECONDS: the server hangs. */
    bool hangs;
    /** How long it may take nothing; NULL: for ever. */
    struct rm_lock_step *lock_step;
    /** Called again and again while the sender waits; NULL: nothing is called. */
    void (*meanwhile)(void *state);

    void *meanwhile_state;
    /** [buffer] counters (set `sender`) of the datagram that it has. */
    rm_counter *owner[RM_BURST];
    /** [buffer] it is the last one of its datagram. Most datagrams have only one. */
    bool last[RM_BURST];

    struct rm_burst burst;
};

void rm_sender_link_init(struct rm_sender_link *link, struct rm_port *port, double tsc_hz, atomic_bool const *stop);

/** True when the port takes datagrams, or will soon; asks the kernel. */
bool rm_sender_link_works(struct rm_sender_link const *link);

/** The buffer for the next datagram or fragment; sends a full burst first. NULL when the link is lost or the sender is
 * to stop. */
uint8_t *rm_sender_link_buffer(struct rm_sender_link *link);

/** The buffer has been filled with `length` bytes of the group whose counters these are. `last` says whether they are
 * the last ones of their datagram. */
void rm_sender_link_commit(struct rm_sender_link *link, uint32_t length, rm_counter *counters, bool last);

/** Sends the filled buffers, and gives back the others. */
void rm_sender_link_flush(struct rm_sender_link *link);

#endif
