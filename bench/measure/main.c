// SPDX-License-Identifier: Apache-2.0
/** ringmaster-measure: what the first receive role of a configuration costs per packet. */
#include <stdio.h>
#include <string.h>

#include "bench/measure/measure.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static char const USAGE[] =
    "Usage: ringmaster-measure CONFIG.yaml [--datagrams N] [--rounds N] [--lanes N]\n"
    "                          [--simd scalar|avx2|avx512] [--order random|turn]\n"
    "                                              what its first receive role costs per packet, as JSON\n"
    "       ringmaster-measure --help\n"
    "\n"
    "It needs no sender: the role's port is of kind ring, and each fill of N datagrams is drained by the role, or\n"
    "given back unread, by turns. Without --datagrams: 1024, from the caches, and 262144, from memory.\n"
    "\n"
    "Example:\n"
    "  ringmaster-measure configs/measure.yaml --rounds 51\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(USAGE, stdout);
        return EXIT_GOOD;
    }
    struct rm_measure_options options;
    if (!rm_measure_options_read(argc, argv, &options)) {
        fputs("ringmaster-measure: `ringmaster-measure --help` shows how\n", stderr);
        return EXIT_USAGE;
    }
    struct rm_config *config;
    struct rm_errors errors = {.count = 0};
    if (rm_config_load_all(options.config_path, &config, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-measure", stderr);
        return EXIT_FAILED;
    }
    struct rm_error error;
    enum rm_code const code = rm_measure(config, &options, stdout, &error);
    rm_config_free(config);
    if (code == RM_OK)
        return EXIT_GOOD;
    fprintf(stderr, "ringmaster-measure: %s\n", error.text);
    return EXIT_FAILED;
}
