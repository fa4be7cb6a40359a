// SPDX-License-Identifier: Apache-2.0
/** A virtual daisy chain of power supplies: setpoint datagrams in (wire/setpoint.h), native readback datagrams out
 * (ringmaster/supply.h). Pure: bytes and times come from the caller.
 *
 * The rules of docs/setpoint-format.md. A datagram is dropped, and not answered, when it
 *
 *   - is not a setpoint datagram                                      counted: malformed
 *   - is for another chain, or of another number of supplies                   misdirected
 *   - has a sequence number that was there already, or an older one            repeated
 *   - comes while the chain has no power                                       not counted
 *
 * All others are answered, with the state of the supplies when they arrive. A query changes nothing. Setpoints are
 *
 *   - refused, and told so, where their term is below the highest that the chain knows, or the same one
 *     of another server                                                        old_term
 *   - heard and not obeyed, while the chain listens                            listened
 *   - obeyed else, and their term is the highest from now on                   setpoints
 *
 * A chain that is switched on listens for one time-out, a second at most: it notes the highest term that sends, and
 * then obeys that. When no setpoint is obeyed for the time-out, the chain stays where it is, or goes to its safe values,
 * until the next one. A chain that was never given any does neither. Without power it takes nothing, and forgets all
 * that it knew of servers; its supplies hold what they have.
 */
#ifndef RM_INSTRUMENTS_CHAIN_H
#define RM_INSTRUMENTS_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/supply.h>

#include "chain_faults.h"
#include "chain_judge.h"
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
    /** Who hears of what it obeys, and its number there; NULL: nobody. */
    struct rm_chain_judge *judge;
    uint32_t judged_as;
    /** The highest term that was obeyed, or noted while it listens; 0: none. Its server's instance. */
    uint16_t term;
    uint32_t instance;
    /** A setpoint of this term was obeyed, so that `sequence` is that of the last one. */
    bool obeys;
    uint64_t sequence;
    /** When a setpoint was last obeyed; -INFINITY: never. */
    double obeyed_at;
    /** Until when it listens; -INFINITY: it does not. */
    double listens_until;
    /** A server has been heard, and the turn of the newest datagram that was answered. */
    bool heard;
    rm_turn turn;
    /** When setpoints will have stopped; INFINITY: they have not begun, or have stopped. */
    double stops_at;

    bool stopped;
    /** enum rm_chain_status: what was dropped since a setpoint was last obeyed. */
    uint16_t dropped;
    /** A bit per supply, as reported last. */
    uint64_t tripped, saturated;

    /** When it was switched on last, of `faults.on_s`. */
    double on_s;

    float reported[RM_CHAIN_SUPPLIES_MAX];
    struct rm_chain_faults faults;
};

/** What a chain sends: native datagrams, one for every ten supplies. */
struct rm_chain_answer {
    uint32_t parts;
    uint32_t length[RM_CHAIN_ID_PARTS];
    uint8_t payload[RM_CHAIN_ID_PARTS][RM_NATIVE_LONGEST];
};

/** Makes a chain that has been on for long, and has heard of no server. `supplies` is memory for all its supplies, `key` seeds all that is random in them. The
 * configuration's faults stay in use. */
void rm_chain_make(struct rm_chain *chain, struct rm_chain_config const *config, struct rm_supply *supplies,
                   struct rm_chain_fault *faults, uint32_t fault_count, uint64_t key, rm_counter *counters);

/** Switches the chain on, after whatever was before: it knows of no server, and listens for its time-out, if it has
 * one. Its supplies stand where they are. */
void rm_chain_switch_on(struct rm_chain *chain, double time);

/** Takes a payload that has arrived. True when there is an answer to send, in `*answer`. The caller counts it when it
 * is sent. */
bool rm_chain_take(struct rm_chain *chain, uint8_t const *payload, uint32_t length, double time,
                   struct rm_chain_answer *answer);

/** The chain's power goes away, or comes back: an event; several may overlap each other and faults. */
void rm_chain_power(struct rm_chain *chain, double time, bool on);

/** Lets time pass: faults begin and end, setpoints may have stopped. Call it now and then. An effect has its own time,
 * however late it is found. */
void rm_chain_tick(struct rm_chain *chain, double time);

/** Resets all supplies that have tripped. */
void rm_chain_reset(struct rm_chain *chain);

#endif
