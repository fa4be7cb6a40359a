// SPDX-License-Identifier: Apache-2.0
/** The receive role: polls queues, turns datagrams into records, stores and publishes them.
 *
 * All queues that can deliver one identity belong to one role, so nothing here is shared with another core but the
 * fabric. No lock, no allocation, no system call, no log line: what goes wrong is counted.
 *
 *     what is just as expected ─▶ stream (express_lane.h)
 *     all else: frame ─▶ datagram (receive_frame.c) ─▶ records ─▶ turn, gate, mirror, stream (receive.c)
 *     what is ahead of the clock: at the end of its burst once more, when the clock knows better (receive.c)
 *     when nothing waits: what the lane took is counted
 *     every 10 ms: so too; who is shown to the clock, silent streams, forgotten fragments, each
 * network's loss (receive_follow.c)
 */
#ifndef RM_ENGINE_RECEIVE_H
#define RM_ENGINE_RECEIVE_H

#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/counter.h>
#include <ringmaster/histogram.h>

#include "engine/identity.h"
#include "engine/instrument.h"
#include "engine/turn_gate.h"
#include "net/port.h"
#include "wire/reassembly.h"

/** One format that comes to a port, and the UDP port by which it is known there. */
struct rm_receive_format {
    uint16_t udp_port;
    struct rm_layout const *layout; /**< NULL: native */
};

/** One queue that the role polls. Instruments are told apart within their port. */
struct rm_receive_queue {
    struct rm_port *port;
    uint16_t queue;
    enum rm_framing framing;
    uint16_t vlan;         /**< that frames must be of, or RM_RECEIVE_ANY_VLAN */
    bool local_senders;    /**< checksums that the kernel left unfinished are taken */
    bool slow_path;        /**< what no instrument sent is set aside */
    rm_counter *counters;  /**< set "port" */
    uint32_t format_count; /**< at least 1; exactly 1 where the kernel has taken the UDP port off */
    struct rm_receive_format const *format;
    struct rm_identity_table const *identities;
    struct rm_reassembly *reassembly; /**< of all the port's queues that this role polls */
};

/** A record that was refused as ahead of the turn clock, until the end of its burst: the clock may be behind. */
struct rm_receive_held {
    struct rm_record record;
    struct rm_identity const *identity;
};

#define RM_RECEIVE_ANY_VLAN UINT16_MAX

struct rm_receive {
    struct rm_receive_held held[RM_BURST];
    struct rm_receive_queue *queue;
    struct rm_instrument **instrument; /**< all that these queues deliver */
    struct rm_gate_vote **vote;        /**< of those that may tell the clock; if none may, of all */
    rm_express_burst *take_burst;      /**< rm_express_burst_for this CPU */
    struct rm_instrument **touched;    /**< those with something to publish in this burst; room for one more than all */
    uint32_t queue_count;
    uint32_t first_count; /**< the queues before this one are served first; fewer than there are */
    uint32_t next_other;  /**< of the queues from there on, the one polled next: one per call, in turn */
    uint32_t instrument_count;
    uint32_t vote_count;
    uint32_t touched_count;
    uint32_t held_count; /**< 0 between bursts */
    bool short_counters; /**< no instrument has a counter that tells the clock: TAI does, roughly */
    bool settled;        /**< all express lanes were, in this burst */
    bool uncounted;      /**< some may have taken what is not counted yet */
    struct rm_turn_gate gate;
    uint64_t follow_tsc;          /**< when silent streams are looked at next */
    uint64_t follow_ticks;        /**< and how often */
    struct rm_clock *clock;       /**< published here, or NULL: another role does */
    struct rm_histogram *latency; /**< arrival to visible, ticks */
    rm_counter *core_counters;    /**< set "core", of the core the role runs on */
    struct rm_burst burst;
};

/** Everything that is done with receive->burst, which came by `queue` at `tsc`, between its receipt and its release. */
void rm_receive_burst(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc);

/** Counts what the express lanes have taken, the newest of it in the burst that arrived at `tsc` or in an earlier one
 * (rm_instrument_settle): when nothing waits, every 10 ms where something always does, and when the role has ended. */
void rm_receive_settle(struct rm_receive *receive, uint64_t tsc);

/** Most bursts of a queue served first before another queue gets its one: an overloaded one leaves others a fifth. */
enum { RM_RECEIVE_FIRST_BURSTS = 4 };

/** One turn of the duty cycle: each queue that is served first, until it is empty or has had its bursts; then one burst
 * of one of the others. Returns the number of packets. */
uint32_t rm_receive_duty(void *receive, uint64_t tsc);

#endif
