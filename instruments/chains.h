// SPDX-License-Identifier: Apache-2.0
/** All chains of a ring at work: made of their configuration, found by their addresses, with a common time zero. */
#ifndef RM_INSTRUMENTS_CHAINS_H
#define RM_INSTRUMENTS_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "chain.h"
#include "ring_supplies.h"

enum { RM_CHAINS_NOBODY = UINT32_MAX };

struct rm_chains {
    struct rm_ring_supplies const *config;
    struct rm_chain *chain;
    /** [supply of all chains]. */
    struct rm_supply *supply;
    /** [fault of all chains]. */
    struct rm_chain_fault *fault;
    /** Chains by a hash of their address; RM_CHAINS_NOBODY: free. */
    uint32_t *table;
    /** Of what they obey; NULL where the configuration has no limits. */
    struct rm_chain_judge *judge;

    uint64_t start_tsc;
    double seconds_per_tick;
};

/** Makes the chains; their time begins at `start_tsc`. `counters` [chain] are blocks of the set `supply`. `config`
 * stays in use. RM_E_NO_SPACE. */
enum rm_code rm_chains_make(struct rm_ring_supplies const *config, uint64_t seed, rm_counter *const *counters,
                            uint64_t start_tsc, double tsc_hz, struct rm_chains *chains, struct rm_error *error);
void rm_chains_free(struct rm_chains *chains);

/** Seconds since the beginning; less than 0 before it. */
static inline double rm_chains_seconds(struct rm_chains const *chains, uint64_t tsc) {
    return (double)(int64_t)(tsc - chains->start_tsc) * chains->seconds_per_tick;
}

/** The chain at this address that takes setpoints at this UDP port, or RM_CHAINS_NOBODY. */
uint32_t rm_chains_find(struct rm_chains const *chains, uint32_t ipv4, uint16_t udp_port);

/** Switches all chains on (rm_chain_switch_on). */
void rm_chains_switch_on(struct rm_chains *chains, double time);

/** Calls rm_chain_tick (or rm_chain_reset) for every chain. */
void rm_chains_tick(struct rm_chains *chains, double time);
void rm_chains_reset(struct rm_chains *chains);

/** A supply of all chains trips at `time`, and its chain counts it. */
void rm_chains_trip(struct rm_chains *chains, uint32_t supply, double time);

/** The power of a chain goes away, or comes back (rm_chain_power). */
void rm_chains_power(struct rm_chains *chains, uint32_t chain, double time, bool on);

/** Index of the chain of a supply of all chains. */
uint32_t rm_chains_of_supply(struct rm_chains const *chains, uint32_t supply);

/** True when each chain that a server has ever sent to has a datagram of the cycle at `turn`, or of a later one. */
bool rm_chains_have(struct rm_chains const *chains, rm_turn turn);

/** The server has ended: they have what they wait for until another one has sent to them. */
void rm_chains_forget(struct rm_chains *chains);

/** The true current of every supply, of all chains, in their order. */
void rm_chains_currents(struct rm_chains *chains, double time, double *currents);

/** The same of `count` supplies, by their indices. */
void rm_chains_currents_of(struct rm_chains *chains, double time, uint32_t const *supply, uint32_t count,
                           double *currents);

#endif
