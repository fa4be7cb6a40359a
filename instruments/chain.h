// SPDX-License-Identifier: Apache-2.0
/** A virtual daisy chain of power supplies: setpoint datagrams in (wire/setpoint.h), native readback datagrams out
 * (ringmaster/supply.h). Pure: bytes and times come from the caller.
 *
 * A datagram is refused, and not answered, when it
 *
 *   - is not a setpoint datagram                                      counted: malformed
 *   - is for another chain, or of another number of supplies                   misdirected
 *   - is of an older server than the newest that was heard                     old_generation
 *   - has a sequence number that was there already, or an older one            repeated
 *
 * All others are answered, with the state of the supplies when they arrive. Setpoints are obeyed; a query changes
 * nothing. The next answer reports what was refused, or is missing in the sequence. When no setpoint comes for the
 * time-out, the chain stays where it is, or goes to its safe values, until the next one. A chain that was never given
 * any does neither.
 */
#ifndef RM_INSTRUMENTS_CHAIN_H
#define RM_INSTRUMENTS_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/supply.h>

#include "chain_faults.h"
#include "supply.h"
#include "wire/native.h"

/** What a chain is. Its place on the network is in chain_port.h. */
struct rm_chain_config {
    uint16_t id;
    /** 1 … RM_CHAIN_SUPPLIES_MAX. */
    uint32_t supply_count;
    /** Time without setpoints after which they have stopped; INFINITY: no time-out. */
    double timeout_s;
    /** When setpoints stop, the supplies go to their safe values; else they hold. */
    bool ramps;
    /** [supply] its configuration. */
    struct rm_supply_config const *supply;
};

struct rm_chain {
    struct rm_chain_config const *config;
    struct rm_supply *supply;
    /** Counters of the set `supply`. */
    rm_counter *counters;
    /** A server has been heard, so that the members below are those of the newest one. */
    bool heard;

    uint64_t generation, sequence;
    /** Turn of the newest datagram. */
    rm_turn turn;
    /** When setpoints will have stopped; INFINITY: they have not begun, or have stopped. */
    double stops_at;

    bool stopped;
    /** enum rm_chain_status: what was refused since the last answer. */
    uint16_t refused;
    /** A bit per supply, as reported last. */
    uint64_t tripped, saturated;

    float reported[RM_CHAIN_SUPPLIES_MAX];
    struct rm_chain_faults faults;
};

/** What a chain sends: native datagrams, one for every ten supplies. */
struct rm_chain_answer {
    uint32_t parts;
    uint32_t length[RM_CHAIN_ID_PARTS];
    uint8_t payload[RM_CHAIN_ID_PARTS][RM_NATIVE_LONGEST];
};

/** Makes a chain. `supplies` is memory for all its supplies, `key` seeds all that is random in them. The
 * configuration's faults stay in use. */
void rm_chain_make(struct rm_chain *chain, struct rm_chain_config const *config, struct rm_supply *supplies,
                   struct rm_chain_fault *faults, uint32_t fault_count, uint64_t key, rm_counter *counters);

/** Takes a payload that has arrived. True when there is an answer to send, in `*answer`. The caller counts it when it
 * is sent. */
bool rm_chain_take(struct rm_chain *chain, uint8_t const *payload, uint32_t length, double time,
                   struct rm_chain_answer *answer);

/** Lets time pass: faults begin and end, setpoints may have stopped. Call it now and then. An effect has its own time,
 * however late it is found. */
void rm_chain_tick(struct rm_chain *chain, double time);

/** Resets all supplies that have tripped. */
void rm_chain_reset(struct rm_chain *chain);

#endif
