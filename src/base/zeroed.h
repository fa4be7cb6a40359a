// SPDX-License-Identifier: Apache-2.0
/** Memory for what one thread works on while others work on theirs. */
#ifndef RM_BASE_ZEROED_H
#define RM_BASE_ZEROED_H

#include <stdlib.h>
#include <string.h>

#include <ringmaster/abi.h>

/** Zeroed memory for `count` elements of `bytes` each, on cache lines that nothing else shares: of one at least, also
 * where count is 0. NULL when there is none. free() gives it back. */
static inline void *rm_zeroed(size_t count, size_t bytes) {
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || all > SIZE_MAX - RM_CACHE_LINE)
        return NULL;
    size_t const whole = (all + RM_CACHE_LINE - 1) / RM_CACHE_LINE * RM_CACHE_LINE + (all == 0 ? RM_CACHE_LINE : 0);
    void *const memory = aligned_alloc(RM_CACHE_LINE, whole);
    return memory == NULL ? NULL : memset(memory, 0, whole);
}

#endif
