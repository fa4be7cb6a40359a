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

enum rm_code rm_simulation_until_open(struct rm_simulation_until *until, char const *text,
                                      struct rm_host_program const *program, double rate_hz, struct rm_error *error) {
    *until = (struct rm_simulation_until){.is_set = false};
    if (text == NULL)
        return RM_OK;
    struct rm_application_code const *code = program->code.it;
    size_t const length = strcspn(text, ":");
    char *end = NULL;
    double const seconds = text[length] == ':' ? strtod(text + length + 1, &end) : 0;
    if (end != NULL && (*end != '\0' || end == text + length + 1 || !(seconds >= 0 && seconds <= LONGEST_S)))
        return rm_fail(error, RM_E_ARGUMENT, "--until: found \"%s\", expected READING or READING:SECONDS", text);
    for (uint32_t i = 0; i < code->reading_count; ++i)
        if (is_called(code->readings[i].name, text, length) && program->reading_length[i] > 0) {
            *until = (struct rm_simulation_until){
                .is_set = true, .at = program->reading_at[i], .left = (uint64_t)ceil(seconds * rate_hz)};
            return RM_OK;
        }
    return rm_fail(
        error, RM_E_ARGUMENT,
        "--until: the application has no reading \"%.*s\"; `ringmaster check` loads its code, and `ringmaster ls` "
        "lists those of one that runs",
        (int)length, text);
}

bool rm_simulation_until_over(struct rm_simulation_until *until, struct rm_host_program const *program) {
    if (!until->is_set)
        return false;
    until->has_come = until->has_come || program->reading[until->at] != 0;
    return until->has_come && until->left-- == 0;
}
