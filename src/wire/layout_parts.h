// SPDX-License-Identifier: Apache-2.0
/** What a compiled layout is made of. For the files layout_*, their tests and their fuzzer; others have layout.h, and
 * the fast path of the receive role layout_words.h and layout_register.h.
 *
 * Every field is had by one unaligned load of 8 bytes. Where the payload may end right behind the field, the load
 * begins earlier, so that it ends inside; how much earlier is known when the layout is compiled and is the same for all
 * records.
 *
 * Lanes, and id, counter and status, are had in one of three ways, which give the same bits:
 *  - RM_BY_BYTES: field by field, byte by byte, straight from the description. Slow; it defines the result.
 *  - RM_BY_WORDS: a load of 8 bytes and two shifts for each. On any CPU.
 *  - RM_BY_VECTOR: all at once, where they lie within 64 bytes: one masked load, one permutation of bytes, one shift.
 *    Needs AVX-512 VBMI. Takes less than half the time of RM_BY_WORDS (bench/costs/layout.c).
 */
#ifndef RM_WIRE_LAYOUT_PARTS_H
#define RM_WIRE_LAYOUT_PARTS_H

#include "wire/layout.h"

enum { RM_LAYOUT_WORD_BYTES = 8 };

enum rm_layout_way {
    RM_BY_BYTES,
    RM_BY_WORDS,
    RM_BY_VECTOR,
};

/** Sizes that follow from a description, in bytes; the last three are numbers. */
struct rm_layout_shape {
    /** Bytes of the shortest payload. */
    uint32_t shortest;

    uint32_t longest;
    /** Number of the last block in the shortest payload. */
    uint32_t last_block;
    /** Records in a payload; 0: that depends on its length. */
    uint32_t records;

    uint32_t counter_bits;
};

/** Eight bytes of the payload, of which those that `mask` leaves are constant. */
struct rm_layout_word {
    uint64_t mask;
    uint64_t value;
    uint32_t at;
};

/** An id, a counter or a status: (word at `at` + moves, in order of significance) >> right & mask. */
struct rm_number_field {
    /** 0 for an absent field. */
    uint64_t mask;
    /** Offset of the load, in the first record of a datagram. */
    uint32_t at;
    /** All ones when it moves with the block, else 0. */
    uint32_t block_mask;
    /** All ones when it moves with the turn, else 0. */
    uint32_t turn_mask;

    uint32_t right;
};

/** A lane: the word << left >> right (arithmetic), & mask, at most limit. */
struct rm_layout_lane_load {
    uint32_t at;
    uint32_t left;
    uint32_t right;
    uint32_t mask;
    uint32_t limit;
};

/** All lanes in one register, where a record has them. In place of its turn and tag, in words 0–3, stands the sample.
 */
struct rm_layout_vector {
    /** [byte of the register] the byte that it comes from. */
    _Alignas(64) uint8_t order[64];
    /** [word] arithmetic shift to the right. */
    _Alignas(64) uint32_t right[16];
    /** [word] bits that stay; 0 for an unused lane. */
    _Alignas(64) uint32_t mask[16];
    /** [word] largest value, unsigned. */
    _Alignas(64) uint32_t limit[16];
    /** Bit per byte of the load: it is read. */
    uint64_t load;
    /** Offset of the load, in the first record of a datagram. */
    uint32_t at;
};

/** One of the ways of rm_layout_read. */
typedef void rm_layout_reader(struct rm_layout const *layout, uint8_t const *payload, uint32_t index,
                              struct rm_sample *sample, struct rm_record *record);

struct rm_layout {
    struct rm_layout_vector vector;
    struct rm_layout_shape shape;
    /** Offset of the first block. */
    uint32_t blocks_at;
    /** Bytes from block to block. */
    uint32_t block_stride;
    /** Bytes from turn to turn. */
    uint32_t turn_stride;
    /** Turns of a block. */
    uint32_t turn_count;
    /** Entries of `word`; at least 1, whose mask may be 0. */
    uint32_t word_count;
    /** n * it >> 32 is n / block_stride, for all n up to RM_LAYOUT_PAYLOAD_MAX. */
    uint64_t block_reciprocal;
    /** The same for turn_count. */
    uint64_t turn_reciprocal;

    rm_layout_reader *reader;
    /** How the reader reads id, counter and status. */
    enum rm_layout_way numbers;
    /** Big-endian. */
    bool swap;
    /** Id, counter and status can be read by words: all their loads can be placed. */
    bool numbers_by_words;
    /** They can be read with the lanes at once: they move as the lanes do, and lie with them within 64 bytes. */
    bool numbers_by_vector;

    bool lanes_by_words;
    bool lanes_by_vector;
    /** All ones when the counter is the block's and must be advanced to the turn, else 0. */
    uint32_t counter_follows;
    /** All ones when the id is the number of the block, else 0. */
    uint32_t id_is_block;

    uint64_t counter_mask;
    struct rm_layout_word word[RM_LAYOUT_CONSTANTS_MAX];
    struct rm_number_field id;
    struct rm_number_field counter;
    struct rm_number_field status;
    struct rm_layout_lane_load lane[RM_LANES];
    struct rm_layout_description described;
};

/** Checks a description and measures it; errors are those of rm_layout_compile. */
enum rm_code rm_layout_measure(struct rm_layout_description const *description, struct rm_layout_shape *shape,
                               struct rm_error *error);

/** Width of a type in bytes, 1–8. */
bool rm_field_is_signed(enum rm_field_type type);

/** Where a field of `bytes` bytes stands: in the first record, and in the last one of the shortest payload. In longer
 * payloads, those of an open number of blocks, the last one has as much behind it. */
struct rm_layout_place {
    uint32_t first;
    uint32_t last;
    uint32_t bytes;
};

struct rm_layout_place rm_layout_place_of(struct rm_layout const *layout, enum rm_field_scope scope, uint32_t at,
                                          uint32_t bytes);

/** Fills in `vector`, `lanes_by_vector` and `numbers_by_vector`; all else but constants is there. */
void rm_layout_compile_vector(struct rm_layout *layout);

/** The low bits that a field has; 0 when it is absent. */
uint64_t rm_field_mask(struct rm_layout_field const *field);

/** Largest value of an unsigned lane's bits, or of a float's. */
uint32_t rm_lane_limit(enum rm_field_type type);

/** Width of a field in bits, 1–64; what `bits` says, or all that are left. */
uint32_t rm_field_bits(struct rm_layout_field const *field);

/** Sets the way in which lanes are read, and the rest if possible. False when this layout or this CPU cannot; then
 * another way must be set. rm_layout_compile takes the last that is possible. */
bool rm_layout_read_by(struct rm_layout *layout, enum rm_layout_way way);

/** An integer of `bytes` bytes as it stands, in order of significance. */
uint64_t rm_layout_get(uint8_t const *from, uint32_t bytes, enum rm_byte_order order);

rm_layout_reader rm_layout_read_by_bytes;
rm_layout_reader rm_layout_read_by_words;
rm_layout_reader rm_layout_read_by_vector;

/** How far a record is behind the first one of its datagram. */
struct rm_layout_move {
    uint32_t block;
    uint32_t turn;
    uint32_t block_bytes;
    uint32_t turn_bytes;
};

static inline struct rm_layout_move rm_layout_move_to(struct rm_layout const *layout, uint32_t index) {
    if (index == 0)
        return (struct rm_layout_move){0};
    uint32_t const block = (uint32_t)(index * layout->turn_reciprocal >> 32);
    uint32_t const turn = index - block * layout->turn_count;
    return (struct rm_layout_move){block, turn, block * layout->block_stride, turn * layout->turn_stride};
}

/** Fills in the sample where it is not read by vector. */
void rm_layout_read_numbers(struct rm_layout const *layout, uint8_t const *payload, struct rm_layout_move move,
                            struct rm_sample *sample);
void rm_layout_read_numbers_by_bytes(struct rm_layout const *layout, uint8_t const *payload, struct rm_layout_move move,
                                     struct rm_sample *sample);

#endif
