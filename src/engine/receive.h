// SPDX-License-Identifier: Apache-2.0
/** The receive role: polls queues, turns datagrams into records, stores and publishes them.
 *
 * All queues that can deliver one identity belong to one role, so nothing here is shared with another core but the
 * fabric. No lock, no allocation, no system call, no log line: what goes wrong is counted.
 */
#ifndef RM_ENGINE_RECEIVE_H
#define RM_ENGINE_RECEIVE_H

#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/counter.h>
#include <ringmaster/histogram.h>

#include "engine/instrument.h"
#include "engine/turn_gate.h"
#include "net/port.h"

/** One queue that the role polls. Instruments are told apart within their port. */
struct rm_receive_queue {
    struct rm_port *port;
    uint16_t queue;
    uint16_t udp_port; /**< destination port of instruments' datagrams */
    enum rm_framing framing;
    rm_counter *counters;         /**< set "port" */
    struct rm_instrument **by_id; /**< 65536 pointers: first instrument of each id, or NULL */
};

struct rm_receive {
    struct rm_receive_queue *queue;
    uint32_t queue_count;
    uint32_t next_queue;               /**< polled next: one queue per call, in turn */
    struct rm_instrument **instrument; /**< all that these queues deliver */
    struct rm_gate_vote **vote;        /**< their votes, for the gate */
    uint32_t instrument_count;
    struct rm_instrument **touched; /**< those with something to publish in this burst */
    uint32_t touched_count;
    struct rm_turn_gate gate;
    uint64_t follow_tsc;          /**< when silent streams are looked at next */
    uint64_t follow_ticks;        /**< and how often */
    struct rm_clock *clock;       /**< published here, or NULL: another role does */
    struct rm_histogram *latency; /**< arrival to visible, ticks */
    rm_counter *core_counters;    /**< set "core", of the core the role runs on */
    struct rm_burst burst;
};

/** Puts an instrument into the table of the queue's port. */
void rm_receive_index(struct rm_instrument **by_id, struct rm_instrument *instrument);

/** One turn of the duty cycle: one burst from one queue. Returns the number of packets. */
uint32_t rm_receive_duty(void *receive, uint64_t tsc);

#endif
