// SPDX-License-Identifier: Apache-2.0
#include "accumulate.h"

/* A copy per instruction set, chosen when the program is loaded. Not with clang 14: callers in other files find no
 * symbol of the plain name. Not with sanitizers: they run before a copy can be chosen. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PER_INSTRUCTION_SET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PER_INSTRUCTION_SET
#endif

PER_INSTRUCTION_SET
void feedback_accumulate(double *restrict sum, double const *restrict column, double factor, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        sum[i] += column[i] * factor;
}

PER_INSTRUCTION_SET
void feedback_accumulate_four(double *restrict sum, double const *const column[4], double const factor[4],
                              uint32_t count) {
    double const *const a = column[0], *const b = column[1], *const c = column[2], *const d = column[3];
    double const fa = factor[0], fb = factor[1], fc = factor[2], fd = factor[3];
    for (uint32_t i = 0; i < count; ++i)
        sum[i] = (((sum[i] + a[i] * fa) + b[i] * fb) + c[i] * fc) + d[i] * fd;
}
