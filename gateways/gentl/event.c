// SPDX-License-Identifier: Apache-2.0
/** Events of GenTL. There is one: a buffer of a data stream has a new frame. */
#include <string.h>

#include "acquisition.h"

/** A source of events; those that are no stream have none. */
static GC_ERROR event_source(struct gentl_library *library, EVENTSRC_HANDLE source, int32_t kind,
                             struct gentl_camera **camera) {
    enum gentl_kind const module = gentl_handle_kind(source);
    if (module == GENTL_BUFFER || module == GENTL_EVENT)
        return gentl_fail(GC_ERR_INVALID_HANDLE, "%p is no module that has events", source);
    GC_ERROR const result = gentl_find(library, source, module, camera);
    if (result != GC_ERR_SUCCESS)
        return result;
    if (module != GENTL_STREAM || kind != EVENT_NEW_BUFFER)
        return gentl_fail(GC_ERR_NOT_IMPLEMENTED, "event %d is not made here; data streams have event %d, a new buffer",
                          kind, EVENT_NEW_BUFFER);
    return GC_ERR_SUCCESS;
}

GC_ERROR GCRegisterEvent(EVENTSRC_HANDLE source, int32_t kind, EVENT_HANDLE *event) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = event_source(library, source, kind, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(event, "GCRegisterEvent");
    if (result == GC_ERR_SUCCESS && camera->stream.event.registered)
        result = gentl_fail(GC_ERR_RESOURCE_IN_USE, "the event of %s is registered already; unregister it first",
                            camera->name);
    if (result == GC_ERR_SUCCESS) {
        camera->stream.event = (struct gentl_event){.registered = true, .generation = gentl_generation(library)};
        *event = gentl_handle(GENTL_EVENT, camera->stream.event.generation, camera->index, 0);
    }
    return gentl_leave(library, result);
}

GC_ERROR GCUnregisterEvent(EVENTSRC_HANDLE source, int32_t kind) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = event_source(library, source, kind, &camera);
    if (result == GC_ERR_SUCCESS && !camera->stream.event.registered)
        result = gentl_fail(GC_ERR_NOT_AVAILABLE, "the event of %s is not registered", camera->name);
    if (result == GC_ERR_SUCCESS) {
        camera->stream.event.registered = false;
        gentl_changed(&camera->stream);
    }
    return gentl_leave(library, result);
}

static struct timespec deadline_after(uint64_t timeout_ms) {
    enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000, LONGEST_S = 1000000000 };
    struct timespec deadline;
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    uint64_t const seconds = timeout_ms / MS_PER_S;
    deadline.tv_sec += seconds < LONGEST_S ? (time_t)seconds : (time_t)LONGEST_S;
    deadline.tv_nsec += (long)(timeout_ms % MS_PER_S) * NS_PER_MS;
    if (deadline.tv_nsec >= NS_PER_S) {
        deadline.tv_nsec -= NS_PER_S;
        ++deadline.tv_sec;
    }
    return deadline;
}

/** Waits for a buffer in the output queue. */
static GC_ERROR event_wait(struct gentl_library *library, struct gentl_camera *camera, uint64_t timeout_ms,
                           struct gentl_buffer **buffer) {
    struct gentl_stream *stream = &camera->stream;
    uint32_t const generation = stream->event.generation;
    struct timespec const deadline = deadline_after(timeout_ms);
    bool in_time = timeout_ms > 0;
    for (;;) {
        if (stream->closing || !stream->event.registered || stream->event.generation != generation)
            return gentl_fail(GC_ERR_ABORT, "the event was unregistered, or its data stream closed");
        if (stream->event.killed) {
            stream->event.killed = false;
            return gentl_fail(GC_ERR_ABORT, "EventKill ended this call");
        }
        *buffer = gentl_first(stream, GENTL_BUFFER_FILLED);
        if (*buffer)
            return GC_ERR_SUCCESS;
        if (stream->ended)
            return gentl_fail(GC_ERR_IO, "the receiver of %s has ended; start it, and open the system again",
                              camera->name);
        if (!in_time)
            return gentl_fail(GC_ERR_TIMEOUT, "no frame of %s within %llu ms", camera->name,
                              (unsigned long long)timeout_ms);
        in_time = gentl_wait(library, stream, timeout_ms == GENTL_INFINITE ? NULL : &deadline);
    }
}

static GC_ERROR event_take(struct gentl_library *library, struct gentl_camera *camera, struct gentl_new_buffer *data,
                           uint64_t timeout_ms) {
    struct gentl_buffer *buffer = NULL;
    GC_ERROR const result = event_wait(library, camera, timeout_ms, &buffer);
    if (result != GC_ERR_SUCCESS)
        return result;
    uint32_t const index = (uint32_t)(buffer - camera->stream.buffers);
    *data = (struct gentl_new_buffer){.buffer = gentl_handle(GENTL_BUFFER, buffer->generation, camera->index, index),
                                      .user_pointer = buffer->user_pointer};
    buffer->state = GENTL_BUFFER_IDLE;
    ++camera->stream.delivered;
    ++camera->stream.event.fired;
    return GC_ERR_SUCCESS;
}

GC_ERROR EventGetData(EVENT_HANDLE event, void *buffer, size_t *size, uint64_t timeout_ms) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    struct gentl_new_buffer data;
    GC_ERROR result = gentl_find(library, event, GENTL_EVENT, &camera);
    if (result == GC_ERR_SUCCESS && !size)
        result = gentl_fail(GC_ERR_INVALID_PARAMETER, "EventGetData without a size");
    if (result != GC_ERR_SUCCESS)
        return gentl_leave(library, result);
    size_t const space = *size;
    *size = sizeof data;
    if (!buffer)
        return gentl_leave(library, GC_ERR_SUCCESS);
    if (space < sizeof data)
        return gentl_leave(library, gentl_fail(GC_ERR_BUFFER_TOO_SMALL, "EventGetData with %zu bytes, %zu needed",
                                               space, sizeof data));
    result = event_take(library, camera, &data, timeout_ms);
    if (result == GC_ERR_SUCCESS)
        memcpy(buffer, &data, sizeof data);
    return gentl_leave(library, result);
}

static GC_ERROR event_data_info(struct gentl_new_buffer data, struct gentl_answer answer, int32_t command) {
    switch (command) {
    case EVENT_DATA_ID:
        return gentl_answer_pointer(answer, data.buffer);
    case EVENT_DATA_VALUE:
        return gentl_answer_pointer(answer, data.user_pointer);
    default:
        return gentl_answer_unknown("EVENT_DATA", command);
    }
}

GC_ERROR EventGetDataInfo(EVENT_HANDLE event, void const *data, size_t data_size, int32_t command, int32_t *type,
                          void *buffer, size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_new_buffer new_buffer;
    GC_ERROR result = gentl_find(library, event, GENTL_EVENT, NULL);
    if (result == GC_ERR_SUCCESS && (!data || data_size < sizeof new_buffer))
        result = gentl_fail(GC_ERR_INVALID_PARAMETER, "EventGetDataInfo of %zu bytes; expected the %zu of EventGetData",
                            data_size, sizeof new_buffer);
    if (result != GC_ERR_SUCCESS)
        return gentl_leave(library, result);
    memcpy(&new_buffer, data, sizeof new_buffer);
    return gentl_leave(library, event_data_info(new_buffer, (struct gentl_answer){type, buffer, size}, command));
}

static GC_ERROR event_info(struct gentl_stream const *stream, struct gentl_answer answer, int32_t command) {
    switch (command) {
    case EVENT_EVENT_TYPE:
        return gentl_answer_int32(answer, EVENT_NEW_BUFFER);
    case EVENT_NUM_IN_QUEUE:
        return gentl_answer_size(answer, gentl_count(stream, GENTL_BUFFER_FILLED));
    case EVENT_NUM_FIRED:
        return gentl_answer_uint64(answer, stream->event.fired);
    case EVENT_SIZE_MAX:
    case EVENT_INFO_DATA_SIZE_MAX:
        return gentl_answer_size(answer, sizeof(struct gentl_new_buffer));
    default:
        return gentl_answer_unknown("EVENT", command);
    }
}

GC_ERROR EventGetInfo(EVENT_HANDLE event, int32_t command, int32_t *type, void *buffer, size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, event, GENTL_EVENT, &camera);
    if (result == GC_ERR_SUCCESS)
        result = event_info(&camera->stream, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

GC_ERROR EventFlush(EVENT_HANDLE event) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR const result = gentl_find(library, event, GENTL_EVENT, &camera);
    struct gentl_buffer *buffer;
    while (result == GC_ERR_SUCCESS && (buffer = gentl_first(&camera->stream, GENTL_BUFFER_FILLED)) != NULL)
        buffer->state = GENTL_BUFFER_IDLE;
    return gentl_leave(library, result);
}

GC_ERROR EventKill(EVENT_HANDLE event) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR const result = gentl_find(library, event, GENTL_EVENT, &camera);
    if (result == GC_ERR_SUCCESS) {
        camera->stream.event.killed = true;
        gentl_changed(&camera->stream);
    }
    return gentl_leave(library, result);
}
