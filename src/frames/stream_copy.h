// SPDX-License-Identifier: Apache-2.0
/** A copy whose destination is not read soon: where it covers whole vectors, they go past the caches (non-temporal
 * stores). Before the bytes are handed to
 * another thread, rm_stream_copy_end() is called. */
#ifndef RM_FRAMES_STREAM_COPY_H
#define RM_FRAMES_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/simd.h>

/** The places do not overlap, and have any alignment. */
typedef void rm_stream_copy(uint8_t *to, uint8_t const *from, size_t bytes);

/** For an instruction set, at most rm_simd_best(), or RM_SIMD_BEST. All copy the same. */
rm_stream_copy *rm_stream_copy_for(enum rm_simd simd);

/** Makes the stores of all copies before it visible before any store behind it. */
void rm_stream_copy_end(void);

#endif
