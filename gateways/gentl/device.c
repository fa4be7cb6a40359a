// SPDX-License-Identifier: Apache-2.0
/** The device of GenTL: a camera, with one data stream and the port of the camera itself. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "modules.h"

#define STREAM_ID "images"

GC_ERROR gentl_device_info(struct gentl_camera const *camera, struct gentl_answer answer, int32_t command) {
    switch (command) {
    case DEVICE_INFO_ID:
    case DEVICE_INFO_DISPLAYNAME:
    case DEVICE_INFO_USER_DEFINED_NAME:
    case DEVICE_INFO_SERIAL_NUMBER:
        return gentl_answer_text(answer, camera->name);
    case DEVICE_INFO_VENDOR:
        return gentl_answer_text(answer, GENTL_VENDOR);
    case DEVICE_INFO_MODEL:
        return gentl_answer_text(answer, "camera");
    case DEVICE_INFO_TLTYPE:
        return gentl_answer_text(answer, GENTL_TYPE);
    case DEVICE_INFO_ACCESS_STATUS:
        return gentl_answer_int32(answer, camera->generation ? DEVICE_ACCESS_STATUS_OPEN_READWRITE
                                                             : DEVICE_ACCESS_STATUS_READWRITE);
    case DEVICE_INFO_VERSION:
        return gentl_answer_text(answer, GENTL_VERSION);
    default: // the frequency of the camera's clock too, which nobody tells us
        return gentl_answer_unknown("DEVICE_INFO", command);
    }
}

void gentl_close_device(struct gentl_library *library, struct gentl_camera *camera) {
    camera->generation = 0; // first: closing the stream leaves the lock
    if (camera->stream.generation)
        gentl_close_stream(library, camera);
}

GC_ERROR DevClose(DEV_HANDLE device) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR const result = gentl_find(library, device, GENTL_DEVICE, &camera);
    if (result == GC_ERR_SUCCESS)
        gentl_close_device(library, camera);
    return gentl_leave(library, result);
}

GC_ERROR DevGetParentIF(DEV_HANDLE device, IF_HANDLE *interface) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, device, GENTL_DEVICE, NULL);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(interface, "DevGetParentIF");
    if (result == GC_ERR_SUCCESS)
        *interface = gentl_handle(GENTL_INTERFACE, library->interface, 0, 0);
    return gentl_leave(library, result);
}

GC_ERROR DevGetPort(DEV_HANDLE device, PORT_HANDLE *port) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, device, GENTL_DEVICE, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(port, "DevGetPort");
    if (result == GC_ERR_SUCCESS)
        *port = gentl_handle(GENTL_CAMERA, camera->generation, camera->index, 0);
    return gentl_leave(library, result);
}

GC_ERROR DevGetInfo(DEV_HANDLE device, int32_t command, int32_t *type, void *buffer, size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, device, GENTL_DEVICE, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_device_info(camera, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

GC_ERROR DevGetNumDataStreams(DEV_HANDLE device, uint32_t *count) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, device, GENTL_DEVICE, NULL);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(count, "DevGetNumDataStreams");
    if (result == GC_ERR_SUCCESS)
        *count = 1;
    return gentl_leave(library, result);
}

GC_ERROR DevGetDataStreamID(DEV_HANDLE device, uint32_t index, char *id, size_t *size) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, device, GENTL_DEVICE, NULL);
    if (result == GC_ERR_SUCCESS && index != 0)
        result = gentl_fail(GC_ERR_INVALID_INDEX, "data stream %u of 1; the only one has index 0", index);
    if (result == GC_ERR_SUCCESS)
        result = gentl_answer_text((struct gentl_answer){.buffer = id, .size = size}, STREAM_ID);
    return gentl_leave(library, result);
}

static GC_ERROR device_open_stream(struct gentl_library *library, struct gentl_camera *camera, char const *id) {
    struct gentl_stream *stream = &camera->stream;
    if (!id || strcmp(id, STREAM_ID) != 0)
        return gentl_fail(GC_ERR_INVALID_ID, "%s has no data stream \"%s\"; the only one is \"" STREAM_ID "\"",
                          camera->name, id ? id : "");
    if (stream->generation || stream->closing)
        return gentl_fail(GC_ERR_RESOURCE_IN_USE, "the data stream of %s is open already; close it first",
                          camera->name);
    *stream = (struct gentl_stream){.buffers = calloc(GENTL_BUFFERS_MAX, sizeof *stream->buffers)};
    if (!stream->buffers)
        return gentl_fail(GC_ERR_OUT_OF_MEMORY, "no memory for the data stream of %s", camera->name);
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&stream->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    stream->generation = gentl_generation(library);
    return GC_ERR_SUCCESS;
}

GC_ERROR DevOpenDataStream(DEV_HANDLE device, char const *id, DS_HANDLE *stream) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, device, GENTL_DEVICE, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(stream, "DevOpenDataStream");
    if (result == GC_ERR_SUCCESS)
        result = device_open_stream(library, camera, id);
    if (result == GC_ERR_SUCCESS)
        *stream = gentl_handle(GENTL_STREAM, camera->stream.generation, camera->index, 0);
    return gentl_leave(library, result);
}
