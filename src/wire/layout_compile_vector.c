// SPDX-License-Identifier: Apache-2.0
/** Which byte of a datagram goes where in the register, for layout_vector.c. */
#include "wire/layout_parts.h"

enum {
    COUNTER_WORD = 0, /**< 32-bit words of the register: a sample, where a record has turn and tag, and the lanes */
    ID_WORD = 2,
    STATUS_WORD = 3,
    LANES_WORD = 4,
    VECTOR_BYTES = 64,
    ROUTES_MAX = RM_LANES + 3,
};

/** A field on its way into the register: its place in the first record, and the first of its words there. */
struct route {
    struct rm_layout_place place;
    uint32_t word;
    bool at_top; /**< of the word, from where a signed field is shifted down with its sign */
};

/** True when a field of this scope moves from record to record as the lanes do. */
static bool moves_with_lanes(struct rm_layout const *layout, enum rm_field_scope scope) {
    return scope == RM_IN_TURN || layout->shape.records == 1 || (scope == RM_IN_INSTRUMENT && layout->turn_count == 1);
}

static uint32_t route_lanes(struct rm_layout const *layout, struct route *route) {
    struct rm_layout_description const *const described = &layout->described;
    for (uint32_t i = 0; i < described->lane_count; ++i) {
        enum rm_field_type const type = described->lane[i].type;
        route[i] = (struct route){
            .place = rm_layout_place_of(layout, RM_IN_TURN, described->lane[i].at, rm_field_bytes(type)),
            .word = LANES_WORD + i,
            .at_top = rm_field_is_signed(type),
        };
    }
    return described->lane_count;
}

/** The routes of id, counter and status; 0 when one of them cannot take this way. */
static uint32_t route_numbers(struct rm_layout const *layout, struct route *route) {
    struct rm_layout_description const *const described = &layout->described;
    struct rm_layout_field const *const fields[] = {&described->counter, &described->id, &described->status};
    static uint32_t const words[] = {COUNTER_WORD, ID_WORD, STATUS_WORD};
    bool const id_is_zero = layout->shape.records != 0 && layout->shape.last_block == 0;
    if (described->counter.shift != 0 || !(described->id.present || id_is_zero))
        return 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        if (!fields[i]->present)
            continue;
        if (!moves_with_lanes(layout, fields[i]->in))
            return 0;
        uint32_t const bytes = rm_field_bytes(fields[i]->type);
        route[count++] =
            (struct route){.place = rm_layout_place_of(layout, fields[i]->in, fields[i]->at, bytes), .word = words[i]};
    }
    return count;
}

/** The first byte of them all; false when they do not lie within one register. */
static bool within_vector(struct route const *route, uint32_t count, uint32_t *begin) {
    uint32_t end = 0;
    *begin = UINT32_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const first = route[i].place.first;
        *begin = first < *begin ? first : *begin;
        end = first + route[i].place.bytes > end ? first + route[i].place.bytes : end;
    }
    return end - *begin <= VECTOR_BYTES;
}

static void compile_routes(struct rm_layout *layout, struct route const *route, uint32_t count) {
    struct rm_layout_vector *const vector = &layout->vector;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const bytes = route[i].place.bytes;
        uint32_t const to = 4 * route[i].word + (route[i].at_top ? 4 - bytes : 0);
        uint32_t const from = route[i].place.first - vector->at;
        for (uint32_t j = 0; j < bytes; ++j) {
            uint32_t const source = from + (layout->swap ? bytes - 1 - j : j);
            vector->order[to + j] = (uint8_t)source;
            vector->load |= 1ull << source;
        }
    }
}

static void compile_word(struct rm_layout_vector *vector, uint32_t word, uint32_t right, uint32_t mask,
                         uint32_t limit) {
    vector->right[word] = right;
    vector->mask[word] = mask;
    vector->limit[word] = limit;
}

static void compile_words(struct rm_layout *layout) {
    struct rm_layout_description const *const described = &layout->described;
    struct rm_layout_vector *const vector = &layout->vector;
    uint64_t const counter = rm_field_mask(&described->counter);
    compile_word(vector, COUNTER_WORD, 0, (uint32_t)counter, UINT32_MAX);
    compile_word(vector, COUNTER_WORD + 1, 0, (uint32_t)(counter >> 32), UINT32_MAX);
    compile_word(vector, ID_WORD, described->id.shift, (uint32_t)rm_field_mask(&described->id), UINT32_MAX);
    compile_word(vector, STATUS_WORD, described->status.shift, (uint32_t)rm_field_mask(&described->status), UINT32_MAX);
    for (uint32_t i = 0; i < described->lane_count; ++i) {
        enum rm_field_type const type = described->lane[i].type;
        uint32_t const unused = 32 - 8 * rm_field_bytes(type);
        if (rm_field_is_signed(type))
            compile_word(vector, LANES_WORD + i, unused, UINT32_MAX, UINT32_MAX);
        else
            compile_word(vector, LANES_WORD + i, 0, UINT32_MAX >> unused, rm_lane_limit(type));
    }
}

void rm_layout_compile_vector(struct rm_layout *layout) {
    struct route route[ROUTES_MAX];
    uint32_t const lanes = route_lanes(layout, route);
    uint32_t const numbers = route_numbers(layout, route + lanes);
    layout->lanes_by_vector = within_vector(route, lanes, &layout->vector.at);
    if (!layout->lanes_by_vector)
        return;
    uint32_t at;
    layout->numbers_by_vector = numbers > 0 && within_vector(route, lanes + numbers, &at);
    if (layout->numbers_by_vector)
        layout->vector.at = at;
    compile_routes(layout, route, layout->numbers_by_vector ? lanes + numbers : lanes);
    compile_words(layout);
}
