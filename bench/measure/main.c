// SPDX-License-Identifier: Apache-2.0
/** ringmaster-measure: what the first receive role of a configuration costs per packet. */
#include <stdio.h>

#include "base/options.h"
#include "bench/measure/measure.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

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
    struct rm_measure_options options;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(USAGE, stdout);
        return EXIT_GOOD;
    }
    if (rm_measure_options_read(argc, argv, &options, &error) != RM_OK)
        return rm_options_refuse(&error);
    struct rm_config *config;
    struct rm_errors errors = {.count = 0};
    if (rm_config_load_all(options.config_path, &config, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-measure", stderr);
        return EXIT_FAILED;
    }
    enum rm_code const code = rm_measure(config, &options, stdout, &error);
    rm_config_free(config);
    if (code == RM_OK)
        return EXIT_GOOD;
    fprintf(stderr, "ringmaster-measure: %s\n", error.text);
    return EXIT_FAILED;
}
