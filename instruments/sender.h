// SPDX-License-Identifier: Apache-2.0
/** Sends the datagrams of all groups turn by turn, at its pace.
 *
 * Every turn goes out when it is due (pace.h), its datagrams side by side in bursts filled across the groups; a group
 * whose period is several turns sends at the multiples of its period, one that puts several turns into a datagram at
 * the last of them. After a stall the sender catches up as fast as the link takes it, for turn numbers belong to the
 * clock and not to the sender; it never sends a turn before its time.
 *
 * It begins when all links are up; a link to both servers of a pair is up when one of them is there. Later, while a link is down, its turns pass unsent, as those of a real instrument
 * would, and the other links go on. While all are down the sender waits; it goes on with the turn that is due when one
 * is back.
 *
 * A ring that loops are closed around has a maximum lag. A machine does not wait for the program that sends its
 * readings, and readings that come when their turn is long over make every loop unstable. Turns further back than that
 * lag pass unsent, and are counted. Or the machine does wait, in lock-step (lock_step.h): then no turn is skipped, and
 * the ring's time stands for as long as it is further behind than that.
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
#include "net/port.h"
#include "pace.h"
#include "pair.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

/** Where readings come from: RM_LANES lanes of each of `count` instruments from `first` on, for the run's turn `index`
 * = 0, 1, 2, … Turns are asked for in order, and some may never be asked for. */
struct rm_turn_source {
    union rm_lane const *(*turn)(void *state, uint64_t index, uint32_t first, uint32_t count);
    void *state;
};

/** A group on one network. */
struct rm_sender_outlet {
    /** Index of the open port that takes its datagrams. */
    uint32_t port;
    /** Where datagrams go. The group's own source address replaces the one here, and a source MAC of zeros; the
     * format's destination port replaces the one here, where the format has one. */
    struct rm_flow flow;
    /** RM_MTU_LEAST … RM_MTU_MOST. */
    uint32_t mtu;
    /** Its block of the set `sender`. */
    rm_counter *counters;

    struct rm_fault const *faults;
    uint32_t fault_count;
};

/** One group as the sender gets it. Faults of its turn counter are among the first outlet's faults. */
struct rm_sender_member {
    struct rm_virtual_group const *group;
    struct rm_sender_outlet outlet[RM_NETWORKS];
};

/** A poll hook: the sending thread calls it between two bursts, and while it waits for a link. With a hook, the thread
 * never sleeps while turns are sent. */
struct rm_sender_hook {
    /** NULL: there is no hook. `tsc` is the time now. With a maximum lag and turns that wait, it is the ring's time,
     * which is behind by at most that lag: what the hook does now happens before those turns. It never goes back. */
    void (*poll)(void *state, uint64_t tsc);
    /** Called when the first turn is due; `pace` stays valid to the end. */
    void (*begin)(void *state, struct rm_turn_pace const *pace);
    /** In lock-step: true when the hook has the setpoints of the cycle at `turn`. */
    bool (*has)(void *state, rm_turn turn);
    /** In lock-step: the server has ended. It has all setpoints until another one has sent some. */
    void (*forget)(void *state);

    void *state;
    /** The hook uses none of the sender's links, so it is called while one of them is full, too. */
    bool elsewhere;
};

struct rm_sender_setup {
    struct rm_virtual_instrument const *instruments;
    /** In the order of their instruments. */
    struct rm_sender_member const *members;

    uint32_t member_count;
    /** 1, or 2: mirrored. */
    uint32_t network_count;

    /** Each sends in its queue 0. */
    struct rm_port *const *ports;
    /** [port] the same of the second server of a pair, which gets the same datagrams; NULL: there is one server. */
    struct rm_port *const *seconds;
    uint32_t port_count;
    /** UDP checksums are written. */
    bool udp_checksum;

    struct rm_turn_source source;
    rm_turn first_turn;
    /** Turns to send; UINT64_MAX: no end. */
    uint64_t turns;

    struct rm_lock_step_config lock_step;
    /** It naps until a turn is due, and is some 0.1 ms late. */
    bool naps;
    /** Largest lag before turns pass unsent. 0: it sends all turns. */
    double max_lag_s;
    /** 0: as fast as the link takes the turns. */
    double turn_rate_hz;
    /** The time of another ring that it joins: `first_turn` is that ring's, and sending begins with the turn that is
     * due. NULL: it has its own time. */
    struct rm_ring_time const *joins;

    struct rm_sender_hook hook;
};

struct rm_sender_result {
    /** Turns that were due and handed to a link. */
    uint64_t turns;
    /** Turns that passed while no link was up. */
    uint64_t link_down_turns;
    /** Turns that passed while the sender was further behind than its maximum lag. */
    uint64_t skipped_turns;
    /** Seconds from the first turn to the last. */
    double seconds;
    /** Of a pair: datagrams and fragments that each server did not take, and the other one did. */
    uint64_t missed[RM_CONFIG_SERVERS];
};

/** Runs until all turns are sent or `stop` becomes true. Arrays of the setup stay in use until it returns.
 * RM_E_NO_SPACE; RM_E_DEAD: in lock-step, and no setpoints came. */
enum rm_code rm_sender_run(struct rm_sender_setup const *setup, double tsc_hz, atomic_bool const *stop,
                           struct rm_sender_result *result, struct rm_error *error);

#endif
