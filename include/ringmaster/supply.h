// SPDX-License-Identifier: Apache-2.0
/** Power supplies as Ringmaster sees them: what a chain's readback says, and what the server makes of it.
 *
 * A daisy chain of supplies answers every setpoint datagram (docs/setpoint-format.md) with native datagrams of kind
 * RM_KIND_POWER_SUPPLY, one for every ten of its supplies, whose turn is that of the setpoints they answer. So
 * readbacks are instrument streams like any other, CHAIN/raw, or CHAIN_a/raw, CHAIN_b/raw, … where a chain has more
 * than ten:
 *
 *     lane 0      "sequence"  i32  low 32 bits of the sequence number of the datagram that it answers
 *     lane 1      "state"     i32  three bits per supply, from bit 0: enum rm_supply_bits
 *     lane 2 … 11 the current of each supply, f32, in the unit of its setpoint
 *
 * and the record's status has enum rm_chain_status. The server publishes, beside the streams,
 *
 *     setpoints/sent       struct rm_setpoints: what was sent last, to all supplies in the configuration's order;
 *                          `epoch` is the server's, `input_turn` the cycle's turn
 *     supply/state         parameter u32 [supplies]: enum rm_supply_state
 *     SUPPLY/setpoint      parameter f64: what was sent last; writable where it belongs to the operator
 *     SUPPLY/readback      parameter f64
 */
#ifndef RINGMASTER_SUPPLY_H
#define RINGMASTER_SUPPLY_H

enum {
    RM_SUPPLIES_PER_RECORD = 10,
    RM_SUPPLY_LANE_SEQUENCE = 0,
    RM_SUPPLY_LANE_STATE = 1,
    RM_SUPPLY_LANE_FIRST = 2,
    RM_CHAIN_SUPPLIES_MAX = 40,
    /** Instrument id of part p of chain c: c × RM_CHAIN_ID_PARTS + p. */
    RM_CHAIN_ID_PARTS = 4,
};

/** Of each supply, in lane "state". */
enum rm_supply_bits {
    /** Off, and stays off until it is reset. */
    RM_SUPPLY_BIT_TRIPPED = 1,
    /** At the end of what it can: voltage, current or slew. */
    RM_SUPPLY_BIT_SATURATED = 2,
    /** Goes to its own safe value: the sequence of setpoints has stopped. */
    RM_SUPPLY_BIT_SAFE = 4,
    /** Bits per supply. */
    RM_SUPPLY_BITS = 3,
};

/** Of the chain, in the record's status. */
enum rm_chain_status {
    /** One of its supplies, at least. */
    RM_CHAIN_SAYS_TRIPPED = 1,
    /** One of its supplies, at least. */
    RM_CHAIN_SAYS_SATURATED = 2,
    /** Had no setpoints for its time-out, and does what it was told to do then. */
    RM_CHAIN_SAYS_STOPPED = 4,
    /** Refused a datagram of an older server since its last answer. */
    RM_CHAIN_SAYS_OLD_EPOCH = 8,
    /** Refused a datagram for another chain, or of another length, since its last answer. */
    RM_CHAIN_SAYS_MISDIRECTED = 16,
    /** The sequence had a gap before this datagram. */
    RM_CHAIN_SAYS_GAP = 32,
};

/** What the server makes of a supply, every cycle; several may be set. */
enum rm_supply_state {
    RM_SUPPLY_TRIPPED = 1,
    RM_SUPPLY_SATURATED = 2,
    /** Readback and setpoint differ by more than its tolerance, for longer than it may. */
    RM_SUPPLY_DEVIATES = 4,
    /** Its chain has not answered for as many cycles as it may. */
    RM_SUPPLY_LOST = 8,
    /** The server has not heard yet where it stands, and sends it no setpoint. */
    RM_SUPPLY_JOINING = 16,
    /** Its application has stopped: held. */
    RM_SUPPLY_HELD = 32,
    /** Its application has stopped: on its way to its safe value, or there. */
    RM_SUPPLY_RAMPING = 64,
    /** On its way to its setpoint, as fast as it may. */
    RM_SUPPLY_SLEWING = 128,
};

#endif
