// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/large_pages.h"

enum { LINE_BYTES = 64 };

/** Begins its own memory, at a large page. */
struct rm_arena_chunk {
    alignas(LINE_BYTES) struct rm_arena_chunk *older;
    size_t bytes;
    size_t taken;
};

static size_t whole_lines(size_t bytes) { return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES; }

static struct rm_arena_chunk *add_chunk(struct rm_arena *arena, size_t bytes) {
    size_t const whole = rm_large_pages_bytes(sizeof(struct rm_arena_chunk) + bytes);
    struct rm_arena_chunk *const chunk = rm_large_pages_map(whole);
    if (chunk == NULL)
        return NULL;
    *chunk = (struct rm_arena_chunk){.older = arena->newest, .bytes = whole, .taken = sizeof *chunk};
    arena->newest = chunk;
    return chunk;
}

void *rm_arena_take(struct rm_arena *arena, size_t bytes) {
    size_t const whole = whole_lines(bytes);
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
