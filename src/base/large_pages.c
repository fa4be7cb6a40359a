// SPDX-License-Identifier: Apache-2.0
#include "base/large_pages.h"

#include <stdint.h>
#include <sys/mman.h>

size_t rm_large_pages_bytes(size_t bytes) {
    return (bytes + RM_LARGE_PAGE_BYTES - 1) / RM_LARGE_PAGE_BYTES * RM_LARGE_PAGE_BYTES;
}

/* Maps a large page more than that, and gives back what is before and behind. */
void *rm_large_pages_map(size_t bytes) {
    size_t const whole = rm_large_pages_bytes(bytes), room = whole + RM_LARGE_PAGE_BYTES;
    uint8_t *const begin = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        return NULL;
    size_t const before = (RM_LARGE_PAGE_BYTES - (uintptr_t)begin % RM_LARGE_PAGE_BYTES) % RM_LARGE_PAGE_BYTES;
    if (before != 0)
        munmap(begin, before);
    munmap(begin + before + whole, room - before - whole);
    /* A kernel without large pages refuses, and then there are small ones. */
    (void)madvise(begin + before, whole, MADV_HUGEPAGE);
    return begin + before;
}
