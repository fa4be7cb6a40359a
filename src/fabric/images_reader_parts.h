// SPDX-License-Identifier: Apache-2.0
/** The inside of a reader of images (ringmaster/images.h), for waiting for several. */
#ifndef RM_FABRIC_IMAGES_READER_PARTS_H
#define RM_FABRIC_IMAGES_READER_PARTS_H

#include <ringmaster/images.h>

struct rm_images_reader {
    struct rm_images_view view;
    int leases;
    /** The frame that it had last; and the newest when it last found none. */
    uint64_t last, looked;
    /** A bit for each ticket and slot that it holds: a lock of its own would not keep it away from either. */
    uint64_t tickets, slots;
    /** Where it looks first for a ticket. */
    uint32_t first_ticket;
    /** When it asked whether the owner lives, 0: never; and what it was told. */
    uint64_t asked_ns;
    bool ended;
};

/** True when a frame came that the reader has not looked at. */
bool rm_images_has_new(struct rm_images_reader const *reader, uint64_t newest);

#endif
