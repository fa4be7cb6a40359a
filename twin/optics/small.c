// SPDX-License-Identifier: Apache-2.0
#include "small.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void exchange_rows(struct rm_small_lu *lu, int a, int b) {
    double row[6];
    memcpy(row, lu->lu[a], sizeof row);
    memcpy(lu->lu[a], lu->lu[b], sizeof row);
    memcpy(lu->lu[b], row, sizeof row);
    int const name = lu->row[a];
    lu->row[a] = lu->row[b];
    lu->row[b] = name;
}

static int pivot_of(struct rm_small_lu const *lu, int column) {
    int best = column;
    for (int i = column + 1; i < lu->n; ++i)
        if (fabs(lu->lu[i][column]) > fabs(lu->lu[best][column]))
            best = i;
    return best;
}

bool rm_small_factor(struct rm_small_lu *lu, double const *a, int n, int stride) {
    double largest = 0;
    lu->n = n;
    for (int i = 0; i < n; ++i) {
        lu->row[i] = i;
        for (int j = 0; j < n; ++j) {
            lu->lu[i][j] = a[i * stride + j];
            largest = fmax(largest, fabs(lu->lu[i][j]));
        }
    }
    for (int k = 0; k < n; ++k) {
        int const pivot = pivot_of(lu, k);
        if (pivot != k)
            exchange_rows(lu, pivot, k);
        if (!(fabs(lu->lu[k][k]) > n * DBL_EPSILON * DBL_EPSILON * largest))
            return false;
        for (int i = k + 1; i < n; ++i) {
            lu->lu[i][k] /= lu->lu[k][k];
            for (int j = k + 1; j < n; ++j)
                lu->lu[i][j] -= lu->lu[i][k] * lu->lu[k][j];
        }
    }
    return true;
}

void rm_small_solve(struct rm_small_lu const *lu, double *x) {
    double y[6];
    for (int i = 0; i < lu->n; ++i) {
        y[i] = x[lu->row[i]];
        for (int j = 0; j < i; ++j)
            y[i] -= lu->lu[i][j] * y[j];
    }
    for (int i = lu->n; i-- > 0;) {
        for (int j = i + 1; j < lu->n; ++j)
            y[i] -= lu->lu[i][j] * x[j];
        x[i] = y[i] / lu->lu[i][i];
    }
}

bool rm_small_invert(double const *a, int n, double *inverse) {
    struct rm_small_lu lu;
    if (!rm_small_factor(&lu, a, n, 6))
        return false;
    for (int j = 0; j < n; ++j) {
        double column[6] = {0};
        column[j] = 1;
        rm_small_solve(&lu, column);
        for (int i = 0; i < n; ++i)
            inverse[6 * i + j] = column[i];
    }
    return true;
}

void rm_small_multiply(double const *a, double const *b, double *c) {
    for (int i = 0; i < 6; ++i) {
        double row[6] = {0};
        for (int k = 0; k < 6; ++k)
            for (int j = 0; j < 6; ++j)
                row[j] += a[6 * i + k] * b[6 * k + j];
        memcpy(c + 6 * i, row, sizeof row);
    }
}

void rm_small_congruence(double const *a, double const *b, double *c) {
    double ab[36];
    rm_small_multiply(a, b, ab);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k < 6; ++k)
                sum += ab[6 * i + k] * a[6 * j + k];
            c[6 * i + j] = c[6 * j + i] = sum;
        }
}

double rm_small_determinant(double const *a, int n, int stride) {
    struct rm_small_lu lu;
    if (!rm_small_factor(&lu, a, n, stride))
        return 0;
    double product = 1;
    for (int i = 0; i < n; ++i) {
        product *= lu.lu[i][i];
        for (int j = 0; j < i; ++j) /* each inversion of the order changes the sign */
            if (lu.row[j] > lu.row[i])
                product = -product;
    }
    return product;
}
