// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused with an error that names the file, or a configuration within its limits. The files that
 * it would name are not opened. */
#include <stdlib.h>
#include <string.h>

#include "configuration_file.h"

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

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct feedback_configuration configuration = {.path = NULL};
    struct feedback_yaml yaml = {.path = "fuzz", .text = malloc(size + 1), .bytes = size};
    struct feedback_file *file = NULL;
    struct rm_error error = {.text = ""};
    if (yaml.text == NULL)
        return 0;
    memcpy(yaml.text, data, size);
    enum rm_code code = feedback_yaml_load(&yaml, &file, &error);
    if (code == RM_OK)
        code = feedback_configuration_resolve(&yaml, file, &configuration, &error);
    if (code == RM_OK)
        check(&configuration);
    else if (strncmp(error.text, "fuzz:", 5) != 0)
        abort();
    feedback_configuration_free(&configuration);
    feedback_yaml_free(file);
    feedback_yaml_close(&yaml);
    return 0;
}
