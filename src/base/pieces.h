// SPDX-License-Identifier: Apache-2.0
/** Copies an application's memory piece by piece, out or in, for `pack` and `unpack` (ringmaster/application.h): one
 * function names the pieces, and so both ways have one order.
 *
 *     struct rm_pieces pieces = {.out = bytes, .end = capacity};       out; with neither `out` nor `in` it counts
 *     rm_pieces_copy(&pieces, &it->count, sizeof it->count);
 *     … pieces.at bytes, unless pieces.is_short
 */
#ifndef RM_BASE_PIECES_H
#define RM_BASE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rm_pieces {
    uint8_t *out;
    uint8_t const *in;
    size_t at, end;
    /** A piece had no room, or was not there. */
    bool is_short;
};

static inline void rm_pieces_copy(struct rm_pieces *pieces, void *memory, size_t bytes) {
    bool const counts = pieces->out == NULL && pieces->in == NULL;
    pieces->is_short |= !counts && bytes > pieces->end - pieces->at;
    if (pieces->is_short)
        return;
    if (pieces->out != NULL)
        memcpy(pieces->out + pieces->at, memory, bytes);
    else if (pieces->in != NULL)
        memcpy(memory, pieces->in + pieces->at, bytes);
    pieces->at += bytes;
}

#endif
