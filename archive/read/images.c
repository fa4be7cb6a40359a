// SPDX-License-Identifier: Apache-2.0
/** Frames of cameras: found by time, turn or number, and read. */
#include <string.h>

#include "archive_parts.h"
#include "base/fail.h"

static bool image_is_between(struct rm_archive_block const *at, enum rm_image_order order, uint64_t from,
                             uint64_t until, int32_t tai_minus_utc_s) {
    enum rm_time_scale const scale = order == RM_IMAGE_BY_UTC ? RM_TIME_UTC : RM_TIME_TAI;
    switch (order) {
    case RM_IMAGE_BY_TURN:
        return at->block.first_turn != RM_TURN_NONE && at->block.first_turn >= from && at->block.first_turn < until;
    case RM_IMAGE_BY_NUMBER:
        return at->number >= from && at->number < until;
    default:
        return at->block.first_tai_ns >= rm_time_as_tai(from, scale, tai_minus_utc_s) &&
               at->block.first_tai_ns < rm_time_as_tai(until, scale, tai_minus_utc_s);
    }
}

uint32_t rm_archive_images_between(struct rm_archive const *archive, uint32_t object, enum rm_image_order order,
                                   uint64_t from, uint64_t until, uint32_t *blocks, uint32_t most) {
    struct rm_archive_object const *const it = rm_archive_object_at(archive, object);
    uint32_t found = 0;
    if (it == NULL || it->is.kind != RM_BLOCK_IMAGE)
        return 0;
    for (uint32_t i = 0; i < it->block_count; ++i) {
        int32_t const offset_s = rm_archive_stored_file(archive, it->block[i].file)->info.header.tai_minus_utc_s;
        if (image_is_between(&it->block[i], order, from, until, offset_s) && found++ < most)
            blocks[found - 1] = i;
    }
    return found;
}

enum rm_code rm_archive_image(struct rm_archive *archive, uint32_t object, uint32_t block, void *payload,
                              struct rm_archive_image *image, struct rm_error *error) {
    struct rm_archive_object const *const it = rm_archive_object_at(archive, object);
    if (it == NULL || it->is.kind != RM_BLOCK_IMAGE)
        return rm_fail(error, RM_E_ARGUMENT, "%s: object %u has no images", archive->path, object);
    enum rm_code const code = rm_archive_payload(archive, object, block, payload, error);
    if (code != RM_OK)
        return code;
    memcpy(&image->is, payload, sizeof image->is);
    uint8_t const *const behind = (uint8_t const *)payload + sizeof image->is;
    image->map = image->is.map_bytes > 0 ? (void const *)behind : NULL;
    image->bytes = behind + image->is.map_bytes;
    return RM_OK;
}
