// SPDX-License-Identifier: Apache-2.0
/** The reference: every field byte by byte, straight from the description. What it says is right. */
#include "wire/layout_parts.h"

uint64_t rm_layout_get(uint8_t const *from, uint32_t bytes, enum rm_byte_order order) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; ++i)
        value = value << 8 | from[order == RM_BIG_ENDIAN ? i : bytes - 1 - i];
    return value;
}

static uint64_t low_bits(uint64_t value, uint32_t bits) { return bits == 64 ? value : value & ((1ull << bits) - 1); }

static uint64_t layout_bytes_number_at(struct rm_layout_description const *described,
                                       struct rm_layout_field const *field, uint8_t const *payload, uint32_t block,
                                       uint32_t turn) {
    if (!field->present)
        return 0;
    uint32_t at = field->at;
    if (field->in != RM_IN_DATAGRAM)
        at += described->instrument_at + block * described->instrument_stride;
    if (field->in == RM_IN_TURN)
        at += described->turn_at + turn * described->turn_stride;
    uint64_t const whole = rm_layout_get(payload + at, rm_field_bytes(field->type), described->byte_order);
    return low_bits(whole >> field->shift, rm_field_bits(field));
}

void rm_layout_read_numbers_by_bytes(struct rm_layout const *layout, uint8_t const *payload, struct rm_layout_move move,
                                     struct rm_sample *sample) {
    struct rm_layout_description const *const described = &layout->described;
    uint32_t const block = move.block;
    uint32_t const turn = move.turn;
    uint64_t const counter = layout_bytes_number_at(described, &described->counter, payload, block, turn);
    uint32_t const follows = described->counter.in == RM_IN_TURN ? 0 : turn;
    *sample = (struct rm_sample){
        .id = described->id.present ? (uint32_t)layout_bytes_number_at(described, &described->id, payload, block, turn)
                                    : block,
        .status = (uint16_t)layout_bytes_number_at(described, &described->status, payload, block, turn),
        .counter = low_bits(counter + follows, rm_field_bits(&described->counter)),
    };
}

static int32_t lane_of_value(uint64_t value, enum rm_field_type type) {
    uint32_t const unused = 32 - 8 * rm_field_bytes(type);
    if (type == RM_FIELD_U32)
        return value > INT32_MAX ? INT32_MAX : (int32_t)value;
    if (rm_field_is_signed(type))
        return (int32_t)((uint32_t)value << unused) >> unused;
    return (int32_t)value;
}

void rm_layout_read_by_bytes(struct rm_layout const *layout, uint8_t const *payload, uint32_t index,
                             struct rm_sample *sample, struct rm_record *record) {
    struct rm_layout_description const *const described = &layout->described;
    struct rm_layout_move const move = {.block = index / described->turn_count, .turn = index % described->turn_count};
    uint8_t const *const from = payload + described->instrument_at + move.block * described->instrument_stride +
                                described->turn_at + move.turn * described->turn_stride;
    *record = (struct rm_record){0};
    for (uint32_t i = 0; i < described->lane_count; ++i) {
        struct rm_layout_lane const *const in = &described->lane[i];
        uint64_t const value = rm_layout_get(from + in->at, rm_field_bytes(in->type), described->byte_order);
        record->lane[i].i = lane_of_value(value, in->type);
    }
    rm_layout_read_numbers_by_bytes(layout, payload, move, sample);
}
