// SPDX-License-Identifier: Apache-2.0
#include "standby/link/message_parts.h"

static bool part_good(uint8_t part, uint8_t parts) { return part < parts && parts <= RM_PEER_PARTS; }

static bool vector_good(struct rm_peer_vector const *vector) {
    return vector->of < RM_PEER_VECTORS && part_good(vector->part, vector->parts) && vector->number > 0 &&
           vector->previous < vector->number && vector->count <= RM_PEER_VECTOR_VALUES &&
           (uint32_t)vector->first + vector->count <= vector->actuators;
}

bool rm_peer_vector_write(struct rm_peer_writer *writer, struct rm_peer_vector const *vector) {
    if (!vector_good(vector))
        return false;
    rm_peer_put_u8(writer, vector->of);
    rm_peer_put_u8(writer, vector->part);
    rm_peer_put_u8(writer, vector->parts);
    rm_peer_put_u16(writer, vector->actuators);
    rm_peer_put_u16(writer, vector->first);
    rm_peer_put_u16(writer, vector->count);
    rm_peer_put_u64(writer, vector->number);
    rm_peer_put_u64(writer, vector->previous);
    rm_peer_put_u64(writer, vector->turn);
    rm_peer_put(writer, vector->value, vector->count * sizeof *vector->value);
    return true;
}

bool rm_peer_vector_read(struct rm_peer_reader *reader, struct rm_peer_vector *vector) {
    vector->of = rm_peer_get_u8(reader);
    vector->part = rm_peer_get_u8(reader);
    vector->parts = rm_peer_get_u8(reader);
    vector->actuators = rm_peer_get_u16(reader);
    vector->first = rm_peer_get_u16(reader);
    vector->count = rm_peer_get_u16(reader);
    vector->number = rm_peer_get_u64(reader);
    vector->previous = rm_peer_get_u64(reader);
    vector->turn = rm_peer_get_u64(reader);
    if (!vector_good(vector))
        return false;
    rm_peer_get(reader, vector->value, vector->count * sizeof *vector->value);
    return true;
}

/** A part without a record is none: the last one of a step is its decision. */
static bool step_good(struct rm_peer_step const *step) {
    return step->application < RM_PEER_APPLICATIONS && part_good(step->part, step->parts) && step->count > 0 &&
           step->count <= RM_PEER_STEP_RECORDS && step->turn < RM_TURN_END &&
           (step->previous == RM_TURN_NONE || step->previous < step->turn);
}

bool rm_peer_step_write(struct rm_peer_writer *writer, struct rm_peer_step const *step) {
    if (!step_good(step))
        return false;
    rm_peer_put_u8(writer, step->application);
    rm_peer_put_u8(writer, step->part);
    rm_peer_put_u8(writer, step->parts);
    rm_peer_put_u8(writer, step->count);
    rm_peer_put_u32(writer, step->beginning);
    rm_peer_put_u64(writer, step->turn);
    rm_peer_put_u64(writer, step->previous);
    for (uint8_t i = 0; i < step->count; ++i) {
        rm_peer_put_u16(writer, step->record[i].stream);
        rm_peer_put_u64(writer, step->record[i].tag);
        rm_peer_put(writer, step->record[i].lane, sizeof step->record[i].lane);
    }
    return true;
}

bool rm_peer_step_read(struct rm_peer_reader *reader, struct rm_peer_step *step) {
    step->application = rm_peer_get_u8(reader);
    step->part = rm_peer_get_u8(reader);
    step->parts = rm_peer_get_u8(reader);
    step->count = rm_peer_get_u8(reader);
    step->beginning = rm_peer_get_u32(reader);
    step->turn = rm_peer_get_u64(reader);
    step->previous = rm_peer_get_u64(reader);
    if (!step_good(step))
        return false;
    for (uint8_t i = 0; i < step->count; ++i) {
        step->record[i].stream = rm_peer_get_u16(reader);
        step->record[i].tag = rm_peer_get_u64(reader);
        rm_peer_get(reader, step->record[i].lane, sizeof step->record[i].lane);
    }
    return true;
}
