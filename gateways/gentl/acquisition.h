// SPDX-License-Identifier: Apache-2.0
/** The thread of a data stream, which takes frames from the camera's reader and puts them into queued buffers.
 *
 * Memory that the consumer announced gets a copy. A buffer that was allocated here is the frame in place, without a
 * copy, as long as the stream holds few such leases; then it gets a copy too. A lease ends when its buffer is queued again or
 * revoked. */
#ifndef GENTL_ACQUISITION_H
#define GENTL_ACQUISITION_H

#include <time.h>

#include "modules.h"

/** Begins with the next frame, and makes `frames` of them; GENTL_INFINITE: no end. */
GC_ERROR gentl_start(struct gentl_library *library, struct gentl_camera *camera, uint64_t frames);

/** The thread has ended then. The lock is given back meanwhile. */
void gentl_stop(struct gentl_library *library, struct gentl_camera *camera);

/** Waits for a change of the stream until `deadline` of CLOCK_MONOTONIC, without end if NULL. False: timeout. */
bool gentl_wait(struct gentl_library *library, struct gentl_stream *stream, struct timespec const *deadline);

/** Wakes all that waits. */
void gentl_changed(struct gentl_stream *stream);

/** The first buffer in a state, by its order; NULL: there is none. And their number. */
struct gentl_buffer *gentl_first(struct gentl_stream *stream, enum gentl_buffer_state state);
size_t gentl_count(struct gentl_stream const *stream, enum gentl_buffer_state state);

/** Moves a buffer to the end of those in a state. */
void gentl_move(struct gentl_stream *stream, struct gentl_buffer *buffer, enum gentl_buffer_state state);

/** Ends the leases of buffers that are queued again or revoked, if no thread runs that will. */
void gentl_return_leases(struct gentl_camera *camera);

#endif
