// SPDX-License-Identifier: Apache-2.0
/** The system of GenTL: all cameras of the file or the workspace that RINGMASTER_CAMERAS names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "modules.h"

enum { CLOSING_NS = 1000000 };

static bool name_is_file(char const *name) {
    char const *ending = strrchr(name, '.');
    return ending && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0);
}

/** GenTL's error for one of ours. */
static GC_ERROR code_of(enum rm_code code) {
    switch (code) {
    case RM_E_ABSENT:
    case RM_E_DEAD:
    case RM_E_HALF_MADE:
    case RM_E_NOT_FOUND:
        return GC_ERR_NOT_AVAILABLE;
    case RM_E_BUSY:
        return GC_ERR_RESOURCE_IN_USE;
    case RM_E_NO_SPACE:
        return GC_ERR_OUT_OF_MEMORY;
    default:
        return GC_ERR_ERROR;
    }
}

static GC_ERROR system_open_cameras(struct gentl_library *library) {
    library->camera_count = rm_frames_count(library->frames);
    library->cameras = calloc(library->camera_count + 1, sizeof *library->cameras);
    if (!library->cameras)
        return gentl_fail(GC_ERR_OUT_OF_MEMORY, "no memory for %u cameras", library->camera_count);
    for (uint32_t i = 0; i < library->camera_count; ++i) {
        struct gentl_camera *camera = &library->cameras[i];
        camera->name = rm_frames_name(library->frames, i);
        camera->index = i;
        camera->reader = rm_frames_reader(library->frames, i);
    }
    return GC_ERR_SUCCESS;
}

static GC_ERROR system_open(struct gentl_library *library) {
    char const *source = getenv("RINGMASTER_CAMERAS");
    if (!source || source[0] == 0)
        return gentl_fail(GC_ERR_NOT_AVAILABLE,
                          "RINGMASTER_CAMERAS is not set, so there are no cameras; set it to the "
                          "file that describes them (NAME.yaml), or to the workspace of a receiver");
    (void)snprintf(library->source, sizeof library->source, "%s", source);
    struct rm_error error = {0};
    enum rm_code const code = name_is_file(source) ? rm_frames_open(source, &library->frames, &error)
                                                   : rm_frames_attach(source, &library->frames, &error);
    if (code != RM_OK)
        return gentl_fail(code_of(code), "RINGMASTER_CAMERAS=%s: %s", source, error.text);
    GC_ERROR const result = system_open_cameras(library);
    if (result != GC_ERR_SUCCESS) {
        rm_frames_close(library->frames);
        library->frames = NULL;
        return result;
    }
    library->system = gentl_generation(library);
    return GC_ERR_SUCCESS;
}

GC_ERROR TLOpen(TL_HANDLE *system) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_need(system, "TLOpen");
    if (!library->initialised)
        result = gentl_fail(GC_ERR_NOT_INITIALIZED, "the producer is not initialised; call GCInitLib first");
    else if (library->frames) // also while another thread closes it
        result = gentl_fail(GC_ERR_RESOURCE_IN_USE, "the system is open already; close it first");
    else if (result == GC_ERR_SUCCESS)
        result = system_open(library);
    if (result == GC_ERR_SUCCESS)
        *system = gentl_handle(GENTL_SYSTEM, library->system, 0, 0);
    return gentl_leave(library, result);
}

static bool system_streams_close(struct gentl_library const *library) {
    bool closing = false;
    for (uint32_t i = 0; i < library->camera_count; ++i)
        closing |= library->cameras[i].stream.closing;
    return closing;
}

/** Closing a stream leaves the lock, so handles are worth nothing first, and what other threads close is waited for. */
void gentl_close_system(struct gentl_library *library) {
    library->system = library->interface = 0;
    for (uint32_t i = 0; i < library->camera_count; ++i)
        if (library->cameras[i].generation)
            gentl_close_device(library, &library->cameras[i]);
    while (system_streams_close(library)) {
        (void)pthread_mutex_unlock(&library->lock);
        (void)nanosleep(&(struct timespec){.tv_nsec = CLOSING_NS}, NULL);
        (void)pthread_mutex_lock(&library->lock);
    }
    rm_frames_close(library->frames);
    library->frames = NULL;
    free(library->cameras);
    library->cameras = NULL;
    library->camera_count = 0;
}

GC_ERROR TLClose(TL_HANDLE system) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR const result = gentl_find(library, system, GENTL_SYSTEM, NULL);
    if (result == GC_ERR_SUCCESS)
        gentl_close_system(library);
    return gentl_leave(library, result);
}

static GC_ERROR system_info(struct gentl_answer answer, int32_t command) {
    switch (command) {
    case TL_INFO_ID:
    case TL_INFO_MODEL:
    case TL_INFO_DISPLAYNAME:
        return gentl_answer_text(answer, "Ringmaster cameras");
    case TL_INFO_VENDOR:
        return gentl_answer_text(answer, GENTL_VENDOR);
    case TL_INFO_VERSION:
        return gentl_answer_text(answer, GENTL_VERSION);
    case TL_INFO_TLTYPE:
        return gentl_answer_text(answer, GENTL_TYPE);
    case TL_INFO_NAME:
    case TL_INFO_PATHNAME:
        return gentl_answer_text(answer, "ringmaster.cti");
    case TL_INFO_CHAR_ENCODING:
        return gentl_answer_int32(answer, TL_CHAR_ENCODING_UTF8);
    case TL_INFO_GENTL_VER_MAJOR:
        return gentl_answer_uint32(answer, 1);
    case TL_INFO_GENTL_VER_MINOR:
        return gentl_answer_uint32(answer, 5);
    default:
        return gentl_answer_unknown("TL_INFO", command);
    }
}

GC_ERROR GCGetInfo(int32_t command, int32_t *type, void *buffer, size_t *size) {
    return system_info((struct gentl_answer){type, buffer, size}, command);
}

GC_ERROR TLGetInfo(TL_HANDLE system, int32_t command, int32_t *type, void *buffer, size_t *size) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, system, GENTL_SYSTEM, NULL);
    if (result == GC_ERR_SUCCESS)
        result = system_info((struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

GC_ERROR TLGetNumInterfaces(TL_HANDLE system, uint32_t *count) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, system, GENTL_SYSTEM, NULL);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(count, "TLGetNumInterfaces");
    if (result == GC_ERR_SUCCESS)
        *count = 1;
    return gentl_leave(library, result);
}

GC_ERROR TLGetInterfaceID(TL_HANDLE system, uint32_t index, char *id, size_t *size) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, system, GENTL_SYSTEM, NULL);
    if (result == GC_ERR_SUCCESS && index != 0)
        result = gentl_fail(GC_ERR_INVALID_INDEX, "interface %u of 1; the only one has index 0", index);
    if (result == GC_ERR_SUCCESS)
        result = gentl_answer_text((struct gentl_answer){.buffer = id, .size = size}, GENTL_INTERFACE_ID);
    return gentl_leave(library, result);
}

GC_ERROR TLUpdateInterfaceList(TL_HANDLE system, bool8_t *changed, uint64_t timeout_ms) {
    (void)timeout_ms;
    struct gentl_library *library = gentl_enter();
    GC_ERROR const result = gentl_find(library, system, GENTL_SYSTEM, NULL);
    if (result == GC_ERR_SUCCESS && changed)
        *changed = 0;
    return gentl_leave(library, result);
}
