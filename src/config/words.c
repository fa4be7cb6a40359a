// SPDX-License-Identifier: Apache-2.0
/* Small readers that several steps of resolving share. */
#include "base/nearest.h"
#include "config/resolve.h"

#include <string.h>

bool rm_config_name_is_good(char const *name) {
    return *name != '\0' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0';
}

int rm_config_count_digits(uint32_t count) {
    int digits = 1;
    for (; count >= 10; count /= 10)
        digits++;
    return digits < 2 ? 2 : digits; /* "bpm01" */
}

bool rm_config_locate(struct rm_config const *config, char const *named, char path[RM_CONFIG_PATH_BYTES]) {
    char const *const slash = strrchr(config->source_path, '/');
    int const folder_bytes = named[0] == '/' || slash == NULL ? 0 : (int)(slash - config->source_path) + 1;
    int const length = snprintf(path, RM_CONFIG_PATH_BYTES, "%.*s%s", folder_bytes, config->source_path, named);
    return length >= 0 && length < RM_CONFIG_PATH_BYTES;
}

char const *rm_config_guess(struct rm_nearest const *nearest, char *text, size_t size) {
    if (nearest->name == NULL)
        return "";
    snprintf(text, size, " (did you mean \"%s\"?)", nearest->name);
    return text;
}

uint32_t rm_config_find_port(struct rm_config const *config, char const *name, size_t name_bytes) {
    for (uint32_t i = 0; i < config->port_count; i++) {
        char const *const known = config->port[i].port.name;
        if (strlen(known) == name_bytes && memcmp(known, name, name_bytes) == 0)
            return i;
    }
    return config->port_count;
}

char const *rm_config_guess_port(struct rm_config const *config, char const *name, char *text, size_t size) {
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < config->port_count; i++)
        rm_nearest_offer(&nearest, config->port[i].port.name);
    return rm_config_guess(&nearest, text, size);
}

bool rm_config_read_number(char const *text, uint32_t max, uint32_t *number) {
    uint64_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = 10 * value + (uint64_t)(*text - '0');
        if (value > max)
            return false;
    }
    *number = (uint32_t)value;
    return true;
}
