// SPDX-License-Identifier: Apache-2.0
#include "emittance.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static double const least_emittance_m = 1e-13; /* AT's: below, a plane has none */

/** Rows and columns whose pivot is lost in rounding are left out. */
static void emittance_cholesky(double const r[36], double l[6][6]) {
    memset(l, 0, 36 * sizeof(double));
    for (int j = 0; j < 6; ++j) {
        double pivot = r[7 * j];
        for (int k = 0; k < j; ++k)
            pivot -= l[j][k] * l[j][k];
        if (!(pivot > 16 * DBL_EPSILON * r[7 * j]))
            continue;
        l[j][j] = sqrt(pivot);
        for (int i = j + 1; i < 6; ++i) {
            double sum = r[6 * i + j];
            for (int k = 0; k < j; ++k)
                sum -= l[i][k] * l[j][k];
            l[i][j] = sum / l[j][j];
        }
    }
}

static void symplectic_product(double l[6][6], double k[6][6]) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            k[i][j] = l[0][i] * l[1][j] - l[1][i] * l[0][j] + l[2][i] * l[3][j] - l[3][i] * l[2][j] +
                      l[4][i] * l[5][j] - l[5][i] * l[4][j];
}

/** Pfaffian of the rows and columns that are left without i and j. */
static double pfaffian_without(double k[6][6], int i, int j) {
    int left[4];
    for (int n = 0, from = 0; from < 6; ++from)
        if (from != i && from != j)
            left[n++] = from;
    return k[left[0]][left[1]] * k[left[2]][left[3]] - k[left[0]][left[2]] * k[left[1]][left[3]] +
           k[left[0]][left[3]] * k[left[1]][left[2]];
}

/** The largest root of t³ - a t² + b t - c, all of whose roots are real and not negative: from above, Newton's steps
 * fall on it without passing it. */
static double largest_root(double a, double b, double c) {
    double t = a;
    for (int i = 0; i < 100; ++i) {
        double const value = ((t - a) * t + b) * t - c, slope = (3 * t - 2 * a) * t + b;
        double const next = slope > 0 ? t - value / slope : t;
        if (!(next < t * (1 - DBL_EPSILON)))
            break;
        t = next;
    }
    return t;
}

void rm_emittance_eigen(double const r66[36], double emittance[3]) {
    double l[6][6], k[6][6], a = 0, b = 0, pfaffian = 0;
    emittance_cholesky(r66, l);
    symplectic_product(l, k);
    for (int i = 0; i < 6; ++i)
        for (int j = i + 1; j < 6; ++j) {
            double const minor = pfaffian_without(k, i, j);
            a += k[i][j] * k[i][j];
            b += minor * minor;
            if (i == 0)
                pfaffian += (j % 2 != 0 ? 1 : -1) * k[0][j] * minor;
        }
    double const largest = largest_root(a, b, pfaffian * pfaffian);
    /* The smallest is the inverse of the largest of the inverses; what is left, the middle one, of their product. */
    double const c = pfaffian * pfaffian;
    double const middle_and_smallest = largest > 0 ? c / largest : 0,
                 sum = largest > 0 ? (b - middle_and_smallest) / largest : 0;
    double const root = sqrt(fmax(0, sum * sum - 4 * middle_and_smallest)), middle = 0.5 * (sum + root);
    emittance[2] = sqrt(largest);
    emittance[1] = sqrt(middle);
    emittance[0] = middle > 0 ? sqrt(middle_and_smallest / middle) : 0;
}

static double projected_area(double const *m, int at, int stride) {
    double const *const block = m + at * stride + at;
    return sqrt(fmax(0, block[0] * block[stride + 1] - block[1] * block[stride]));
}

void rm_emittance_betatron(double const r66[36], double r44[16], double emit_xy[2]) {
    double const dd = r66[28], dc = r66[29], cc = r66[35], determinant = dd * cc - dc * dc;
    bool const coupled = projected_area(r66, 2, 6) >= least_emittance_m;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            double const id = r66[6 * i + 4], ic = r66[6 * i + 5], jd = r66[6 * j + 4], jc = r66[6 * j + 5];
            double const part = (id * (cc * jd - dc * jc) + ic * (dd * jc - dc * jd)) / determinant;
            r44[4 * i + j] = coupled || (i < 2 && j < 2) ? r66[6 * i + j] - part : 0;
        }
    emit_xy[0] = projected_area(r44, 0, 4);
    emit_xy[1] = projected_area(r44, 2, 4);
}
