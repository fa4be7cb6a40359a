// SPDX-License-Identifier: Apache-2.0
#include "traffic/field_values.h"

static uint64_t const WEYL = 0xA0761D6478BD642F, MIX = 0xE7037ED1A0B428DB; // wyrand, Wang Yi: public domain

void rm_field_values_start(struct rm_field_values *values, struct rm_traffic_field const *field, uint64_t seed) {
    *values = (struct rm_field_values){.field = *field, .next = field->start, .state = seed * MIX};
}

static uint64_t field_random(uint64_t *state) {
    *state += WEYL;
    unsigned __int128 const product = (unsigned __int128)*state * (*state ^ MIX);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static void take_range(struct rm_field_values *values, uint64_t *value, uint32_t count) {
    struct rm_traffic_field const field = values->field;
    uint64_t next = values->next;
    uint32_t first = 0;
    if (field.step != 0 && (field.max - next) / field.step >= count) { // none wraps, so none waits for the one before
        for (; first < count; ++first)
            value[first] = next + first * field.step;
        next += count * field.step;
    }
    for (uint32_t i = first; i < count; ++i) {
        value[i] = next;
        next = field.max - next < field.step ? field.min : next + field.step;
    }
    values->next = next;
}

/** The high word of random · (max - min + 1): uniform but for (max - min) / 2^64. */
static void take_random(struct rm_field_values *values, uint64_t *value, uint32_t count) {
    uint64_t const min = values->field.min, span = values->field.max - min;
    uint64_t state = values->state;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t const drawn = field_random(&state);
        value[i] = min + (span == UINT64_MAX ? drawn : (uint64_t)((unsigned __int128)drawn * (span + 1) >> 64));
    }
    values->state = state;
}

void rm_field_values_take(struct rm_field_values *values, uint64_t *value, uint32_t count) {
    if (values->field.change == RM_TRAFFIC_RANDOM) {
        take_random(values, value, count);
    } else if (values->field.change == RM_TRAFFIC_RANGE) {
        take_range(values, value, count);
    } else {
        for (uint32_t i = 0; i < count; ++i)
            value[i] = values->field.start;
    }
}
