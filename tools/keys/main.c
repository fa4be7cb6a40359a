// SPDX-License-Identifier: Apache-2.0
/** write_keys all-keys | KIND: writes the document of all keys, or the JSON schema of one kind of file. What
 * tools/generate_keys.py makes files of. */
#include <stdlib.h>

#include "apps/feedback/files/configuration.h"
#include "apps/premortem/file.h"
#include "apps/sequence/file.h"
#include "apps/tune/file.h"
#include "apps/tunefeedback/file.h"
#include "archive/record/configuration.h"
#include "base/options.h"
#include "cameras/cameras_file.h"
#include "config/file.h"
#include "gateways/fast_archiver/file.h"
#include "instruments/ring_file.h"
#include "keys.h"
#include "simulation/events_file.h"
#include "support/key_schema.h"

enum { KINDS = 11 };

static void write_all_keys(struct file_kind const kinds[KINDS]) {
    puts("# SPDX-License-Identifier: Apache-2.0\n"
         "# Every key of every file: its default, or an example where it has none; what does not go with the rest is\n"
         "# commented out. One document for each kind of file: copy what you need of one. Made by `make generate`.");
    for (size_t k = 0; k < KINDS; k++)
        write_yaml(&kinds[k], stdout);
}

int main(int argc, char **argv) {
    cyaml_schema_value_t *const feedback = rm_key_schema(feedback_keys);
    cyaml_schema_value_t *const premortem = rm_key_schema(premortem_keys);
    cyaml_schema_value_t *const tune = rm_key_schema(tune_keys);
    cyaml_schema_value_t *const tunefeedback = rm_key_schema(tunefeedback_keys);
    cyaml_schema_value_t *const sequence = rm_key_schema(sequence_keys);
    cyaml_schema_value_t *const record = rm_key_schema(rm_record_keys);
    cyaml_schema_value_t *const fast_archiver = rm_key_schema(fa_file_keys);
    if (feedback == NULL || premortem == NULL || tune == NULL || tunefeedback == NULL || sequence == NULL ||
        record == NULL || fast_archiver == NULL) {
        fputs("write_keys: no memory\n", stderr);
        return EXIT_FAILURE;
    }
    struct file_kind const kinds[KINDS] = {
        {"server", "The configuration of a machine: `ringmaster run FILE`.", &rm_config_schema},
        {"ring", "What only its virtual ring has: `ringmaster virtual CONFIGURATION FILE`.", &rm_ring_schema},
        {"virtual-cameras",
         "What only virtual cameras have: `ringmaster cameras virtual CONFIGURATION --cameras FILE`.",
         &rm_virtual_cameras_schema},
        {"events", "What happens when in a simulation: `ringmaster simulate CONFIGURATION --events FILE`.",
         &rm_events_schema},
        {"feedback", "The orbit feedback's own file, which its entry of `applications` names.", feedback},
        {"premortem", "The file of the application premortem, which its entry of `applications` names.", premortem},
        {"tune", "The file of the application tune, which its entry of `applications` names.", tune},
        {"tunefeedback", "The file of the application tunefeedback, which its entry of `applications` names.",
         tunefeedback},
        {"sequence", "The file of the application sequence, which its entry of `applications` names.", sequence},
        {"record", "What is recorded, and how long it is kept: `ringmaster record FILE`.", record},
        {"fast-archiver", "Which streams are which ids: `ringmaster gateway fast-archiver FILE`.", fast_archiver},
    };
    static char const *const whats[] = {
        "server",       "ring",     "virtual-cameras", "events",        "feedback", "premortem", "tune",
        "tunefeedback", "sequence", "record",          "fast-archiver", "all-keys", NULL}; /* kinds first */
    uint64_t what = KINDS;
    struct rm_option option = {
        .name = "WHAT", .kind = RM_OPTION_CHOICE, .value = &what, .choices = whats, .place = RM_WORD};
    rm_options_or_exit(argc, argv, "Usage: write_keys all-keys|KIND\n", &option, 1);
    if (what < KINDS)
        write_schema(&kinds[what], stdout);
    else
        write_all_keys(kinds);
    free(feedback);
    free(premortem);
    free(tune);
    free(tunefeedback);
    free(sequence);
    free(record);
    free(fast_archiver);
    return EXIT_SUCCESS;
}
