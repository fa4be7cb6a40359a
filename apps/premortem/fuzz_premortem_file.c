// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused with an error that names the file, or detectors within their limits. The files that it
 * would name are not opened. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void check(struct premortem_file const *file) {
    if (file->detectors == 0 || file->detectors > PREMORTEM_DETECTORS_MAX || file->actions > PREMORTEM_ACTIONS_MAX)
        abort();
    for (uint32_t d = 0; d < file->detectors; ++d) {
        struct premortem_plan const *plan = &file->detector[d];
        if (!(plan->threshold > 0.0) || plan->steps == 0 || plan->confirm == 0 || plan->signals == 0 ||
            plan->kind > PREMORTEM_DRIFT || plan->actions >> file->actions != 0)
            abort();
        if (plan->kind == PREMORTEM_GROWTH && (!(plan->floor > 0.0) || plan->memory_windows < 4))
            abort();
    }
}

/** Each error names the file; its words are one line. */
static void check_errors(struct rm_errors const *errors, char const *path) {
    if (errors->count == 0)
        abort();
    for (uint32_t e = 0; e < errors->count && e < RM_ERRORS_MAX; ++e)
        if (strncmp(errors->first[e].text, path, strlen(path)) != 0 || strchr(errors->first[e].text, '\n') != NULL)
            abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct premortem_file file = {.detectors = 0};
    struct rm_errors errors = {.count = 0};
    char path[32];
    int const memory = memfd_create("premortem", MFD_CLOEXEC);
    if (memory < 0 || write(memory, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (rm_configuration_load(path, premortem_keys, &file, premortem_file_check, &errors) == RM_OK)
        check(&file);
    else
        check_errors(&errors, path);
    rm_configuration_free(premortem_keys, &file);
    close(memory);
    return 0;
}
