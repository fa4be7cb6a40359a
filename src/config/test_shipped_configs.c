// SPDX-License-Identifier: Apache-2.0
/* The files in configs/ are right: each is an argument. */
#include "base/cores.h"
#include "config/config.h"

#include <stdio.h>
#include <string.h>

/* A file for cameras alone has no roles, and is for their receiver. */
static bool is_right_for_cameras(char const *path) {
    struct rm_config *config;
    struct rm_errors errors = {.count = 0};
    if (rm_config_load_machine(path, &config, &errors) != RM_OK || config->camera_count == 0)
        return false;
    rm_config_describe(config, stdout);
    rm_config_free(config);
    return true;
}

/* Of one server, or both of a pair. */
static bool loads(char const *path, struct rm_errors *errors) {
    struct rm_config *config[RM_CONFIG_SERVERS];
    uint32_t count;
    if (rm_config_load_each(path, config, &count, errors) != RM_OK)
        return false;
    if (count == 1)
        rm_config_describe(config[0], stdout);
    else
        rm_config_describe_pair(config[0], config[1], stdout);
    for (uint32_t i = 0; i < count; i++)
        rm_config_free(config[i]);
    return true;
}

/* On a machine with fewer cores than the file asks for, the core is all that may be wrong. */
static bool is_right(char const *path) {
    struct rm_errors errors = {.count = 0};
    cpu_set_t cores;
    if (loads(path, &errors))
        return true;
    struct rm_error const error = errors.first[0];
    if (strstr(error.text, "the key \"roles\" is missing") != NULL)
        return is_right_for_cameras(path);
    fprintf(stderr, "%s\n", error.text);
    bool const enough = rm_cores_available(&cores, NULL) == RM_OK && CPU_ISSET(0, &cores) && CPU_ISSET(1, &cores);
    return !enough && strstr(error.text, "none that this process may run on") != NULL;
}

int main(int argument_count, char **arguments) {
    bool right = argument_count > 1;
    for (int i = 1; i < argument_count; i++)
        right = is_right(arguments[i]) && right;
    return right ? 0 : 1;
}
