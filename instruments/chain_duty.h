// SPDX-License-Identifier: Apache-2.0
/** What a run has to do for its chains: answer setpoints, let time pass for them, reset them when asked, and publish
 * their currents. One thread calls it as often as it can: the sender's, between two bursts, or one of its own making
 * where there are no instruments. */
#ifndef RM_INSTRUMENTS_CHAIN_DUTY_H
#define RM_INSTRUMENTS_CHAIN_DUTY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "chain_port.h"
#include "chains.h"
#include "ring_config.h"

struct rm_chain_duty {
    struct rm_chains chains;
    /** Of each port that chains are at. */
    struct rm_chain_port *chain_port;
    /** Of each of these; NULL: it is the sender's too. */
    struct rm_port **own_port;

    uint32_t port_count;
    /** Asked for, so far. */
    _Atomic uint64_t const *resets;
    /** Done, so far. */
    uint64_t reset;

    uint64_t tick_ticks, publish_ticks;
    /** Of the next. */
    uint64_t tick_tsc, publish_tsc;

    double *currents;
    /** Some 50 times a second. */
    void (*publish)(void *state, double const *currents);

    void *state;
};

/** Opens the ports of the ring's chains, but uses those that are open: [port], each NULL or open. */
enum rm_code rm_chain_duty_open(struct rm_ring_config const *ring, struct rm_port *const open[RM_RING_PORTS_MAX],
                                rm_counter *const *counters, double tsc_hz, struct rm_chain_duty *duty,
                                struct rm_error *error);
void rm_chain_duty_close(struct rm_chain_duty *duty);

/** Everything that is to do at `tsc`. `duty` is a struct rm_chain_duty. */
void rm_chain_duty_poll(void *duty, uint64_t tsc);

/** Whether the chains have the setpoints of the cycle at `turn`: rm_chains_have. `duty` as above. */
bool rm_chain_duty_has(void *duty, rm_turn turn);

/** Polls until `stop`, or for `seconds`; 0: without an end. Sleeps between looks while nobody sends. */
void rm_chain_duty_run(struct rm_chain_duty *duty, double seconds, atomic_bool const *stop);

#endif
