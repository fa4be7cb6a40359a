// SPDX-License-Identifier: Apache-2.0
#include "standby/link/vectors.h"

#include <stdlib.h>
#include <string.h>

enum {
    /** Unchanged values that are told between two that have changed: another message costs more. */
    GAP_VALUES = 8,
};

static double *values_make(uint32_t actuators) {
    return actuators <= RM_PEER_PARTS * RM_PEER_VECTOR_VALUES ? calloc(actuators + 1u, sizeof(double)) : NULL;
}

bool rm_peer_vector_out_make(struct rm_peer_vector_out *out, uint32_t actuators) {
    *out = (struct rm_peer_vector_out){.actuators = (uint16_t)actuators, .value = values_make(actuators)};
    rm_peer_vector_out_begin(out);
    return out->value != NULL;
}

bool rm_peer_vector_in_make(struct rm_peer_vector_in *in, uint32_t actuators) {
    *in = (struct rm_peer_vector_in){.actuators = (uint16_t)actuators, .value = values_make(actuators)};
    rm_peer_vector_in_begin(in);
    return in->value != NULL;
}

void rm_peer_vector_out_free(struct rm_peer_vector_out *out) { free(out->value); }
void rm_peer_vector_in_free(struct rm_peer_vector_in *in) { free(in->value); }

void rm_peer_vector_out_begin(struct rm_peer_vector_out *out) {
    out->number = 0;
    out->whole = true;
}

void rm_peer_vector_in_begin(struct rm_peer_vector_in *in) {
    in->number = in->coming = 0;
    in->parts = 0;
    in->wants = false;
}

/** By their bits: a NaN that stays is no change, and −0 is another value than 0. */
static bool value_differs(double const *one, double const *other) { return memcmp(one, other, sizeof *one) != 0; }

/** The next stretch of values to tell, from `*first` on: its length, 0 at the end. */
static uint32_t stretch_next(struct rm_peer_vector_out const *out, double const *value, uint32_t *first) {
    uint32_t at = *first;
    while (!out->whole && at < out->actuators && !value_differs(&out->value[at], &value[at]))
        ++at;
    *first = at;
    uint32_t end = at, last = at;
    while (end < out->actuators && end - at < RM_PEER_VECTOR_VALUES && end - last <= GAP_VALUES) {
        if (out->whole || value_differs(&out->value[end], &value[end]))
            last = end + 1;
        ++end;
    }
    return last - at;
}

static uint32_t stretch_count(struct rm_peer_vector_out const *out, double const *value) {
    uint32_t count = 0, first = 0, length;
    while ((length = stretch_next(out, value, &first)) > 0) {
        ++count;
        first += length;
    }
    return count;
}

void rm_peer_vector_send(struct rm_peer_vector_out *out, enum rm_peer_vector_of of, double const *value, rm_turn turn,
                         struct rm_peer_emitter const *emitter) {
    uint32_t parts = stretch_count(out, value);
    if (parts > RM_PEER_PARTS) {
        out->whole = true;
        parts = stretch_count(out, value);
    }
    struct rm_peer_message message = {.kind = RM_PEER_VECTOR};
    message.vector = (struct rm_peer_vector){.of = (uint8_t)of,
                                             .parts = (uint8_t)(parts > 0 ? parts : 1),
                                             .actuators = out->actuators,
                                             .number = out->number + 1,
                                             .previous = out->whole ? 0 : out->number,
                                             .turn = turn};
    uint32_t first = 0;
    for (uint8_t part = 0; part < message.vector.parts; ++part) {
        uint32_t const length = stretch_next(out, value, &first);
        message.vector.part = part;
        message.vector.first = (uint16_t)(length > 0 ? first : 0);
        message.vector.count = (uint16_t)length;
        memcpy(message.vector.value, &value[first], length * sizeof *value);
        emitter->emit(emitter->context, &message);
        first += length;
    }
    memcpy(out->value, value, out->actuators * sizeof *value);
    ++out->number;
    out->whole = false;
}

bool rm_peer_vector_take(struct rm_peer_vector_in *in, struct rm_peer_vector const *part) {
    if (part->actuators != in->actuators || part->number <= in->number || part->number < in->coming)
        return false;
    if (part->previous != 0 && part->previous != in->number) {
        in->wants = true;
        return false;
    }
    if (part->number > in->coming) {
        in->coming = part->number;
        in->parts = 0;
    }
    memcpy(&in->value[part->first], part->value, part->count * sizeof *part->value);
    in->parts |= 1u << part->part;
    if (in->parts != (uint32_t)((1ull << part->parts) - 1))
        return false;
    in->number = part->number;
    in->wants = false;
    return true;
}
