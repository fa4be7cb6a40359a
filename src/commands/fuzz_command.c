// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any line as a command. Aborts when an argument is outside of the line's own words. */
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static enum rm_code weigh(void *context, struct rm_arguments const *arguments, FILE *answer, struct rm_error *error) {
    (void)error;
    size_t bytes = 0;
    for (uint32_t i = 0; i < arguments->count; i++)
        bytes += strlen(arguments->word[i]);
    if (bytes > *(size_t *)context)
        abort();
    fprintf(answer, "%zu\n", bytes);
    return RM_OK;
}

static struct rm_command const COMMANDS[] = {
    {"set PORTS rate PERCENT", "", weigh},
    {"set PORTS size BYTES", "", weigh},
    {"route show …", "", weigh},
};

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    char *const line = malloc(size + 1);
    char *answer = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&answer, &length);
    if (line == NULL || out == NULL)
        abort();
    memcpy(line, data, size);
    line[size] = '\0';
    struct rm_command_table const table = {COMMANDS, 3, &size};
    struct rm_error error;
    rm_command_run(&table, 1, line, out, &error);
    fclose(out);
    free(answer);
    free(line);
    return 0;
}
