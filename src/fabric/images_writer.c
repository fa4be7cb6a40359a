// SPDX-License-Identifier: Apache-2.0
#include "fabric/images_writer.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/doorbell.h"
#include "fabric/leases.h"
#include "fabric/owner_parts.h"

struct rm_images_writer {
    struct rm_images *images;
    int leases;
    uint64_t newest;
    /** [slot] which frame lies in it; 0: it is the writer's own. */
    uint64_t published[RM_IMAGE_SLOTS_MAX];
};

static struct rm_images *writer_memory(struct rm_owner const *owner, rm_owner_index index) {
    bool const is_images = index < owner->plan.count && owner->plan.planned[index].object.kind == RM_OBJECT_IMAGES;
    return is_images ? rm_owner_memory(owner, index) : NULL;
}

/** True when the slot became the writer's own. */
static bool writer_take_slot(struct rm_images_writer *writer, uint32_t slot) {
    if (!rm_lease_take(writer->leases, writer->images->lease_base + slot))
        return false;
    /* Relaxed: readers load it under their lock, which they get when this one is given back. */
    atomic_store_explicit(&rm_images_slot(writer, slot)->sequence, 0, memory_order_relaxed);
    writer->published[slot] = 0;
    return true;
}

/** What a reader still leases of an earlier owner is taken back when it lets go of it, before all others. */
static void writer_take_all(struct rm_images_writer *writer) {
    for (uint32_t slot = 0; slot < writer->images->slot_count; ++slot)
        if (!writer_take_slot(writer, slot))
            writer->published[slot] = 1;
}

enum rm_code rm_images_writer_new(struct rm_owner const *owner, rm_owner_index index, struct rm_images_writer **writer,
                                  struct rm_error *error) {
    struct rm_images *const images = writer_memory(owner, index);
    if (images == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "\"%s\" is not open, or that object of it is no images", owner->name);
    struct rm_images_writer *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a writer of images of \"%s\"", owner->name);
    char path[PATH_MAX];
    rm_leases_path(path, owner->segment.path);
    enum rm_code const code = rm_leases_open(path, &made->leases, error);
    if (code != RM_OK) {
        free(made);
        return code;
    }
    made->images = images;
    made->newest = atomic_load_explicit(&images->newest, memory_order_relaxed);
    writer_take_all(made);
    *writer = made;
    return RM_OK;
}

void rm_images_writer_free(struct rm_images_writer *writer) {
    if (writer == NULL)
        return;
    close(writer->leases);
    free(writer);
}

bool rm_images_is_own(struct rm_images_writer const *writer, uint32_t slot) { return writer->published[slot] == 0; }

struct rm_image_slot *rm_images_slot(struct rm_images_writer *writer, uint32_t slot) {
    return (struct rm_image_slot *)((uint8_t *)writer->images + writer->images->slots_offset) + slot;
}

uint8_t *rm_images_bytes(struct rm_images_writer *writer, uint32_t slot) {
    return (uint8_t *)writer->images + writer->images->bytes_offset + slot * writer->images->frame_bytes;
}

uint64_t *rm_images_map(struct rm_images_writer *writer, uint32_t slot) {
    return (uint64_t *)((uint8_t *)writer->images + writer->images->maps_offset + slot * writer->images->map_bytes);
}

/* The steps and their order: images.h, "Memory ordering". */
uint64_t rm_images_publish(struct rm_images_writer *writer, uint32_t slot) {
    struct rm_images *const images = writer->images;
    struct rm_image_slot *const image = rm_images_slot(writer, slot);
    uint64_t const sequence = writer->newest + 1;
    image->published_tsc = rm_tsc();
    atomic_store_explicit(&image->sequence, sequence, memory_order_release);
    rm_lease_drop(writer->leases, images->lease_base + slot);
    atomic_store_explicit(&images->place[sequence % RM_IMAGE_SLOTS_MAX], sequence << 8 | slot, memory_order_release);
    atomic_store_explicit(&images->newest, sequence, memory_order_release);
    /* Release: a reader that loads this bell with acquire sees this `newest`, and does not sleep. */
    atomic_store_explicit(&images->bell, (uint32_t)sequence, memory_order_release);
    rm_doorbell_ring(&images->bell);
    writer->published[slot] = writer->newest = sequence;
    return sequence;
}

/** The slot that was published first, of those without a bit in `tried`; `count`: there is none. */
static uint32_t writer_oldest(struct rm_images_writer const *writer, uint64_t tried, uint32_t count) {
    uint32_t oldest = count;
    for (uint32_t slot = 0; slot < count; ++slot) {
        uint64_t const sequence = writer->published[slot];
        bool const skipped = sequence == 0 || sequence == writer->newest || (tried >> slot & 1) != 0;
        if (!skipped && (oldest == count || sequence < writer->published[oldest]))
            oldest = slot;
    }
    return oldest;
}

uint32_t rm_images_reclaim(struct rm_images_writer *writer) {
    uint32_t const count = writer->images->slot_count;
    uint64_t tried = 0;
    for (;;) {
        uint32_t const slot = writer_oldest(writer, tried, count);
        if (slot == count || writer_take_slot(writer, slot))
            return slot;
        tried |= 1ull << slot;
    }
}
