// SPDX-License-Identifier: Apache-2.0
/** What a run does for its chains: it answers setpoints, lets time pass, resets supplies when asked, and publishes
 * their currents. One thread calls it as often as it can: the sender's, between two bursts, or a thread of its own
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
    /** [port that chains are at]. */
    struct rm_chain_port *chain_port;
    /** [port that chains are at] the port, and that of a pair's second server, if it is open for the chains alone; NULL: it
     * is the sender's too, or there is one server. */
    struct rm_port *(*own_port)[RM_CONFIG_SERVERS];
    /** [port that chains are at] used where there are two servers. */
    struct rm_pair *pair;

    uint32_t port_count;
    /** Resets asked for so far. */
    _Atomic uint64_t const *resets;
    /** Resets done so far. */
    uint64_t reset;

    uint64_t tick_ticks, publish_ticks;
    /** TSC of the next tick and of the next publication. */
    uint64_t tick_tsc, publish_tsc;

    double *currents;
    /** Called before each poll's datagrams, with their time; NULL: not called. */
    void (*reach)(void *state, double time);
    /** Called some 50 times a second with all currents; NULL: not called. */
    void (*publish)(void *state, double const *currents);

    void *state;
};

/** Ports that are open already, by ring's port and server; or NULL. */
typedef struct rm_port *rm_open_ports[RM_RING_PORTS_MAX][RM_CONFIG_SERVERS];

/** Opens the ports of the ring's chains, but for those that are open already: they are used as they are. */
enum rm_code rm_chain_duty_open(struct rm_ring_config const *ring, rm_open_ports const open,
                                rm_counter *const *counters, double tsc_hz, struct rm_chain_duty *duty,
                                struct rm_error *error);
void rm_chain_duty_close(struct rm_chain_duty *duty);

/** Does all that is due at `tsc`. `duty` is a struct rm_chain_duty. */
void rm_chain_duty_poll(void *duty, uint64_t tsc);

/** True when the chains have the setpoints of the cycle at `turn` (rm_chains_have). `duty` as above. */
bool rm_chain_duty_has(void *duty, rm_turn turn);

/** Forgets the setpoints that it has (rm_chains_forget). `duty` as above. */
void rm_chain_duty_forget(void *duty);

/** Polls until `stop`, or for `seconds`; 0: without an end. Sleeps between polls while no setpoints come. */
void rm_chain_duty_run(struct rm_chain_duty *duty, double seconds, atomic_bool const *stop);

#endif
