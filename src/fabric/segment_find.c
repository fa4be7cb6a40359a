// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_find.h"

#include <stdbool.h>

/** The object's place, read once, lies inside and is long enough. */
static bool is_inside_segment(struct rm_mapped_segment const *mapped, uint64_t offset, size_t bytes) {
    return offset % RM_CACHE_LINE == 0 && offset <= mapped->bytes && bytes <= mapped->bytes - offset;
}

struct rm_object const *rm_segment_find(struct rm_mapped_segment const *mapped, enum rm_object_kind kind,
                                        char const *name, size_t bytes, void const **memory) {
    uint8_t const *start = (uint8_t const *)mapped->header;
    uint64_t const directory = mapped->header->directory_offset;
    uint64_t const count = mapped->header->object_count;
    if (directory > mapped->bytes || count > (mapped->bytes - directory) / sizeof(struct rm_object))
        return NULL;
    struct rm_object const *object = (struct rm_object const *)(start + directory);
    for (uint64_t i = 0; i < count; ++i, ++object) {
        uint64_t const offset = object->offset;
        if (object->kind != kind || (name != NULL && strncmp(object->name, name, sizeof object->name) != 0) ||
            !is_inside_segment(mapped, offset, bytes))
            continue;
        *memory = start + offset;
        return object;
    }
    return NULL;
}
