// SPDX-License-Identifier: Apache-2.0
#include "until.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static double const LONGEST_S = 1e6;

static bool is_called(char const *name, char const *text, size_t length) {
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/** Reads ":VALUE" or ":VALUE:SECONDS". */
static bool until_read_numbers(char const *text, double *least, double *seconds) {
    char *end = NULL;
    *seconds = 0;
    if (*text != ':')
        return false;
    *least = strtod(text + 1, &end);
    if (end == text + 1 || isnan(*least) || (*end != '\0' && *end != ':'))
        return false;
    if (*end == '\0')
        return true;
    char const *const second = end + 1;
    *seconds = strtod(second, &end);
    return end != second && *end == '\0' && *seconds >= 0 && *seconds <= LONGEST_S;
}

enum rm_code rm_simulation_until_open(struct rm_simulation_until *until, char const *text,
                                      struct rm_host_program const *program, double rate_hz, struct rm_error *error) {
    *until = (struct rm_simulation_until){.is_set = false};
    if (text == NULL)
        return RM_OK;
    struct rm_application_code const *code = program->code.it;
    size_t const length = strcspn(text, ":");
    double least = 0, seconds = 0;
    if (!until_read_numbers(text + length, &least, &seconds))
        return rm_fail(error, RM_E_ARGUMENT,
                       "--until: found \"%s\", expected READING:VALUE or READING:VALUE:SECONDS, such as edges:2:0.1",
                       text);
    for (uint32_t i = 0; i < code->reading_count; ++i)
        if (is_called(code->readings[i].name, text, length) && program->reading_length[i] > 0) {
            *until = (struct rm_simulation_until){.is_set = true,
                                                  .at = program->reading_at[i],
                                                  .least = least,
                                                  .left = (uint64_t)ceil(seconds * rate_hz)};
            return RM_OK;
        }
    return rm_fail(error, RM_E_ARGUMENT, "--until: found \"%.*s\", expected a reading of the application, such as %.*s",
                   (int)length, text, RM_NAME_BYTES, code->reading_count > 0 ? code->readings[0].name : "none");
}

bool rm_simulation_until_over(struct rm_simulation_until *until, struct rm_host_program const *program) {
    if (!until->is_set)
        return false;
    until->has_come = until->has_come || program->reading[until->at] >= until->least;
    return until->has_come && until->left-- == 0;
}
