// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static bool wrong_option(char const *option, char const *found, char const *expected) {
    fprintf(stderr, "ringmaster-measure: --%s: found \"%s\", expected %s\n", option, found, expected);
    return false;
}

static bool read_number_option(char const *option, char const *text, uint32_t most, uint32_t *number) {
    char *end;
    errno = 0;
    unsigned long const value = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && value >= 1 && value <= most) {
        *number = (uint32_t)value;
        return true;
    }
    char range[32];
    snprintf(range, sizeof range, "1 to %u", most);
    return wrong_option(option, text, range);
}

static bool read_simd(char const *text, enum rm_simd *simd) {
    static char const *const words[] = {
        [RM_SIMD_SCALAR] = "scalar", [RM_SIMD_AVX2] = "avx2", [RM_SIMD_AVX512] = "avx512"};
    for (unsigned i = RM_SIMD_SCALAR; i < sizeof words / sizeof words[0]; ++i)
        if (strcmp(text, words[i]) == 0) {
            *simd = (enum rm_simd)i;
            return i <= (unsigned)rm_simd_best() || wrong_option("simd", text, "an instruction set that this CPU has");
        }
    return wrong_option("simd", text, "scalar, avx2 or avx512");
}

static bool read_order(char const *text, bool *by_turn) {
    *by_turn = strcmp(text, "turn") == 0;
    return *by_turn || strcmp(text, "random") == 0 || wrong_option("order", text, "random or turn");
}

static bool read_option(int which, char const *text, struct rm_measure_options *options) {
    switch (which) {
    case 'd':
        return read_number_option("datagrams", text, RM_MEASURE_DATAGRAMS_MAX, &options->datagrams);
    case 'r':
        return read_number_option("rounds", text, RM_MEASURE_ROUNDS_MAX, &options->rounds);
    case 'l':
        return read_number_option("lanes", text, RM_LANES, &options->lanes);
    case 's':
        return read_simd(text, &options->simd);
    case 'o':
        return read_order(text, &options->by_turn);
    default:
        return false; /* getopt has said why */
    }
}

bool rm_measure_options_read(int count, char **arguments, struct rm_measure_options *options) {
    static struct option const known[] = {
        {"datagrams", required_argument, NULL, 'd'}, {"rounds", required_argument, NULL, 'r'},
        {"lanes", required_argument, NULL, 'l'},     {"simd", required_argument, NULL, 's'},
        {"order", required_argument, NULL, 'o'},     {0},
    };
    *options = (struct rm_measure_options){.rounds = RM_MEASURE_ROUNDS, .simd = rm_simd_best()};
    int which;
    while ((which = getopt_long(count, arguments, "", known, NULL)) != -1)
        if (!read_option(which, optarg, options))
            return false;
    if (optind + 1 != count) {
        fprintf(stderr, "ringmaster-measure: expected one configuration, found %d\n", count - optind);
        return false;
    }
    options->config_path = arguments[optind];
    return true;
}
