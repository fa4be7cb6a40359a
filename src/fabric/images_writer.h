// SPDX-License-Identifier: Apache-2.0
/** The writing side of images (ringmaster/images.h): which slots are the writer's own, and how a frame is published.
 *
 * A slot is the writer's own, free to be filled, or published. At first all are its own. For one thread per object. */
#ifndef RM_FABRIC_IMAGES_WRITER_H
#define RM_FABRIC_IMAGES_WRITER_H

#include <ringmaster/error.h>
#include <ringmaster/images.h>
#include <ringmaster/owner.h>

struct rm_images_writer;

/** The writer of an object of an open owner; it takes all slots but those that readers still lease of an earlier owner.
 * `*writer` is freed before the owner is closed. */
enum rm_code rm_images_writer_new(struct rm_owner const *owner, rm_owner_index index, struct rm_images_writer **writer,
                                  struct rm_error *error);
void rm_images_writer_free(struct rm_images_writer *writer);

/** Whether a slot is the writer's own. */
bool rm_images_is_own(struct rm_images_writer const *writer, uint32_t slot);

/** Description, bytes and map of a slot that is the writer's own. Those of the slots lie frame_bytes and map_bytes apart. */
struct rm_image_slot *rm_images_slot(struct rm_images_writer *writer, uint32_t slot);
uint8_t *rm_images_bytes(struct rm_images_writer *writer, uint32_t slot);
uint64_t *rm_images_map(struct rm_images_writer *writer, uint32_t slot);

/** Gives an own slot, which is filled in but for `sequence` and `published_tsc`, to readers as the next frame. Returns its sequence. Calls the
 * kernel twice: the lock, and the bell. */
uint64_t rm_images_publish(struct rm_images_writer *writer, uint32_t slot);

/** Takes back the slot that was published first of those that no reader has leased, but never the newest frame's. Returns it, or
 * slot_count: there is none. */
uint32_t rm_images_reclaim(struct rm_images_writer *writer);

#endif
