// SPDX-License-Identifier: Apache-2.0
/** write_keys all-keys | KIND: writes the document of all keys, or the JSON schema of one kind of file. What
 * tools/generate_keys.py makes files of. */
#include <stdlib.h>
#include <string.h>

#include "apps/feedback/files/configuration_file.h"
#include "config/file.h"
#include "instruments/ring_file.h"
#include "keys.h"
#include "simulation/events_file.h"

static struct file_kind const kinds[] = {
    {"server", "The configuration of a machine: `ringmaster run FILE`.", &rm_config_schema},
    {"ring", "What only its virtual ring has: `ringmaster virtual CONFIGURATION FILE`.", &rm_ring_schema},
    {"events", "What happens when in a simulation: `ringmaster simulate CONFIGURATION --events FILE`.",
     &rm_events_schema},
    {"feedback", "The orbit feedback's own file, which its entry of `applications` names.", &feedback_schema},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void write_all_keys(void) {
    puts("# SPDX-License-Identifier: Apache-2.0\n"
         "# Every key of every file: its default, or an example where it has none; what does not go with the rest is\n"
         "# commented out. One document for each kind of file: copy what you need of one. Made by `make generate`.");
    for (size_t k = 0; k < KINDS; k++)
        write_yaml(&kinds[k], stdout);
}

int main(int count, char **argument) {
    if (count == 2 && strcmp(argument[1], "all-keys") == 0) {
        write_all_keys();
        return EXIT_SUCCESS;
    }
    for (size_t k = 0; count == 2 && k < KINDS; k++)
        if (strcmp(argument[1], kinds[k].name) == 0) {
            write_schema(&kinds[k], stdout);
            return EXIT_SUCCESS;
        }
    fputs("write_keys: expected one of: all-keys", stderr);
    for (size_t k = 0; k < KINDS; k++)
        fprintf(stderr, ", %s", kinds[k].name);
    fputc('\n', stderr);
    return EXIT_FAILURE;
}
