// SPDX-License-Identifier: Apache-2.0
/** The reference of the express lane. */
#include "engine/express_frame.h"

#include <string.h>

#include "fabric/slot_store.h"

#define RM_EXPRESS_TARGET

static inline bool begins_alike(uint8_t const *frame, struct rm_express const *express) {
    return memcmp(frame + RM_EXPRESS_AT, express->expected, RM_EXPRESS_BYTES) == 0;
}

static inline void put(struct rm_record *record, struct rm_slot *slot, uint8_t const *frame,
                       struct rm_express const *express, struct head head) {
    *record = (struct rm_record){.turn = head.turn, .tag = head.tag};
    memcpy(record->lane, frame + RM_EXPRESS_LANES, 4ul * express->lane_count);
    if (slot != NULL)
        rm_slot_stream(slot, record);
}

#include "engine/express_lane.h"

void rm_express_burst_scalar(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc,
                             struct rm_burst_sum *sum) {
    take_burst(receive, queue, tsc, sum);
}
