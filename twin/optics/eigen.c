// SPDX-License-Identifier: Apache-2.0
/** Eigenvectors of small matrices. Complex arithmetic throughout: a real algorithm would be twice as fast and three
 * times as long, and this runs once per optics. (G. Golub and C. Van Loan, Matrix Computations, 7.4 to 7.6.) */
#include <float.h>
#include <math.h>
#include <string.h>

#include "small.h"

enum { MOST_ITERATIONS = 60 }; /* of one eigenvalue; three are usual */

/** h = q* a q, upper triangular in the end; q is unitary. */
struct schur {
    int n;
    double complex h[6][6], q[6][6];
};

/** The compiler's own product asks first whether it came out as no number, at four times the cost. */
static inline double complex complex_times(double complex a, double complex b) {
    /* As CMPLX, which clang does not have. */
    union {
        double part[2];
        double complex whole;
    } const product = {{creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b)}};
    return product.whole;
}

/** A rotation of rows i and i + 1 that turns (a, b) into (r, 0): c real, s complex. */
struct givens_rotation {
    double c;
    double complex s;
};

static struct givens_rotation rotation_of(double complex a, double complex b) {
    double const size_a = cabs(a), size_b = cabs(b), both = hypot(size_a, size_b);
    if (size_b == 0)
        return (struct givens_rotation){1, 0};
    if (size_a == 0)
        return (struct givens_rotation){0, conj(b) / size_b};
    return (struct givens_rotation){size_a / both, a / size_a * conj(b) / both};
}

static void rotate_rows(double complex m[6][6], int i, struct givens_rotation r, int from, int n) {
    for (int k = from; k < n; ++k) {
        double complex const upper = m[i][k], lower = m[i + 1][k];
        m[i][k] = r.c * upper + complex_times(r.s, lower);
        m[i + 1][k] = r.c * lower - complex_times(conj(r.s), upper);
    }
}

static void rotate_columns(double complex m[6][6], int i, struct givens_rotation r, int count) {
    for (int k = 0; k < count; ++k) {
        double complex const left = m[k][i], right = m[k][i + 1];
        m[k][i] = r.c * left + complex_times(conj(r.s), right);
        m[k][i + 1] = r.c * right - complex_times(r.s, left);
    }
}

static void make_hessenberg(struct schur *s) {
    for (int column = 0; column < s->n - 2; ++column)
        for (int i = s->n - 2; i > column; --i) {
            struct givens_rotation const r = rotation_of(s->h[i][column], s->h[i + 1][column]);
            rotate_rows(s->h, i, r, column, s->n);
            rotate_columns(s->h, i, r, s->n);
            rotate_columns(s->q, i, r, s->n);
        }
}

/** The eigenvalue of the last 2 × 2 block up to `last` that is nearer to its last entry. */
static double complex shift_of(struct schur const *s, int last) {
    double complex const a = s->h[last - 1][last - 1], d = s->h[last][last];
    double complex const bc = s->h[last - 1][last] * s->h[last][last - 1];
    double complex const half = 0.5 * (a - d), root = csqrt(half * half + bc);
    double complex const plus = half + root, minus = half - root;
    double complex const larger = cabs(plus) > cabs(minus) ? plus : minus;
    return larger == 0 ? d : d - bc / larger;
}

static void qr_step(struct schur *s, int first, int last, double complex shift) {
    struct givens_rotation r[6];
    for (int i = first; i <= last; ++i)
        s->h[i][i] -= shift;
    for (int i = first; i < last; ++i) {
        r[i] = rotation_of(s->h[i][i], s->h[i + 1][i]);
        rotate_rows(s->h, i, r[i], i, s->n);
    }
    for (int i = first; i < last; ++i) {
        rotate_columns(s->h, i, r[i], i + 2);
        rotate_columns(s->q, i, r[i], s->n);
    }
    for (int i = first; i <= last; ++i)
        s->h[i][i] += shift;
}

static bool is_negligible(struct schur const *s, int i) {
    return cabs(s->h[i][i - 1]) <= DBL_EPSILON * (cabs(s->h[i - 1][i - 1]) + cabs(s->h[i][i]));
}

static bool make_triangular(struct schur *s) {
    for (int last = s->n - 1, iterations = 0; last > 0; ++iterations) {
        if (is_negligible(s, last)) {
            s->h[last][last - 1] = 0;
            --last;
            iterations = 0;
            continue;
        }
        if (iterations == MOST_ITERATIONS)
            return false;
        int first = last;
        while (first > 0 && !is_negligible(s, first))
            --first;
        /* Rows above `first` see the shift's part of their own columns only, which cancels: q* (h - µ) q + µ. */
        qr_step(s, first, last,
                iterations % 10 == 9 ? s->h[last][last] + cabs(s->h[last][last - 1]) : shift_of(s, last));
    }
    return true;
}

/** Of the triangular matrix, by substitution, then turned back. Equal eigenvalues are held apart by rounding. */
static void schur_vectors(struct schur const *s, double complex vector[6][6]) {
    for (int k = 0; k < s->n; ++k) {
        double complex y[6] = {0};
        double size = 0;
        y[k] = 1;
        for (int i = k; i-- > 0;) {
            double complex sum = 0, apart = s->h[k][k] - s->h[i][i];
            for (int j = i + 1; j <= k; ++j)
                sum += complex_times(s->h[i][j], y[j]);
            double const least = DBL_EPSILON * (cabs(s->h[k][k]) + DBL_MIN);
            y[i] = sum / (cabs(apart) < least ? least : apart);
        }
        for (int i = 0; i < s->n; ++i) {
            vector[i][k] = 0;
            for (int j = 0; j <= k; ++j)
                vector[i][k] += complex_times(s->q[i][j], y[j]);
            size = hypot(size, cabs(vector[i][k]));
        }
        for (int i = 0; i < s->n; ++i)
            vector[i][k] /= size;
    }
}

bool rm_small_eigen(double const *a, int n, double complex value[6], double complex vector[6][6]) {
    struct schur s = {.n = n};
    for (int i = 0; i < n; ++i) {
        s.q[i][i] = 1;
        for (int j = 0; j < n; ++j)
            s.h[i][j] = a[6 * i + j];
    }
    make_hessenberg(&s);
    if (!make_triangular(&s))
        return false;
    for (int i = 0; i < n; ++i)
        value[i] = s.h[i][i];
    schur_vectors(&s, vector);
    return true;
}
