// SPDX-License-Identifier: Apache-2.0
#include "machine_orbit.h"

#include <stdlib.h>

#include "base/zeroed.h"

enum { ALIGNMENT = 64, LANES = 16, VECTORS = RM_ORBIT_BLOCK / LANES, HALVES = 2 * VECTORS };

typedef float vector __attribute__((vector_size(ALIGNMENT)));
typedef float half_vector __attribute__((vector_size(ALIGNMENT / 2)));

bool rm_orbit_matrix_make(struct rm_orbit_matrix *matrix, uint32_t rows, uint32_t columns) {
    uint32_t const padded = (rows + RM_ORBIT_BLOCK - 1) / RM_ORBIT_BLOCK * RM_ORBIT_BLOCK;
    *matrix = (struct rm_orbit_matrix){.rows = rows, .columns = columns, .padded = padded};
    matrix->value = rm_zeroed((size_t)padded * (columns + 1), sizeof *matrix->value);
    return matrix->value != NULL;
}

void rm_orbit_matrix_free(struct rm_orbit_matrix *matrix) {
    free(matrix->value);
    *matrix = (struct rm_orbit_matrix){0};
}

float *rm_orbit_vector(struct rm_orbit_matrix const *matrix) {
    return rm_zeroed(matrix->padded + LANES, sizeof(float));
}

/** One block, in registers from the first column to the last. */
__attribute__((always_inline)) static inline void add_block(vector const *value, uint32_t count, float const *weight,
                                                            vector *sum) {
    vector s[VECTORS];
    for (int v = 0; v < VECTORS; ++v)
        s[v] = sum[v];
    for (uint32_t c = 0; c < count; ++c)
        for (int v = 0; v < VECTORS; ++v)
            s[v] += value[c * VECTORS + (uint32_t)v] * weight[c];
    for (int v = 0; v < VECTORS; ++v)
        sum[v] = s[v];
}

/** The same for registers of half the length: sums of whole vectors would lie in memory. */
__attribute__((always_inline)) static inline void add_halves(half_vector const *value, uint32_t count,
                                                             float const *weight, half_vector *sum) {
    half_vector s[HALVES];
    for (int v = 0; v < HALVES; ++v)
        s[v] = sum[v];
    for (uint32_t c = 0; c < count; ++c)
        for (int v = 0; v < HALVES; ++v)
            s[v] += value[c * HALVES + (uint32_t)v] * weight[c];
    for (int v = 0; v < HALVES; ++v)
        sum[v] = s[v];
}

__attribute__((always_inline)) static inline void add_weighted_columns(struct rm_orbit_matrix const *matrix,
                                                                       uint32_t first, uint32_t count,
                                                                       float const *weight, float *sum) {
    for (uint32_t row = 0; row < matrix->padded; row += RM_ORBIT_BLOCK) {
        void const *value = rm_orbit_matrix_at(matrix, row, first);
        void *to = sum + row;
        add_block(value, count, weight + first, to);
    }
}

__attribute__((target("avx512f"))) static void add_avx512(struct rm_orbit_matrix const *matrix, uint32_t first,
                                                          uint32_t count, float const *weight, float *sum) {
    add_weighted_columns(matrix, first, count, weight, sum);
}

__attribute__((target("avx2"))) static void add_avx2(struct rm_orbit_matrix const *matrix, uint32_t first,
                                                     uint32_t count, float const *weight, float *sum) {
    for (uint32_t row = 0; row < matrix->padded; row += RM_ORBIT_BLOCK) {
        void const *value = rm_orbit_matrix_at(matrix, row, first);
        void *to = sum + row;
        add_halves(value, count, weight + first, to);
    }
}

void rm_orbit_matrix_add(struct rm_orbit_matrix const *matrix, uint32_t first, uint32_t count, float const *weight,
                         float *sum) {
    if (__builtin_cpu_supports("avx512f"))
        add_avx512(matrix, first, count, weight, sum);
    else if (__builtin_cpu_supports("avx2"))
        add_avx2(matrix, first, count, weight, sum);
    else
        add_weighted_columns(matrix, first, count, weight, sum);
}
