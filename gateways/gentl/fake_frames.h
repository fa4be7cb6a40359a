// SPDX-License-Identifier: Apache-2.0
/** Cameras for tests of the producer, in the place of libringmaster-frames: two, "cam01" and "cam02", whose frames the
 * test publishes. A reader gets up to FAKE_LEASES at a time. */
#ifndef GENTL_FAKE_FRAMES_H
#define GENTL_FAKE_FRAMES_H

#include <ringmaster/images.h>

enum { FAKE_SLOTS = 16, FAKE_LEASES = 3, FAKE_WIDTH = 8, FAKE_HEIGHT = 4, FAKE_BYTES = FAKE_WIDTH * FAKE_HEIGHT };

#pragma GCC visibility push(default)

/** Publishes a frame of Mono8: byte i is number + i. */
void fake_publish(uint32_t camera, uint64_t number, enum rm_image_status status, uint32_t flags);

/** Wait until the camera's reader waits for a frame, so that it gets the next one; and until it was refused a lease. */
void fake_await_reader(uint32_t camera);
void fake_await_refusal(uint32_t camera);

/** The owner has ended; until the next open. */
void fake_end(void);

/** Leases held. */
uint32_t fake_leases(uint32_t camera);

/** The bytes of the slot in which a frame lies. */
uint8_t const *fake_bytes(uint32_t camera, uint64_t number);

#pragma GCC visibility pop

#endif
