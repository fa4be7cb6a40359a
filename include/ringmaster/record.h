// SPDX-License-Identifier: Apache-2.0
/** A record: what one instrument sent for one turn, in one cache line.
 *
 *     byte  0        8             16                                    64
 *           | turn   | tag         | twelve 32-bit lanes                  |
 *           | u64    | TSC, status | i32 or f32, as the stream's lane table says |
 *
 * The tag of a full-rate record holds the low 48 bits of the TSC at arrival in bits 0–47 and the instrument's status
 * in bits 48–63. The tag of a decimated record holds in bits 0–15 how many of its inputs were missing, in bits 16–47
 * bits 16–47 of the TSC at which its last input arrived, and in bits 48–63 the OR of its inputs' status. So bits 16–63
 * mean the same in both.
 */
#ifndef RINGMASTER_RECORD_H
#define RINGMASTER_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/abi.h>

/** Counts revolutions of the beam; the index of everything. */
typedef uint64_t rm_turn;

/** No turn: a slot that was never filled, a stream without a head. No instrument may send it. */
#define RM_TURN_NONE UINT64_MAX

/** All turns are below this: 2^62 turns take 120 000 years at 1.2 MHz. So sums and differences of two turns do not
 * overflow, signed or not. The receive role refuses turns from here on, and so does rm_owner_stream_put. */
#define RM_TURN_END (1ull << 62)

/** One value of a record. The lane table of the stream says which member holds it (struct rm_lane_info). */
union rm_lane {
    int32_t i;
    float f;
};

/** A record in private memory, as the reading functions give it. */
struct rm_record {
    _Alignas(RM_CACHE_LINE) rm_turn turn;
    uint64_t tag;
    union rm_lane lane[RM_LANES];
};

/** A record in shared memory: the same 64 bytes, as words that can be read while they change. Word 0 is the turn, word
 * 1 the tag, words 2–7 are the lanes two by two. stream.h says in which order they are stored and read. */
struct rm_slot {
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t word[8];
};

_Static_assert(sizeof(struct rm_record) == RM_CACHE_LINE, "a record is one cache line");
_Static_assert(sizeof(struct rm_slot) == RM_CACHE_LINE, "a slot is one cache line");

/** Bits of a tag that hold the TSC of a full-rate record. */
#define RM_TAG_TSC_MASK 0x0000FFFFFFFFFFFFull

/** Bits of a tag that hold the number of missing inputs of a decimated record. */
#define RM_TAG_MISSING_MASK 0xFFFFull

/** The tag of a full-rate record that arrived at `tsc`. */
static inline uint64_t rm_tag_full_rate(uint64_t tsc, uint16_t status) {
    return (tsc & RM_TAG_TSC_MASK) | (uint64_t)status << 48;
}

/** The tag of a decimated record whose last input arrived at `tsc`. */
static inline uint64_t rm_tag_decimated(uint64_t tsc, uint16_t status, uint16_t missing) {
    return (tsc & RM_TAG_TSC_MASK & ~RM_TAG_MISSING_MASK) | (uint64_t)status << 48 | missing;
}

/** The instrument's status. Of a decimated record it is the OR of its inputs' status. */
static inline uint16_t rm_tag_status(uint64_t tag) { return (uint16_t)(tag >> 48); }

/** Number of inputs that a decimated record had to do without. Meaningless in a full-rate tag. */
static inline uint16_t rm_tag_missing(uint64_t tag) { return (uint16_t)(tag & RM_TAG_MISSING_MASK); }

/** The whole TSC of a full-rate tag, given any reading of the TSC within 2^47 ticks of it: half a day at 3 GHz. */
static inline uint64_t rm_tag_tsc(uint64_t tag, uint64_t near_tsc) {
    uint64_t const behind = (near_tsc - tag) & RM_TAG_TSC_MASK;
    int64_t const signed_behind = behind >> 47 ? (int64_t)(behind | ~RM_TAG_TSC_MASK) : (int64_t)behind;
    return near_tsc - (uint64_t)signed_behind;
}

#endif
