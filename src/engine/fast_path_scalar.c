// SPDX-License-Identifier: Apache-2.0
/** The reference of the fast path. */
#include "engine/fast_path_frame.h"

#include <string.h>

#include "fabric/slot_store.h"
#include "wire/layout.h"

#define RM_FAST_PATH_TARGET

static inline bool begins_alike(uint8_t const *frame, struct rm_fast_path const *fast_path, bool native) {
    return memcmp(frame + RM_FAST_PATH_AT, fast_path->expected,
                  native ? RM_FAST_PATH_BYTES : RM_FAST_PATH_HEADER_BYTES) == 0;
}

static inline void fast_path_put(struct rm_record *record, struct rm_slot *slot, uint8_t const *frame,
                                 struct rm_fast_path const *fast_path, struct record_head head) {
    *record = (struct rm_record){.turn = head.turn, .tag = head.tag};
    memcpy(record->lane, frame + RM_FAST_PATH_LANES, 4ul * fast_path->lane_count);
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
                                 struct rm_layout const *layout, struct described const *described,
                                 struct record_head head) {
    (void)payload, (void)layout;
    *record = described->record;
    record->turn = head.turn;
    record->tag = head.tag;
    if (slot != NULL)
        rm_slot_stream(slot, record);
}

#include "engine/fast_path_kernel.h"

void rm_fast_path_burst_scalar(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc,
                               struct rm_burst_sum *sum) {
    take_burst(receive, queue, tsc, sum);
}
