// SPDX-License-Identifier: Apache-2.0
/** The receive role: polls queues, turns datagrams into records, stores and publishes them.
 *
 * All queues that can deliver one identity belong to one role, so nothing here is shared with another core but the
 * fabric. No lock, no allocation, no system call, no log line: what goes wrong is counted.
 *
 *     what is just as expected ─▶ stream (fast_path_kernel.h)
 *     all else: frame ─▶ datagram (receive_frame.c) ─▶ records ─▶ turn, gate, mirror, stream (receive.c)
 *     what is ahead of the clock: at the end of its burst once more, when the clock knows better (receive.c)
 *     when nothing waits: what the lane took is counted
 *     every 10 ms: so too; who is shown to the clock, silent streams, forgotten fragments, each network's loss
 *                  (receive_follow.c)
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
    /** NULL: native. */
    struct rm_layout const *layout;
};

/** One queue that the role polls. Instruments are told apart within their port. */
struct rm_receive_queue {
    struct rm_port *port;
    uint16_t queue;
    enum rm_framing framing;
    /** VLAN that frames must have, or RM_RECEIVE_ANY_VLAN. */
    uint16_t vlan;
    /** Checksums that the kernel left unfinished are taken. */
    bool local_senders;
    /** What no instrument sent is punted. */
    bool exception_path;
    /** Set "port". */
    rm_counter *counters;
    /** At least 1; exactly 1 where the kernel has taken the UDP port off. */
    uint32_t format_count;

    struct rm_receive_format const *format;
    struct rm_identity_table const *identities;
    /** Of all the port's queues that this role polls. */
    struct rm_reassembly *reassembly;
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
    /** All that these queues deliver. */
    struct rm_instrument **instrument;
    /** Of those that may tell the clock; if none may, of all. */
    struct rm_gate_vote **vote;
    /** rm_fast_path_burst_for this CPU. */
    rm_fast_path_burst *take_burst;
    /** Those with something to publish in this burst; room for one more than all. */
    struct rm_instrument **touched;

    uint32_t queue_count;
    /** The queues before this one are served first; fewer than there are. */
    uint32_t first_count;
    /** Of the queues from there on, the one polled next: one per call, in turn. */
    uint32_t next_other;

    uint32_t instrument_count;
    uint32_t vote_count;
    uint32_t touched_count;
    /** 0 between bursts. */
    uint32_t held_count;
    /** Counters that come round after so many turns or more anchor the clock and vote, and TAI says roughly where they
     * are: the longest of the role, where no instrument has a counter that tells. 0: those that tell, alone. */
    uint64_t anchor_lap_turns;
    /** All fast paths were, in this burst. */
    bool flushed;
    /** Some may have taken what is not counted yet. */
    bool uncounted;

    struct rm_turn_gate gate;
    /** When silent streams are looked at next. */
    uint64_t follow_tsc;
    /** How often silent streams are looked at, in TSC ticks. */
    uint64_t follow_ticks;
    /** Published here, or NULL: another role does. */
    struct rm_clock *clock;
    /** Arrival to visible, ticks. */
    struct rm_histogram *latency;
    /** Set "core", of the core the role runs on. */
    rm_counter *core_counters;

    struct rm_burst burst;
};

/** Everything that is done with receive->burst, which came by `queue` at `tsc`, between its receipt and its release. */
void rm_receive_burst(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc);

/** Counts what the fast paths have taken, the newest of it in the burst that arrived at `tsc` or in an earlier one
 * (rm_instrument_flush): when nothing waits, every 10 ms where something always does, and when the role has ended. */
void rm_receive_flush(struct rm_receive *receive, uint64_t tsc);

/** Most bursts of a queue served first before another queue gets its one: an overloaded one leaves others a fifth. */
enum { RM_RECEIVE_FIRST_BURSTS = 4 };

/** One turn of the duty cycle: each queue that is served first, until it is empty or has had its bursts; then one burst
 * of one of the others. Returns the number of packets. */
uint32_t rm_receive_duty(void *receive, uint64_t tsc);

#endif
