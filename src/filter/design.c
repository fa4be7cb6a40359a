// SPDX-License-Identifier: Apache-2.0
#include "filter/design.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct rm_fir_design const *rm_fir_find(char const *name, uint32_t decimation) {
    for (int i = 0; i < RM_FIR_DESIGNS; ++i)
        if (rm_fir_designs[i].decimation == decimation && strcmp(rm_fir_designs[i].name, name) == 0)
            return &rm_fir_designs[i];
    return NULL;
}

/** Fills exactly `count` stages, none with a larger decimation than `largest`. */
static bool split_filter_name(char const *name, uint32_t decimation, uint32_t count, uint32_t largest,
                              struct rm_fir_design const **stage) {
    if (count == 0)
        return decimation == 1;
    for (uint32_t factor = largest; factor > 1; --factor) {
        struct rm_fir_design const *const design = decimation % factor == 0 ? rm_fir_find(name, factor) : NULL;
        if (design == NULL || !split_filter_name(name, decimation / factor, count - 1, factor, stage + 1))
            continue;
        *stage = design;
        return true;
    }
    return false;
}

uint32_t rm_fir_split(char const *name, uint32_t decimation, uint32_t most, struct rm_fir_design const **stage) {
    for (uint32_t count = 1; count <= most; ++count)
        if (split_filter_name(name, decimation, count, RM_DECIMATION_MAX, stage))
            return count;
    return 0;
}
