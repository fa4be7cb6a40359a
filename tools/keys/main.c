// SPDX-License-Identifier: Apache-2.0
/** write_keys all-keys | KIND: writes the document of all keys, or the JSON schema of one kind of file. What
 * tools/generate_keys.py makes files of. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "apps/feedback/files/configuration.h"
#include "config/file.h"
#include "instruments/ring_file.h"
#include "keys.h"
#include "simulation/events_file.h"
#include "support/key_schema.h"

enum { KINDS = 4 };

static void write_all_keys(struct file_kind const kinds[KINDS]) {
    puts("# SPDX-License-Identifier: Apache-2.0\n"
         "# Every key of every file: its default, or an example where it has none; what does not go with the rest is\n"
         "# commented out. One document for each kind of file: copy what you need of one. Made by `make generate`.");
    for (size_t k = 0; k < KINDS; k++)
        write_yaml(&kinds[k], stdout);
}

static bool write_asked(struct file_kind const kinds[KINDS], char const *asked) {
    if (strcmp(asked, "all-keys") == 0) {
        write_all_keys(kinds);
        return true;
    }
    for (size_t k = 0; k < KINDS; k++)
        if (strcmp(asked, kinds[k].name) == 0) {
            write_schema(&kinds[k], stdout);
            return true;
        }
    return false;
}

int main(int count, char **argument) {
    cyaml_schema_value_t *const feedback = rm_key_schema(feedback_keys);
    if (feedback == NULL) {
        fputs("write_keys: no memory\n", stderr);
        return EXIT_FAILURE;
    }
    struct file_kind const kinds[KINDS] = {
        {"server", "The configuration of a machine: `ringmaster run FILE`.", &rm_config_schema},
        {"ring", "What only its virtual ring has: `ringmaster virtual CONFIGURATION FILE`.", &rm_ring_schema},
        {"events", "What happens when in a simulation: `ringmaster simulate CONFIGURATION --events FILE`.",
         &rm_events_schema},
        {"feedback", "The orbit feedback's own file, which its entry of `applications` names.", feedback},
    };
    bool const done = count == 2 && write_asked(kinds, argument[1]);
    free(feedback);
    if (!done)
        fputs("write_keys: expected one of: all-keys, server, ring, events, feedback\n", stderr);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
