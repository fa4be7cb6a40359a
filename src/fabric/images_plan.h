// SPDX-License-Identifier: Apache-2.0
/** From what an owner asks of images to their head: how many slots, and where all lies; and whether a head is sound. */
#ifndef RM_FABRIC_IMAGES_PLAN_H
#define RM_FABRIC_IMAGES_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/images.h>
#include <ringmaster/owner.h>

/** Bytes in the file of leases of one object: its slots, and its tickets. */
enum { RM_LEASES_PER_OBJECT = 2 * RM_IMAGE_SLOTS_MAX };

/** Fills in the constant members of the object that `before` others of images precede. RM_E_ARGUMENT where that is no
 * object. */
enum rm_code rm_images_describe(struct rm_images_plan const *wanted, uint64_t before, struct rm_images *images,
                                struct rm_error *error);

/** Bytes of the whole object. */
uint64_t rm_images_object_bytes(struct rm_images const *images);

/** True when slots, maps and frames lie in an object of so many bytes. */
bool rm_images_sound(struct rm_images const *images, uint64_t bytes);

#endif
