// SPDX-License-Identifier: Apache-2.0
/** The interface of GenTL: the cameras, each as a device. There is one. */
#include <string.h>

#include "modules.h"

static GC_ERROR interface_info(struct gentl_library const *library, struct gentl_answer answer, int32_t command) {
    switch (command) {
    case INTERFACE_INFO_ID:
        return gentl_answer_text(answer, GENTL_INTERFACE_ID);
    case INTERFACE_INFO_DISPLAYNAME:
        return gentl_answer_text(answer, library->source);
    case INTERFACE_INFO_TLTYPE:
        return gentl_answer_text(answer, GENTL_TYPE);
    default:
        return gentl_answer_unknown("INTERFACE_INFO", command);
    }
}

static GC_ERROR interface_check_id(char const *id) {
    if (id && strcmp(id, GENTL_INTERFACE_ID) == 0)
        return GC_ERR_SUCCESS;
    return gentl_fail(GC_ERR_INVALID_ID, "there is no interface \"%s\"; the only one is \"" GENTL_INTERFACE_ID "\"",
                      id ? id : "");
}

GC_ERROR TLGetInterfaceInfo(TL_HANDLE system, char const *id, int32_t command, int32_t *type, void *buffer,
                            size_t *size) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, system, GENTL_SYSTEM, NULL);
    if (result == GC_ERR_SUCCESS)
        result = interface_check_id(id);
    if (result == GC_ERR_SUCCESS)
        result = interface_info(library, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

GC_ERROR TLOpenInterface(TL_HANDLE system, char const *id, IF_HANDLE *interface) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, system, GENTL_SYSTEM, NULL);
    if (result == GC_ERR_SUCCESS)
        result = interface_check_id(id);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(interface, "TLOpenInterface");
    if (result == GC_ERR_SUCCESS && library->interface)
        result = gentl_fail(GC_ERR_RESOURCE_IN_USE, "the interface is open already; close it first");
    if (result == GC_ERR_SUCCESS) {
        library->interface = gentl_generation(library);
        *interface = gentl_handle(GENTL_INTERFACE, library->interface, 0, 0);
    }
    return gentl_leave(library, result);
}

GC_ERROR IFClose(IF_HANDLE interface) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR const result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS) {
        library->interface = 0;
        for (uint32_t i = 0; i < library->camera_count; ++i)
            if (library->cameras[i].generation)
                gentl_close_device(library, &library->cameras[i]);
    }
    return gentl_leave(library, result);
}

GC_ERROR IFGetParentTL(IF_HANDLE interface, TL_HANDLE *system) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(system, "IFGetParentTL");
    if (result == GC_ERR_SUCCESS)
        *system = gentl_handle(GENTL_SYSTEM, library->system, 0, 0);
    return gentl_leave(library, result);
}

GC_ERROR IFGetInfo(IF_HANDLE interface, int32_t command, int32_t *type, void *buffer, size_t *size) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS)
        result = interface_info(library, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

GC_ERROR IFGetNumDevices(IF_HANDLE interface, uint32_t *count) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(count, "IFGetNumDevices");
    if (result == GC_ERR_SUCCESS)
        *count = library->camera_count;
    return gentl_leave(library, result);
}

GC_ERROR IFGetDeviceID(IF_HANDLE interface, uint32_t index, char *id, size_t *size) {
    struct gentl_library *library = gentl_enter();
    GC_ERROR result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS && index >= library->camera_count)
        result = gentl_fail(GC_ERR_INVALID_INDEX, "camera %u of %u; count from 0", index, library->camera_count);
    if (result == GC_ERR_SUCCESS)
        result = gentl_answer_text((struct gentl_answer){.buffer = id, .size = size}, library->cameras[index].name);
    return gentl_leave(library, result);
}

GC_ERROR IFUpdateDeviceList(IF_HANDLE interface, bool8_t *changed, uint64_t timeout_ms) {
    (void)timeout_ms;
    struct gentl_library *library = gentl_enter();
    GC_ERROR const result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS && changed)
        *changed = 0;
    return gentl_leave(library, result);
}

/** The camera of a name. */
static GC_ERROR interface_camera(struct gentl_library *library, char const *id, struct gentl_camera **camera) {
    uint32_t const index = id ? rm_frames_find(library->frames, id) : library->camera_count;
    if (index >= library->camera_count)
        return gentl_fail(GC_ERR_INVALID_ID, "there is no camera \"%s\" in %s; IFGetDeviceID names those that are",
                          id ? id : "", library->source);
    *camera = &library->cameras[index];
    return GC_ERR_SUCCESS;
}

GC_ERROR IFGetDeviceInfo(IF_HANDLE interface, char const *id, int32_t command, int32_t *type, void *buffer,
                         size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS)
        result = interface_camera(library, id, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_device_info(camera, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

/** A camera is shared with other programs, so all kinds of access are alike. */
static GC_ERROR interface_open_device(struct gentl_library *library, struct gentl_camera *camera, int32_t flags) {
    if (flags < DEVICE_ACCESS_READONLY || flags > DEVICE_ACCESS_EXCLUSIVE)
        return gentl_fail(GC_ERR_INVALID_PARAMETER,
                          "%s: access %d; expected 2 (read only), 3 (control) or 4 (exclusive)", camera->name, flags);
    if (camera->generation)
        return gentl_fail(GC_ERR_RESOURCE_IN_USE, "%s is open in this process already; close it first", camera->name);
    camera->generation = gentl_generation(library);
    camera->acquiring = false;
    camera->parameters_locked = 0;
    gentl_look(camera);
    return GC_ERR_SUCCESS;
}

GC_ERROR IFOpenDevice(IF_HANDLE interface, char const *id, int32_t flags, DEV_HANDLE *device) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    GC_ERROR result = gentl_find(library, interface, GENTL_INTERFACE, NULL);
    if (result == GC_ERR_SUCCESS)
        result = interface_camera(library, id, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_need(device, "IFOpenDevice");
    if (result == GC_ERR_SUCCESS)
        result = interface_open_device(library, camera, flags);
    if (result == GC_ERR_SUCCESS)
        *device = gentl_handle(GENTL_DEVICE, camera->generation, camera->index, 0);
    return gentl_leave(library, result);
}
