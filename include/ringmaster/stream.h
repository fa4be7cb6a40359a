// SPDX-License-Identifier: Apache-2.0
/** A stream: the circular buffer of one instrument at one rate, addressed by turn number.
 *
 * The record of turn T lives in slot `(T / period) & (capacity - 1)`. Streams of one rate are therefore aligned by
 * construction, a late record lands in its place, and a lost one is a slot whose turn does not match: loss is visible
 * in the data. One writer, any number of readers; no reader can hold the writer up, and none is known to it.
 *
 * Distances below are in records: "T + capacity" is the turn that comes to T's slot one lap after T.
 *
 * ## What the writer promises
 *  1. Margin: it stores a record into the slot of turn T only while the published `head` is at least T - margin,
 *     or while no head of this turn-counter epoch is published. If need be it publishes early.
 *  2. Publishing: it stores `head` with release, after the slots up to it, and puts a release fence between that
 *     and the next store into any slot. Within a turn-counter epoch the head never falls.
 *  3. Nothing stale: when a head is published, the slot of every turn T in [first, head] has in this turn-counter epoch
 *     been given T's record, or been cleared to RM_TURN_NONE, or it holds another turn; never T of an earlier epoch.
 *  4. A record is stored words 1–7 first (relaxed), its turn last, with release. First copy wins: up to the
 *     published head, no turn is stored a second time in its turn-counter epoch. The slot of a late record is cleared
 *     first: turn RM_TURN_NONE, then a release fence. Clearing leaves words 1–7 alone and may happen at any time.
 *  5. Restart: when the machine's turn counter restarts, it stores `head` = RM_TURN_NONE, then `turn_epoch` + 1
 *     with release, then a release fence, and only then anything of the new epoch, `first` before `head`.
 *
 * ## What a reader does (rm_stream_read does all this)
 *  1. load `turn_epoch` with acquire (pairs with 5: rm_stream_writer_restart), then `head` with acquire (pairs
 *     with 2: rm_stream_writer_publish), then `first`;
 *  2. refuse turns outside [first, head], and those near being lapped: T + capacity - margin ≤ head;
 *  3. load the slot's turn with acquire (pairs with 4: rm_slot_store in src/fabric/slot_store.h), then the other words;
 *  4. acquire fence (pairs with the release fences of 2, 4 and 5); load the slot's turn, then `head` with acquire
 *     (pairs with 2), then `turn_epoch`. The copy is good if both looks at the turn saw T, `turn_epoch` is
 *     what it was in step 1, and T is still not near being lapped. RM_TURN_NONE counts as above all turns.
 *
 * ## Why a copy that passes is T's record of this turn-counter epoch, and whole
 * In the terms of C11; nothing rests on the order in which x86 shows stores. Let e be the epoch of step 1.
 *  - At least T's: the turn was loaded with acquire and is T, so it synchronises with the store that wrote it,
 *    and each other word is of that record or of a later store into the slot.
 *  - Of this epoch: the head of step 1 was published in e or later, because what step 1 acquired from promise 5
 *    hides all older heads. If in e, promise 3 held when it was published and the acquire makes that visible: a T
 *    of an earlier epoch is gone. If later, acquiring it shows step 4 that `turn_epoch` has changed.
 *  - No word of a later store: that would be a store of T + n × capacity in e, or of a later epoch; promise 4 rules
 *    out T itself. By promises 2 and 5 a release fence precedes it, and the reader's acquire fence follows the load
 *    that read it: the two synchronise. So if the store is of a later epoch, step 4 sees the epoch changed. If it
 *    is of e, a head ≥ T + capacity - margin was published before it (promise 1), and the second look at `head`
 *    sees that one or one stored after it. Another of e is no smaller, and RM_TURN_NONE is above all: refused. One
 *    of a later epoch was loaded with acquire and before `turn_epoch`: step 4 sees the epoch changed.
 *
 * The second look at the slot's turn is not needed for this. It spares the reader a record that an adopting server
 * has just cleared.
 *
 * Records that are the newest are stored sixteen bytes at a time, and those of turn-rate and sharp streams past the
 * caches (src/fabric/slot_store.h). Both are outside of C11, and the latter keep no order. So a store fence of the
 * machine stands before and after the store of `head`, and after that of `turn_epoch`. So each is whole before the
 * head that covers it, which is all that "at least T's" needs when T ≤ head, and every head and epoch is there before
 * what is stored after it.
 *
 * An adopting owner is the same writer: it loads the head it finds with acquire (pairs with 2), clears what was not
 * published, and fences (release) before it stores its first record: rm_stream_writer_open.
 */
#ifndef RINGMASTER_STREAM_H
#define RINGMASTER_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

/** What kind of instrument fills a stream. Part of the native datagram: docs/native-format.md. */
enum rm_instrument_kind {
    /** Beam position monitor electronics. */
    RM_KIND_BPM = 1,
    /** Beam loss monitor electronics. */
    RM_KIND_BLM = 2,
    /** Low-level RF system. */
    RM_KIND_LLRF = 3,
    /** Photon beam position monitor. */
    RM_KIND_PHOTON_BPM = 4,
    /** Fast interlock system. */
    RM_KIND_INTERLOCK = 5,
    /** Readback of a daisy chain of power supplies: supply.h. */
    RM_KIND_POWER_SUPPLY = 6,
    /** No instrument: what a program computes (application.h). It never comes in a datagram. */
    RM_KIND_APPLICATION = 7,
};

/** How a lane of 32 bits is to be read. */
enum rm_lane_type {
    RM_LANE_UNUSED = 0,
    RM_LANE_I32 = 1,
    RM_LANE_F32 = 2,
};

/** What a decimated record holds of the inputs of a lane. All but RM_REDUCE_FIR act on the inputs of the `period` turns
 * that begin with the record's turn, and keep the lane's type. */
enum rm_reduction {
    /** The output of the stream's filter. Always f32. */
    RM_REDUCE_FIR = 0,
    /** The newest input: for states and setpoints. */
    RM_REDUCE_LAST = 1,
    /** The bits that were set at least once: for faults. i32 only. */
    RM_REDUCE_OR = 2,
    /** The bits that were set throughout: for permits. i32 only. */
    RM_REDUCE_AND = 3,
    /** The smallest input. */
    RM_REDUCE_MIN = 4,
    /** The largest input. */
    RM_REDUCE_MAX = 5,
};

/** Whether a stream's lanes are in physical units. */
enum rm_calibrated {
    /** The lanes are raw, and there is no calibration. */
    RM_CALIBRATED_NOT = 0,
    /** The lanes are raw. The parameter "calibration/INSTRUMENT" says how to convert them: calibration.h. */
    RM_CALIBRATED_IN_READING = 1,
    /** The lanes were converted before they were stored. The same parameter says how. */
    RM_CALIBRATED_IN_STREAM = 2,
};

/** What one lane is. Constant. */
struct rm_lane_info {
    /** Name of the lane: "x1". */
    char name[RM_LANE_NAME_BYTES];
    /** Unit of the number as it is stored: "nm". */
    char unit[RM_UNIT_BYTES];
    /** enum rm_lane_type */
    uint32_t type;
    /** enum rm_reduction. In a full-rate stream it is that of its decimated streams. */
    uint32_t reduction;

    uint32_t reserved[6];
};

/** The head of a stream object. The slots follow at `slots_offset` from the start of this struct. */
struct rm_stream {
    /* Constant since the segment was finished. */

    /** Bytes from the start of this struct to the first slot. */
    uint64_t slots_offset;
    /** Number of slots, a power of two. */
    uint64_t capacity;
    /** Turns from one record to the next: 1, 12, 120, … */
    uint64_t period;
    /** Records that the writer may be ahead of the published head. */
    uint64_t margin;
    /** enum rm_instrument_kind */
    uint32_t instrument_kind;
    /** The instrument's id, as in its datagrams. */
    uint32_t instrument_id;
    /** Source address of its datagrams, in host byte order: 10.0.0.1 is 0x0A000001. */
    uint32_t source_ipv4;
    /** Number of lanes in use, 1–12. */
    uint32_t lane_count;
    /** Group delay of the filter or window: turns from what a record is of to its last input. */
    double group_delay_turns;
    /** Turns from a record's turn to the arrival of its last input. So a record is of its turn + closing_delay_turns -
     * group_delay_turns: of a filter's stream that is its turn, which refers to the centre. Of an application's it is 0,
     * and records are of turns before theirs. */
    double closing_delay_turns;
    /** Gain of the filter at 0 Hz. */
    double gain;
    /** Name of the filter: "none", "low_latency", "sharp". "on-change": none, and there is a record only where something
     * has changed or is to be told. A turn without one has lost nothing. */
    char filter[RM_LANE_NAME_BYTES];
    /** enum rm_calibrated */
    uint32_t calibrated;

    uint32_t reserved_word;
    uint64_t reserved_constant[3];
    /** The lane table. */
    struct rm_lane_info lane[RM_LANES];

    /* Written by the owner once per burst; one cache line of its own. */

    /** The newest published turn, or RM_TURN_NONE. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t head;
    /** The oldest turn of this turn-counter epoch, or RM_TURN_NONE. */
    _Atomic uint64_t first;
    /** One more each time the machine's turn counter restarts. */
    _Atomic uint64_t turn_epoch;
    /** TSC at which the burst arrived that published `head`. */
    _Atomic uint64_t published_tsc;

    uint64_t reserved_live[4];
};

/** A stream as a reader holds it: pointers into its own read-only mapping. Copy it freely; it owns nothing and is
 * valid as long as the workspace it came from stays attached. */
struct rm_stream_view {
    struct rm_stream const *header;
    struct rm_slot const *slot;
    /** capacity − 1 */
    uint64_t mask;
    /** Period of the stream, as checked when the workspace was attached. */
    uint64_t period;
};

/** What became of reading a record. */
enum rm_read {
    /** The copy is whole and of this turn. */
    RM_READ_OK = 0,
    /** The turn is above the head: wait. */
    RM_READ_NOT_YET,
    /** The record was skipped: it is lost, or it is late and still to come. */
    RM_READ_MISSING,
    /** The turn is too old, or its slot was overwritten while it was read. */
    RM_READ_LAPPED,
    /** The turn lies before the first one of this turn-counter epoch, or the stream is empty. */
    RM_READ_BEFORE,
};

/** Value of a lane by its type, so that a float is never read as an integer. NaN for a lane that is not in use.
 * `record` is one of that stream. */
static inline double rm_lane_value(struct rm_stream const *stream, struct rm_record const *record, unsigned lane) {
    if (lane >= RM_LANES)
        return __builtin_nan("");
    switch (stream->lane[lane].type) {
    case RM_LANE_I32:
        return (double)record->lane[lane].i;
    case RM_LANE_F32:
        return (double)record->lane[lane].f;
    default:
        return __builtin_nan("");
    }
}

/** Index of the lane of that name, or -1. */
int rm_stream_lane(struct rm_stream const *stream, char const *name);

/** Newest published turn, or RM_TURN_NONE while nothing has arrived. Acquire: pairs with rm_stream_writer_publish, so
 * every slot up to it can be read. */
static inline rm_turn rm_stream_head(struct rm_stream_view const *view) {
    return atomic_load_explicit(&view->header->head, memory_order_acquire);
}

/** Oldest turn that rm_stream_read would still try, given `head`. The reader then has `slack` records of time to read
 * it. */
rm_turn rm_stream_oldest(struct rm_stream_view const *view, rm_turn head, uint64_t slack);

/** Copies the record of `turn` (a multiple of the stream's period) to `*record`.
 * Wait-free; takes some 10 ns. `*record` stays as it was unless RM_READ_OK is returned. */
enum rm_read rm_stream_read(struct rm_stream_view const *view, rm_turn turn, struct rm_record *record);

/** Copies `count` records from `first` on, in turn order; record i is of turn `first + i * period`.
 * Records that could not be had get turn RM_TURN_NONE and zeros. Returns how many are good. */
size_t rm_stream_read_window(struct rm_stream_view const *view, rm_turn first, size_t count, struct rm_record *records);

/** Where a stream stands. */
struct rm_stream_look {
    uint64_t turn_epoch;
    /** Newest published turn, and the oldest of this turn-counter epoch; RM_TURN_NONE while there is none. */
    rm_turn head, first;
    /** TSC of the burst that published `head`. */
    uint64_t published_tsc;
};

/** Looks where it stands, the epoch first (acquire, pairs with rm_stream_writer_restart), then the head (acquire, pairs
 * with rm_stream_writer_publish): a head of a later epoch then shows when rm_stream_still_valid is asked. */
void rm_stream_look(struct rm_stream_view const *view, struct rm_stream_look *look);

/** For those who read records from `first` on where they lie, between rm_stream_look and this: true when none of their
 * slots can have been overwritten since, in the same turn-counter epoch. */
bool rm_stream_still_valid(struct rm_stream_view const *view, rm_turn first, struct rm_stream_look const *look);

/** As rm_stream_read_window, of one turn-counter epoch and up to the head at the beginning, which are in `*look` then.
 * results[i] becomes an enum rm_read; records that could not be had are zeros. */
size_t rm_stream_read_results(struct rm_stream_view const *view, rm_turn first, size_t count, struct rm_record *records,
                              uint8_t *results, struct rm_stream_look *look);

/** Waits until `turn` is published, at most `timeout_ns` (UINT64_MAX: for ever). Spins for some microseconds, then
 * sleeps in steps of 50 µs: meant for programs beside the server, not for its hot path. Returns false when the time is
 * over. */
bool rm_stream_wait(struct rm_stream_view const *view, rm_turn turn, uint64_t timeout_ns);

/** The result in words, for messages: "ok", "not yet", … Constant. */
char const *rm_read_text(enum rm_read result);

#endif
