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
    /** The supply goes off; it is reset when the fault's time is over. */
    RM_CHAIN_FAULT_TRIP,
    /** The supply can no more than ±limit. */
    RM_CHAIN_FAULT_SATURATE,
    /** The supply says the current that it had at the beginning. */
    RM_CHAIN_FAULT_STUCK,
    /** Setpoints are answered and not obeyed, by one supply or by all. */
    RM_CHAIN_FAULT_DEAF,
    /** Answers are lost. */
    RM_CHAIN_FAULT_SILENT,
    /** Answers have the id of another chain. */
    RM_CHAIN_FAULT_OTHER_ID,

    RM_CHAIN_FAULT_KINDS,
};

enum { RM_CHAIN_ALL_SUPPLIES = -1 };

struct rm_chain_fault {
    enum rm_chain_fault_kind kind;
    /** Index in its chain, or RM_CHAIN_ALL_SUPPLIES. */
    int32_t supply;
    /** Since the start of the run. */
    double from_s;
    /** INFINITY: never ends. */
    double to_s;
    /** Silent, other_id: per answer. */
    double probability;
    /** Saturate. */
    double limit;
    /** other_id */
    uint16_t other_id;
    /** Seeds its draws. */
    uint64_t key;
    /** Whether it has begun, and whether it is over. */
    bool begun, over;
};

/** Those of one chain, and what they amount to now. */
struct rm_chain_faults {
    struct rm_chain_fault *fault;
    uint32_t count;
    /** When one begins or ends. */
    double next_s;
    /** Bit per supply. */
    uint64_t deaf;
    /** Bit per supply. */
    uint64_t stuck;
    /** Some of those that befall answers are at work. */
    bool answers;
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
