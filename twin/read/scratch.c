// SPDX-License-Identifier: Apache-2.0
#include "scratch.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

struct rm_scratch_piece {
    alignas(max_align_t) struct rm_scratch_piece *older;
};

void *rm_scratch_take(struct rm_scratch *scratch, size_t count, size_t bytes) {
    struct rm_scratch_piece *piece;
    if (bytes != 0 && count > (SIZE_MAX / 2 - sizeof *piece) / bytes)
        return NULL;
    piece = calloc(1, sizeof *piece + count * bytes);
    if (piece == NULL)
        return NULL;
    piece->older = scratch->newest;
    scratch->newest = piece;
    return piece + 1;
}

void rm_scratch_free(struct rm_scratch *scratch) {
    while (scratch->newest != NULL) {
        struct rm_scratch_piece *const piece = scratch->newest;
        scratch->newest = piece->older;
        free(piece);
    }
}
