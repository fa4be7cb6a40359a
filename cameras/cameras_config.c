// SPDX-License-Identifier: Apache-2.0
#include "cameras_config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

#include "base/fail.h"
#include "cameras_resolve.h"

/** What cameras have that no overlay names. */
static char const OTHERWISE[] = "cameras: [{name: all}]\n";

enum rm_code rm_cameras_fail(struct rm_cameras_resolve const *resolve, char const *place, char const *key,
                             char const *format, ...) {
    char whole[128];
    struct rm_error error;
    snprintf(whole, sizeof whole, "%s%s%s", place, place[0] == '\0' ? "" : ".", key);
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(&error, resolve->path, whole, format, arguments);
    va_end(arguments);
    rm_errors_add(resolve->errors, &error);
    return code;
}

static bool entry_means(struct rm_virtual_file_camera const *entry, char const *name) {
    return strcmp(entry->name, "all") == 0 || rm_pattern_matches(entry->name, name);
}

/** An entry that no camera is named by would be read in vain. */
static enum rm_code check_entry_names(struct rm_cameras_resolve const *resolve) {
    struct rm_config const *const machine = resolve->config->machine;
    enum rm_code code = RM_OK;
    for (uint32_t e = 0; e < resolve->file->cameras_count; ++e) {
        bool named = false;
        for (uint32_t c = 0; c < machine->camera_count; ++c)
            named |= entry_means(&resolve->file->cameras[e], machine->camera[c].name);
        char place[32];
        snprintf(place, sizeof place, "cameras[%u]", e);
        if (!named)
            code = rm_cameras_fail(resolve, place, "name", "found \"%s\", expected a camera of %s, a pattern, or all",
                                   resolve->file->cameras[e].name, machine->source_path);
    }
    return code;
}

static enum rm_code resolve_camera(struct rm_cameras_resolve const *resolve, uint32_t index,
                                   struct rm_virtual_file_camera const *otherwise) {
    struct rm_virtual_file const *const file = resolve->file;
    uint32_t e = 0;
    while (e < file->cameras_count && !entry_means(&file->cameras[e], resolve->config->machine->camera[index].name))
        ++e;
    char place[32];
    snprintf(place, sizeof place, "cameras[%u]", e);
    return e < file->cameras_count ? rm_cameras_resolve_camera(resolve, index, &file->cameras[e], place)
                                   : rm_cameras_resolve_camera(resolve, index, otherwise, "cameras");
}

static enum rm_code resolve_cameras(struct rm_cameras_resolve const *resolve,
                                    struct rm_virtual_file_camera const *otherwise) {
    struct rm_config const *const machine = resolve->config->machine;
    enum rm_code code = check_entry_names(resolve);
    for (uint32_t c = 0; c < machine->camera_count; ++c)
        if (machine->camera[c].format <= RM_CAMERA_FRAGMENTS)
            code = rm_code_first(code, resolve_camera(resolve, c, otherwise));
    if (code != RM_OK || resolve->config->camera_count != 0)
        return code;
    struct rm_error error;
    rm_fail(&error, RM_E_CONFIG, "%s: no camera in it sends gvsp or fragments, so there is nothing to send",
            machine->source_path);
    rm_errors_add(resolve->errors, &error);
    return RM_E_CONFIG;
}

static enum rm_code cameras_fail_plain(struct rm_errors *errors, char const *path) {
    struct rm_error error;
    enum rm_code const code = rm_fail(&error, RM_E_NO_SPACE, "%s: no memory to hold it", path);
    rm_errors_add(errors, &error);
    return code;
}

static enum rm_code resolve_files(struct rm_cameras_resolve *resolve, struct rm_virtual_file const *otherwise) {
    struct rm_cameras_config *const config = resolve->config;
    config->core = resolve->file->core == NULL ? RM_CAMERAS_ANY_CORE : (int32_t)*resolve->file->core;
    config->camera = calloc(config->machine->camera_count + 1, sizeof *config->camera);
    config->port = calloc(config->machine->port_count, sizeof *config->port);
    if (config->camera == NULL || config->port == NULL)
        return cameras_fail_plain(resolve->errors, resolve->path);
    enum rm_code code = rm_cameras_check_ranges(resolve);
    if (code == RM_OK)
        code = resolve_cameras(resolve, &otherwise->cameras[0]);
    return code == RM_OK ? rm_cameras_resolve_ports(resolve) : code;
}

static enum rm_code load_overlay(char const *overlay, void **file, void **otherwise, struct rm_errors *errors) {
    struct rm_error error;
    enum rm_code code = rm_yaml_parse("defaults", OTHERWISE, &rm_virtual_cameras_schema, otherwise, &error);
    if (code != RM_OK)
        rm_errors_add(errors, &error);
    else if (overlay != NULL)
        code = rm_yaml_load_all(overlay, &rm_virtual_cameras_schema, file, errors);
    else
        code = rm_yaml_load_nothing(&rm_virtual_cameras_schema, file, errors);
    return code;
}

enum rm_code rm_cameras_config_load(char const *machine, char const *overlay, struct rm_cameras_config *config,
                                    struct rm_errors *errors) {
    void *file = NULL, *otherwise = NULL;
    *config = (struct rm_cameras_config){0};
    enum rm_code code = rm_config_load_machine(machine, &config->machine, errors);
    code = rm_code_first(code, load_overlay(overlay, &file, &otherwise, errors));
    if (code == RM_OK) {
        struct rm_cameras_resolve resolve = {
            .path = overlay == NULL ? machine : overlay, .file = file, .config = config, .errors = errors};
        code = resolve_files(&resolve, otherwise);
    }
    rm_yaml_free(&rm_virtual_cameras_schema, file);
    rm_yaml_free(&rm_virtual_cameras_schema, otherwise);
    if (code != RM_OK)
        rm_cameras_config_free(config);
    return code;
}

void rm_cameras_config_free(struct rm_cameras_config *config) {
    rm_config_free(config->machine);
    free(config->camera);
    free(config->port);
    *config = (struct rm_cameras_config){0};
}
