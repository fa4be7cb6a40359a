// SPDX-License-Identifier: Apache-2.0
#include "chain_faults.h"

#include <math.h>

#include <ringmaster/counters.h>

#include "noise.h"

void rm_chain_faults_make(struct rm_chain_faults *faults, struct rm_chain_fault *fault, uint32_t count) {
    *faults = (struct rm_chain_faults){
        .fault = fault, .count = count, .next_s = count == 0 ? INFINITY : 0, .on_s = -INFINITY};
}

static void set_bit(uint64_t *bits, uint32_t bit, bool value) {
    *bits = value ? *bits | 1ull << bit : *bits & ~(1ull << bit);
}

void rm_chain_trip(struct rm_supply *supply, double time, rm_counter *counters) {
    if (!supply->off)
        rm_counter_add(counters, RM_SUPPLY_TRIPS, 1);
    rm_supply_trip(supply, time);
}

void rm_chain_faults_power(struct rm_chain_faults *faults, double time, bool on, rm_counter *counters) {
    faults->off = on ? faults->off - 1 : faults->off + 1;
    if (on && faults->off == 0)
        faults->on_s = time;
    rm_counter_add(counters, RM_SUPPLY_POWER_CYCLES, on && faults->off == 0);
}

/** Begins a fault of one supply, or ends it. */
static void chain_fault_befall(struct rm_chain_faults *faults, struct rm_chain_fault const *fault,
                               struct rm_supply *supply, uint32_t index, bool begins, rm_counter *counters) {
    switch (fault->kind) {
    case RM_CHAIN_FAULT_TRIP:
        if (begins)
            rm_chain_trip(supply, fault->from_s, counters);
        else
            rm_supply_reset(supply);
        break;
    case RM_CHAIN_FAULT_SATURATE:
        rm_supply_limit(supply, begins ? fault->from_s : fault->to_s, begins ? fault->limit : INFINITY);
        break;
    case RM_CHAIN_FAULT_STUCK:
        set_bit(&faults->stuck, index, begins);
        break;
    case RM_CHAIN_FAULT_DEAF:
        set_bit(&faults->deaf, index, begins);
        break;
    default: /* of answers: they look at the time themselves */
        break;
    }
}

static void chain_fault_change(struct rm_chain_faults *faults, struct rm_chain_fault const *fault,
                               struct rm_supply *supplies, uint32_t supply_count, bool begins, rm_counter *counters) {
    if (fault->kind == RM_CHAIN_FAULT_POWER_CYCLE) {
        rm_chain_faults_power(faults, begins ? fault->from_s : fault->to_s, !begins, counters);
        return;
    }
    for (uint32_t s = 0; s < supply_count; ++s)
        if (fault->supply == RM_CHAIN_ALL_SUPPLIES || fault->supply == (int32_t)s)
            chain_fault_befall(faults, fault, &supplies[s], s, begins, counters);
}

void rm_chain_faults_change(struct rm_chain_faults *faults, struct rm_supply *supplies, uint32_t supply_count,
                            double time, rm_counter *counters) {
    faults->next_s = INFINITY;
    faults->answers = false;
    for (uint32_t f = 0; f < faults->count; ++f) {
        struct rm_chain_fault *fault = &faults->fault[f];
        if (!fault->begun && time >= fault->from_s) {
            fault->begun = true;
            chain_fault_change(faults, fault, supplies, supply_count, true, counters);
        }
        if (fault->begun && !fault->over && time >= fault->to_s) {
            fault->over = true;
            chain_fault_change(faults, fault, supplies, supply_count, false, counters);
        }
        if (!fault->over)
            faults->next_s = fmin(faults->next_s, fault->begun ? fault->to_s : fault->from_s);
        if (fault->kind == RM_CHAIN_FAULT_SILENT || fault->kind == RM_CHAIN_FAULT_OTHER_ID)
            faults->answers = faults->answers || (fault->begun && !fault->over);
    }
}

static bool chain_fault_strikes(struct rm_chain_fault const *fault, uint64_t sequence) {
    return fault->begun && !fault->over && rm_noise_uniform(fault->key ^ sequence) < fault->probability;
}

bool rm_chain_faults_lose(struct rm_chain_faults const *faults, uint64_t sequence, uint16_t *id, rm_counter *counters) {
    bool lost = false;
    uint16_t other = *id;
    for (uint32_t f = 0; faults->answers && f < faults->count; ++f) {
        struct rm_chain_fault const *fault = &faults->fault[f];
        if (fault->kind == RM_CHAIN_FAULT_SILENT)
            lost = lost || chain_fault_strikes(fault, sequence);
        else if (fault->kind == RM_CHAIN_FAULT_OTHER_ID && chain_fault_strikes(fault, sequence))
            other = fault->other_id;
    }
    rm_counter_add(counters, RM_SUPPLY_FAULT_LOST, lost);
    rm_counter_add(counters, RM_SUPPLY_FAULT_OTHER, !lost && other != *id);
    *id = other;
    return lost;
}
