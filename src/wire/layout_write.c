// SPDX-License-Identifier: Apache-2.0
/** The sender's half, for virtual instruments and tests. */
#include <string.h>

#include "wire/layout_parts.h"

static void layout_write_number(uint8_t *to, uint32_t bytes, enum rm_byte_order order, uint64_t value) {
    for (uint32_t i = 0; i < bytes; ++i, value >>= 8)
        to[order == RM_BIG_ENDIAN ? bytes - 1 - i : i] = (uint8_t)value;
}

uint32_t rm_layout_payload_bytes(struct rm_layout const *layout, uint32_t instruments) {
    if (layout->shape.records != 0)
        return layout->shape.shortest;
    return layout->blocks_at + instruments * layout->block_stride;
}

void rm_layout_begin(struct rm_layout const *layout, uint8_t *payload, uint32_t length) {
    struct rm_layout_description const *const described = &layout->described;
    memset(payload, 0, length);
    for (uint32_t i = 0; i < described->constant_count; ++i) {
        struct rm_layout_constant const *const constant = &described->constant[i];
        layout_write_number(payload + constant->at, rm_field_bytes(constant->type), described->byte_order,
                            constant->value);
    }
}

/** Replaces the field's bits and leaves those around them. */
static void put_number(struct rm_layout const *layout, struct rm_layout_field const *field, uint8_t *payload,
                       uint32_t block, uint32_t turn, uint64_t value) {
    if (!field->present)
        return;
    struct rm_layout_description const *const described = &layout->described;
    uint32_t at = field->at;
    if (field->in != RM_IN_DATAGRAM)
        at += described->instrument_at + block * described->instrument_stride;
    if (field->in == RM_IN_TURN)
        at += described->turn_at + turn * described->turn_stride;
    uint32_t const bytes = rm_field_bytes(field->type);
    uint32_t const bits = rm_field_bits(field);
    uint64_t const mask = (bits == 64 ? UINT64_MAX : (1ull << bits) - 1) << field->shift;
    uint64_t const around = rm_layout_get(payload + at, bytes, described->byte_order) & ~mask;
    layout_write_number(payload + at, bytes, described->byte_order, around | (value << field->shift & mask));
}

void rm_layout_write(struct rm_layout const *layout, uint8_t *payload, uint32_t index, struct rm_sample const *sample,
                     union rm_lane const *lanes) {
    struct rm_layout_description const *const described = &layout->described;
    uint32_t const block = index / described->turn_count;
    uint32_t const turn = index % described->turn_count;
    uint64_t const counter = sample->counter - (turn & layout->counter_follows);
    /* The id last: where it is some bits of the status, it wins. */
    put_number(layout, &described->status, payload, block, turn, sample->status);
    put_number(layout, &described->counter, payload, block, turn, counter);
    put_number(layout, &described->id, payload, block, turn, sample->id);
    uint8_t *const to = payload + described->instrument_at + block * described->instrument_stride + described->turn_at +
                        turn * described->turn_stride;
    for (uint32_t i = 0; i < described->lane_count; ++i) {
        struct rm_layout_lane const *const lane = &described->lane[i];
        layout_write_number(to + lane->at, rm_field_bytes(lane->type), described->byte_order, (uint32_t)lanes[i].i);
    }
}
