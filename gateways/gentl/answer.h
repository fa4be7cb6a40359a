// SPDX-License-Identifier: Apache-2.0
/** What a function of GenTL gives back: an error with its text, kept for the calling thread, or the value of a query. */
#ifndef GENTL_ANSWER_H
#define GENTL_ANSWER_H

#include <stdbool.h>

#include "gentl.h"

/** Keeps code and text for GCGetLastError in this thread. */
__attribute__((format(printf, 2, 3))) void gentl_keep_error(GC_ERROR code, char const *format, ...);

/** The same, and has the code as its value. A macro, so that compiler and linter see which code goes on: a function with
 * a list of arguments that varies is never followed. */
#define gentl_fail(code, ...) (gentl_keep_error((code), __VA_ARGS__), (code))

/** Refuses a call that has no place for its result. */
static inline GC_ERROR gentl_need(void const *place, char const *call) {
    if (place)
        return GC_ERR_SUCCESS;
    return gentl_fail(GC_ERR_INVALID_PARAMETER, "%s without a place for its result; pass the address of one", call);
}

/** The last error of this thread; GC_ERR_SUCCESS and "" where there was none. */
GC_ERROR gentl_last_error(char const **text);

/** Where the caller wants the value of a query: gentl.h says how. */
struct gentl_answer {
    int32_t *type;
    void *buffer;
    size_t *size;
};

GC_ERROR gentl_answer_text(struct gentl_answer answer, char const *text);
GC_ERROR gentl_answer_flag(struct gentl_answer answer, bool value);
GC_ERROR gentl_answer_int32(struct gentl_answer answer, int32_t value);
GC_ERROR gentl_answer_uint32(struct gentl_answer answer, uint32_t value);
GC_ERROR gentl_answer_uint64(struct gentl_answer answer, uint64_t value);
GC_ERROR gentl_answer_size(struct gentl_answer answer, size_t value);
GC_ERROR gentl_answer_pointer(struct gentl_answer answer, void const *value);
/** There is no such query. `what` is its list, "BUFFER_INFO". */
GC_ERROR gentl_answer_unknown(char const *what, int32_t command);

#endif
