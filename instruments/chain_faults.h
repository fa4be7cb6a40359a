// SPDX-License-Identifier: Apache-2.0
/** What goes wrong, on purpose, with a virtual chain of supplies: from when, for how long, and which it befalls.
 *
 * Faults of single answers draw by their key and the answer's sequence number alone, so the same setpoints meet
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
    /** The supply can give no more than ±limit. */
    RM_CHAIN_FAULT_SATURATE,
    /** The supply reports the current that it had when the fault began. */
    RM_CHAIN_FAULT_STUCK,
    /** Setpoints are answered and not obeyed, by one supply or by all. */
    RM_CHAIN_FAULT_DEAF,
    /** Answers are lost. */
    RM_CHAIN_FAULT_SILENT,
    /** Answers have the id of another chain. */
    RM_CHAIN_FAULT_OTHER_ID,
    /** The chain has no power: it takes nothing. It is switched on when the fault's time is over. */
    RM_CHAIN_FAULT_POWER_CYCLE,

    RM_CHAIN_FAULT_KINDS,
};

enum { RM_CHAIN_ALL_SUPPLIES = -1 };

struct rm_chain_fault {
    enum rm_chain_fault_kind kind;
    /** Index in its chain, or RM_CHAIN_ALL_SUPPLIES. */
    int32_t supply;
    /** Seconds since the start of the run. */
    double from_s;
    /** Seconds since the start of the run; INFINITY: it never ends. */
    double to_s;
    /** silent, other_id: probability per answer. */
    double probability;
    /** saturate: the limit. */
    double limit;
    /** other_id: the id. */
    uint16_t other_id;
    /** Seeds its random numbers. */
    uint64_t key;
    /** It has begun; it is over. */
    bool begun, over;
};

/** The faults of one chain, and their effects now. */
struct rm_chain_faults {
    struct rm_chain_fault *fault;
    uint32_t count;
    /** Time at which the next one begins or ends, in seconds. */
    double next_s;
    /** A bit per supply: it obeys no setpoint. */
    uint64_t deaf;
    /** A bit per supply: it reports the same current again and again. */
    uint64_t stuck;
    /** Faults that befall answers are in effect. */
    bool answers;
    /** How many take the chain's power away. */
    uint32_t off;
    /** When the last of them ended; -INFINITY: none has. */
    double on_s;
};

/** `fault` stays in use, and is written to. */
void rm_chain_faults_make(struct rm_chain_faults *faults, struct rm_chain_fault *fault, uint32_t count);

/** A supply of the chain trips, for whatever reason; counted where it was on. */
void rm_chain_trip(struct rm_supply *supply, double time, rm_counter *counters);

/** The chain's power goes away as of `time`, or comes back; there may be several reasons for it at a time. Counted. */
void rm_chain_faults_power(struct rm_chain_faults *faults, double time, bool on, rm_counter *counters);

/** Begins and ends the faults that are due. Counts trips. */
void rm_chain_faults_change(struct rm_chain_faults *faults, struct rm_supply *supplies, uint32_t supply_count,
                            double time, rm_counter *counters);

static inline void rm_chain_faults_tick(struct rm_chain_faults *faults, struct rm_supply *supplies,
                                        uint32_t supply_count, double time, rm_counter *counters) {
    if (time >= faults->next_s)
        rm_chain_faults_change(faults, supplies, supply_count, time, counters);
}

/** True when the answer to datagram `sequence` is lost. Else `*id` may be changed. Counts what it does. */
bool rm_chain_faults_lose(struct rm_chain_faults const *faults, uint64_t sequence, uint16_t *id, rm_counter *counters);

#endif
