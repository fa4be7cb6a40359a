// SPDX-License-Identifier: Apache-2.0
/** Memory of a reader: taken piece by piece while a file is read, given back all at once, whatever went wrong between.
 * Each piece is an allocation of its own, so that a sanitizer sees a write beside it. A zeroed struct is empty. */
#ifndef RM_TWIN_READ_SCRATCH_H
#define RM_TWIN_READ_SCRATCH_H

#include <stddef.h>

struct rm_scratch_piece;

struct rm_scratch {
    struct rm_scratch_piece *newest;
};

/** Zeroed memory for `count` things of `bytes` each, that lives until rm_scratch_free; NULL when there is none. */
void *rm_scratch_take(struct rm_scratch *scratch, size_t count, size_t bytes);

void rm_scratch_free(struct rm_scratch *scratch);

#endif
