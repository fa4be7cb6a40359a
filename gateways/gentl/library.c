// SPDX-License-Identifier: Apache-2.0
/** The library level of GenTL: GCInitLib and what goes with it. */
#include "modules.h"

GC_ERROR GCInitLib(void) {
    struct gentl_library *library = gentl_enter();
    if (library->initialised)
        return gentl_leave(library,
                           gentl_fail(GC_ERR_RESOURCE_IN_USE,
                                      "the producer is initialised already; one GCInitLib is for all threads"));
    library->initialised = true;
    return gentl_leave(library, GC_ERR_SUCCESS);
}

GC_ERROR GCCloseLib(void) {
    struct gentl_library *library = gentl_enter();
    if (!library->initialised)
        return gentl_leave(library, gentl_fail(GC_ERR_NOT_INITIALIZED, "the producer is not initialised"));
    if (library->system)
        gentl_close_system(library);
    library->initialised = false;
    return gentl_leave(library, GC_ERR_SUCCESS);
}

GC_ERROR GCGetLastError(GC_ERROR *code, char *text, size_t *size) {
    if (!code || !size)
        return GC_ERR_INVALID_PARAMETER;
    char const *words;
    GC_ERROR const last = gentl_last_error(&words);
    GC_ERROR const result = gentl_answer_text((struct gentl_answer){.buffer = text, .size = size}, words);
    *code = last;
    return result;
}
