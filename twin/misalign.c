// SPDX-License-Identifier: Apache-2.0
/** A displaced and rolled element: the maps from the frame of the ring into its own at the entrance, and back at the
 * exit, to first order in the particle (S. White, S. Liuzzo, Nucl. Instrum. Meth. A 1042, 167487, whose numbers stand
 * below; pyAT's transform_elem does the same).
 *
 * Vectors are x, y, s in the frame of the ring at the entrance. The element turns about its centre: about the middle of
 * the chord of its reference orbit, and about the tangent there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "twin_parts.h"

struct rotation_matrix {
    double m[3][3];
};

struct vector3 {
    double v[3];
};

static struct rotation_matrix about_y(double angle) {
    double const c = cos(angle), s = sin(angle);
    return (struct rotation_matrix){{{c, 0, s}, {0, 1, 0}, {-s, 0, c}}};
}

static struct rotation_matrix about_s(double angle) {
    double const c = cos(angle), s = sin(angle);
    return (struct rotation_matrix){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
}

static struct rotation_matrix rotation_back(struct rotation_matrix const *of) {
    struct rotation_matrix result;
    for (unsigned i = 0; i < 3; ++i)
        for (unsigned k = 0; k < 3; ++k)
            result.m[i][k] = of->m[k][i];
    return result;
}

static struct rotation_matrix rotation_product(struct rotation_matrix const *a, struct rotation_matrix const *b) {
    struct rotation_matrix result = {{{0}}};
    for (unsigned i = 0; i < 3; ++i)
        for (unsigned k = 0; k < 3; ++k)
            for (unsigned n = 0; n < 3; ++n)
                result.m[i][k] += a->m[i][n] * b->m[n][k];
    return result;
}

static struct vector3 rotate_vector(struct rotation_matrix const *by, struct vector3 of) {
    struct vector3 result = {{0}};
    for (unsigned i = 0; i < 3; ++i)
        for (unsigned k = 0; k < 3; ++k)
            result.v[i] += by->m[i][k] * of.v[k];
    return result;
}

static struct vector3 vector_sum(struct vector3 a, struct vector3 b, double scale) {
    return (struct vector3){{a.v[0] + scale * b.v[0], a.v[1] + scale * b.v[1], a.v[2] + scale * b.v[2]}};
}

/** `of` along axis `k` of a frame. */
static double component_along(struct rotation_matrix const *frame, unsigned k, struct vector3 of) {
    return frame->m[0][k] * of.v[0] + frame->m[1][k] * of.v[1] + frame->m[2][k] * of.v[2];
}

/** From one frame to another that is turned by `r` and lies `distance` further along its own axis: eq. (9). */
static void misalign_set_matrix(struct rotation_matrix const *r, double distance, double to[36]) {
    double const(*const m)[3] = r->m;
    double const c = m[2][2], d = distance / c;
    double const rows[36] = {
        m[1][1] / c,
        d * m[1][1] / c,
        -m[0][1] / c,
        -d * m[0][1] / c,
        0,
        0, /* x */
        0,
        m[0][0],
        0,
        m[1][0],
        m[2][0],
        0, /* px */
        -m[1][0] / c,
        -d * m[1][0] / c,
        m[0][0] / c,
        d * m[0][0] / c,
        0,
        0, /* y */
        0,
        m[0][1],
        0,
        m[1][1],
        m[2][1],
        0, /* py */
        0,
        0,
        0,
        0,
        1,
        0, /* δ */
        -m[0][2] / c,
        -d * m[0][2] / c,
        -m[1][2] / c,
        -d * m[1][2] / c,
        0,
        1, /* ct */
    };
    memcpy(to, rows, sizeof rows);
}

/** The constant part, eqs. (8) to (11): `offset` is where the other frame's origin lies, `frame` are its axes. */
static void misalign_set_translation(struct rotation_matrix const *r, double distance,
                                     struct rotation_matrix const *frame, struct vector3 offset, double to[6]) {
    double const d = distance / r->m[2][2];
    to[0] = d * r->m[2][0] - component_along(frame, 0, offset);
    to[1] = r->m[2][0];
    to[2] = d * r->m[2][1] - component_along(frame, 1, offset);
    to[3] = r->m[2][1];
    to[4] = 0;
    to[5] = d;
}

/** Solves m t = t in place, by elimination with pivots; m is lost. These matrices are near the identity. */
static void misalign_solve(double m[36], double t[6]) {
    for (unsigned k = 0; k < 6; ++k) {
        unsigned pivot = k;
        for (unsigned i = k + 1; i < 6; ++i)
            pivot = fabs(m[6 * i + k]) > fabs(m[6 * pivot + k]) ? i : pivot;
        for (unsigned n = 0; n < 6; ++n) {
            double const other = m[6 * k + n];
            m[6 * k + n] = m[6 * pivot + n];
            m[6 * pivot + n] = other;
        }
        double const other = t[k];
        t[k] = t[pivot];
        t[pivot] = other;
        for (unsigned i = 0; i < 6; ++i) {
            double const factor = i != k ? m[6 * i + k] / m[6 * k + k] : 0;
            for (unsigned n = k; n < 6; ++n)
                m[6 * i + n] -= factor * m[6 * k + n];
            t[i] -= factor * t[k];
        }
    }
    for (unsigned k = 0; k < 6; ++k)
        t[k] /= m[7 * k];
}

struct misalignment {
    double t1[6], t2[6], r1[36], r2[36];
};

static struct misalignment misalignment_of(struct rm_element const *element, struct vector3 offset, double roll_rad) {
    double const length = element->length_m, angle = element->bending_angle_rad;
    struct rotation_matrix const bend = about_y(-angle), half = about_y(-angle / 2), unbend = rotation_back(&half);
    struct rotation_matrix const roll = about_s(roll_rad), rolled = rotation_product(&half, &roll);
    struct rotation_matrix const entrance = rotation_product(&rolled, &unbend); /* eq. (31) */
    bool const curved = angle != 0;
    double const reach = curved ? length / angle * sin(angle / 2) : length / 2; /* half the chord */
    struct vector3 const chord = rotate_vector(&half, (struct vector3){{0, 0, reach}});
    /* Where the entrance of the displaced element is, eq. (33), and the exit against where it should be, eq. (25). */
    struct vector3 const origin =
        vector_sum(vector_sum(chord, rotate_vector(&entrance, chord), -1), rotate_vector(&half, offset), 1);
    struct vector3 const exit = {
        {curved ? length / angle * (cos(angle) - 1) : 0, 0, curved ? length / angle * sin(angle) : length}};
    struct vector3 const back_home = vector_sum(exit, vector_sum(rotate_vector(&entrance, exit), origin, 1), -1);

    struct misalignment result;
    double const in = component_along(&entrance, 2, origin), out = component_along(&bend, 2, back_home);
    misalign_set_matrix(&entrance, in, result.r1);
    misalign_set_translation(&entrance, in, &entrance, origin, result.t1);
    double lost[36];
    memcpy(lost, result.r1, sizeof lost);
    misalign_solve(lost, result.t1); /* t1 is added before r1 turns */
    struct rotation_matrix const unturned = rotation_back(&entrance), straight = rotation_back(&bend);
    struct rotation_matrix const first = rotation_product(&straight, &unturned),
                                 leaving = rotation_product(&first, &bend); /* eq. (32) */
    misalign_set_matrix(&leaving, out, result.r2);
    misalign_set_translation(&leaving, out, &bend, back_home, result.t2);
    return result;
}

/** Memory for `count` numbers in `*at`, if there is none yet. */
static bool has_room(double **at, size_t count) {
    if (*at == NULL)
        *at = calloc(count, sizeof **at);
    return *at != NULL;
}

static void forget_misalignment(struct rm_element *element) {
    double **const parts[] = {&element->t1, &element->t2, &element->r1, &element->r2};
    for (unsigned i = 0; i < 4; ++i) {
        free(*parts[i]);
        *parts[i] = NULL;
    }
}

enum rm_code rm_twin_set_misalignment(struct rm_twin *twin, uint32_t element, double x_m, double y_m, double z_m,
                                      double roll_rad, struct rm_error *error) {
    if (element >= twin->count)
        return rm_fail(error, RM_E_ARGUMENT, "no element %u to misalign: there are %u", element, twin->count);
    struct rm_element *const it = &twin->elements[element];
    if (!isfinite(x_m + y_m + z_m + roll_rad))
        return rm_fail(error, RM_E_ARGUMENT, "misalignment of element %u '%s' is not finite: %g, %g, %g m, %g rad",
                       element, it->name, x_m, y_m, z_m, roll_rad);
    if (x_m == 0 && y_m == 0 && z_m == 0 && roll_rad == 0) {
        forget_misalignment(it);
        return RM_OK;
    }
    struct misalignment const made = misalignment_of(it, (struct vector3){{x_m, y_m, z_m}}, roll_rad);
    if (!has_room(&it->t1, 6) || !has_room(&it->t2, 6) || !has_room(&it->r1, 36) || !has_room(&it->r2, 36)) {
        forget_misalignment(it);
        return rm_fail(error, RM_E_NO_SPACE, "no memory to misalign element %u '%s'; it is aligned now", element,
                       it->name);
    }
    memcpy(it->t1, made.t1, sizeof made.t1);
    memcpy(it->t2, made.t2, sizeof made.t2);
    memcpy(it->r1, made.r1, sizeof made.r1);
    memcpy(it->r2, made.r2, sizeof made.r2);
    return RM_OK;
}
