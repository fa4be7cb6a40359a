// SPDX-License-Identifier: Apache-2.0
#include "config/resolve.h"

enum rm_code rm_config_resolve_calibration(struct rm_config_file const *file, struct rm_config *config,
                                           struct rm_error *error) {
    struct rm_file_calibration const *const written = file->calibration;
    config->calibration = (struct rm_config_calibration){.apply = RM_CALIBRATED_NOT};
    if (written == NULL)
        return RM_OK;
    if (!rm_config_locate(config, written->file, config->calibration.path))
        return rm_config_fail(config, error, "calibration.file",
                              "with the configuration's folder before it the path is longer than %d bytes",
                              RM_CONFIG_PATH_BYTES - 1);
    config->calibration.apply = *written->apply;
    return RM_OK;
}
