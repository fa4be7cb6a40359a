// SPDX-License-Identifier: Apache-2.0
/** Buffers of a data stream: announced, queued, flushed, revoked. */
#include <stdlib.h>

#include "acquisition.h"

static GC_ERROR stream_announce(struct gentl_library *library, struct gentl_camera *camera, struct gentl_buffer filled,
                                BUFFER_HANDLE *handle) {
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i) {
        struct gentl_buffer *buffer = &camera->stream.buffers[i];
        if (buffer->state != GENTL_BUFFER_ABSENT || buffer->leased)
            continue;
        *buffer = filled;
        buffer->state = GENTL_BUFFER_IDLE;
        buffer->generation = gentl_generation(library);
        *handle = gentl_handle(GENTL_BUFFER, buffer->generation, camera->index, i);
        return GC_ERR_SUCCESS;
    }
    return gentl_fail(GC_ERR_RESOURCE_EXHAUSTED, "%s has %d buffers; no more are possible, so revoke some first",
                      camera->name, GENTL_BUFFERS_MAX);
}

GC_ERROR DSAnnounceBuffer(DS_HANDLE handle, void *memory, size_t size, void *user_pointer, BUFFER_HANDLE *buffer) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(buffer, "DSAnnounceBuffer");
    if (result == GC_ERR_SUCCESS && (!memory || size == 0))
        result =
            gentl_fail(GC_ERR_INVALID_PARAMETER, "DSAnnounceBuffer of %zu bytes at %p; expected memory", size, memory);
    if (result == GC_ERR_SUCCESS)
        result = stream_announce(library, camera,
                                 (struct gentl_buffer){.memory = memory, .size = size, .user_pointer = user_pointer},
                                 buffer);
    return gentl_leave(library, result);
}

static GC_ERROR stream_allocate(struct gentl_library *library, struct gentl_camera *camera, size_t size,
                                void *user_pointer, BUFFER_HANDLE *handle) {
    size_t const rounded = (size + GENTL_ALIGNMENT - 1) / GENTL_ALIGNMENT * GENTL_ALIGNMENT;
    uint8_t *memory = rounded >= size ? aligned_alloc(GENTL_ALIGNMENT, rounded) : NULL; // touched where a lease lacks
    if (!memory)
        return gentl_fail(GC_ERR_OUT_OF_MEMORY, "%s: no memory for a buffer of %zu bytes", camera->name, size);
    struct gentl_buffer const buffer = {
        .memory = memory, .size = size, .user_pointer = user_pointer, .allocated = true};
    GC_ERROR const result = stream_announce(library, camera, buffer, handle);
    if (result != GC_ERR_SUCCESS)
        free(memory);
    return result;
}

GC_ERROR DSAllocAndAnnounceBuffer(DS_HANDLE handle, size_t size, void *user_pointer, BUFFER_HANDLE *buffer) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(buffer, "DSAllocAndAnnounceBuffer");
    if (result == GC_ERR_SUCCESS && size == 0)
        result = gentl_fail(GC_ERR_INVALID_PARAMETER, "DSAllocAndAnnounceBuffer of 0 bytes; expected 1 or more");
    if (result == GC_ERR_SUCCESS)
        result = stream_allocate(library, camera, size, user_pointer, buffer);
    return gentl_leave(library, result);
}

/** The buffer of two handles. */
static GC_ERROR stream_buffer(struct gentl_library *library, DS_HANDLE stream_handle, BUFFER_HANDLE buffer_handle,
                              struct gentl_camera **camera, struct gentl_buffer **buffer) {
    GC_ERROR const result = gentl_find(library, stream_handle, GENTL_STREAM, camera);
    return result == GC_ERR_SUCCESS ? gentl_find_buffer(*camera, buffer_handle, buffer) : result;
}

GC_ERROR DSRevokeBuffer(DS_HANDLE handle, BUFFER_HANDLE buffer_handle, void **memory, void **user_pointer) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    struct gentl_buffer *buffer = NULL;
    GC_ERROR result = stream_buffer(library, handle, buffer_handle, &camera, &buffer);
    if (result == GC_ERR_SUCCESS && buffer->state != GENTL_BUFFER_IDLE)
        result = gentl_fail(GC_ERR_BUSY, "the buffer is queued, or waits to be delivered; flush the queues first");
    if (result != GC_ERR_SUCCESS)
        return gentl_leave(library, result);
    if (memory)
        *memory = buffer->allocated ? NULL : buffer->memory;
    if (user_pointer)
        *user_pointer = buffer->user_pointer;
    if (buffer->allocated)
        free(buffer->memory);
    buffer->memory = NULL;
    buffer->allocated = false;
    gentl_move(&camera->stream, buffer, GENTL_BUFFER_ABSENT);
    gentl_return_leases(camera);
    return gentl_leave(library, GC_ERR_SUCCESS);
}

GC_ERROR DSQueueBuffer(DS_HANDLE handle, BUFFER_HANDLE buffer_handle) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    struct gentl_buffer *buffer = NULL;
    GC_ERROR result = stream_buffer(library, handle, buffer_handle, &camera, &buffer);
    if (result == GC_ERR_SUCCESS && buffer->state != GENTL_BUFFER_IDLE)
        result = gentl_fail(GC_ERR_RESOURCE_IN_USE, "the buffer is queued already, or waits to be delivered");
    if (result == GC_ERR_SUCCESS) {
        buffer->is_new = false;
        gentl_move(&camera->stream, buffer, GENTL_BUFFER_QUEUED);
        gentl_return_leases(camera);
    }
    return gentl_leave(library, result);
}

/** Where a flush moves a buffer of a state. */
static enum gentl_buffer_state flush_target(int32_t operation, enum gentl_buffer_state state) {
    bool const input = state == GENTL_BUFFER_QUEUED;
    bool const output = state == GENTL_BUFFER_FILLED;
    bool const idle = state == GENTL_BUFFER_IDLE;
    switch (operation) {
    case ACQ_QUEUE_INPUT_TO_OUTPUT:
        return input ? GENTL_BUFFER_FILLED : state;
    case ACQ_QUEUE_OUTPUT_DISCARD:
        return output ? GENTL_BUFFER_IDLE : state;
    case ACQ_QUEUE_ALL_TO_INPUT:
        return output || idle ? GENTL_BUFFER_QUEUED : state;
    case ACQ_QUEUE_UNQUEUED_TO_INPUT:
        return idle ? GENTL_BUFFER_QUEUED : state;
    default:
        return output || input ? GENTL_BUFFER_IDLE : state;
    }
}

static void stream_flush(struct gentl_camera *camera, int32_t operation) {
    struct gentl_stream *stream = &camera->stream;
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i) {
        struct gentl_buffer *buffer = &stream->buffers[i];
        enum gentl_buffer_state const target = flush_target(operation, buffer->state);
        if (target == buffer->state)
            continue;
        if (buffer->state == GENTL_BUFFER_QUEUED && !buffer->leased)
            buffer->has_image = false; // it carries nothing
        buffer->is_new = false;
        gentl_move(stream, buffer, target);
    }
    gentl_return_leases(camera);
}

GC_ERROR DSFlushQueue(DS_HANDLE handle, int32_t operation) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS && (operation < ACQ_QUEUE_INPUT_TO_OUTPUT || operation > ACQ_QUEUE_ALL_DISCARD))
        result = gentl_fail(GC_ERR_INVALID_PARAMETER, "DSFlushQueue with operation %d; expected 0 to 4", operation);
    while (result == GC_ERR_SUCCESS && gentl_count(&camera->stream, GENTL_BUFFER_FILLING) > 0) {
        (void)gentl_wait(library, &camera->stream, NULL);
        if (camera->stream.closing)
            result = gentl_fail(GC_ERR_ABORT, "the data stream was closed");
    }
    if (result == GC_ERR_SUCCESS)
        stream_flush(camera, operation);
    return gentl_leave(library, result);
}

GC_ERROR DSGetBufferID(DS_HANDLE handle, uint32_t index, BUFFER_HANDLE *buffer) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(buffer, "DSGetBufferID");
    uint32_t left = index;
    for (uint32_t i = 0; result == GC_ERR_SUCCESS && i < GENTL_BUFFERS_MAX; ++i) {
        struct gentl_buffer const *found = &camera->stream.buffers[i];
        if (found->state != GENTL_BUFFER_ABSENT && left-- == 0) {
            *buffer = gentl_handle(GENTL_BUFFER, found->generation, camera->index, i);
            return gentl_leave(library, GC_ERR_SUCCESS);
        }
    }
    if (result == GC_ERR_SUCCESS)
        result = gentl_fail(GC_ERR_INVALID_INDEX, "buffer %u; %s has fewer, counted from 0", index, camera->name);
    return gentl_leave(library, result);
}
