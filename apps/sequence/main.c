// SPDX-License-Identifier: Apache-2.0
/** ringmaster-sequence FILE: what a file of sequences is compiled to, and all that is wrong with it, as JSON
 * (describe.h). For `ringmaster sequence`. */
#include <stdio.h>

#include "base/options.h"
#include "compile.h"
#include "describe.h"

static char const USAGE[] =
    "Usage: ringmaster-sequence FILE\n"
    "\n"
    "Compiles a file of sequences, without a machine, and prints what it has become, with costs, remarks and all "
    "errors,\n"
    "as JSON. `ringmaster sequence check` shows it to people; `ringmaster check CONFIG` also holds it against the\n"
    "supplies and inputs of a machine.\n"
    "\n"
    "Exit status: 0 good, 1 errors, which are in the JSON, 2 wrong usage.\n";

int main(int argc, char **argv) {
    char const *path = NULL;
    struct rm_option options[] = {{"FILE", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD}};
    rm_options_or_exit(argc, argv, USAGE, options, 1);
    struct sequence_file file;
    struct sequence_program program;
    struct rm_errors errors = {.count = 0}, remarks = {.count = 0};
    enum rm_code const code = sequence_load(path, &file, &program, &remarks, &errors);
    sequence_describe(stdout, path, &program, &errors, &remarks);
    if (code != RM_OK)
        return 1;
    sequence_program_free(&program);
    rm_configuration_free(sequence_keys, &file);
    return 0;
}
