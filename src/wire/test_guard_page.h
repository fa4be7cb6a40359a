// SPDX-License-Identifier: Apache-2.0
/** For tests: bytes whose end is the end of readable memory, so that reading one byte too many ends the process. */
#ifndef RM_WIRE_TEST_GUARD_PAGE_H
#define RM_WIRE_TEST_GUARD_PAGE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARD_PAGE_BYTES = 4096 };

/** Maps one writable page, and behind it one that may not be touched; returns the first byte of the latter. NULL when
 * there is no memory. */
static inline uint8_t *guard_page_new(void) {
    uint8_t *const page = mmap(NULL, 2 * GUARD_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || mprotect(page + GUARD_PAGE_BYTES, GUARD_PAGE_BYTES, PROT_NONE))
        return NULL;
    return page + GUARD_PAGE_BYTES;
}

static inline void guard_page_free(uint8_t *guard) { munmap(guard - GUARD_PAGE_BYTES, 2 * GUARD_PAGE_BYTES); }

/** A copy of `bytes` that ends right before the guard. */
static inline uint8_t *guard_page_copy(uint8_t *guard, uint8_t const *bytes, uint32_t length) {
    return memcpy(guard - length, bytes, length);
}

#endif
