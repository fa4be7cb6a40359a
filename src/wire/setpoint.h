// SPDX-License-Identifier: Apache-2.0
/** The setpoint datagram: all supplies of one daisy chain, one cycle. Little-endian, 36 … 192 bytes of UDP payload;
 * docs/setpoint-format.md has it to the bit, with test vectors.
 *
 *     offset 0  u16 magic       0x5352, the characters "RS"
 *            2  u8  version     2
 *            3  u8  flags       bit 0: RM_SETPOINT_QUERY
 *            4  u16 chain       id
 *            6  u16 count       supplies, 1–40, as many as the chain has
 *            8  u64 turn        of the cycle; the answer has it
 *           16  u16 term        of the server: a chain obeys the highest that it has seen; 0 in a query: none yet
 *           18  u16             0
 *           20  u32 instance    number of this life of the server, drawn at random, not 0
 *           24  u64 sequence    one more per setpoint datagram of this chain and term; a gap is a lost one
 *           32  count × f32     setpoints, in each supply's unit, in the chain's order
 *
 * A query holds no command: the chain stays as it is in every respect, and answers. So a server that comes learns where
 * the supplies stand before it moves them, and a standby whom they obey. Values and sequence of a query are ignored.
 */
#ifndef RM_WIRE_SETPOINT_H
#define RM_WIRE_SETPOINT_H

#include <stdint.h>

#include <ringmaster/record.h>
#include <ringmaster/supply.h>

#define RM_SETPOINT_MAGIC 0x5352u
#define RM_SETPOINT_VERSION 2u

enum rm_setpoint_flags { RM_SETPOINT_QUERY = 1 };

enum {
    RM_SETPOINT_HEADER_BYTES = 32,
    RM_SETPOINT_SHORTEST = RM_SETPOINT_HEADER_BYTES + 4,
    RM_SETPOINT_LONGEST = RM_SETPOINT_HEADER_BYTES + 4 * RM_CHAIN_SUPPLIES_MAX,
};

struct rm_setpoint_datagram {
    uint8_t flags;
    uint16_t chain;
    uint16_t count;
    rm_turn turn;
    uint16_t term;
    uint32_t instance;
    uint64_t sequence;
    /** count × f32, little-endian, any alignment. */
    uint8_t const *values;
};

enum rm_setpoint_fault {
    RM_SETPOINT_GOOD = 0,
    /** Too short for a header and one value. */
    RM_SETPOINT_TOO_SHORT,

    RM_SETPOINT_BAD_MAGIC,
    RM_SETPOINT_UNKNOWN_VERSION,
    RM_SETPOINT_UNKNOWN_FLAGS,
    /** The count is 0, or above RM_CHAIN_SUPPLIES_MAX. */
    RM_SETPOINT_BAD_COUNT,
    /** The length does not fit the count. */
    RM_SETPOINT_BAD_LENGTH,
    /** Setpoints of term 0, an instance 0, or bytes 18 and 19 are not 0. */
    RM_SETPOINT_BAD_SENDER,
};

/** Reads a payload, and no byte beyond it; faults are checked in the order of the enum. `*datagram` is filled in only
 * when it is good. */
enum rm_setpoint_fault rm_setpoint_parse(uint8_t const *payload, uint32_t length,
                                         struct rm_setpoint_datagram *datagram);

/** Value `i` < count. It may be any bit pattern, NaN too. */
float rm_setpoint_value(struct rm_setpoint_datagram const *datagram, uint32_t i);

/** Writes a payload of `count` values; NULL stands for zeros. Returns its length, or 0 and nothing written for another
 * number of values than 1–40. The buffer has RM_SETPOINT_LONGEST bytes at any alignment. */
uint32_t rm_setpoint_write(uint8_t *payload, uint8_t flags, uint16_t chain, rm_turn turn, uint16_t term,
                           uint32_t instance, uint64_t sequence, float const *values, uint32_t count);

#endif
