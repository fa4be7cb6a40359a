// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "ring_resolve.h"

static char const LIBERA[] = "libera_grouping";

/** The formats that instruments may name without describing them. */
static char const *const builtin[] = {"native", "libera_grouping", "libera_grouping_counter_first"};
enum { BUILTINS = sizeof builtin / sizeof builtin[0] };

static enum rm_code check_unique(struct rm_resolve const *resolve, uint32_t index) {
    for (uint32_t f = 0; f < index; ++f)
        if (strcmp(resolve->file->formats[f].name, resolve->file->formats[index].name) == 0)
            return rm_resolve_fail(resolve, "formats", index, "name", "formats[%u] has the name \"%s\" already", f,
                                   resolve->file->formats[index].name);
    return RM_OK;
}

enum rm_code rm_resolve_formats(struct rm_resolve const *resolve) {
    struct rm_ring_config *config = resolve->config;
    uint32_t const written = resolve->file->formats_count;
    config->formats = calloc(BUILTINS + written, sizeof *config->formats);
    if (config->formats == NULL)
        return rm_fail(resolve->error, RM_E_NO_SPACE, "%s: no memory for the formats", resolve->path);
    for (uint32_t b = 0; b < BUILTINS; ++b)
        if (!rm_format_builtin(builtin[b], &config->formats[config->format_count++]))
            return rm_fail(resolve->error, RM_E_NO_SPACE, "%s: no memory for the formats", resolve->path);
    for (uint32_t f = 0; f < written; ++f) {
        enum rm_code code = check_unique(resolve, f);
        if (code == RM_OK)
            code = rm_format_resolve(&resolve->file->formats[f], resolve->path, f,
                                     &config->formats[config->format_count], resolve->error);
        if (code != RM_OK)
            return code;
        ++config->format_count;
    }
    return RM_OK;
}

struct rm_format const *rm_resolve_format(struct rm_resolve const *resolve, char const *name) {
    struct rm_ring_config const *config = resolve->config;
    for (uint32_t f = 0; f < config->format_count; ++f)
        if (strcmp(config->formats[f].name, name) == 0)
            return &config->formats[f];
    return NULL;
}

bool rm_resolve_is_libera(struct rm_resolve const *resolve, struct rm_format const *format) {
    char const *name = format->name;
    size_t const index = (size_t)(format - resolve->config->formats);
    if (index >= BUILTINS)
        name = resolve->file->formats[index - BUILTINS].preset;
    return name != NULL && strncmp(name, LIBERA, sizeof LIBERA - 1) == 0;
}
