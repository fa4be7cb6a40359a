// SPDX-License-Identifier: Apache-2.0
#include "engine/config_resolve.h"

#include <string.h>

/** Writes the path to use for a file that the configuration names: relative to the folder that the configuration lies
 * in. False when it is too long. */
static bool locate(char const *source_path, char const *named, char path[RM_CONFIG_PATH_BYTES]) {
    char const *const slash = strrchr(source_path, '/');
    int const folder_bytes = named[0] == '/' || slash == NULL ? 0 : (int)(slash - source_path) + 1;
    int const length = snprintf(path, RM_CONFIG_PATH_BYTES, "%.*s%s", folder_bytes, source_path, named);
    return length >= 0 && length < RM_CONFIG_PATH_BYTES;
}

enum rm_code rm_config_resolve_calibration(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error) {
    struct rm_file_calibration const *const written = file->calibration;
    config->calibration = (struct rm_config_calibration){.apply = RM_CALIBRATED_NOT};
    if (written == NULL)
        return RM_OK;
    if (!locate(config->source_path, written->file, config->calibration.path))
        return rm_config_fail(config, error, "calibration.file",
                              "with the configuration's folder before it the path is longer than %d bytes",
                              RM_CONFIG_PATH_BYTES - 1);
    config->calibration.apply = written->apply == NULL ? RM_CALIBRATED_IN_READING : *written->apply;
    return RM_OK;
}
