// SPDX-License-Identifier: Apache-2.0
/** The payload of a group's datagram, filled turn by turn: native, or of a described layout. */
#ifndef RM_INSTRUMENTS_PAYLOAD_H
#define RM_INSTRUMENTS_PAYLOAD_H

#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "virtual_instrument.h"
#include "wire/native.h"

/** Lanes of a layout come from lanes of a kind, with another unit perhaps. */
struct rm_lane_source {
    /** Index among the kind's lanes, or RM_KIND_LANE_NONE: the value is 0. */
    uint32_t lane;

    float factor;
    bool as_float;
};

/** Finds where a lane of a layout comes from, for an instrument of this kind; and computes its value from the kind's
 * lanes of i32. */
struct rm_lane_source rm_lane_source_find(unsigned kind, struct rm_layout_lane const *lane);
union rm_lane rm_lane_source_take(struct rm_lane_source const *source, union rm_lane const *lanes);

struct rm_payload {
    /** The group's first instrument. */
    struct rm_virtual_instrument const *instruments;

    uint32_t count;
    /** NULL: native. */
    struct rm_layout const *layout;
    /** Turns in a datagram. */
    uint32_t turns;

    uint32_t period_turns;
    uint32_t bytes;
    uint8_t *data;
    /** Lanes of the layout. */
    uint32_t lane_count;
    /** [instrument] where its lanes come from; NULL: native. */
    struct rm_lane_source (*source)[RM_LANES];
};

/** Bytes of the group's payload. `first` is its first instrument. */
uint32_t rm_payload_bytes(struct rm_virtual_group const *group, struct rm_virtual_instrument const *first);

/** Makes a payload. `first` and the group's layout stay in use. RM_E_NO_SPACE. */
enum rm_code rm_payload_make(struct rm_virtual_group const *group, struct rm_virtual_instrument const *first,
                             struct rm_payload *payload, struct rm_error *error);
void rm_payload_free(struct rm_payload *payload);

/** Fills in turn `place` of the datagram, 0 … turns - 1: RM_LANES lanes of i32 of each instrument, which say `turn`,
 * a multiple of the period, plus their turn_error. A counter counts periods, cut to its width. */
void rm_payload_put(struct rm_payload *payload, uint32_t place, rm_turn turn, union rm_lane const *lanes);

/** Writes a native payload of `payload->bytes` directly to the frame at `to`. To write it to payload->data and copy it
 * takes longer: narrow stores do not forward to wide loads. */
static inline void rm_payload_write_native(struct rm_payload const *payload, uint8_t *to, rm_turn turn,
                                           union rm_lane const *lanes) {
    struct rm_virtual_instrument const *one = payload->instruments;
    rm_native_write(to, one->kind, one->id, one->status, turn + (uint64_t)one->turn_error, lanes, one->lane_count);
}

#endif
