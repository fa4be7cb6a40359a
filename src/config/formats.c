// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"
#include "base/nearest.h"
#include "config/resolve.h"

#include <stdlib.h>
#include <string.h>

static char const NATIVE[] = "native";
static char const *const NAMED_LAYOUTS[] = {"libera_grouping", "libera_grouping_counter_first"};
enum { NAMED = sizeof NAMED_LAYOUTS / sizeof NAMED_LAYOUTS[0] };

static uint32_t find_format(struct rm_config const *config, char const *name) {
    uint32_t index = 0;
    while (index < config->format_count && strcmp(config->format[index].name, name) != 0)
        index++;
    return index;
}

static enum rm_code resolve_one(struct rm_config_file const *file, struct rm_config *config, uint32_t index,
                                struct rm_error *error) {
    struct rm_file_format const *const written = &file->formats[index];
    uint32_t const other = find_format(config, written->name);
    if (other > 0 && other < config->format_count)
        return rm_config_fail_entry(config, error, "formats", index, "name",
                                    "\"%s\" is already the name of formats[%u], expected one of its own", written->name,
                                    other - 1);
    struct rm_error reason;
    enum rm_code const code =
        rm_format_resolve(written, config->source_path, index, &config->format[config->format_count], &reason);
    if (code != RM_OK) {
        *error = reason;
        rm_errors_add(config->errors, &reason);
    }
    config->format_count += code == RM_OK;
    return code;
}

enum rm_code rm_config_resolve_formats(struct rm_config_file const *file, struct rm_config *config,
                                       struct rm_error *error) {
    config->format = calloc(RM_CONFIG_FORMATS_MAX, sizeof *config->format);
    if (config->format == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    rm_format_builtin(NATIVE, &config->format[0]);
    config->format_count = 1;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < file->formats_count; i++)
        code = rm_code_first(code, resolve_one(file, config, i, error));
    return code;
}

static enum rm_code fail_unknown(struct rm_config const *config, char const *name, uint32_t instrument,
                                 struct rm_error *error) {
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < config->format_count; i++)
        rm_nearest_offer(&nearest, config->format[i].name);
    for (uint32_t i = 0; i < NAMED; i++)
        rm_nearest_offer(&nearest, NAMED_LAYOUTS[i]);
    char guess[64] = "";
    if (nearest.name != NULL)
        snprintf(guess, sizeof guess, " (did you mean \"%s\"?)", nearest.name);
    return rm_config_fail_entry(config, error, "instruments", instrument, "format",
                                "found \"%s\", expected the name of a format%s", name, guess);
}

enum rm_code rm_config_find_format(struct rm_config *config, char const *name, uint32_t instrument, uint32_t *format,
                                   struct rm_error *error) {
    *format = name == NULL ? 0 : find_format(config, name);
    if (*format < config->format_count)
        return RM_OK;
    struct rm_format named;
    if (!rm_format_builtin(name, &named))
        return fail_unknown(config, name, instrument, error);
    if (config->format_count == RM_CONFIG_FORMATS_MAX) {
        rm_format_free(&named);
        return rm_config_fail_entry(config, error, "instruments", instrument, "format",
                                    "\"%s\" is one format too many, expected at most %d with native", name,
                                    RM_CONFIG_FORMATS_MAX);
    }
    config->format[config->format_count++] = named;
    return RM_OK;
}
