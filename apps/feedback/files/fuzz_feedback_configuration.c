// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused with an error that names the file, or a configuration within its limits. The files that
 * it would name are not opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ringmaster/pattern.h>

#include "configuration.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void check(struct feedback_configuration const *configuration) {
    for (uint32_t f = 0; f < configuration->family_count; ++f) {
        struct feedback_family const *family = &configuration->family[f];
        if (family->pattern_count == 0 || family->unload_to >= (int32_t)configuration->family_count)
            abort();
        for (uint32_t p = 0; p < family->pattern_count; ++p)
            if (rm_pattern_matches(family->patterns[p], "") && family->patterns[p][0] != '*')
                abort();
    }
    if (!(configuration->enable_conditions.bpms >= 0 && configuration->enable_conditions.bpms <= 1))
        abort();
}

/** Each error names the file; its words are one line. */
static void check_errors(struct rm_errors const *errors, char const *path) {
    if (errors->count == 0)
        abort();
    for (uint32_t e = 0; e < errors->count && e < RM_ERRORS_MAX; ++e)
        if (strncmp(errors->first[e].text, path, strlen(path)) != 0 || strchr(errors->first[e].text, '\n') != NULL)
            abort();
}

static enum rm_code resolve(char const *path, void *values, struct rm_errors *errors) {
    return feedback_configuration_resolve(path, values, errors);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct feedback_configuration configuration = {.path = NULL};
    struct rm_errors errors = {.count = 0};
    char path[32];
    int const memory = memfd_create("feedback", MFD_CLOEXEC);
    if (memory < 0 || write(memory, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (rm_configuration_load(path, feedback_keys, &configuration, resolve, &errors) == RM_OK)
        check(&configuration);
    else
        check_errors(&errors, path);
    rm_configuration_free(feedback_keys, &configuration);
    close(memory);
    return 0;
}
