// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DIGITS = 2 * RM_CONFIG_KEY_BYTES };

static enum rm_code fail_key(struct rm_config const *config, struct rm_error *error, char const *what) {
    char const *const path = config->standby.key_path;
    return rm_config_fail(config, error, "standby.key",
                          "%s %s; expected %d hexadecimal digits that only its owner may read, as both servers have "
                          "them: (umask 077; openssl rand -hex %d > %s)",
                          path, what, DIGITS, RM_CONFIG_KEY_BYTES, path);
}

static uint8_t digit_value(char digit) {
    return (uint8_t)(isdigit((unsigned char)digit) ? digit - '0' : tolower((unsigned char)digit) - 'a' + 10);
}

/* Digits, and a line feed perhaps. */
static bool read_digits(FILE *file, char digits[DIGITS]) {
    if (fread(digits, 1, DIGITS, file) != DIGITS)
        return false;
    for (int i = 0; i < DIGITS; i++)
        if (!isxdigit((unsigned char)digits[i]))
            return false;
    int const behind = fgetc(file);
    return behind == EOF || (behind == '\n' && fgetc(file) == EOF);
}

enum rm_code rm_config_read_key(struct rm_config const *config, uint8_t key[RM_CONFIG_KEY_BYTES],
                                struct rm_error *error) {
    FILE *const file = fopen(config->standby.key_path, "re");
    struct stat status;
    char digits[DIGITS];
    if (file == NULL || fstat(fileno(file), &status) != 0) {
        char const *const why = strerror(errno);
        char text[128];
        snprintf(text, sizeof text, "cannot be read: %s", why);
        if (file != NULL)
            fclose(file);
        return fail_key(config, error, text);
    }
    bool const good = read_digits(file, digits);
    fclose(file);
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return fail_key(config, error, "is open to others than its owner (`chmod 600` closes it)");
    if (!good)
        return fail_key(config, error, "is no key");
    for (int i = 0; i < RM_CONFIG_KEY_BYTES; i++)
        key[i] = (uint8_t)(digit_value(digits[2 * i]) << 4 | digit_value(digits[2 * i + 1]));
    return RM_OK;
}
