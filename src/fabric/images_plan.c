// SPDX-License-Identifier: Apache-2.0
#include "fabric/images_plan.h"

#include "base/fail.h"

static uint64_t const FRAME_BYTES_MAX = 1ull << 32; /**< no product with the slots overflows */

enum { FRAGMENTS_MAX = 1 << 24, SLOTS_MIN = 8 };

static uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

static bool images_wanted_is_good(struct rm_images_plan const *wanted) {
    return wanted->slots >= SLOTS_MIN && wanted->slots <= RM_IMAGE_SLOTS_MAX && wanted->leases >= 1 &&
           wanted->leases <= wanted->slots - RM_IMAGE_SLOTS_OWN && wanted->frame_bytes >= 1 &&
           wanted->frame_bytes <= FRAME_BYTES_MAX && wanted->fragments_max >= 1 &&
           wanted->fragments_max <= FRAGMENTS_MAX;
}

enum rm_code rm_images_describe(struct rm_images_plan const *wanted, uint64_t before, struct rm_images *images,
                                struct rm_error *error) {
    if (!images_wanted_is_good(wanted))
        return rm_fail(
            error, RM_E_ARGUMENT,
            "images \"%s\": %u slots, %u leases, frames of %llu bytes in %u fragments; expected %d to %d slots, "
            "1 lease to %d below the slots, at most 2^32 bytes in 2^24 fragments",
            wanted->name, wanted->slots, wanted->leases, (unsigned long long)wanted->frame_bytes, wanted->fragments_max,
            SLOTS_MIN, RM_IMAGE_SLOTS_MAX, RM_IMAGE_SLOTS_OWN);
    *images = (struct rm_images){
        .slot_count = wanted->slots,
        .lease_count = wanted->leases,
        .slots_offset = sizeof *images,
        .map_bytes = round_up((wanted->fragments_max + 7) / 8, RM_CACHE_LINE),
        .frame_bytes = round_up(wanted->frame_bytes, RM_PAGE_BYTES),
        .lease_base = before * RM_LEASES_PER_OBJECT,
    };
    images->maps_offset = images->slots_offset + images->slot_count * sizeof(struct rm_image_slot);
    images->bytes_offset = round_up(images->maps_offset + images->slot_count * images->map_bytes, RM_PAGE_BYTES);
    return RM_OK;
}

uint64_t rm_images_object_bytes(struct rm_images const *images) {
    return images->bytes_offset + images->slot_count * images->frame_bytes;
}

/** So many things of `each` bytes, from `offset` on, end before `bytes`, without any sum that could overflow. */
static bool images_part_fits(uint64_t offset, uint64_t count, uint64_t each, uint64_t bytes) {
    return each > 0 && offset >= sizeof(struct rm_images) && offset <= bytes && count <= (bytes - offset) / each;
}

bool rm_images_sound(struct rm_images const *images, uint64_t bytes) {
    uint64_t const count = images->slot_count;
    return bytes >= sizeof *images && count >= 1 && count <= RM_IMAGE_SLOTS_MAX &&
           images->lease_count <= RM_IMAGE_SLOTS_MAX && images->slots_offset % RM_CACHE_LINE == 0 &&
           images_part_fits(images->slots_offset, count, sizeof(struct rm_image_slot), bytes) &&
           images->maps_offset % sizeof(uint64_t) == 0 && images->map_bytes % sizeof(uint64_t) == 0 &&
           images_part_fits(images->maps_offset, count, images->map_bytes, bytes) &&
           images->bytes_offset % RM_PAGE_BYTES == 0 && images->frame_bytes % RM_PAGE_BYTES == 0 &&
           images_part_fits(images->bytes_offset, count, images->frame_bytes, bytes) && images->lease_base <= INT32_MAX;
}
