// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/images.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/doorbell.h"
#include "fabric/images_reader_parts.h"
#include "fabric/leases.h"
#include "fabric/segment_map.h"

enum {
    /** How often a reader asks whether the owner lives, and so the longest that it sleeps at a time. */
    LIVES_EVERY_NS = 50000000,
};

enum rm_code rm_images_reader_new(struct rm_images_view const *view, struct rm_images_reader **reader,
                                  struct rm_error *error) {
    struct rm_images_reader *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a reader of images");
    enum rm_code const code = rm_leases_open(view->lease_path, &made->leases, error);
    if (code != RM_OK) {
        free(made);
        return code;
    }
    made->view = *view;
    made->last = made->looked = atomic_load_explicit(&view->header->newest, memory_order_acquire);
    *reader = made;
    return RM_OK;
}

void rm_images_begin_after(struct rm_images_reader *reader, uint64_t sequence) {
    /* Acquire: pairs with the release in rm_images_publish. */
    uint64_t const newest = atomic_load_explicit(&reader->view.header->newest, memory_order_acquire);
    reader->last = reader->looked = sequence <= newest ? sequence : 0;
}

void rm_images_reader_free(struct rm_images_reader *reader) {
    if (reader == NULL)
        return;
    close(reader->leases);
    free(reader);
}

/** The owner as the file of leases names it: DIRECTORY/OWNER.leases. */
static bool reader_owner_lives(struct rm_images_reader const *reader) {
    struct rm_mapped_segment segment = {
        .header = reader->view.segment, .device = reader->view.device, .inode = reader->view.inode};
    char const *const path = reader->view.lease_path, *const file = strrchr(path, '/');
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s", (int)(file - path), path);
    snprintf(segment.owner, sizeof segment.owner, "%.*s", (int)(strlen(file + 1) - strlen(".leases")), file + 1);
    return rm_segment_lives(directory, &segment);
}

/** Asks the kernel now and then only. */
static bool reader_ended(struct rm_images_reader *reader, uint64_t now_ns) {
    if (reader->asked_ns != 0 && now_ns - reader->asked_ns < LIVES_EVERY_NS &&
        atomic_load_explicit(&reader->view.segment->state, memory_order_acquire) == RM_SEGMENT_LIVE)
        return reader->ended;
    reader->asked_ns = now_ns;
    reader->ended = !reader_owner_lives(reader);
    return reader->ended;
}

/** Half of the tickets, so that others have the rest; or two, so that a frame can be taken before the last is released. */
static uint32_t reader_most_tickets(uint32_t count) { return count > 4 ? count / 2 : 2; }

/** Takes one of the tickets; lease_count: there is none for this reader. */
static uint32_t reader_take_ticket(struct rm_images_reader *reader) {
    uint32_t const count = reader->view.lease_count;
    if ((uint32_t)__builtin_popcountll(reader->tickets) >= reader_most_tickets(count))
        return count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const ticket = (reader->first_ticket + i) % count;
        if ((reader->tickets >> ticket & 1) == 0 &&
            rm_lease_take(reader->leases, reader->view.lease_base + RM_IMAGE_SLOTS_MAX + ticket)) {
            reader->tickets |= 1ull << ticket;
            reader->first_ticket = ticket;
            return ticket;
        }
    }
    return count;
}

static void reader_drop_ticket(struct rm_images_reader *reader, uint32_t ticket) {
    rm_lease_drop(reader->leases, reader->view.lease_base + RM_IMAGE_SLOTS_MAX + ticket);
    reader->tickets &= ~(1ull << ticket);
}

/** The slot that holds a frame, as far as one can see without a lock; slot_count: it is gone. */
static uint32_t reader_slot_of(struct rm_images_reader const *reader, uint64_t sequence) {
    struct rm_images_view const *const view = &reader->view;
    uint64_t const place =
        atomic_load_explicit(&view->header->place[sequence % RM_IMAGE_SLOTS_MAX], memory_order_acquire);
    uint32_t const slot = place & 255;
    if (place >> 8 != sequence || slot >= view->slot_count || (reader->slots >> slot & 1) != 0 ||
        atomic_load_explicit(&view->slot[slot].sequence, memory_order_relaxed) != sequence)
        return view->slot_count;
    return slot;
}

/** What a sound owner writes: it is looked at once, as long as the owner may not change it. */
static bool slot_sound(struct rm_images_view const *view, struct rm_image_slot const *slot) {
    return slot->length <= view->frame_bytes && slot->fragments <= view->map_bytes * 8;
}

/** Leases the slot of a frame, if it is still there. */
static bool reader_lease(struct rm_images_reader *reader, uint64_t sequence, struct rm_frame *frame) {
    struct rm_images_view const *const view = &reader->view;
    uint32_t const slot = reader_slot_of(reader, sequence);
    if (slot == view->slot_count || !rm_lease_share(reader->leases, view->lease_base + slot))
        return false;
    /* Acquire: pairs with the release in rm_images_publish. With the lock, what is seen now stays. */
    if (atomic_load_explicit(&view->slot[slot].sequence, memory_order_acquire) != sequence ||
        !slot_sound(view, &view->slot[slot])) {
        rm_lease_drop(reader->leases, view->lease_base + slot);
        return false;
    }
    reader->slots |= 1ull << slot;
    *frame = (struct rm_frame){
        .sequence = sequence,
        .slot = &view->slot[slot],
        .bytes = view->bytes + slot * view->frame_bytes,
        .map = (uint64_t const *)((uint8_t const *)view->maps + slot * view->map_bytes),
        .passed_over = sequence - reader->last - 1,
    };
    return true;
}

/** Leases the first frame from `from` to `newest` that is still there. */
static enum rm_frame_read reader_lease_first(struct rm_images_reader *reader, uint64_t from, uint64_t newest,
                                             struct rm_frame *frame) {
    uint32_t const ticket = reader_take_ticket(reader);
    if (ticket == reader->view.lease_count)
        return RM_FRAME_NO_LEASE;
    uint64_t const count = newest - from + 1; // a damaged `newest` may be the largest number
    for (uint64_t i = 0; i < count; ++i)
        if (reader_lease(reader, from + i, frame)) {
            frame->ticket = ticket;
            reader->last = from + i;
            return RM_FRAME_OK;
        }
    reader_drop_ticket(reader, ticket);
    reader->looked = newest;
    return RM_FRAME_NOT_YET;
}

bool rm_images_has_new(struct rm_images_reader const *reader, uint64_t newest) {
    return newest > reader->last && newest > reader->looked;
}

/** One look; the writer may publish meanwhile, so it looks again until nothing is new. */
static enum rm_frame_read reader_look(struct rm_images_reader *reader, bool newest_only, struct rm_frame *frame) {
    for (;;) {
        /* Acquire: pairs with the release in rm_images_publish. */
        uint64_t const newest = atomic_load_explicit(&reader->view.header->newest, memory_order_acquire);
        if (!rm_images_has_new(reader, newest))
            return RM_FRAME_NOT_YET;
        uint64_t from = newest_only ? newest : reader->last + 1;
        if (newest - from >= RM_IMAGE_SLOTS_MAX)
            from = newest - RM_IMAGE_SLOTS_MAX + 1;
        enum rm_frame_read const verdict = reader_lease_first(reader, from, newest, frame);
        if (verdict != RM_FRAME_NOT_YET)
            return verdict;
    }
}

static enum rm_frame_read reader_wait(struct rm_images_reader *reader, uint64_t timeout_ns, bool newest_only,
                                      struct rm_frame *frame) {
    uint64_t const begin = rm_monotonic_ns();
    for (;;) {
        /* Acquire, and before the look: a frame that comes after the look changes the bell, and nothing sleeps. */
        uint32_t const bell = atomic_load_explicit(&reader->view.header->bell, memory_order_acquire);
        enum rm_frame_read const verdict = reader_look(reader, newest_only, frame);
        if (verdict != RM_FRAME_NOT_YET)
            return verdict;
        uint64_t const now = rm_monotonic_ns();
        if (reader_ended(reader, now))
            return RM_FRAME_ENDED;
        if (now - begin >= timeout_ns)
            return RM_FRAME_NOT_YET;
        uint64_t const left = timeout_ns - (now - begin);
        rm_doorbell_wait_value(&reader->view.header->bell, bell, left < LIVES_EVERY_NS ? left : LIVES_EVERY_NS);
    }
}

enum rm_frame_read rm_images_next(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame) {
    return reader_wait(reader, timeout_ns, false, frame);
}

enum rm_frame_read rm_images_newest(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame) {
    return reader_wait(reader, timeout_ns, true, frame);
}

void rm_images_release(struct rm_images_reader *reader, struct rm_frame *frame) {
    uint32_t const slot = (uint32_t)(frame->slot - reader->view.slot);
    rm_lease_drop(reader->leases, reader->view.lease_base + slot);
    reader->slots &= ~(1ull << slot);
    reader_drop_ticket(reader, frame->ticket);
    *frame = (struct rm_frame){0};
}
