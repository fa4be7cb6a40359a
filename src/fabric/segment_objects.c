// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_objects.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <ringmaster/clock.h>
#include <ringmaster/group.h>
#include <ringmaster/images.h>
#include <ringmaster/request.h>
#include <ringmaster/rows.h>
#include <ringmaster/standby.h>
#include <ringmaster/state.h>

#include "abi_hash.h"
#include "fabric/parameter_parts.h"
#include "fabric/sequence_lock.h"
#include "fabric/setpoint_vectors.h"

static void *memory_of(struct rm_segment_header *header, struct rm_planned const *planned) {
    return (uint8_t *)header + planned->object.offset;
}

/** A fresh stream is empty: no head, and no slot that could be taken for turn 0. */
static void clear_stream(struct rm_stream *stream) {
    struct rm_slot *slot = (struct rm_slot *)((uint8_t *)stream + stream->slots_offset);
    atomic_store_explicit(&stream->head, RM_TURN_NONE, memory_order_relaxed);
    atomic_store_explicit(&stream->first, RM_TURN_NONE, memory_order_relaxed);
    for (uint64_t i = 0; i < stream->capacity; ++i)
        atomic_store_explicit(&slot[i].word[0], RM_TURN_NONE, memory_order_relaxed);
}

static void clear_words(_Atomic uint64_t *word, _Atomic uint64_t const *end) {
    for (; word < end; ++word)
        atomic_store_explicit(word, 0, memory_order_relaxed);
}

static void renew_clock(struct rm_clock *clock, _Atomic uint64_t const *end) {
    rm_sequence_begin(&clock->sequence);
    clear_words(&clock->sequence + 1, end);
    rm_sequence_end(&clock->sequence);
}

/** A choice outlives the instance that was asked for it; a reading was of an instance that is no more. */
static void renew_parameter(struct rm_parameter *parameter, _Atomic uint64_t const *end) {
    rm_parameter_heal(parameter);
    if (parameter->flags & (RM_PARAMETER_SETTING | RM_PARAMETER_WRITABLE))
        return;
    rm_sequence_begin(&parameter->sequence);
    clear_words(&parameter->sequence + 1, end);
    atomic_store_explicit(&parameter->turn, RM_TURN_NONE, memory_order_relaxed);
    rm_sequence_end(&parameter->sequence);
}

/** A change in which the last owner was killed is over. */
static void renew_group(struct rm_group *group) {
    if (atomic_load_explicit(&group->sequence, memory_order_relaxed) & 1)
        rm_sequence_end(&group->sequence);
}

static void renew_grant(struct rm_grant *grant) {
    rm_sequence_begin(&grant->sequence);
    clear_words(&grant->sequence + 1, &grant->offence.sequence);
    rm_sequence_end(&grant->sequence);
    rm_sequence_begin(&grant->offence.sequence);
    clear_words(&grant->offence.sequence + 1, (_Atomic uint64_t const *)(grant + 1));
    rm_sequence_end(&grant->offence.sequence);
}

/** Nothing is written yet, as a sequence of 0 says: what an earlier instance wrote is of no use to anyone. */
static void renew_unwritten(_Atomic uint64_t *sequence, void const *end) {
    rm_sequence_begin(sequence);
    clear_words(sequence + 1, end);
    atomic_store_explicit(sequence, 0, memory_order_release);
}

/** What an operator has not acknowledged yet stays so over lives of the server. */
static void renew_standby_state(struct rm_standby_state *state) {
    uint64_t const unacknowledged = atomic_load_explicit(&state->unacknowledged, memory_order_relaxed);
    renew_unwritten(&state->sequence, state + 1);
    atomic_store_explicit(&state->unacknowledged, unacknowledged, memory_order_relaxed);
}

/** Rows go on counting, if these are rows: the sequences of three neighbours, each in its buffer. */
static void renew_setpoints(struct rm_setpoints *setpoints, _Atomic uint64_t const *end) {
    if (rm_setpoints_confused(setpoints))
        clear_words((_Atomic uint64_t *)(setpoints + 1), end);
}

/** Frames of an earlier owner are not shown any more; their sequences go on. */
static void renew_images(struct rm_images *images) { clear_words(images->place, images->place + RM_IMAGE_SLOTS_MAX); }

static void begin_object(void *memory, struct rm_planned const *planned) {
    if (planned->constant_bytes > 0)
        memcpy(memory, planned->constant, planned->constant_bytes);
    if (planned->object.kind == RM_OBJECT_STREAM)
        clear_stream(memory);
    else if (planned->object.kind == RM_OBJECT_ROWS)
        clear_stream(&((struct rm_rows *)memory)->stream);
    else if (planned->object.kind == RM_OBJECT_PARAMETER)
        atomic_store_explicit(&((struct rm_parameter *)memory)->turn, RM_TURN_NONE, memory_order_relaxed);
}

void rm_objects_begin(struct rm_segment_header *header, struct rm_segment_plan const *plan, char const *owner,
                      uint64_t bytes) {
    header->abi_version = RM_ABI_VERSION;
    header->header_bytes = sizeof *header;
    header->layout_hash = RM_LAYOUT_HASH;
    header->directory_hash = rm_plan_hash(plan);
    header->segment_bytes = bytes;
    header->directory_offset = sizeof *header;
    header->object_count = (uint32_t)plan->count;
    header->object_bytes = sizeof(struct rm_object);
    snprintf(header->owner, sizeof header->owner, "%s", owner);
    struct rm_object *directory = (struct rm_object *)(header + 1);
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_planned const *planned = &plan->planned[i];
        directory[i] = planned->object;
        begin_object(memory_of(header, planned), planned);
    }
}

bool rm_objects_equal(struct rm_segment_header const *header, struct rm_segment_plan const *plan) {
    if (header->directory_hash != rm_plan_hash(plan) || header->object_count != plan->count ||
        header->directory_offset != sizeof *header)
        return false;
    uint8_t const *start = (uint8_t const *)header;
    struct rm_object const *directory = (struct rm_object const *)(header + 1);
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_planned const *planned = &plan->planned[i];
        if (memcmp(&directory[i], &planned->object, sizeof planned->object) != 0)
            return false;
        if (planned->constant_bytes > 0 &&
            memcmp(start + planned->object.offset, planned->constant, planned->constant_bytes) != 0)
            return false;
    }
    return true;
}

void rm_objects_renew(struct rm_segment_header *header, struct rm_segment_plan const *plan) {
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_object const *object = &plan->planned[i].object;
        void *memory = memory_of(header, &plan->planned[i]);
        _Atomic uint64_t const *end = (_Atomic uint64_t const *)((uint8_t *)memory + object->bytes);
        if (object->kind == RM_OBJECT_COUNTERS || object->kind == RM_OBJECT_HISTOGRAM)
            clear_words(memory, end);
        else if (object->kind == RM_OBJECT_CLOCK)
            renew_clock(memory, end);
        else if (object->kind == RM_OBJECT_PARAMETER)
            renew_parameter(memory, end);
        else if (object->kind == RM_OBJECT_GROUP)
            renew_group(memory);
        else if (object->kind == RM_OBJECT_GRANT)
            renew_grant(memory);
        else if (object->kind == RM_OBJECT_SETPOINTS)
            renew_setpoints(memory, end);
        else if (object->kind == RM_OBJECT_IMAGES)
            renew_images(memory);
        else if (object->kind == RM_OBJECT_STANDBY_STATE)
            renew_standby_state(memory);
        else if (object->kind == RM_OBJECT_STANDBY_ORDERS)
            renew_unwritten(&((struct rm_standby_orders *)memory)->sequence, (struct rm_standby_orders *)memory + 1);
        else if (object->kind == RM_OBJECT_STATE)
            renew_unwritten(&((struct rm_state *)memory)->sequence, (struct rm_state *)memory + 1);
        else if (object->kind == RM_OBJECT_REQUESTS)
            atomic_store_explicit(&((struct rm_requests *)memory)->head, 0, memory_order_release);
    }
}
