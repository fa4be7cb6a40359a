// SPDX-License-Identifier: Apache-2.0
#include "codec.h"

#include <blosc.h>
#include <string.h>

#include <ringmaster/archive.h>

enum { WORD_BYTES = 4, LEVEL = 5 };

size_t rm_codec_bound(size_t plain_bytes) { return plain_bytes + BLOSC_MAX_OVERHEAD; }

/** Columns of differences. */
static void codec_spread(uint32_t const *plain, size_t records, size_t columns, uint32_t *spread) {
    for (size_t c = 0; c < columns; ++c) {
        uint32_t before = 0;
        for (size_t r = 0; r < records; ++r) {
            uint32_t const word = plain[r * columns + c];
            spread[c * records + r] = word - before;
            before = word;
        }
    }
}

static void codec_gather(uint32_t const *spread, size_t records, size_t columns, uint32_t *plain) {
    for (size_t c = 0; c < columns; ++c) {
        uint32_t word = 0;
        for (size_t r = 0; r < records; ++r) {
            word += spread[c * records + r];
            plain[r * columns + c] = word;
        }
    }
}

size_t rm_codec_encode(void const *plain, size_t plain_bytes, size_t record_bytes, char const *compressor,
                       void *scratch, void *stored) {
    if (record_bytes == 0 || record_bytes % WORD_BYTES != 0 || plain_bytes % record_bytes != 0 || plain_bytes == 0)
        return 0;
    codec_spread(plain, plain_bytes / record_bytes, record_bytes / WORD_BYTES, scratch);
    int const bytes = blosc_compress_ctx(LEVEL, BLOSC_BITSHUFFLE, WORD_BYTES, plain_bytes, scratch, stored,
                                         rm_codec_bound(plain_bytes), compressor, 0, 1);
    return bytes > 0 && (size_t)bytes < plain_bytes ? (size_t)bytes : 0;
}

bool rm_codec_decode(void const *stored, size_t stored_bytes, size_t record_bytes, void *scratch, void *plain,
                     size_t plain_bytes) {
    size_t bytes = 0;
    if (record_bytes == 0 || record_bytes % WORD_BYTES != 0 || plain_bytes % record_bytes != 0 || plain_bytes == 0 ||
        blosc_cbuffer_validate(stored, stored_bytes, &bytes) != 0 || bytes != plain_bytes ||
        blosc_decompress_ctx(stored, scratch, plain_bytes, 1) != (int)plain_bytes)
        return false;
    codec_gather(scratch, plain_bytes / record_bytes, record_bytes / WORD_BYTES, plain);
    return true;
}

/** Bytes of the smallest group of pixels that is whole bytes. The third byte of PFNC's number has the bits of a pixel. */
static size_t codec_group_bytes(struct rm_archived_image const *image) {
    size_t const bits = image->pixel_format >> 16 & 0xFF;
    size_t bytes = 1;
    while (bits > 0 && bytes * 8 % bits != 0 && bytes < bits)
        ++bytes;
    return bytes;
}

size_t rm_codec_encode_image(void const *plain, size_t plain_bytes, char const *compressor, void *stored) {
    struct rm_archived_image image;
    if (plain_bytes <= sizeof image)
        return 0;
    memcpy(&image, plain, sizeof image);
    size_t const rest = plain_bytes - sizeof image;
    int const bytes =
        blosc_compress_ctx(LEVEL, BLOSC_BITSHUFFLE, codec_group_bytes(&image), rest, (char const *)plain + sizeof image,
                           (char *)stored + sizeof image, rm_codec_bound(rest), compressor, 0, 1);
    if (bytes <= 0 || (size_t)bytes >= rest)
        return 0;
    memcpy(stored, &image, sizeof image);
    return sizeof image + (size_t)bytes;
}

bool rm_codec_decode_image(void const *stored, size_t stored_bytes, void *plain, size_t plain_bytes) {
    size_t const head = sizeof(struct rm_archived_image);
    size_t bytes = 0;
    if (stored_bytes <= head || plain_bytes <= head)
        return false;
    void const *chunk = (char const *)stored + head;
    memcpy(plain, stored, head);
    return blosc_cbuffer_validate(chunk, stored_bytes - head, &bytes) == 0 && bytes == plain_bytes - head &&
           blosc_decompress_ctx(chunk, (char *)plain + head, bytes, 1) == (int)bytes;
}
