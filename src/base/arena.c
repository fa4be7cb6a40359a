// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, LARGE_PAGE_BYTES = 2 << 20 };

/** Begins its own memory, at a large page. */
struct rm_arena_chunk {
    alignas(LINE_BYTES) struct rm_arena_chunk *older;
    size_t bytes;
    size_t taken;
};

static size_t round_up_to_unit(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/** Maps `bytes`, a multiple of a large page, at one: a large page more than that, less what is before and behind. */
static void *map_aligned(size_t bytes) {
    size_t const room = bytes + LARGE_PAGE_BYTES;
    uint8_t *const begin = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        return NULL;
    size_t const before = (LARGE_PAGE_BYTES - (uintptr_t)begin % LARGE_PAGE_BYTES) % LARGE_PAGE_BYTES;
    if (before != 0)
        munmap(begin, before);
    munmap(begin + before + bytes, room - before - bytes);
    /* A kernel without large pages refuses, and then there are small ones. */
    (void)madvise(begin + before, bytes, MADV_HUGEPAGE);
    return begin + before;
}

static struct rm_arena_chunk *add_chunk(struct rm_arena *arena, size_t bytes) {
    size_t const whole = round_up_to_unit(sizeof(struct rm_arena_chunk) + bytes, LARGE_PAGE_BYTES);
    struct rm_arena_chunk *const chunk = map_aligned(whole);
    if (chunk == NULL)
        return NULL;
    *chunk = (struct rm_arena_chunk){.older = arena->newest, .bytes = whole, .taken = sizeof *chunk};
    arena->newest = chunk;
    return chunk;
}

void *rm_arena_take(struct rm_arena *arena, size_t bytes) {
    size_t const whole = round_up_to_unit(bytes, LINE_BYTES);
    struct rm_arena_chunk *chunk = arena->newest;
    if (chunk == NULL || chunk->bytes - chunk->taken < whole)
        chunk = add_chunk(arena, whole);
    if (chunk == NULL)
        return NULL;
    void *const memory = (uint8_t *)chunk + chunk->taken;
    chunk->taken += whole;
    return memory;
}

void rm_arena_free(struct rm_arena *arena) {
    while (arena->newest != NULL) {
        struct rm_arena_chunk *const chunk = arena->newest;
        arena->newest = chunk->older;
        munmap(chunk, chunk->bytes);
    }
}
