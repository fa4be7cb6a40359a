// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure.h"

#include "base/fail.h"
#include "base/options.h"

static char const *const orders[] = {"random", "turn", NULL};

static char const *const simds[] = {"scalar", "avx2", "avx512", NULL};

enum rm_code rm_measure_options_read(int argc, char **argv, struct rm_measure_options *options,
                                     struct rm_error *error) {
    uint64_t datagrams = 0, rounds = RM_MEASURE_ROUNDS, lanes = 0, simd = (uint64_t)rm_simd_best() - RM_SIMD_SCALAR,
             order = 0;
    struct rm_option list[] = {
        {"CONFIG", &options->config_path, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"datagrams", &datagrams, 1, RM_MEASURE_DATAGRAMS_MAX, .kind = RM_OPTION_WHOLE},
        {"rounds", &rounds, 1, RM_MEASURE_ROUNDS_MAX, .kind = RM_OPTION_WHOLE},
        {"lanes", &lanes, 1, RM_LANES, .kind = RM_OPTION_WHOLE},
        {"simd", &simd, .kind = RM_OPTION_CHOICE, .choices = simds},
        {"order", &order, .kind = RM_OPTION_CHOICE, .choices = orders},
    };
    enum rm_code const code = rm_options_read(argc, argv, list, sizeof list / sizeof *list, error);
    if (code != RM_OK)
        return code;
    options->datagrams = (uint32_t)datagrams;
    options->rounds = (uint32_t)rounds;
    options->lanes = (uint32_t)lanes;
    options->simd = (enum rm_simd)(RM_SIMD_SCALAR + simd);
    options->by_turn = order == 1;
    if (options->simd > rm_simd_best())
        return rm_fail(error, RM_E_ARGUMENT, "--simd: found \"%s\", expected an instruction set that this CPU has",
                       simds[simd]);
    return RM_OK;
}
