// SPDX-License-Identifier: Apache-2.0
#include "standby/link/steps.h"

#include <string.h>

void rm_peer_steps_in_begin(struct rm_peer_steps_in *in) {
    in->records.turn = RM_TURN_NONE;
    in->parts = 0;
    in->beginning = 0;
    in->wants = in->gap = false;
}

void rm_peer_steps_in_clear(struct rm_peer_steps_in *in) {
    uint32_t const beginning = in->beginning; // of the session, which goes on
    rm_peer_steps_in_begin(in);
    in->beginning = beginning;
    in->came = RM_TURN_NONE;
}

void rm_peer_step_send(uint8_t application, struct rm_peer_records const *records, rm_turn previous, uint32_t beginning,
                       struct rm_peer_emitter const *emitter) {
    uint32_t const parts = (records->count + RM_PEER_STEP_RECORDS - 1) / RM_PEER_STEP_RECORDS;
    struct rm_peer_message message = {.kind = RM_PEER_STEP};
    for (uint32_t part = 0; part < parts; ++part) {
        uint32_t const first = part * RM_PEER_STEP_RECORDS, left = records->count - first;
        struct rm_peer_step *const step = &message.step;
        step->application = application;
        step->part = (uint8_t)part;
        step->parts = (uint8_t)parts;
        step->count = (uint8_t)(left < RM_PEER_STEP_RECORDS ? left : RM_PEER_STEP_RECORDS);
        step->turn = records->turn;
        step->previous = previous;
        step->beginning = beginning;
        memcpy(step->record, &records->record[first], step->count * sizeof *step->record);
        emitter->emit(emitter->context, &message);
    }
}

/** True for the step behind the newest one here, for the first of all, and for one with a gap before it. */
static bool step_is_next(struct rm_peer_steps_in *in, struct rm_peer_step const *part) {
    if (part->beginning < in->beginning)
        return false;
    if (in->came == RM_TURN_NONE || (part->previous == in->came && part->beginning == in->beginning))
        return true;
    /* Without a predecessor it begins anew: behind what is here or, where the turn counter did, before it. */
    if (part->previous == RM_TURN_NONE && part->beginning > in->beginning)
        return true;
    in->wants |= part->beginning > in->beginning || part->turn > in->came;
    return false;
}

bool rm_peer_step_take(struct rm_peer_steps_in *in, struct rm_peer_step const *part) {
    if (!step_is_next(in, part))
        return false;
    if (in->records.turn != part->turn) {
        in->records.turn = part->turn;
        in->records.count = 0;
        in->parts = 0;
    }
    if (part->part + 1 < part->parts && part->count != RM_PEER_STEP_RECORDS)
        return false;
    memcpy(&in->records.record[part->part * RM_PEER_STEP_RECORDS], part->record, part->count * sizeof *part->record);
    if (part->part + 1 == part->parts)
        in->records.count = part->part * RM_PEER_STEP_RECORDS + (uint32_t)part->count;
    in->parts |= 1u << part->part;
    if (in->parts != (uint32_t)((1ull << part->parts) - 1))
        return false;
    in->gap = in->came != RM_TURN_NONE && part->previous == RM_TURN_NONE;
    in->came = part->turn;
    in->beginning = part->beginning;
    in->parts = 0;
    in->wants = false;
    return true;
}
