// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <string.h>

#include "object_check.h"

static bool block_has_records(struct rm_block const *block) {
    return block->kind == RM_BLOCK_RECORDS || block->kind == RM_BLOCK_REDUCED;
}

static bool block_codec_is_known(struct rm_block const *block) {
    switch (block->codec) {
    case RM_CODEC_PLAIN:
        return true;
    case RM_CODEC_DELTA_BLOSC:
        return block_has_records(block);
    case RM_CODEC_BLOSC:
        return block->kind == RM_BLOCK_IMAGE;
    default:
        return false;
    }
}

char const *rm_block_fault(struct rm_block const *block, struct rm_archived_object const *object) {
    if (block->kind != object->kind)
        return "the block is of another kind than its object";
    if (block->last_tai_ns < block->first_tai_ns)
        return "the block ends before it begins";
    if (!block_codec_is_known(block))
        return "the block is stored in a way that is not known";
    if (block->codec == RM_CODEC_PLAIN && block->stored_bytes != block->plain_bytes)
        return "the block says two lengths of its payload";
    if (block->kind == RM_BLOCK_IMAGE)
        return block->count == 1 && block->plain_bytes >= sizeof(struct rm_archived_image)
                   ? NULL
                   : "the block is too short for an image";
    if (!block_has_records(block))
        return NULL;
    if (block->count == 0 || (uint64_t)block->count * object->record_bytes != block->plain_bytes)
        return "the block says another number of records than it holds";
    if (block->first_turn >= RM_TURN_END ||
        (uint64_t)(block->count - 1) > (RM_TURN_END - 1 - block->first_turn) / object->period_turns)
        return "the block's turns cannot be";
    return NULL;
}

char const *rm_image_fault(struct rm_archived_image const *image, uint64_t plain_bytes) {
    uint64_t const rest = plain_bytes - sizeof *image;
    bool const fits = image->map_bytes % sizeof(uint64_t) == 0 && image->map_bytes <= rest &&
                      rest - image->map_bytes == image->length;
    return fits && image->fragments <= image->map_bytes * 8ull ? NULL : "the image says another length than it has";
}

/** Bytes of a record of the object; 0 where it has none. */
static uint64_t object_record_bytes(struct rm_archived_object const *object) {
    switch (object->kind) {
    case RM_BLOCK_RECORDS:
        return sizeof(struct rm_record);
    case RM_BLOCK_REDUCED:
        return sizeof(struct rm_reduced) + (uint64_t)object->lane_count * 4 * sizeof(float);
    default:
        return 0;
    }
}

static bool object_texts_end(struct rm_archived_object const *object) {
    bool end = memchr(object->name, 0, sizeof object->name) != NULL &&
               memchr(object->filter, 0, sizeof object->filter) != NULL;
    for (uint32_t i = 0; i < object->lane_count && end; ++i)
        end = memchr(object->lane[i].name, 0, sizeof object->lane[i].name) != NULL &&
              memchr(object->lane[i].unit, 0, sizeof object->lane[i].unit) != NULL;
    return end;
}

char const *rm_object_fault(struct rm_archived_object const *object) {
    if (!rm_object_is_dense(object) && object->kind != RM_BLOCK_EVENTS && object->kind != RM_BLOCK_IMAGE)
        return "the object is of a kind that is not known";
    if (object->lane_count > RM_LANES)
        return "the object has more lanes than a record";
    if (!object_texts_end(object))
        return "a name of the object does not end";
    if (!rm_object_is_dense(object))
        return NULL;
    if (object->period_turns == 0 || object->period_turns >= RM_TURN_END)
        return "the object's period cannot be";
    return object_record_bytes(object) == object->record_bytes ? NULL : "the object's records have another length";
}
