// SPDX-License-Identifier: Apache-2.0
/** The native datagram: one instrument, one turn. Little-endian, 20–64 bytes of UDP payload; docs/native-format.md has
 * it to the bit, with test vectors.
 *
 *     offset 0  u16 magic       0x4D52, the characters "RM"
 *            2  u8  version     1
 *            3  u8  kind        enum rm_instrument_kind
 *            4  u16 instrument  id, unique per source address
 *            6  u16 status      the instrument's own bits
 *            8  u64 turn        not 2^64 - 1
 *           16  1–12 lanes of 4 bytes, i32 or f32 as the receiver's configuration says
 *
 * The lanes stand where a record has them, so a record is the datagram with its first 16 bytes replaced.
 */
#ifndef RM_WIRE_NATIVE_H
#define RM_WIRE_NATIVE_H

#include <stdint.h>

#include <ringmaster/counters.h>
#include <ringmaster/record.h>

#define RM_NATIVE_MAGIC 0x4D52u
#define RM_NATIVE_VERSION 1u

enum {
    RM_NATIVE_HEADER_BYTES = 16,
    RM_NATIVE_SHORTEST = RM_NATIVE_HEADER_BYTES + 4,
    RM_NATIVE_LONGEST = RM_NATIVE_HEADER_BYTES + 4 * RM_LANES,
};

struct rm_native {
    uint8_t kind;
    uint16_t instrument;
    uint16_t status;
    rm_turn turn;
    uint32_t lane_count;
    /** Points into the payload; any alignment. */
    uint8_t const *lanes;
};

/** Reads a payload, not a byte beyond it. Returns RM_PORT_DECODED, or the counter of what is wrong:
 * RM_PORT_TOO_SHORT, …_TOO_LONG, …_BAD_LENGTH, …_BAD_MAGIC, …_UNKNOWN_VERSION, …_UNKNOWN_KIND, checked in that order. A
 * turn of RM_TURN_NONE passes here: the stream refuses it, as above any window. `*native` is filled only when decoded.
 */
enum rm_port_counter rm_native_parse(uint8_t const *payload, uint32_t length, struct rm_native *native);

/** Makes the record: lanes as they came, those beyond lane_count zero. */
void rm_native_record(struct rm_native const *native, rm_turn turn, uint64_t tag, struct rm_record *record);

/** Writes a datagram of 1–12 lanes; returns its length, or 0 and nothing written for another number of lanes. The
 * buffer has RM_NATIVE_LONGEST bytes at any alignment. */
uint32_t rm_native_write(uint8_t *payload, uint8_t kind, uint16_t instrument, uint16_t status, rm_turn turn,
                         union rm_lane const *lanes, uint32_t lane_count);

#endif
