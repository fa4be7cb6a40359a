// SPDX-License-Identifier: Apache-2.0
/** Waiting for a frame of any of several readers. */
#include <ringmaster/images.h>

#include "base/timebase.h"
#include "fabric/doorbell.h"
#include "fabric/images_reader_parts.h"

/** The first reader that has a frame, or `count`; and what the bells said before it looked. */
static uint32_t readers_look(struct rm_images_reader *const *readers, uint32_t count, struct rm_bell *bells) {
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_images const *const images = readers[i]->view.header;
        /* Acquire, and before the look: a frame that comes after the look changes the bell. */
        bells[i] = (struct rm_bell){&images->bell, atomic_load_explicit(&images->bell, memory_order_acquire)};
        if (rm_images_has_new(readers[i], atomic_load_explicit(&images->newest, memory_order_acquire)))
            return i;
    }
    return count;
}

uint32_t rm_images_wait(struct rm_images_reader *const *readers, uint32_t count, uint64_t timeout_ns) {
    struct rm_bell bells[RM_DOORBELLS_MAX];
    uint64_t const begin = rm_monotonic_ns();
    for (;;) {
        uint32_t const first = readers_look(readers, count, bells);
        uint64_t const waited = rm_monotonic_ns() - begin;
        if (first < count || waited >= timeout_ns)
            return first;
        rm_doorbells_wait(bells, count, timeout_ns - waited);
    }
}
