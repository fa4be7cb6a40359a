// SPDX-License-Identifier: Apache-2.0
/** An array that grows as things are added to it. */
#ifndef RM_ARCHIVE_GROWING_H
#define RM_ARCHIVE_GROWING_H

#include <stdbool.h>
#include <stddef.h>

/** A zeroed struct is an empty array. */
struct rm_growing {
    void *items;
    size_t count, room;
};

/** A zeroed item at the end, or NULL when there is no memory. Moves the others. */
void *rm_growing_add(struct rm_growing *growing, size_t item_bytes);

/** Frees the items; the array is empty. */
void rm_growing_free(struct rm_growing *growing);

#endif
