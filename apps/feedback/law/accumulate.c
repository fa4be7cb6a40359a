// SPDX-License-Identifier: Apache-2.0
#include "accumulate.h"

#include "base/per_instruction_set.h"

RM_PER_INSTRUCTION_SET
void feedback_accumulate(double *restrict sum, double const *restrict column, double factor, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        sum[i] += column[i] * factor;
}

RM_PER_INSTRUCTION_SET
void feedback_accumulate_four(double *restrict sum, double const *const column[4], double const factor[4],
                              uint32_t count) {
    double const *const a = column[0], *const b = column[1], *const c = column[2], *const d = column[3];
    double const fa = factor[0], fb = factor[1], fc = factor[2], fd = factor[3];
    for (uint32_t i = 0; i < count; ++i)
        sum[i] = (((sum[i] + a[i] * fa) + b[i] * fb) + c[i] * fc) + d[i] * fd;
}
