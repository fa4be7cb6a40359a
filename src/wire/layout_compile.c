// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "wire/layout_parts.h"

enum {
    HEAD_WORDS = 4,    /**< turn and tag, before the lanes of a record */
    VECTOR_BYTES = 64, /**< the lanes of one record that one load can bring */
};

struct rm_layout_place rm_layout_place_of(struct rm_layout const *layout, enum rm_field_scope scope, uint32_t at,
                                          uint32_t bytes) {
    struct rm_layout_place place = {.first = at, .last = at, .bytes = bytes};
    if (scope != RM_IN_DATAGRAM) {
        place.first += layout->blocks_at;
        place.last += layout->blocks_at + layout->shape.last_block * layout->block_stride;
    }
    if (scope == RM_IN_TURN) {
        place.first += layout->described.turn_at;
        place.last += layout->described.turn_at + (layout->turn_count - 1) * layout->turn_stride;
    }
    return place;
}

uint64_t rm_field_mask(struct rm_layout_field const *field) {
    if (!field->present)
        return 0;
    uint32_t const bits = rm_field_bits(field);
    return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

/** How many bytes before the field its load begins, so that it ends in the payload; false when it then began before the
 * payload: only strides below 8 bytes do that. */
static bool lead_of(struct rm_layout const *layout, struct rm_layout_place const *place, uint32_t *lead) {
    uint32_t const end = place->last + RM_LAYOUT_WORD_BYTES;
    *lead = end > layout->shape.shortest ? end - layout->shape.shortest : 0;
    return *lead <= place->first;
}

/** Bits above the field in the loaded word, once its bytes are in order of significance. */
static uint32_t bits_above(struct rm_layout const *layout, struct rm_layout_place const *place, uint32_t lead) {
    return 8 * (layout->swap ? lead : RM_LAYOUT_WORD_BYTES - lead - place->bytes);
}

static void compile_number(struct rm_layout *layout, struct rm_layout_field const *field,
                           struct rm_number_field *number) {
    if (!field->present)
        return;
    struct rm_layout_place const place = rm_layout_place_of(layout, field->in, field->at, rm_field_bytes(field->type));
    uint32_t lead;
    if (!lead_of(layout, &place, &lead)) {
        layout->numbers_by_words = false;
        return;
    }
    *number = (struct rm_number_field){
        .mask = rm_field_mask(field),
        .at = place.first - lead,
        .block_mask = field->in == RM_IN_DATAGRAM ? 0 : UINT32_MAX,
        .turn_mask = field->in == RM_IN_TURN ? UINT32_MAX : 0,
        .right = 64 - bits_above(layout, &place, lead) - 8 * place.bytes + field->shift,
    };
}

uint32_t rm_lane_limit(enum rm_field_type type) { return type == RM_FIELD_U32 ? INT32_MAX : UINT32_MAX; }

static void compile_lane_loads(struct rm_layout *layout) {
    layout->lanes_by_words = true;
    for (uint32_t i = 0; i < layout->described.lane_count; ++i) {
        struct rm_layout_lane const *const lane = &layout->described.lane[i];
        uint32_t const bytes = rm_field_bytes(lane->type);
        struct rm_layout_place const place = rm_layout_place_of(layout, RM_IN_TURN, lane->at, bytes);
        uint32_t lead;
        if (!lead_of(layout, &place, &lead)) {
            layout->lanes_by_words = false;
            return;
        }
        layout->lane[i] = (struct rm_layout_lane_load){
            .at = place.first - lead,
            .left = bits_above(layout, &place, lead),
            .right = 64 - 8 * bytes,
            .mask = rm_field_is_signed(lane->type) || bytes == 4 ? UINT32_MAX : (1u << 8 * bytes) - 1,
            .limit = rm_lane_limit(lane->type),
        };
    }
}

/** Constants as bytes of the payload, and then as few words as there must be. */
static enum rm_code compile_constants(struct rm_layout *layout, struct rm_error *error) {
    struct rm_layout_description const *const described = &layout->described;
    uint8_t value[RM_LAYOUT_PAYLOAD_MAX] = {0};
    uint8_t mask[RM_LAYOUT_PAYLOAD_MAX] = {0};
    for (uint32_t i = 0; i < described->constant_count; ++i) {
        struct rm_layout_constant const *const constant = &described->constant[i];
        uint32_t const bytes = rm_field_bytes(constant->type);
        for (uint32_t j = 0; j < bytes; ++j) {
            uint32_t const at = constant->at + (layout->swap ? bytes - 1 - j : j);
            uint8_t const byte = (uint8_t)(constant->value >> 8 * j);
            if (mask[at] != 0 && value[at] != byte)
                return rm_fail(error, RM_E_CONFIG, "constants[%u]: byte %u has another value by a constant before it",
                               i, at);
            value[at] = byte;
            mask[at] = UINT8_MAX;
        }
    }
    uint32_t const last_word = layout->shape.shortest - RM_LAYOUT_WORD_BYTES;
    for (uint32_t at = 0; at < layout->shape.shortest; ++at) {
        if (mask[at] == 0)
            continue;
        struct rm_layout_word *const word = &layout->word[layout->word_count++];
        word->at = at < last_word ? at : last_word;
        memcpy(&word->mask, mask + word->at, sizeof word->mask);
        memcpy(&word->value, value + word->at, sizeof word->value);
        at = word->at + RM_LAYOUT_WORD_BYTES - 1;
    }
    if (layout->word_count == 0)
        layout->word_count = 1; /* of no mask: so there is always a first one */
    return RM_OK;
}

/** n * it >> 32 is n / divisor while n * divisor is below 2^32. */
static uint64_t reciprocal_of(uint32_t divisor) { return (1ull << 32) / divisor + 1; }

static void compile_moves(struct rm_layout *layout) {
    struct rm_layout_description const *const described = &layout->described;
    layout->swap = described->byte_order == RM_BIG_ENDIAN;
    layout->blocks_at = described->instrument_at;
    layout->block_stride = described->instrument_stride;
    layout->turn_count = described->turn_count;
    layout->turn_stride = described->turn_stride;
    if (layout->block_stride != 0)
        layout->block_reciprocal = reciprocal_of(layout->block_stride);
    layout->turn_reciprocal = reciprocal_of(layout->turn_count);
    layout->counter_mask = rm_field_mask(&described->counter);
    layout->counter_follows = described->counter.in == RM_IN_TURN ? 0 : UINT32_MAX;
    layout->id_is_block = described->id.present ? 0 : UINT32_MAX;
}

bool rm_layout_read_by(struct rm_layout *layout, enum rm_layout_way way) {
    switch (way) {
    case RM_BY_BYTES:
        layout->reader = rm_layout_read_by_bytes;
        layout->numbers = RM_BY_BYTES;
        return true;
    case RM_BY_WORDS:
        layout->reader = rm_layout_read_by_words;
        layout->numbers = layout->numbers_by_words ? RM_BY_WORDS : RM_BY_BYTES;
        return layout->lanes_by_words;
    case RM_BY_VECTOR:
        layout->reader = rm_layout_read_by_vector;
        layout->numbers = layout->numbers_by_vector  ? RM_BY_VECTOR
                          : layout->numbers_by_words ? RM_BY_WORDS
                                                     : RM_BY_BYTES;
        return layout->lanes_by_vector && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
    }
    return false;
}

enum rm_code rm_layout_compile(struct rm_layout_description const *description, struct rm_layout **layout,
                               struct rm_error *error) {
    struct rm_layout_shape shape;
    enum rm_code code = rm_layout_measure(description, &shape, error);
    if (code != RM_OK)
        return code;
    struct rm_layout *const made = rm_zeroed(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a layout");
    made->shape = shape;
    made->described = *description;
    compile_moves(made);
    code = compile_constants(made, error);
    if (code != RM_OK) {
        free(made);
        return code;
    }
    made->numbers_by_words = true;
    compile_number(made, &description->id, &made->id);
    compile_number(made, &description->counter, &made->counter);
    compile_number(made, &description->status, &made->status);
    compile_lane_loads(made);
    rm_layout_compile_vector(made);
    if (!rm_layout_read_by(made, RM_BY_VECTOR) && !rm_layout_read_by(made, RM_BY_WORDS))
        rm_layout_read_by(made, RM_BY_BYTES);
    *layout = made;
    return RM_OK;
}

void rm_layout_free(struct rm_layout *layout) { free(layout); }

uint32_t rm_layout_counter_bits(struct rm_layout const *layout) { return layout->shape.counter_bits; }

enum { TELLING_BITS = 48 /**< at 1.16 MHz they last seven years */ };

/** A counter whose lap is this long never comes round: at 1.2 MHz in 60 000 years. */
static uint64_t const LAP_TURNS_END = RM_TURN_END / 2;

uint64_t rm_counter_lap_turns(uint32_t bits, uint32_t period_turns) {
    uint64_t const turns = bits < TELLING_BITS ? (uint64_t)period_turns << bits : LAP_TURNS_END;
    return turns < LAP_TURNS_END ? turns : 0;
}

uint32_t rm_layout_single_bytes(struct rm_layout const *layout) {
    return layout->shape.records == 1 ? layout->shape.shortest : 0;
}

struct rm_layout_description const *rm_layout_described(struct rm_layout const *layout) {
    return &layout->described;
}
