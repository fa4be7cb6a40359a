// SPDX-License-Identifier: Apache-2.0
#include "acquisition.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
    /** How long the thread waits for a frame before it looks whether it shall end. */
    LOOK_NS = 20000000,
    /** And before it tries again, when all leases are held. */
    RETRY_NS = 1000000,
};

void gentl_changed(struct gentl_stream *stream) { (void)pthread_cond_broadcast(&stream->changed); }

bool gentl_wait(struct gentl_library *library, struct gentl_stream *stream, struct timespec const *deadline) {
    ++stream->waiting;
    int const status = deadline ? pthread_cond_timedwait(&stream->changed, &library->lock, deadline)
                                : pthread_cond_wait(&stream->changed, &library->lock);
    --stream->waiting;
    if (stream->closing)
        gentl_changed(stream);
    return status != ETIMEDOUT;
}

struct gentl_buffer *gentl_first(struct gentl_stream *stream, enum gentl_buffer_state state) {
    struct gentl_buffer *first = NULL;
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i) {
        struct gentl_buffer *buffer = &stream->buffers[i];
        if (buffer->state == state && (!first || buffer->order < first->order))
            first = buffer;
    }
    return first;
}

size_t gentl_count(struct gentl_stream const *stream, enum gentl_buffer_state state) {
    size_t count = 0;
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i)
        count += stream->buffers[i].state == state;
    return count;
}

void gentl_move(struct gentl_stream *stream, struct gentl_buffer *buffer, enum gentl_buffer_state state) {
    buffer->state = state;
    buffer->order = stream->next_order++;
    gentl_changed(stream);
}

static void camera_return_leases(struct gentl_camera *camera) {
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i) {
        struct gentl_buffer *buffer = &camera->stream.buffers[i];
        if (buffer->leased && (buffer->state == GENTL_BUFFER_ABSENT || buffer->state == GENTL_BUFFER_QUEUED)) {
            rm_images_release(camera->reader, &buffer->frame);
            buffer->leased = buffer->has_image = false;
        }
    }
}

void gentl_return_leases(struct gentl_camera *camera) {
    if (!camera->stream.running)
        camera_return_leases(camera);
}

static uint32_t stream_leases(struct gentl_stream const *stream) {
    uint32_t leases = 0;
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i)
        leases += stream->buffers[i].leased;
    return leases;
}

static bool camera_takes(struct gentl_camera *camera) {
    struct gentl_stream *stream = &camera->stream;
    return camera->acquiring && stream->remaining > 0 && !stream->ended && gentl_first(stream, GENTL_BUFFER_QUEUED);
}

/** Copies what has room, without the lock, and ends the lease. */
static void buffer_copy(struct gentl_library *library, struct gentl_camera *camera, struct gentl_buffer *buffer,
                        struct rm_frame *frame) {
    buffer->state = GENTL_BUFFER_FILLING;
    (void)pthread_mutex_unlock(&library->lock);
    if (buffer->filled > 0)
        memcpy(buffer->memory, frame->bytes, buffer->filled);
    rm_images_release(camera->reader, frame);
    (void)pthread_mutex_lock(&library->lock);
}

static void camera_fill(struct gentl_library *library, struct gentl_camera *camera, struct rm_frame *frame) {
    struct gentl_stream *stream = &camera->stream;
    camera_return_leases(camera); // of buffers that were queued while this frame was waited for
    stream->missed += frame->passed_over;
    camera->newest = gentl_image_of(frame->slot);
    camera->has_image = true;
    if (!camera_takes(camera)) {
        ++stream->missed;
        rm_images_release(camera->reader, frame);
        return;
    }
    struct gentl_buffer *buffer = gentl_first(stream, GENTL_BUFFER_QUEUED);
    size_t const length = (size_t)camera->newest.length;
    buffer->image = camera->newest;
    buffer->filled = length < buffer->size ? length : buffer->size;
    ++stream->started;
    if (stream->remaining != GENTL_INFINITE)
        --stream->remaining;
    if (buffer->allocated && buffer->filled == length && stream_leases(stream) < stream->leases_max) {
        buffer->frame = *frame;
        buffer->leased = true;
    } else {
        buffer_copy(library, camera, buffer, frame);
    }
    buffer->has_image = buffer->is_new = true;
    gentl_move(stream, buffer, GENTL_BUFFER_FILLED);
}

/** Waits for a frame, without the lock. */
static enum rm_frame_read camera_next(struct gentl_library *library, struct gentl_camera *camera,
                                      struct rm_frame *frame) {
    bool const skip = camera->skip;
    camera->skip = false;
    (void)pthread_mutex_unlock(&library->lock);
    if (skip && rm_images_newest(camera->reader, 0, frame) == RM_FRAME_OK)
        rm_images_release(camera->reader, frame);
    enum rm_frame_read const read = rm_images_next(camera->reader, LOOK_NS, frame);
    if (read == RM_FRAME_NO_LEASE)
        (void)nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
    (void)pthread_mutex_lock(&library->lock);
    return read;
}

/** Fewer leases are to be had than this stream lends: it keeps one back, to copy by. */
static void stream_lend_less(struct gentl_stream *stream) {
    uint32_t const leases = stream_leases(stream);
    if (leases > 0 && stream->leases_max >= leases)
        stream->leases_max = leases - 1;
}

static void stream_end(struct gentl_stream *stream) {
    stream->ended = true;
    gentl_changed(stream);
}

static void *camera_acquire(void *argument) {
    struct gentl_camera *camera = argument;
    struct gentl_stream *stream = &camera->stream;
    struct gentl_library *library = gentl_enter();
    while (!stream->stop) {
        camera_return_leases(camera);
        if (!camera_takes(camera)) {
            (void)pthread_cond_wait(&stream->changed, &library->lock);
            continue;
        }
        struct rm_frame frame;
        enum rm_frame_read const read = camera_next(library, camera, &frame);
        if (read == RM_FRAME_OK)
            camera_fill(library, camera, &frame);
        else if (read == RM_FRAME_NO_LEASE)
            stream_lend_less(stream);
        else if (read == RM_FRAME_ENDED)
            stream_end(stream);
    }
    camera_return_leases(camera);
    stream->stopped = true;
    gentl_changed(stream);
    (void)gentl_leave(library, GC_ERR_SUCCESS);
    return NULL;
}

GC_ERROR gentl_start(struct gentl_library *library, struct gentl_camera *camera, uint64_t frames) {
    (void)library;
    struct gentl_stream *stream = &camera->stream;
    stream->remaining = frames;
    stream->leases_max = GENTL_LEASES_MAX;
    stream->delivered = stream->missed = stream->started = 0;
    stream->stop = stream->stopped = stream->ended = false;
    camera->skip = true;
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); // the consumer's handlers are for its own threads
    int const status = pthread_create(&stream->thread, NULL, camera_acquire, camera);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status != 0)
        return gentl_fail(GC_ERR_RESOURCE_EXHAUSTED, "%s: no thread for its data stream: %s", camera->name,
                          strerrordesc_np(status));
    stream->running = true;
    return GC_ERR_SUCCESS;
}

void gentl_stop(struct gentl_library *library, struct gentl_camera *camera) {
    struct gentl_stream *stream = &camera->stream;
    if (!stream->running)
        return;
    stream->stop = true;
    gentl_changed(stream);
    while (!stream->stopped)
        (void)gentl_wait(library, stream, NULL);
    if (stream->running) { // else another call that waited here has joined it
        stream->running = false;
        (void)pthread_join(stream->thread, NULL);
    }
}
