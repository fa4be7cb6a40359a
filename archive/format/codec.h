// SPDX-License-Identifier: Apache-2.0
/** How payloads are compressed without loss.
 *
 * RM_CODEC_DELTA_BLOSC: how payloads of records and of steps are compressed without loss. Positions change little from
 * one record to the next. So the 32-bit words are put column by column, each but the first of a column less the one
 * before it (modulo 2^32), and the result is one chunk of Blosc: bits shuffled by words of 4 bytes, then LZ4 or Zstd.
 *
 * The chunks are those of Blosc 1, which Blosc 2 reads, too: Debian has no library of Blosc 2. */
#ifndef RM_ARCHIVE_CODEC_H
#define RM_ARCHIVE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes that a compressed payload may take at most. */
size_t rm_codec_bound(size_t plain_bytes);

/** Compresses `plain_bytes`, a multiple of `record_bytes`, which is one of 4. `compressor` is "lz4" or "zstd". `scratch`
 * has room for plain_bytes, `stored` for rm_codec_bound. Returns the bytes stored; 0 where it does not get smaller. */
size_t rm_codec_encode(void const *plain, size_t plain_bytes, size_t record_bytes, char const *compressor,
                       void *scratch, void *stored);

/** The way back. False where the chunk is damaged, or is not of plain_bytes; what `plain` has then is undefined. */
bool rm_codec_decode(void const *stored, size_t stored_bytes, size_t record_bytes, void *scratch, void *plain,
                     size_t plain_bytes);

/** RM_CODEC_BLOSC: the payload of an image, struct rm_archived_image first. `stored` has room for rm_codec_bound.
 * Returns the bytes stored; 0 where it does not get smaller. */
size_t rm_codec_encode_image(void const *plain, size_t plain_bytes, char const *compressor, void *stored);

/** The way back; false as above. */
bool rm_codec_decode_image(void const *stored, size_t stored_bytes, void *plain, size_t plain_bytes);

#endif
