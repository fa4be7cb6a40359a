// SPDX-License-Identifier: Apache-2.0
/** Instruments that have gone bad, by an event: what they send instead of what they would read.
 *
 * A reading is an instrument, or one of the two BPMs of one. It has one fault at a time; a cable can be swapped beside.
 * Faults are put on what the whole ring reads, so they know nothing of how that is made. A swapped BPM gets the other's
 * lanes of the same turn, errors of its electronics included.
 */
#ifndef RM_INSTRUMENTS_BAD_READINGS_H
#define RM_INSTRUMENTS_BAD_READINGS_H

#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "ring_config.h"

/** Reads an instrument at the turn in hand: RM_LANES lanes, valid until the next call. */
struct rm_bad_readings_source {
    union rm_lane const *(*read)(void *state, uint32_t instrument);
    void *state;
};

struct rm_bad_reading;

struct rm_bad_readings {
    struct rm_ring_config const *ring;
    /** [instrument][2]: its first and its second BPM, or what it is without its second. */
    struct rm_bad_reading *reading;
    /** Number of readings that are bad now. */
    uint32_t bad;
    /** [lane of an instrument] as read, and as sent. */
    union rm_lane *read, *sent;
};

/** Makes the readings of a ring, all good. RM_E_NO_SPACE. */
enum rm_code rm_bad_readings_make(struct rm_ring_config const *ring, struct rm_bad_readings *readings,
                                  struct rm_error *error);
void rm_bad_readings_free(struct rm_bad_readings *readings);

/** An event of instruments begins or ends. */
void rm_bad_readings_begin_or_end(struct rm_bad_readings *readings, struct rm_ring_event const *event, bool begins);

/** What `count` instruments from `first` on send at `turn`, instead of `lanes`. */
union rm_lane const *rm_bad_readings_spoil(struct rm_bad_readings *readings, rm_turn turn, uint32_t first,
                                           uint32_t count, union rm_lane const *lanes,
                                           struct rm_bad_readings_source const *source);

static inline union rm_lane const *rm_bad_readings_send(struct rm_bad_readings *readings, rm_turn turn, uint32_t first,
                                                        uint32_t count, union rm_lane const *lanes,
                                                        struct rm_bad_readings_source const *source) {
    return readings->bad == 0 ? lanes : rm_bad_readings_spoil(readings, turn, first, count, lanes, source);
}

#endif
