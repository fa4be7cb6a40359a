// SPDX-License-Identifier: Apache-2.0
/** The limits and the version that every reader and writer of a workspace agrees on.
 *
 * Everything in `include/ringmaster/` that is laid out in shared memory (`struct rm_…` with fixed-width members) is
 * frozen by `src/fabric/abi/abi.json`. The build compares the compiler's offsets with that file and fails when they
 * differ, so the layout never changes by accident: raise RM_ABI_VERSION, run `make abi`, and say why in the changelog.
 *
 * All shared memory is little-endian. Times are TAI nanoseconds or ticks of the CPU's time stamp counter (TSC).
 */
#ifndef RINGMASTER_ABI_H
#define RINGMASTER_ABI_H

#include <stdint.h>

/** Raised whenever the meaning or the place of any shared byte changes. */
#define RM_ABI_VERSION 14u

/** First eight bytes of a finished segment: the characters "RINGMSTR" in memory order. */
#define RM_SEGMENT_MAGIC 0x5254534D474E4952ull

enum {
    /** Bytes of a cache line. Data that cores share begins on a line of its own, so that two writers never meet in
     * one. */
    RM_CACHE_LINE = 64,
    /** Bytes of a page. Every object in a segment begins at a multiple of this. */
    RM_PAGE_BYTES = 4096,
    /** Lanes of a record: 32-bit values. */
    RM_LANES = 12,
    /** Bytes of an object's name, UTF-8, with the terminating zero. */
    RM_NAME_BYTES = 96,
    /** Bytes of the name of a segment's owner, with the terminating zero. */
    RM_OWNER_BYTES = 32,
    /** Bytes of a unit, UTF-8 ("µm"), with the terminating zero. */
    RM_UNIT_BYTES = 16,
    /** Bytes of a description: one sentence, UTF-8, with the terminating zero. */
    RM_DESCRIPTION_BYTES = 104,
    /** Bytes of a lane's name, with the terminating zero. */
    RM_LANE_NAME_BYTES = 16,
    /** Bytes of the reason why a request was refused, UTF-8, with the terminating zero. */
    RM_REASON_BYTES = 120,
};

#endif
