// SPDX-License-Identifier: Apache-2.0
/** Sends the datagrams of all groups turn by turn, at its pace.
 *
 * Every turn goes out when it is due (pace.h), its datagrams side by side in bursts filled across the groups; a group
 * whose period is several turns sends at the multiples of its period, one that puts several turns into a datagram at
 * the last of them. After a stall the sender catches up as fast as the link takes it, for turn numbers belong to the
 * clock and not to the sender; it never sends a turn before its time.
 *
 * It begins when all links are up. Later, while a link is down, its turns pass unsent, as those of a real instrument
 * would, and the other links go on. While all are down the sender waits; it goes on with the turn that is due when one
 * is back.
 *
 * A ring that loops are closed around has a maximum lag: a machine does not wait for whoever sends its readings, and
 * readings that come when their turn is long over make every loop unstable. Turns further back than that pass unsent,
 * and are counted. Or the machine does wait, in lock-step (lock_step.h): then no turn is skipped, and the ring's time
 * stands for as long as it is further behind than that.
 */
#ifndef RM_INSTRUMENTS_SENDER_H
#define RM_INSTRUMENTS_SENDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "fault.h"
#include "lock_step.h"
#include "pace.h"
#include "sink.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

/** Where readings come from: RM_LANES lanes of each of `count` instruments from `first` on, for the run's turn `index`
 * = 0, 1, 2, … Turns are asked for in order, and some perhaps never. */
struct rm_turn_source {
    union rm_lane const *(*turn)(void *state, uint64_t index, uint32_t first, uint32_t count);
    void *state;
};

/** A group on one network. */
struct rm_sender_outlet {
    /** Index of the sink that takes its datagrams. */
    uint32_t sink;
    /** Its source address, and a source MAC of zeros, are replaced by the group's own, and its destination port by the
     * format's where that has one. */
    struct rm_flow flow;
    /** RM_MTU_LEAST … RM_MTU_MOST. */
    uint32_t mtu;
    /** Its block, set `sender`. */
    rm_counter *counters;

    struct rm_fault const *faults;
    uint32_t fault_count;
};

/** One group as the sender is told of it. What is wrong with its turn counter is among the first outlet's faults. */
struct rm_sender_member {
    struct rm_virtual_group const *group;
    struct rm_sender_outlet outlet[RM_NETWORKS];
};

/** Somebody for whom the sending thread does something between two bursts, and while it waits for a link. With one the
 * thread never sleeps while turns are sent. */
struct rm_sender_hook {
    /** NULL: there is nobody. `tsc` is now; or, with a maximum lag, the ring's time, which is behind by that at most
     * while turns wait that are due: what happens to the poll hook now happens before them. It never goes back. */
    void (*poll)(void *state, uint64_t tsc);
    /** The first turn is due; `pace` stays to the end. */
    void (*begin)(void *state, struct rm_pace const *pace);
    /** In lock-step: it has the setpoints of the cycle at `turn`. */
    bool (*has)(void *state, rm_turn turn);

    void *state;
    /** Uses none of the sender's links, so that it is looked after while one of them is full, too. */
    bool elsewhere;
};

struct rm_sender_setup {
    struct rm_virtual_instrument const *instruments;
    /** In the order of their instruments. */
    struct rm_sender_member const *members;

    uint32_t member_count;
    /** 1, or 2: mirrored. */
    uint32_t network_count;

    struct rm_sink const *sinks;
    uint32_t sink_count;
    /** Write UDP checksums. */
    bool udp_checksum;

    struct rm_turn_source source;
    rm_turn first_turn;
    /** To send, UINT64_MAX for no end. */
    uint64_t turns;

    struct rm_lock_step_config lock_step;
    /** How far it may be behind before turns pass unsent. 0: it sends all. */
    double max_lag_s;
    /** 0: as fast as the link takes them. */
    double turn_rate_hz;
    /** Another ring's time, whose turns it joins in: `first_turn` is that one's, and it begins with the turn that is
     * due. NULL: its own. */
    struct rm_ring_time const *joins;

    struct rm_sender_hook hook;
};

struct rm_sender_result {
    /** Turns that were due and handed to a link. */
    uint64_t turns;
    /** Turns that passed while no link was up. */
    uint64_t link_down_turns;
    /** That passed while it was further behind than its maximum lag. */
    uint64_t skipped_turns;
    /** From the first to the last. */
    double seconds;
};

/** Runs until all turns are sent or `stop` becomes true. Arrays of the setup stay in use until it returns.
 * RM_E_NO_SPACE; RM_E_DEAD: in lock-step, and no setpoints came. */
enum rm_code rm_sender_run(struct rm_sender_setup const *setup, double tsc_hz, atomic_bool const *stop,
                           struct rm_sender_result *result, struct rm_error *error);

#endif
