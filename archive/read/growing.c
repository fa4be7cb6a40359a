// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "growing.h"

void *rm_growing_add(struct rm_growing *growing, size_t item_bytes) {
    if (growing->count == growing->room) {
        size_t const room = growing->room == 0 ? 16 : 2 * growing->room;
        void *const items = reallocarray(growing->items, room, item_bytes);
        if (items == NULL)
            return NULL;
        growing->items = items;
        growing->room = room;
    }
    char *const added = (char *)growing->items + growing->count * item_bytes;
    ++growing->count;
    return memset(added, 0, item_bytes);
}

void rm_growing_free(struct rm_growing *growing) {
    free(growing->items);
    *growing = (struct rm_growing){0};
}
