// SPDX-License-Identifier: Apache-2.0
/** The reference of the express lane. */
#include "engine/express_frame.h"

#include <string.h>

#include "fabric/slot_store.h"
#include "wire/layout.h"

#define RM_EXPRESS_TARGET

static inline bool begins_alike(uint8_t const *frame, struct rm_express const *express, bool native) {
    return memcmp(frame + RM_EXPRESS_AT, express->expected, native ? RM_EXPRESS_BYTES : RM_EXPRESS_HEADER_BYTES) == 0;
}

static inline void put(struct rm_record *record, struct rm_slot *slot, uint8_t const *frame,
                       struct rm_express const *express, struct head head) {
    *record = (struct rm_record){.turn = head.turn, .tag = head.tag};
    memcpy(record->lane, frame + RM_EXPRESS_LANES, 4ul * express->lane_count);
    if (slot != NULL)
        rm_slot_stream(slot, record);
}

/** A described datagram. */
struct described {
    uint64_t counter;
    uint16_t status;
    struct rm_record record; /**< without turn and tag */
};

static inline struct described read_described(struct rm_layout const *layout, uint8_t const *payload) {
    struct described described;
    struct rm_sample sample;
    rm_layout_read(layout, payload, 0, &sample, &described.record);
    described.counter = sample.counter;
    described.status = sample.status;
    return described;
}

static inline void put_described(struct rm_record *record, struct rm_slot *slot, uint8_t const *payload,
                                 struct rm_layout const *layout, struct described const *described, struct head head) {
    (void)payload, (void)layout;
    *record = described->record;
    record->turn = head.turn;
    record->tag = head.tag;
    if (slot != NULL)
        rm_slot_stream(slot, record);
}

#include "engine/express_lane.h"

void rm_express_burst_scalar(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc,
                             struct rm_burst_sum *sum) {
    take_burst(receive, queue, tsc, sum);
}
