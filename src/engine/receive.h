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
 *     every 10 ms: the same; which instruments the clock sees, silent streams, lost fragments, each network's loss
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
    /** Layout of the format; NULL: native. */
    struct rm_layout const *layout;
};

/** One queue that the role polls. Instruments are told apart within their port. */
struct rm_receive_queue {
    struct rm_port *port;
    uint16_t queue;
    enum rm_framing framing;
    /** VLAN that frames must have, or RM_RECEIVE_ANY_VLAN. */
    uint16_t vlan;
    /** Checksums that the kernel left unfinished are accepted. */
    bool local_senders;
    /** Frames that no instrument sent are punted. */
    bool exception_path;
    /** Counters of the set "port". */
    rm_counter *counters;
    /** At least 1; exactly 1 where the kernel has removed the UDP header. */
    uint32_t format_count;

    struct rm_receive_format const *format;
    struct rm_identity_table const *identities;
    /** Shared by all queues of the port that this role polls. */
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
    /** All instruments that these queues deliver. */
    struct rm_instrument **instrument;
    /** Votes of the instruments that may tell the clock; if none may, of all. */
    struct rm_gate_vote **vote;
    /** rm_fast_path_burst_for for this CPU. */
    rm_fast_path_burst *take_burst;
    /** Instruments with something to publish in this burst; it has room for one more than all. */
    struct rm_instrument **touched;

    uint32_t queue_count;
    /** The queues before this one are served first. At least one queue is not. */
    uint32_t first_count;
    /** Index of the other queue that is polled next: one per call, in turn. */
    uint32_t next_other;

    uint32_t instrument_count;
    uint32_t vote_count;
    uint32_t touched_count;
    /** 0 between bursts. */
    uint32_t held_count;
    /** Counters that come round after so many turns or more anchor the clock and vote, and TAI says roughly where they
     * are: the longest of the role, where no instrument has a counter that tells. 0: those that tell, alone. */
    uint64_t anchor_lap_turns;
    /** All fast paths were flushed in this burst. */
    bool flushed;
    /** Fast paths may have taken records that are not counted yet. */
    bool uncounted;

    struct rm_turn_gate gate;
    /** TSC at which silent streams are looked at next. */
    uint64_t follow_tsc;
    /** How often silent streams are looked at, in TSC ticks. */
    uint64_t follow_ticks;
    /** Clock that this role publishes; NULL: another role does. */
    struct rm_clock *clock;
    /** Time from arrival to visibility, in TSC ticks. */
    struct rm_histogram *latency;
    /** Counters of the set "core", of the core that the role runs on. */
    rm_counter *core_counters;

    struct rm_burst burst;
};

/** Does everything with receive->burst, which came by `queue` at `tsc`, between its receipt and its release. */
void rm_receive_burst(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc);

/** Counts what the fast paths have taken; the newest came in the burst that arrived at `tsc`, or in an earlier one
 * (rm_instrument_flush). Call it when nothing waits, every 10 ms where something always waits, and when the role has
 * ended. */
void rm_receive_flush(struct rm_receive *receive, uint64_t tsc);

/** Most bursts of a queue that is served first before another queue gets one: an overloaded queue leaves the others a
 * fifth. */
enum { RM_RECEIVE_FIRST_BURSTS = 4 };

/** Runs the duty once: polls each queue that is served first until it is empty or has had its bursts; then takes one
 * burst of one of the others. Returns the number of packets. */
uint32_t rm_receive_duty(void *receive, uint64_t tsc);

#endif
