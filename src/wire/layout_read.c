// SPDX-License-Identifier: Apache-2.0
/** The hot path: no division, no choice that is not the same for every datagram of a layout. */
#include "wire/layout_words.h"

enum rm_port_counter rm_layout_check(struct rm_layout const *layout, uint8_t const *payload, uint32_t length,
                                     uint32_t *records) {
    if (length < layout->shape.shortest)
        return RM_PORT_TOO_SHORT;
    if (length > layout->shape.longest)
        return RM_PORT_TOO_LONG;
    *records = layout->shape.records;
    if (layout->shape.records == 0) {
        uint32_t const bytes = length - layout->blocks_at;
        uint32_t const blocks = (uint32_t)(bytes * layout->block_reciprocal >> 32);
        if (blocks * layout->block_stride != bytes)
            return RM_PORT_BAD_LENGTH;
        *records = blocks * layout->turn_count;
    }
    return rm_layout_constants_hold(layout, payload) ? RM_PORT_DECODED : RM_PORT_BAD_MAGIC;
}

void rm_layout_read(struct rm_layout const *layout, uint8_t const *payload, uint32_t index, struct rm_sample *sample,
                    struct rm_record *record) {
    layout->reader(layout, payload, index, sample, record);
}

static inline uint64_t layout_read_number(struct rm_layout const *layout, struct rm_number_field const *number,
                                          uint8_t const *payload, struct rm_layout_move move) {
    return rm_layout_number(layout, number,
                            payload + (move.block_bytes & number->block_mask) + (move.turn_bytes & number->turn_mask));
}

void rm_layout_read_numbers(struct rm_layout const *layout, uint8_t const *payload, struct rm_layout_move move,
                            struct rm_sample *sample) {
    if (layout->numbers == RM_BY_BYTES) {
        rm_layout_read_numbers_by_bytes(layout, payload, move, sample);
        return;
    }
    uint64_t const counter = layout_read_number(layout, &layout->counter, payload, move);
    sample->counter = (counter + (move.turn & layout->counter_follows)) & layout->counter_mask;
    sample->id = (uint32_t)layout_read_number(layout, &layout->id, payload, move) | (move.block & layout->id_is_block);
    sample->status = (uint16_t)layout_read_number(layout, &layout->status, payload, move);
}

static uint32_t layout_id_of(struct rm_layout const *layout, uint8_t const *payload, uint32_t index) {
    struct rm_sample sample;
    rm_layout_read_numbers(layout, payload, rm_layout_move_to(layout, index), &sample);
    return sample.id;
}

bool rm_layout_repeats_id(struct rm_layout const *layout, uint8_t const *payload, uint32_t records) {
    if (records <= layout->turn_count || layout->id.block_mask == 0 || layout->id_is_block != 0)
        return false;
    uint32_t const id = layout_id_of(layout, payload, 0);
    return id == layout_id_of(layout, payload, layout->turn_count) && id == layout_id_of(layout, payload, records - 1);
}

void rm_layout_read_by_words(struct rm_layout const *layout, uint8_t const *payload, uint32_t index,
                             struct rm_sample *sample, struct rm_record *record) {
    struct rm_layout_move const move = rm_layout_move_to(layout, index);
    rm_layout_lanes(layout, payload + move.block_bytes + move.turn_bytes, record);
    rm_layout_read_numbers(layout, payload, move, sample);
}
