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
 * All others are answered, with how things stand when they arrive. Setpoints are obeyed; a query changes nothing. What
 * was refused, or is missing in the sequence, the next answer says. When no setpoint comes for the time-out the chain
 * stays where it is, or goes to its safe values, until the next; a chain that was never given any does neither.
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

/** What a chain is; where it is on the network is chain_port.h's affair. */
struct rm_chain_config {
    uint16_t id;
    /** 1 … RM_CHAIN_SUPPLIES_MAX. */
    uint32_t supply_count;
    /** INFINITY: waits for ever. */
    double timeout_s;
    /** When setpoints stop: to its safe values; else it holds. */
    bool ramps;
    /** Of each. */
    struct rm_supply_config const *supply;
};

struct rm_chain {
    struct rm_chain_config const *config;
    struct rm_supply *supply;
    /** Set `supply`. */
    rm_counter *counters;
    /** Somebody, once: then these are of the newest server. */
    bool heard;

    uint64_t generation, sequence;
    /** Of the newest datagram. */
    rm_turn turn;
    /** When setpoints will have stopped; INFINITY: have not begun, or have stopped. */
    double stops_at;

    bool stopped;
    /** enum rm_chain_status, since the last answer. */
    uint16_t refused;
    /** As last said, bit per supply. */
    uint64_t tripped, saturated;

    float reported[RM_CHAIN_SUPPLIES_MAX];
    struct rm_chain_faults faults;
};

/** What leaves: native datagrams, one for every ten supplies. */
struct rm_chain_answer {
    uint32_t parts;
    uint32_t length[RM_CHAIN_ID_PARTS];
    uint8_t payload[RM_CHAIN_ID_PARTS][RM_NATIVE_LONGEST];
};

/** `supplies` are memory for as many as it has; `key` seeds all that is random in them. `fault`s stay in use. */
void rm_chain_make(struct rm_chain *chain, struct rm_chain_config const *config, struct rm_supply *supplies,
                   struct rm_chain_fault *faults, uint32_t fault_count, uint64_t key, rm_counter *counters);

/** A payload arrives. True when there is an answer to send, in `*answer`; whoever sends it counts it. */
bool rm_chain_take(struct rm_chain *chain, uint8_t const *payload, uint32_t length, double time,
                   struct rm_chain_answer *answer);

/** Time passes: faults begin and end, setpoints may have stopped. To be called now and then; an effect is as of its own
 * time, whenever it is found. */
void rm_chain_tick(struct rm_chain *chain, double time);

/** All that have tripped are reset. */
void rm_chain_reset(struct rm_chain *chain);

#endif
