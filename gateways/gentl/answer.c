// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ringmaster/error.h>

struct gentl_last_error {
    GC_ERROR code;
    char text[RM_ERROR_TEXT_BYTES];
};

/** GenTL asks for the last error of the calling thread, and hands nothing through in which it could be kept. */
static struct gentl_last_error *last_error_of_thread(void) {
    static _Thread_local struct gentl_last_error last;
    return &last;
}

void gentl_keep_error(GC_ERROR code, char const *format, ...) {
    struct gentl_last_error *last = last_error_of_thread();
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(last->text, sizeof last->text, format, arguments);
    va_end(arguments);
    last->code = code;
}

GC_ERROR gentl_last_error(char const **text) {
    struct gentl_last_error const *last = last_error_of_thread();
    *text = last->text;
    return last->code;
}

static GC_ERROR answer_bytes(struct gentl_answer answer, int32_t type, void const *value, size_t length) {
    if (!answer.size)
        return gentl_fail(GC_ERR_INVALID_PARAMETER, "a query without a size; pass the address of one");
    if (answer.type)
        *answer.type = type;
    size_t const space = *answer.size;
    *answer.size = length;
    if (!answer.buffer)
        return GC_ERR_SUCCESS;
    if (space < length)
        return gentl_fail(GC_ERR_BUFFER_TOO_SMALL, "a query with a buffer of %zu bytes, %zu needed", space, length);
    memcpy(answer.buffer, value, length);
    return GC_ERR_SUCCESS;
}

GC_ERROR gentl_answer_text(struct gentl_answer answer, char const *text) {
    return answer_bytes(answer, INFO_DATATYPE_STRING, text, strlen(text) + 1);
}

GC_ERROR gentl_answer_flag(struct gentl_answer answer, bool value) {
    bool8_t const flag = value;
    return answer_bytes(answer, INFO_DATATYPE_BOOL8, &flag, sizeof flag);
}

GC_ERROR gentl_answer_int32(struct gentl_answer answer, int32_t value) {
    return answer_bytes(answer, INFO_DATATYPE_INT32, &value, sizeof value);
}

GC_ERROR gentl_answer_uint32(struct gentl_answer answer, uint32_t value) {
    return answer_bytes(answer, INFO_DATATYPE_UINT32, &value, sizeof value);
}

GC_ERROR gentl_answer_uint64(struct gentl_answer answer, uint64_t value) {
    return answer_bytes(answer, INFO_DATATYPE_UINT64, &value, sizeof value);
}

GC_ERROR gentl_answer_size(struct gentl_answer answer, size_t value) {
    return answer_bytes(answer, INFO_DATATYPE_SIZET, &value, sizeof value);
}

GC_ERROR gentl_answer_pointer(struct gentl_answer answer, void const *value) {
    return answer_bytes(answer, INFO_DATATYPE_PTR, &value, sizeof value);
}

GC_ERROR gentl_answer_unknown(char const *what, int32_t command) {
    return gentl_fail(GC_ERR_NOT_AVAILABLE, "%s %d is not known here; docs/gentl.md has what is", what, command);
}
