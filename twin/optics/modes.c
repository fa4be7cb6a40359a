// SPDX-License-Identifier: Apache-2.0
#include "modes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "small.h"

static double const least_norm = 1e-12; /* of an eigenvector of length 1; below, the plane does not oscillate */

/** AT turns the third mode the other way, so that its tune is positive below 1/2, by taking this pair for (ct, δ). Only
 * the sign of the third mode's norm matters to it; the transverse modes' norms differ from the symplectic ones by
 * twice their longitudinal part. */
static double sign_of(int pair) { return pair == 2 ? -1 : 1; }

/** v* Ω v / 2i: positive for one of each pair of conjugate eigenvectors. */
static double norm_of(double complex const v[6], int count) {
    double sum = 0;
    for (int p = 0; p < count; ++p)
        sum += sign_of(p) * cimag(conj(v[2 * p]) * v[2 * p + 1]);
    return sum;
}

/** How much of a normalised eigenvector is in a plane. */
static double mode_projection(double complex const v[6], int pair) {
    double complex const to_first = -sign_of(pair) * conj(v[2 * pair + 1]),
                         to_second = sign_of(pair) * conj(v[2 * pair]);
    return cabs(-I * to_first + to_second);
}

static enum rm_code fail_unstable_mode(double complex const v[6], int count, double complex value,
                                       struct rm_error *error) {
    static char const *const plane[] = {"horizontal", "vertical", "longitudinal"};
    int largest = 0;
    double most = -1;
    for (int p = 0; p < count; ++p) {
        double const part = cabs(v[2 * p]) * cabs(v[2 * p + 1]);
        if (part > most) {
            most = part;
            largest = p;
        }
    }
    return rm_fail(error, RM_E_CONFIG,
                   "the ring is unstable in the %s plane: an eigenvalue of its one-turn matrix is %.6g; change the "
                   "strengths",
                   plane[largest], creal(value));
}

/** Turns mode k's two columns so that a[2k][2k + 1] = 0 and a[2k][2k] > 0. */
static void standardize_matrix(double a[36], int count) {
    for (int k = 0; k < count; ++k) {
        double const angle = rm_modes_phase(a, k), c = cos(angle), s = sin(angle);
        for (int i = 0; i < 2 * count; ++i) {
            double const left = a[6 * i + 2 * k], right = a[6 * i + 2 * k + 1];
            a[6 * i + 2 * k] = c * left + s * right;
            a[6 * i + 2 * k + 1] = c * right - s * left;
        }
    }
}

/** Takes the eigenvector of those that remain that is largest in plane k. */
static void take_mode(struct rm_modes *modes, int k, bool taken[3], double complex const vector[3][6],
                      double complex const value[3]) {
    int chosen = 0;
    double most = -1;
    for (int i = 0; i < modes->count && i < 3; ++i) {
        double const part = taken[i] ? -1 : mode_projection(vector[i], k);
        if (part > most) {
            most = part;
            chosen = i;
        }
    }
    taken[chosen] = true;
    for (int i = 0; i < 2 * modes->count; ++i) {
        modes->a[6 * i + 2 * k] = creal(vector[chosen][i]);
        modes->a[6 * i + 2 * k + 1] = cimag(vector[chosen][i]);
    }
    double const turns = carg(value[chosen]) / (2 * M_PI);
    modes->tune[k] = turns < 0 ? turns + 1 : turns;
    modes->damping_rate[k] = -log(cabs(value[chosen]));
}

enum rm_code rm_modes_find(double const m[36], int count, struct rm_modes *modes, struct rm_error *error) {
    double complex value[6], column[6][6], vector[3][6] = {{0}}, chosen[3] = {0};
    int found = 0;
    bool taken[3] = {false, false, false};
    if (!rm_small_eigen(m, 2 * count, value, column))
        return rm_fail(error, RM_E_CONFIG, "the one-turn matrix has no eigenvectors; change the strengths");
    memset(modes, 0, sizeof *modes);
    modes->count = count;
    for (int k = 0; k < 2 * count; ++k) {
        double complex v[6] = {0};
        for (int i = 0; i < 2 * count; ++i)
            v[i] = column[i][k];
        double const norm = norm_of(v, count);
        if (!(fabs(norm) >= least_norm))
            return fail_unstable_mode(v, count, value[k], error);
        if (norm < 0)
            continue;
        if (found == count)
            return fail_unstable_mode(v, count, value[k], error);
        for (int i = 0; i < 6; ++i)
            vector[found][i] = v[i] / sqrt(norm);
        chosen[found++] = value[k];
    }
    for (int k = 0; k < count; ++k)
        take_mode(modes, k, taken, vector, chosen);
    standardize_matrix(modes->a, count);
    return RM_OK;
}

double rm_modes_phase(double const a[36], int mode) { return atan2(a[14 * mode + 1], a[14 * mode]); }

void rm_modes_matrices(double const a[36], int count, double r[3][36]) {
    double inverse[36];
    memset(r, 0, 3 * sizeof r[0]);
    if (!rm_small_invert(a, 2 * count, inverse))
        return;
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < 2 * count; ++i) {
            /* A_k S_k, then (A⁻¹)_k Sᵀ, whose S is the same in all planes: (…)_j comes from column j ± 1. */
            double const left = -sign_of(k) * a[6 * i + 2 * k + 1], right = sign_of(k) * a[6 * i + 2 * k];
            for (int j = 0; j < 2 * count; ++j) {
                double const upper = j % 2 == 0 ? inverse[12 * k + j + 1] : -inverse[12 * k + j - 1];
                double const lower = j % 2 == 0 ? inverse[12 * k + 6 + j + 1] : -inverse[12 * k + 6 + j - 1];
                r[k][6 * i + j] = left * upper + right * lower;
            }
        }
}
