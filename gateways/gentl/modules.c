// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

/** The functions of GenTL's library level are handed nothing in which a state could be kept. */
static struct gentl_library *library_of_process(void) {
    static struct gentl_library library = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &library;
}

struct gentl_library *gentl_enter(void) {
    struct gentl_library *library = library_of_process();
    (void)pthread_mutex_lock(&library->lock);
    return library;
}

GC_ERROR gentl_leave(struct gentl_library *library, GC_ERROR result) {
    (void)pthread_mutex_unlock(&library->lock);
    return result;
}

enum { GENERATION_BITS = 24, GENERATION_SHIFT = 40, KIND_SHIFT = 32, CAMERA_SHIFT = 16 };

uint32_t gentl_generation(struct gentl_library *library) {
    uint32_t const next = (library->last_generation + 1) & ((1U << GENERATION_BITS) - 1);
    library->last_generation = next > 0 ? next : 1;
    return library->last_generation;
}

void *gentl_handle(enum gentl_kind kind, uint32_t generation, uint32_t camera, uint32_t buffer) {
    uint64_t const number = (uint64_t)generation << GENERATION_SHIFT | (uint64_t)kind << KIND_SHIFT |
                            (uint64_t)camera << CAMERA_SHIFT | buffer;
    return (void *)(uintptr_t)number;
}

enum gentl_kind gentl_handle_kind(void const *handle) {
    return (enum gentl_kind)((uintptr_t)handle >> KIND_SHIFT & 0xFF);
}

/** The generation that a handle of this kind must have; 0: none is open. */
static uint32_t kind_generation(struct gentl_library const *library, enum gentl_kind kind,
                                struct gentl_camera const *camera) {
    switch (kind) {
    case GENTL_SYSTEM:
        return library->system;
    case GENTL_INTERFACE:
        return library->interface;
    case GENTL_DEVICE:
    case GENTL_CAMERA:
        return camera ? camera->generation : 0;
    case GENTL_STREAM:
        return camera ? camera->stream.generation : 0;
    case GENTL_EVENT:
        return camera && camera->stream.event.registered ? camera->stream.event.generation : 0;
    case GENTL_BUFFER:
        break;
    }
    return 0;
}

GC_ERROR gentl_find(struct gentl_library *library, void const *handle, enum gentl_kind kind,
                    struct gentl_camera **camera) {
    if (!library->initialised)
        return gentl_fail(GC_ERR_NOT_INITIALIZED, "the producer is not initialised; call GCInitLib first");
    uint32_t const index = (uintptr_t)handle >> CAMERA_SHIFT & 0xFFFF;
    struct gentl_camera *found = library->frames && index < library->camera_count ? &library->cameras[index] : NULL;
    uint32_t const generation = kind_generation(library, kind, found);
    if (generation == 0 || handle != gentl_handle(kind, generation, kind >= GENTL_DEVICE ? index : 0, 0))
        return gentl_fail(GC_ERR_INVALID_HANDLE, "%p is no handle of an open module of this kind; open it first",
                          handle);
    if (camera)
        *camera = found;
    return GC_ERR_SUCCESS;
}

GC_ERROR gentl_find_buffer(struct gentl_camera *camera, void const *handle, struct gentl_buffer **buffer) {
    uint32_t const index = (uintptr_t)handle & 0xFFFF;
    if (index < GENTL_BUFFERS_MAX) {
        struct gentl_buffer *found = &camera->stream.buffers[index];
        if (found->state != GENTL_BUFFER_ABSENT &&
            handle == gentl_handle(GENTL_BUFFER, found->generation, camera->index, index)) {
            *buffer = found;
            return GC_ERR_SUCCESS;
        }
    }
    return gentl_fail(GC_ERR_INVALID_HANDLE, "%p is no buffer of this stream; announce it first", handle);
}

struct gentl_image gentl_image_of(struct rm_image_slot const *slot) {
    return (struct gentl_image){
        .number = slot->number,
        .device_time = slot->device_time,
        .tai_ns = slot->tai_ns,
        .turn = slot->turn,
        .length = slot->length,
        .pixel_format = slot->pixel_format,
        .width = slot->width,
        .height = slot->height,
        .offset_x = slot->offset_x,
        .offset_y = slot->offset_y,
        .padding_x = slot->padding_x,
        .padding_y = slot->padding_y,
        .has_geometry = (slot->flags & RM_IMAGE_HAS_GEOMETRY) != 0,
        .has_turn = (slot->flags & RM_IMAGE_HAS_TURN) != 0,
        .whole = slot->status == RM_IMAGE_WHOLE,
    };
}

void gentl_look(struct gentl_camera *camera) {
    struct rm_frame frame;
    if (camera->stream.running || rm_images_newest(camera->reader, 0, &frame) != RM_FRAME_OK)
        return;
    camera->newest = gentl_image_of(frame.slot);
    camera->has_image = true;
    rm_images_release(camera->reader, &frame);
}
