// SPDX-License-Identifier: Apache-2.0
/** Memory that is taken piece by piece and given back all at once, close together and on large pages
 * (base/large_pages.h). For the private state of a role: with a page for every few kilobytes, a hundred instruments need
 * more entries than the first level of the TLB has.
 *
 * One thread's. A zeroed struct is an empty arena.
 */
#ifndef RM_BASE_ARENA_H
#define RM_BASE_ARENA_H

#include <stddef.h>

struct rm_arena_chunk;

struct rm_arena {
    struct rm_arena_chunk *newest;
};

/** Zeroed memory at a cache line; NULL when there is none. Lives until rm_arena_free. */
void *rm_arena_take(struct rm_arena *arena, size_t bytes);

/** Gives everything back; the arena is empty. */
void rm_arena_free(struct rm_arena *arena);

#endif
