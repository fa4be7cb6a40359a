// SPDX-License-Identifier: Apache-2.0
/** Described datagrams: any fixed layout, told by offsets and widths, and read nearly as fast as the native one.
 *
 * A datagram holds `instruments` blocks one after the other, and each block `turns` records: so record r of a datagram
 * is of block r / turns and turn r % turns of it, and starts at
 *
 *     instrument_at + (r / turns) · instrument_stride + turn_at + (r % turns) · turn_stride
 *
 * Fields of the datagram (magic numbers, a common counter) are at offsets from the payload's start, fields of a block
 * from the block's, fields of a record from the record's. A counter outside the record is that of the first turn of its
 * block, and the others follow it.
 *
 * A layout is described (struct rm_layout_description: what the configuration says), compiled once (rm_layout_compile:
 * checked, every load placed), and then only read. Reading needs rm_layout_check on the payload first, which bounds
 * all that is read after it.
 */
#ifndef RM_WIRE_LAYOUT_H
#define RM_WIRE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counters.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

enum rm_byte_order {
    RM_LITTLE_ENDIAN,
    RM_BIG_ENDIAN,
};

enum rm_field_type {
    RM_FIELD_U8,
    RM_FIELD_I8,
    RM_FIELD_U16,
    RM_FIELD_I16,
    RM_FIELD_U24,
    RM_FIELD_I24,
    /** In a lane, values above 2^31 - 1 are stored as 2^31 - 1. */
    RM_FIELD_U32,

    RM_FIELD_I32,
    /** Counters only. */
    RM_FIELD_U64,
    /** Lanes only. */
    RM_FIELD_F32,
};

/** What a field's offset counts from. */
enum rm_field_scope {
    RM_IN_DATAGRAM,
    RM_IN_INSTRUMENT,
    RM_IN_TURN,
};

enum {
    RM_LAYOUT_CONSTANTS_MAX = 8,
    /** Bytes of a datagram's payload. */
    RM_LAYOUT_PAYLOAD_MAX = 9216,
    /** Most records of one datagram. */
    RM_LAYOUT_RECORDS_MAX = 1024,
};

/** An unsigned number in a datagram: bits [shift, shift + bits) of an integer that stands `at` bytes into its scope. */
struct rm_layout_field {
    bool present;
    enum rm_field_scope in;
    uint32_t at;
    enum rm_field_type type;
    uint32_t shift;
    /** How many bits; 0: all that are left. */
    uint32_t bits;
};

struct rm_layout_lane {
    char name[RM_LANE_NAME_BYTES];
    char unit[RM_UNIT_BYTES];
    /** Offset from the start of the record. */
    uint32_t at;

    enum rm_field_type type;
};

/** A field of the datagram that never changes. */
struct rm_layout_constant {
    uint32_t at;
    /** An unsigned type. */
    enum rm_field_type type;

    uint64_t value;
};

struct rm_layout_description {
    enum rm_byte_order byte_order;
    /** Length of the payload; 0: what the blocks take, as many as there are. */
    uint32_t bytes;

    uint32_t constant_count;
    struct rm_layout_constant constant[RM_LAYOUT_CONSTANTS_MAX];
    /** Blocks; 0: as many as the payload holds. */
    uint32_t instrument_count;

    uint32_t instrument_at;
    uint32_t instrument_stride;
    /** At least 1. */
    uint32_t turn_count;

    uint32_t turn_at;
    uint32_t turn_stride;
    /** Absent: the number of the block, from 0. */
    struct rm_layout_field id;
    /** Always there. */
    struct rm_layout_field counter;
    /** Absent: the status is 0. */
    struct rm_layout_field status;
    /** 1–RM_LANES. */
    uint32_t lane_count;

    struct rm_layout_lane lane[RM_LANES];
};

/** A compiled layout. Constant, so any number of threads may read by it. */
struct rm_layout;

/** What a record says about itself. */
struct rm_sample {
    /** Counter of this record, rm_layout_counter_bits wide: as it came, or advanced to its turn. */
    uint64_t counter;
    /** Id; up to 32 bits. Instruments' ids have up to 16. */
    uint32_t id;

    uint16_t status;
};

/** Checks and compiles. RM_E_CONFIG with a text "KEY: what is wrong, what was expected", KEY as in the configuration's
 * `layout:` mapping ("lanes[2].at"): fields beyond the datagram, overlapping strides, a lane of type u64, more than
 * RM_LAYOUT_RECORDS_MAX records, a payload below 8 bytes. Strides may be 0 where there is one block, or one turn. With
 * several of both, either the turns of a block lie within the block's stride, or the blocks within the turns'. Fields
 * may overlap each other. The layout is freed by rm_layout_free. */
enum rm_code rm_layout_compile(struct rm_layout_description const *description, struct rm_layout **layout,
                               struct rm_error *error);
void rm_layout_free(struct rm_layout *layout);

/** Bits of the counter. The receiver unwraps one of 16, 24 or 32 bits, or of any other width below 64. */
uint32_t rm_layout_counter_bits(struct rm_layout const *layout);

/** Turns after which a counter of `bits` begins again that goes up by one in `period_turns`. 0: it lasts for years, and
 * tells the turn by itself. */
uint64_t rm_counter_lap_turns(uint32_t bits, uint32_t period_turns);

/** Length of the payload where it always holds one record; 0 where it may hold several. */
uint32_t rm_layout_single_bytes(struct rm_layout const *layout);

/** Bytes that a field of this type takes. */
uint32_t rm_field_bytes(enum rm_field_type type);

/** The description that it was compiled from. */
struct rm_layout_description const *rm_layout_described(struct rm_layout const *layout);

/** Checks length and constants. Returns RM_PORT_DECODED and the number of records, at least 1; or RM_PORT_TOO_SHORT,
 * …_TOO_LONG, …_BAD_LENGTH, …_BAD_MAGIC. */
enum rm_port_counter rm_layout_check(struct rm_layout const *layout, uint8_t const *payload, uint32_t length,
                                     uint32_t *records);

/** Reads record `index` of a checked payload: id, counter and status, and its lanes, unused ones zero. The caller sets
 * turn and tag of the record: until then they hold anything. It reads no byte beyond the payload.
 *
 * Both in one call, because most often one load brings both, and a record that is then not wanted is rare. */
void rm_layout_read(struct rm_layout const *layout, uint8_t const *payload, uint32_t index, struct rm_sample *sample,
                    struct rm_record *record);

/** True when the blocks of a checked payload seem to have one id: the first, the second and the last have the same.
 * Such a datagram is of another format: in the other variant of Libera Grouping the counter stands where the id is
 * expected. */
bool rm_layout_repeats_id(struct rm_layout const *layout, uint8_t const *payload, uint32_t records);

/** The sender's half: the payload's length for so many blocks (a layout with a number of its own takes that); its
 * constants, and zeros; and one record of it, to be written in order of `index`. What does not fit its field is cut to
 * the field's low bits. A counter outside the record is written back to that of the block's first turn; status outside
 * the record is that of the record written last. */
uint32_t rm_layout_payload_bytes(struct rm_layout const *layout, uint32_t instruments);
void rm_layout_begin(struct rm_layout const *layout, uint8_t *payload, uint32_t length);
void rm_layout_write(struct rm_layout const *layout, uint8_t *payload, uint32_t index, struct rm_sample const *sample,
                     union rm_lane const *lanes);

/** The layouts that have a name of their own: "libera_grouping", "libera_grouping_counter_first" (docs/instruments.md).
 * NULL for other names. */
struct rm_layout_description const *rm_layout_preset(char const *name);

#endif
