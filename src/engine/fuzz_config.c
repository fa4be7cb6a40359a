// SPDX-License-Identifier: Apache-2.0
/* libFuzzer target: whatever bytes a configuration file holds, loading it gives a configuration or one line of error.
 */
#include "engine/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t bytes);

static void check_config(struct rm_config *config) {
    struct rm_error error;
    if (config->port_count == 0 || config->instrument_count == 0 || config->role_count < 2)
        abort();
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (config->instrument[i].port >= config->port_count || config->instrument[i].lane_count - 1 >= RM_LANES)
            abort();
    if (rm_config_fail_entry(config, &error, "roles", 0, "core", "is busy") != RM_E_CONFIG)
        abort();
    rm_config_free(config);
}

static void check_error(struct rm_error const *error, enum rm_code code) {
    if (error->code != code || error->text[0] == '\0' || strchr(error->text, '\n') != NULL)
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t bytes) {
    int const file = memfd_create("config", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes)
        abort();
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct rm_config *config;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_config_load(path, &config, &error);
    if (code == RM_OK)
        check_config(config);
    else
        check_error(&error, code);
    close(file);
    return 0;
}
