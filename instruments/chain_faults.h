// SPDX-License-Identifier: Apache-2.0
/** What goes wrong, on purpose, with a virtual chain of supplies: from when, for how long, and whom it befalls.
 *
 * Those that strike single answers draw by their key and the answer's sequence number alone, so the same setpoints meet
 * the same faults. Where there are none, all that this costs is one comparison per datagram.
 */
#ifndef RM_INSTRUMENTS_CHAIN_FAULTS_H
#define RM_INSTRUMENTS_CHAIN_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>

#include "supply.h"

enum rm_chain_fault_kind {
    RM_CHAIN_FAULT_TRIP,     /**< the supply goes off; it is reset when the fault's time is over */
    RM_CHAIN_FAULT_SATURATE, /**< the supply can no more than ±limit */
    RM_CHAIN_FAULT_STUCK,    /**< the supply says the current that it had at the beginning */
    RM_CHAIN_FAULT_DEAF,     /**< setpoints are answered and not obeyed, by one supply or by all */
    RM_CHAIN_FAULT_SILENT,   /**< answers are lost */
    RM_CHAIN_FAULT_OTHER_ID, /**< answers have the id of another chain */
    RM_CHAIN_FAULT_KINDS,
};

enum { RM_CHAIN_ALL_SUPPLIES = -1 };

struct rm_chain_fault {
    enum rm_chain_fault_kind kind;
    int32_t supply;     /**< index in its chain, or RM_CHAIN_ALL_SUPPLIES */
    double from_s;      /**< since the start of the run */
    double to_s;        /**< INFINITY: never ends */
    double probability; /**< silent, other_id: per answer */
    double limit;       /**< saturate */
    uint16_t other_id;  /**< other_id */
    uint64_t key;       /**< seeds its draws */
    bool begun, over;   /**< so far */
};

/** Those of one chain, and what they amount to now. */
struct rm_chain_faults {
    struct rm_chain_fault *fault;
    uint32_t count;
    double next_s;  /**< when one begins or ends */
    uint64_t deaf;  /**< bit per supply */
    uint64_t stuck; /**< bit per supply */
    bool answers;   /**< some of those that befall answers are at work */
};

/** `fault` stays in use, and is written to. */
void rm_chain_faults_make(struct rm_chain_faults *faults, struct rm_chain_fault *fault, uint32_t count);

/** Begins and ends what is due. Counts trips. */
void rm_chain_faults_change(struct rm_chain_faults *faults, struct rm_supply *supplies, uint32_t supply_count,
                            double time, rm_counter *counters);

static inline void rm_chain_faults_tick(struct rm_chain_faults *faults, struct rm_supply *supplies,
                                        uint32_t supply_count, double time, rm_counter *counters) {
    if (time >= faults->next_s)
        rm_chain_faults_change(faults, supplies, supply_count, time, counters);
}

/** Whether the answer to datagram `sequence` is lost; else `*id` may become another. Counts what it does. */
bool rm_chain_faults_lose(struct rm_chain_faults const *faults, uint64_t sequence, uint16_t *id, rm_counter *counters);

#endif
