// SPDX-License-Identifier: Apache-2.0
/** Linear algebra of matrices of at most 6 × 6, row by row. A call to a library costs more than these do. */
#ifndef RM_OPTICS_SMALL_H
#define RM_OPTICS_SMALL_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/** An LU factorisation with its row exchanges. */
struct rm_small_lu {
    int n;
    int row[6];
    double lu[6][6];
};

/** Factorises the leading n × n part of `a`, whose rows are `stride` apart. False: it is singular to rounding. */
bool rm_small_factor(struct rm_small_lu *lu, double const *a, int n, int stride);

/** Solves. `x` is the right-hand side on entry, and the solution on return. */
void rm_small_solve(struct rm_small_lu const *lu, double *x);

/** Inverts the leading n × n part of `a`. `inverse` must not be `a`; both are 6 × 6 and dense. */
bool rm_small_invert(double const *a, int n, double *inverse);

/** c = a b, 6 × 6 each; c is neither. */
void rm_small_multiply(double const *a, double const *b, double *c);

/** c = a b aᵀ for symmetric b, made exactly symmetric; c is neither. */
void rm_small_congruence(double const *a, double const *b, double *c);

double rm_small_determinant(double const *a, int n, int stride);

/** Eigenvalues and eigenvectors (vector k is column k) of the leading n × n part of a 6 × 6 matrix, by QR iterations
 * with Wilkinson's shift on its complex Hessenberg form. False: it did not converge, which was never seen for a finite
 * matrix. */
bool rm_small_eigen(double const *a, int n, double complex value[6], double complex vector[6][6]);

#endif
