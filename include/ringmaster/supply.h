// SPDX-License-Identifier: Apache-2.0
/** Power supplies as Ringmaster sees them: what a chain's readback says, and what the server makes of it.
 *
 * A daisy chain of supplies answers every setpoint datagram (docs/setpoint-format.md) with native datagrams of kind
 * RM_KIND_POWER_SUPPLY, one for every ten of its supplies. Their turn is that of the setpoints that they answer. So
 * readbacks are instrument streams like any other: CHAIN/raw, or CHAIN_a/raw, CHAIN_b/raw, … where a chain has more
 * than ten supplies. Their lanes are
 *
 *     lane 0      "sequence"  i32  whose it is, and what it answers: rm_supply_answer_term, rm_supply_answer_low
 *     lane 1      "state"     i32  three bits per supply, from bit 0: enum rm_supply_bits
 *     lane 2 … 11 the current of each supply, f32, in the unit of its setpoint
 *
 * and the status of the record holds bits of enum rm_chain_status. Beside the streams the server publishes
 *
 *     setpoints/sent       struct rm_setpoints: what was sent last, to all supplies in the configuration's order;
 *                          `grant_number` is the server's generation, `input_turn` the cycle's turn
 *     setpoints/intended   struct rm_intended [chains]: what each chain may have been sent last, for the server that
 *                          follows one that was killed: intended.h
 *     supply/state         parameter u32 [supplies]: enum rm_supply_state
 *     SUPPLY/setpoint      parameter f64: what was sent last; writable where it belongs to the operator
 *     SUPPLY/readback      parameter f64
 */
#ifndef RINGMASTER_SUPPLY_H
#define RINGMASTER_SUPPLY_H

#include <stdint.h>

enum {
    /** Supplies of one readback record. */
    RM_SUPPLIES_PER_RECORD = 10,
    /** Lane of the term and the sequence number. */
    RM_SUPPLY_LANE_SEQUENCE = 0,
    /** Lane of the bits per supply. */
    RM_SUPPLY_LANE_STATE = 1,
    /** Lane of the first supply's current. */
    RM_SUPPLY_LANE_FIRST = 2,
    /** Most supplies of a chain. */
    RM_CHAIN_SUPPLIES_MAX = 40,
    /** Parts that a chain's readback may have. The instrument id of part p of chain c is c × RM_CHAIN_ID_PARTS + p. */
    RM_CHAIN_ID_PARTS = 4,
};

/** What a supply says of itself: three bits in lane "state". */
enum rm_supply_bits {
    /** The supply is off, and stays off until it is reset. */
    RM_SUPPLY_BIT_TRIPPED = 1,
    /** The supply is at the end of its range of voltage, current or slew. */
    RM_SUPPLY_BIT_SATURATED = 2,
    /** The supply goes to its own safe value, because the sequence of setpoints has stopped. */
    RM_SUPPLY_BIT_SAFE = 4,
    /** Number of bits per supply. */
    RM_SUPPLY_BITS = 3,
};

/** What a chain says of itself: bits of the record's status. */
enum rm_chain_status {
    /** At least one of its supplies is tripped. */
    RM_CHAIN_SAYS_TRIPPED = 1,
    /** At least one of its supplies is saturated. */
    RM_CHAIN_SAYS_SATURATED = 2,
    /** It had no setpoints for its timeout, and does what it is configured to do then. */
    RM_CHAIN_SAYS_STOPPED = 4,
    /** It refused the datagram that it answers: it obeys a higher term, or another server under the same one. */
    RM_CHAIN_SAYS_OLD_TERM = 8,
    /** Since it last obeyed it refused a datagram for another chain, or of another length. */
    RM_CHAIN_SAYS_MISDIRECTED = 16,
    /** The sequence had a gap before the datagram that it answers. */
    RM_CHAIN_SAYS_GAP = 32,
    /** It was just switched on: it hears who sends, and obeys nobody yet. */
    RM_CHAIN_SAYS_LISTENING = 64,
    /** This answers a query. */
    RM_CHAIN_SAYS_QUERIED = 128,
};

/** Low half of lane 0 in the answer to a query: a setpoint was obeyed so long ago, in microseconds, or longer, or
 * never. */
enum { RM_SUPPLY_LONG_AGO = 65535 };

/** The highest term that the chain obeys, or has noted while it listens; 0: none. */
static inline uint16_t rm_supply_answer_term(int32_t lane0) { return (uint16_t)((uint32_t)lane0 >> 16); }

/** In the answer to a setpoint datagram the low 16 bits of its sequence. In the answer to a query the microseconds since
 * the chain last obeyed a setpoint, rounded down; RM_SUPPLY_LONG_AGO: longer, or never. */
static inline uint16_t rm_supply_answer_low(int32_t lane0) { return (uint16_t)(uint32_t)lane0; }

/** Lane 0 of an answer. */
static inline int32_t rm_supply_answer_lane(uint16_t term, uint16_t low) {
    return (int32_t)((uint32_t)term << 16 | low);
}

/** How the server sees a supply, every cycle: the parameter supply/state. Several bits may be set. */
enum rm_supply_state {
    /** The readback says so. */
    RM_SUPPLY_TRIPPED = 1,
    /** The readback says so. */
    RM_SUPPLY_SATURATED = 2,
    /** Readback and setpoint have differed by more than the tolerance, for longer than is allowed. */
    RM_SUPPLY_DEVIATES = 4,
    /** Its chain has not answered for `lost_cycles` cycles. */
    RM_SUPPLY_LOST = 8,
    /** The server has not heard yet where the supply stands, and sends it no setpoint. */
    RM_SUPPLY_JOINING = 16,
    /** Its application has stopped, and the supply is held. */
    RM_SUPPLY_HELD = 32,
    /** Its application has stopped, and the supply is on its way to its safe value, or there. */
    RM_SUPPLY_RAMPING = 64,
    /** The supply is on its way to its setpoint, at the largest slew. */
    RM_SUPPLY_SLEWING = 128,
};

#endif
