// SPDX-License-Identifier: Apache-2.0
/** What a buffer has: BUFFER_INFO. */
#include "modules.h"

/** Of the buffer itself, whether a frame came or not. False: the query is about the frame. */
static bool buffer_own_info(struct gentl_buffer const *buffer, struct gentl_answer answer, int32_t command,
                            GC_ERROR *result) {
    switch (command) {
    case BUFFER_INFO_BASE:
        *result = gentl_answer_pointer(answer, buffer->leased ? buffer->frame.bytes : buffer->memory);
        return true;
    case BUFFER_INFO_SIZE:
        *result = gentl_answer_size(answer, buffer->size);
        return true;
    case BUFFER_INFO_USER_PTR:
        *result = gentl_answer_pointer(answer, buffer->user_pointer);
        return true;
    case BUFFER_INFO_TLTYPE:
        *result = gentl_answer_text(answer, GENTL_TYPE);
        return true;
    case BUFFER_INFO_NEW_DATA:
        *result = gentl_answer_flag(answer, buffer->is_new);
        return true;
    case BUFFER_INFO_IS_QUEUED:
        *result = gentl_answer_flag(answer, buffer->state != GENTL_BUFFER_IDLE);
        return true;
    case BUFFER_INFO_IS_ACQUIRING:
        *result = gentl_answer_flag(answer, buffer->state == GENTL_BUFFER_FILLING);
        return true;
    case BUFFER_INFO_CONTAINS_CHUNKDATA:
        *result = gentl_answer_flag(answer, false);
        return true;
    default:
        return false;
    }
}

/** Of the picture in it. False: there is no such query, or the geometry is not known. */
static bool buffer_geometry_info(struct gentl_image const *image, struct gentl_answer answer, int32_t command,
                                 GC_ERROR *result) {
    if (!image->has_geometry)
        return false;
    switch (command) {
    case BUFFER_INFO_WIDTH:
        *result = gentl_answer_size(answer, image->width);
        return true;
    case BUFFER_INFO_HEIGHT:
    case BUFFER_INFO_DELIVERED_IMAGEHEIGHT:
        *result = gentl_answer_size(answer, image->height);
        return true;
    case BUFFER_INFO_XOFFSET:
        *result = gentl_answer_size(answer, image->offset_x);
        return true;
    case BUFFER_INFO_YOFFSET:
        *result = gentl_answer_size(answer, image->offset_y);
        return true;
    case BUFFER_INFO_XPADDING:
        *result = gentl_answer_size(answer, image->padding_x);
        return true;
    case BUFFER_INFO_YPADDING:
        *result = gentl_answer_size(answer, image->padding_y);
        return true;
    case BUFFER_INFO_PIXELFORMAT:
        *result = gentl_answer_uint64(answer, image->pixel_format);
        return true;
    case BUFFER_INFO_PIXELFORMAT_NAMESPACE:
        *result = gentl_answer_uint64(answer, PIXELFORMAT_NAMESPACE_PFNC_32BIT);
        return true;
    case BUFFER_INFO_PIXEL_ENDIANNESS:
        *result = gentl_answer_int32(answer, PIXELENDIANNESS_LITTLE);
        return true;
    case BUFFER_INFO_IMAGEOFFSET:
        *result = gentl_answer_size(answer, 0);
        return true;
    default:
        return false;
    }
}

static GC_ERROR buffer_frame_info(struct gentl_buffer const *buffer, struct gentl_answer answer, int32_t command) {
    struct gentl_image const *image = &buffer->image;
    bool const larger = image->length > buffer->size;
    switch (command) {
    case BUFFER_INFO_IS_INCOMPLETE:
        return gentl_answer_flag(answer, !image->whole || larger);
    case BUFFER_INFO_DATA_LARGER_THAN_BUFFER:
        return gentl_answer_flag(answer, larger);
    case BUFFER_INFO_SIZE_FILLED:
    case BUFFER_INFO_DATA_SIZE:
        return gentl_answer_size(answer, buffer->filled);
    case BUFFER_INFO_FRAMEID:
        return gentl_answer_uint64(answer, image->number);
    case BUFFER_INFO_TIMESTAMP:
        return gentl_answer_uint64(answer, image->device_time);
    case BUFFER_INFO_TIMESTAMP_NS:
        return gentl_answer_uint64(answer, image->tai_ns);
    case BUFFER_INFO_IMAGEPRESENT:
        return gentl_answer_flag(answer, image->has_geometry);
    case BUFFER_INFO_PAYLOADTYPE:
        return gentl_answer_size(answer, image->has_geometry ? PAYLOAD_TYPE_IMAGE : PAYLOAD_TYPE_RAW_DATA);
    case BUFFER_INFO_RINGMASTER_TURN:
        if (image->has_turn)
            return gentl_answer_uint64(answer, image->turn);
        return gentl_fail(GC_ERR_NOT_AVAILABLE, "the turn of frame %llu is not known; the workspace has no turn clock",
                          (unsigned long long)image->number);
    default:
        break;
    }
    GC_ERROR result;
    if (buffer_geometry_info(image, answer, command, &result))
        return result;
    return gentl_answer_unknown(image->has_geometry ? "BUFFER_INFO" : "the geometry is not known: BUFFER_INFO",
                                command);
}

/** A buffer that a flush took from the input pool carries nothing, and says so. */
static GC_ERROR buffer_empty_info(struct gentl_answer answer, int32_t command) {
    if (command == BUFFER_INFO_IS_INCOMPLETE)
        return gentl_answer_flag(answer, true);
    if (command == BUFFER_INFO_SIZE_FILLED || command == BUFFER_INFO_DATA_SIZE)
        return gentl_answer_size(answer, 0);
    return gentl_fail(GC_ERR_NO_DATA, "no frame is in this buffer; queue it, and wait for the event");
}

static GC_ERROR buffer_info(struct gentl_buffer const *buffer, struct gentl_answer answer, int32_t command) {
    GC_ERROR result;
    if (buffer_own_info(buffer, answer, command, &result))
        return result;
    return buffer->has_image ? buffer_frame_info(buffer, answer, command) : buffer_empty_info(answer, command);
}

GC_ERROR DSGetBufferInfo(DS_HANDLE handle, BUFFER_HANDLE buffer_handle, int32_t command, int32_t *type, void *value,
                         size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    struct gentl_buffer *buffer = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_find_buffer(camera, buffer_handle, &buffer);
    if (result == GC_ERR_SUCCESS)
        result = buffer_info(buffer, (struct gentl_answer){type, value, size}, command);
    return gentl_leave(library, result);
}

/** Of a buffer without chunks and parts, which all of ours are. */
static GC_ERROR buffer_without_parts(DS_HANDLE handle, BUFFER_HANDLE buffer_handle) {
    struct gentl_library *library = gentl_enter();
    struct gentl_camera *camera = NULL;
    struct gentl_buffer *buffer = NULL;
    GC_ERROR result = gentl_find(library, handle, GENTL_STREAM, &camera);
    if (result == GC_ERR_SUCCESS)
        result = gentl_find_buffer(camera, buffer_handle, &buffer);
    return gentl_leave(library, result);
}

GC_ERROR DSGetBufferChunkData(DS_HANDLE handle, BUFFER_HANDLE buffer, void *chunks, size_t *count) {
    (void)chunks;
    GC_ERROR const result = buffer_without_parts(handle, buffer);
    if (result != GC_ERR_SUCCESS)
        return result;
    if (!count)
        return gentl_need(count, "DSGetBufferChunkData");
    *count = 0;
    return gentl_fail(GC_ERR_NO_DATA, "frames have no chunks here");
}

GC_ERROR DSGetNumBufferParts(DS_HANDLE handle, BUFFER_HANDLE buffer, uint32_t *count) {
    GC_ERROR const result = buffer_without_parts(handle, buffer);
    if (result != GC_ERR_SUCCESS)
        return result;
    if (!count)
        return gentl_need(count, "DSGetNumBufferParts");
    *count = 0;
    return GC_ERR_SUCCESS;
}

GC_ERROR DSGetBufferPartInfo(DS_HANDLE handle, BUFFER_HANDLE buffer, uint32_t part, int32_t command, int32_t *type,
                             void *value, size_t *size) {
    (void)command;
    (void)value;
    GC_ERROR const result = buffer_without_parts(handle, buffer);
    if (result != GC_ERR_SUCCESS)
        return result;
    if (type)
        *type = INFO_DATATYPE_UNKNOWN;
    if (size)
        *size = 0;
    return gentl_fail(GC_ERR_INVALID_INDEX, "part %u of a buffer; frames have no parts here", part);
}
