// SPDX-License-Identifier: Apache-2.0
/** Memory for what one thread works on while others work on theirs. */
#ifndef RM_BASE_ZEROED_H
#define RM_BASE_ZEROED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Zeroed memory for `count` elements of `bytes` each, on cache lines that nothing else shares: of one at least, also
 * where count is 0. NULL when there is none. free() gives it back. */
static inline void *rm_zeroed(size_t count, size_t bytes) {
    enum { LINE_BYTES = 64 };
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || all > SIZE_MAX - LINE_BYTES)
        return NULL;
    size_t const whole = (all + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES + (all == 0 ? LINE_BYTES : 0);
    void *const memory = aligned_alloc(LINE_BYTES, whole);
    return memory == NULL ? NULL : memset(memory, 0, whole);
}

#endif
