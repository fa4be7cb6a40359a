// SPDX-License-Identifier: Apache-2.0
/** For tests and the fuzzer: descriptions of all shapes out of a stream of bytes. */
#ifndef RM_WIRE_TEST_LAYOUT_RANDOM_H
#define RM_WIRE_TEST_LAYOUT_RANDOM_H

#include "wire/layout.h"

/** Where numbers come from: the next one below `limit`. */
struct layout_dice {
    uint32_t (*below)(void *from, uint32_t limit);
    void *from;
};

static inline uint32_t throw_dice(struct layout_dice const *dice, uint32_t limit) {
    return dice->below(dice->from, limit);
}

/** A random field, mostly a small one, so that descriptions are mostly valid. */
static inline struct rm_layout_field random_field(struct layout_dice const *dice, uint32_t room) {
    static enum rm_field_type const types[] = {RM_FIELD_U8,  RM_FIELD_U16, RM_FIELD_U24,
                                               RM_FIELD_U32, RM_FIELD_U64, RM_FIELD_I16};
    struct rm_layout_field field = {.present = throw_dice(dice, 8) != 0};
    field.in = (enum rm_field_scope)throw_dice(dice, 3);
    field.at = throw_dice(dice, room);
    field.type = types[throw_dice(dice, 24) == 0 ? 5 : throw_dice(dice, 5)];
    field.shift = throw_dice(dice, 4) == 0 ? throw_dice(dice, 20) : 0;
    field.bits = throw_dice(dice, 3) == 0 ? 1 + throw_dice(dice, 16) : 0;
    return field;
}

static inline void random_description(struct layout_dice const *dice, struct rm_layout_description *made) {
    bool const tight = throw_dice(dice, 8) == 0; /* records so short that a word around a field may not fit */
    uint32_t const room = 1 + throw_dice(dice, tight ? 4 : throw_dice(dice, 4) == 0 ? 200 : 40);
    *made = (struct rm_layout_description){
        .byte_order = (enum rm_byte_order)throw_dice(dice, 2),
        .bytes = throw_dice(dice, 3) == 0 ? throw_dice(dice, 1500) : 0,
        .constant_count = throw_dice(dice, 4),
        .instrument_count = throw_dice(dice, 6),
        .instrument_at = throw_dice(dice, 3) * throw_dice(dice, 24),
        .instrument_stride = throw_dice(dice, 8) == 0 ? throw_dice(dice, 16) : throw_dice(dice, 400),
        .turn_count = 1 + throw_dice(dice, 2) * throw_dice(dice, 6),
        .turn_at = throw_dice(dice, 2) * throw_dice(dice, 12),
        .turn_stride = room + throw_dice(dice, 4) * throw_dice(dice, 24),
        .lane_count = 1 + throw_dice(dice, RM_LANES),
    };
    if (tight) {
        made->bytes = made->constant_count = made->instrument_at = 0;
        made->instrument_stride = room + throw_dice(dice, 6);
    }
    for (uint32_t i = 0; i < made->constant_count; ++i) {
        struct rm_layout_constant *const constant = &made->constant[i];
        constant->at = throw_dice(dice, 12);
        constant->type = throw_dice(dice, 2) ? RM_FIELD_U8 : RM_FIELD_U16;
        constant->value = throw_dice(dice, 256);
    }
    made->id = random_field(dice, room);
    made->counter = random_field(dice, room);
    made->status = random_field(dice, room);
    if (throw_dice(dice, 16) != 0)
        made->counter.present = true;
    if (made->status.type != RM_FIELD_U8 && throw_dice(dice, 4) != 0)
        made->status.bits = 8;
    for (uint32_t i = 0; i < made->lane_count; ++i) {
        made->lane[i].at = throw_dice(dice, room);
        made->lane[i].type = (enum rm_field_type)throw_dice(dice, 10);
        if (made->lane[i].type == RM_FIELD_U64 && throw_dice(dice, 16) != 0)
            made->lane[i].type = RM_FIELD_F32;
    }
}

#endif
