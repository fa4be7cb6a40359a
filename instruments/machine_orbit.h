// SPDX-License-Identifier: Apache-2.0
/** The fast part of a living machine: a matrix of floats times a vector, which is all that happens between two looks of
 * the background.
 *
 * The columns lie in blocks of so many rows that the sums of a block stay in registers: the matrix is read once, from
 * beginning to end, and its size is what a step costs. All instruction sets give the same bits, because a · b + c is
 * not contracted and each row adds its columns in their order.
 */
#ifndef RM_INSTRUMENTS_MACHINE_ORBIT_H
#define RM_INSTRUMENTS_MACHINE_ORBIT_H

#include <stdbool.h>
#include <stdint.h>

/** Rows of a block: seven AVX-512 registers. */
enum { RM_ORBIT_BLOCK = 112 };

struct rm_orbit_matrix {
    uint32_t rows, columns;
    /** Number of rows, rounded up to whole blocks. */
    uint32_t padded;
    /** [block][column][RM_ORBIT_BLOCK]. */
    float *value;
};

/** Makes a matrix of zeros. False: there is no memory. */
bool rm_orbit_matrix_make(struct rm_orbit_matrix *matrix, uint32_t rows, uint32_t columns);
void rm_orbit_matrix_free(struct rm_orbit_matrix *matrix);

static inline float *rm_orbit_matrix_at(struct rm_orbit_matrix const *matrix, uint32_t row, uint32_t column) {
    uint32_t const block = row / RM_ORBIT_BLOCK;
    return &matrix->value[((uint64_t)block * matrix->columns + column) * RM_ORBIT_BLOCK + row % RM_ORBIT_BLOCK];
}

/** Makes an array of `padded` floats for rm_orbit_matrix_add, aligned and 0, to be freed by free(). NULL: there is no
 * memory. */
float *rm_orbit_vector(struct rm_orbit_matrix const *matrix);

/** sum[0 … padded) += columns [first, first + count) times weight[first …]. */
void rm_orbit_matrix_add(struct rm_orbit_matrix const *matrix, uint32_t first, uint32_t count, float const *weight,
                         float *sum);

#endif
