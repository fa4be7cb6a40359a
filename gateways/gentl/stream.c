// SPDX-License-Identifier: Apache-2.0
/** The data stream of GenTL: its start, its end, and what it tells of itself. */
#include <stdlib.h>

#include "acquisition.h"

void gentl_close_stream(struct gentl_library *library, struct gentl_camera *camera) {
    struct gentl_stream *stream = &camera->stream;
    stream->closing = true;
    stream->generation = 0;
    gentl_stop(library, camera);
    gentl_changed(stream);
    while (stream->waiting > 0)
        (void)pthread_cond_wait(&stream->changed, &library->lock);
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i)
        stream->buffers[i].state = GENTL_BUFFER_ABSENT;
    gentl_return_leases(camera);
    for (uint32_t i = 0; i < GENTL_BUFFERS_MAX; ++i)
        if (stream->buffers[i].allocated)
            free(stream->buffers[i].memory);
    free(stream->buffers);
    (void)pthread_cond_destroy(&stream->changed);
    *stream = (struct gentl_stream){0};
}

GC_ERROR DSClose(DS_HANDLE handle) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR const result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        gentl_close_stream(library, camera);
    return gentl_leave(library, result);
}

GC_ERROR DSGetParentDev(DS_HANDLE handle, DEV_HANDLE *device) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(device, "DSGetParentDev");
    if (result == GC_ERR_SUCCESS)
        *device = gentl_handle(GENTL_DEVICE, camera->generation, camera->index, 0);
    return gentl_leave(library, result);
}

static GC_ERROR stream_info(struct gentl_camera *camera, struct gentl_answer answer, int32_t command) {
    struct gentl_stream const *stream = &camera->stream;
    switch (command) {
    case STREAM_INFO_ID:
        return gentl_answer_text(answer, "images");
    case STREAM_INFO_TLTYPE:
        return gentl_answer_text(answer, GENTL_TYPE);
    case STREAM_INFO_NUM_DELIVERED:
        return gentl_answer_uint64(answer, stream->delivered);
    case STREAM_INFO_NUM_UNDERRUN:
        return gentl_answer_uint64(answer, stream->missed);
    case STREAM_INFO_NUM_STARTED:
        return gentl_answer_uint64(answer, stream->started);
    case STREAM_INFO_NUM_ANNOUNCED:
        return gentl_answer_size(answer, GENTL_BUFFERS_MAX - gentl_count(stream, GENTL_BUFFER_ABSENT));
    case STREAM_INFO_NUM_QUEUED:
        return gentl_answer_size(answer, gentl_count(stream, GENTL_BUFFER_QUEUED));
    case STREAM_INFO_NUM_AWAIT_DELIVERY:
        return gentl_answer_size(answer, gentl_count(stream, GENTL_BUFFER_FILLED));
    case STREAM_INFO_IS_GRABBING:
        return gentl_answer_flag(answer, stream->running);
    case STREAM_INFO_DEFINES_PAYLOADSIZE: // PayloadSize of the camera does
        return gentl_answer_flag(answer, false);
    case STREAM_INFO_NUM_CHUNKS_MAX:
        return gentl_answer_size(answer, 0);
    case STREAM_INFO_BUF_ANNOUNCE_MIN:
    case STREAM_INFO_BUF_ALIGNMENT:
        return gentl_answer_size(answer, 1);
    default:
        return gentl_answer_unknown("STREAM_INFO", command);
    }
}

GC_ERROR DSGetInfo(DS_HANDLE handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        result = stream_info(camera, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

GC_ERROR DSStartAcquisition(DS_HANDLE handle, int32_t flags, uint64_t frames) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS && (flags != ACQ_START_FLAGS_DEFAULT || frames == 0))
        result = gentl_fail(GC_ERR_INVALID_PARAMETER,
                            "DSStartAcquisition of %llu frames with flags %d; expected 1 or "
                            "more, and 0",
                            (unsigned long long)frames, flags);
    if (result == GC_ERR_SUCCESS && camera->stream.running)
        result = gentl_fail(GC_ERR_RESOURCE_IN_USE, "the data stream of %s runs already; stop it first", camera->name);
    if (result == GC_ERR_SUCCESS)
        result = gentl_start(library, camera, frames);
    return gentl_leave(library, result);
}

GC_ERROR DSStopAcquisition(DS_HANDLE handle, int32_t flags) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS && flags != ACQ_STOP_FLAGS_DEFAULT && flags != ACQ_STOP_FLAGS_KILL)
        result = gentl_fail(GC_ERR_INVALID_PARAMETER, "DSStopAcquisition with flags %d; expected 0 or 1", flags);
    if (result == GC_ERR_SUCCESS && !camera->stream.running)
        result = gentl_fail(GC_ERR_RESOURCE_IN_USE, "the data stream of %s does not run; start it first", camera->name);
    if (result == GC_ERR_SUCCESS)
        gentl_stop(library, camera);
    return gentl_leave(library, result);
}
