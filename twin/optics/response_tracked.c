// SPDX-License-Identifier: Apache-2.0
/** The orbit's response as a machine would measure it: closed orbits of plus and minus a kick.
 *
 * All of them are near one orbit, so one inverse of its I - M serves Newton's steps of all (the chord method). A step's
 * error is smaller than the last by the orbit's change of the matrix, about 10⁻³ for the usual kick; the first guess,
 * the orbit without kicks, is right to 10⁻⁶ m. Particles go through the ring side by side, as many as a register holds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "../track_block.h"
#include "base/fail.h"
#include "closed.h"
#include "response.h"
#include "small.h"

static double const usual_kick_rad = 1e-7, usual_rf_step_hz = 1, delta_step = 1e-6;
enum { MOST_TURNS = 12 };
static double const tolerance = 1e-13;

struct tracked {
    struct rm_closed middle;
    struct rm_small_lu closing; /**< M - I */
    uint32_t count;             /**< particles: two for each steerer */
    struct rm_response_call const *call;
    double path_m;
    double kick_rad;
    double (*z)[6], (*after)[6];    /**< before and after a turn */
    struct rm_particle_kick *kicks; /**< sorted by element */
    double *out;                    /**< [point][particle][6] */
    struct rm_twin *shifted;        /**< with cavities at the frequency asked for */
};

static void response_tracked_reserve(struct tracked *t) {
    size_t const points = t->call->refpt_count != 0 ? t->call->refpt_count : 1, count = t->count != 0 ? t->count : 1;
    t->z = calloc(count, sizeof *t->z);
    t->after = calloc(count, sizeof *t->after);
    t->kicks = calloc(count, sizeof *t->kicks);
    t->out = calloc(points * count, 6 * sizeof *t->out);
}

static void response_tracked_release(struct tracked *t) {
    rm_closed_free(&t->middle);
    free(t->z);
    free(t->after);
    free(t->kicks);
    free(t->out);
    rm_twin_free(t->shifted);
}

static int by_place(void const *left, void const *right) {
    struct rm_particle_kick const *const a = left, *const b = right;
    if (a->element != b->element)
        return a->element < b->element ? -1 : 1;
    return a->particle < b->particle ? -1 : a->particle > b->particle;
}

/** Tracking knows no frequency but the twin's. */
static enum rm_code shift_frequency(struct tracked *t, struct rm_error *error) {
    double const offset_hz = t->call->options->orbit.rf_offset_hz;
    if (offset_hz == 0)
        return RM_OK;
    enum rm_code const code = rm_twin_copy(t->call->twin, &t->shifted, error);
    for (uint32_t i = 0; code == RM_OK && i < t->shifted->count; ++i)
        if (t->shifted->elements[i].pass == RM_PASS_RF_CAVITY)
            t->shifted->elements[i].frequency_hz += offset_hz;
    return code;
}

static enum rm_code response_tracked_begin(struct tracked *t, struct rm_error *error) {
    struct rm_response_call const *const call = t->call;
    struct rm_closed_request const request = {.orbit = &call->options->orbit};
    enum rm_code const code = rm_closed_find(call->twin, &request, &t->middle, error);
    if (code != RM_OK)
        return code;
    int const n = t->middle.is_6d ? 6 : 4;
    double a[36];
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            a[6 * i + k] = t->middle.turn.j[i][k] - (i == k ? 1 : 0);
    rm_small_factor(&t->closing, a, n, 6);
    t->path_m = t->middle.turn.z[RM_CT] - t->middle.z[RM_CT];
    for (uint32_t p = 0; p < t->count; ++p) {
        struct rm_steerer const *const steerer = &call->steerers[p / 2];
        memcpy(t->z[p], t->middle.z, sizeof t->z[p]);
        t->kicks[p].element = steerer->element;
        t->kicks[p].particle = p;
        t->kicks[p].kick_rad[steerer->plane] = p % 2 == 0 ? t->kick_rad : -t->kick_rad;
    }
    qsort(t->kicks, t->count, sizeof *t->kicks, by_place);
    return shift_frequency(t, error);
}

/** One step of all; how far the farthest went. */
static double tracked_step_all(struct tracked *t) {
    int const n = t->middle.is_6d ? 6 : 4;
    double farthest = 0;
    for (uint32_t p = 0; p < t->count; ++p) {
        double by[6];
        for (int i = 0; i < n; ++i)
            by[i] = t->z[p][i] - t->after[p][i] + (i == RM_CT ? t->path_m : 0);
        rm_small_solve(&t->closing, by);
        for (int i = 0; i < n; ++i) {
            t->z[p][i] += by[i];
            if (!(fabs(by[i]) <= farthest)) /* NaN too */
                farthest = fabs(by[i]);
        }
    }
    return farthest;
}

static enum rm_code close_all(struct tracked *t, struct rm_error *error) {
    struct rm_response_call const *const call = t->call;
    struct rm_twin const *const twin = t->shifted != NULL ? t->shifted : call->twin;
    double change = INFINITY;
    for (int turn = 0; turn < MOST_TURNS; ++turn) {
        double const before = change;
        memcpy(t->after, t->z, t->count * sizeof *t->after);
        enum rm_code const code = rm_track_once(twin, t->after, t->count, t->kicks, t->count, call->refpts,
                                                call->refpt_count, t->out, RM_SIMD_BEST, error);
        if (code != RM_OK)
            return code;
        change = tracked_step_all(t);
        if (change <= tolerance || (change < 1e-9 && change > before / 4))
            return RM_OK;
        if (!isfinite(change))
            break;
    }
    return rm_fail(error, RM_E_CONFIG, "kicks of %g rad have no closed orbit here; take smaller ones", t->kick_rad);
}

/** The last column: orbits at two frequencies, or two δ. */
static enum rm_code last_column(struct rm_response_call const *call, double const guess[6], bool is_6d, double *matrix,
                                struct rm_error *error) {
    double const hz = call->options->rf_step_hz != 0 ? call->options->rf_step_hz : usual_rf_step_hz;
    double const by = is_6d ? hz : delta_step;
    uint32_t const columns = call->steerer_count + 1;
    struct rm_closed side[2] = {0};
    enum rm_code code = RM_OK;
    for (int s = 0; s < 2 && code == RM_OK; ++s) {
        struct rm_orbit_options orbit = call->options->orbit;
        orbit.guess = guess;
        *(is_6d ? &orbit.rf_offset_hz : &orbit.dp) += s == 0 ? by : -by;
        struct rm_closed_request const request = {
            .orbit = &orbit, .refpts = call->refpts, .refpt_count = call->refpt_count};
        code = rm_closed_find(call->twin, &request, &side[s], error);
    }
    for (uint32_t i = 0; code == RM_OK && i < call->refpt_count; ++i)
        for (int plane = 0; plane < 2; ++plane) {
            double const change = side[0].points[i].z[2 * plane] - side[1].points[i].z[2 * plane];
            size_t const row = (size_t)plane * call->refpt_count + i;
            matrix[row * columns + call->steerer_count] = change / (2 * by);
        }
    rm_closed_free(&side[0]);
    rm_closed_free(&side[1]);
    return code;
}

static void tracked_differences(struct tracked const *t, double *matrix) {
    uint32_t const points = t->call->refpt_count, steerers = t->call->steerer_count;
    for (uint32_t i = 0; i < points; ++i)
        for (int plane = 0; plane < 2; ++plane) {
            double const *const at = t->out + 6 * (size_t)i * t->count + (size_t)(2 * plane);
            double *const row = matrix + ((size_t)plane * points + i) * (steerers + 1);
            for (uint32_t k = 0; k < steerers; ++k)
                row[k] = (at[12 * (size_t)k] - at[12 * (size_t)k + 6]) / (2 * t->kick_rad);
        }
}

enum rm_code rm_twin_response_tracked(struct rm_twin const *twin, struct rm_response_options const *options,
                                      uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                                      uint32_t steerer_count, double *matrix, struct rm_error *error) {
    static struct rm_response_options const usual = {0};
    struct rm_response_call const call = {.twin = twin,
                                          .options = options != NULL ? options : &usual,
                                          .refpts = refpts,
                                          .refpt_count = refpt_count,
                                          .steerers = steerers,
                                          .steerer_count = steerer_count};
    struct tracked t = {.call = &call, .count = 2 * steerer_count, .kick_rad = call.options->kick_rad};
    if (t.kick_rad == 0)
        t.kick_rad = usual_kick_rad;
    enum rm_code code = rm_response_check(&call, error);
    if (code != RM_OK)
        return code;
    response_tracked_reserve(&t);
    if (t.z == NULL || t.after == NULL || t.kicks == NULL || t.out == NULL)
        code = rm_fail(error, RM_E_NO_SPACE, "no memory for %u orbits; ask for fewer steerers", t.count);
    if (code == RM_OK)
        code = response_tracked_begin(&t, error);
    if (code == RM_OK)
        code = close_all(&t, error);
    if (code == RM_OK)
        code = last_column(&call, t.middle.z, t.middle.is_6d, matrix, error);
    if (code == RM_OK)
        tracked_differences(&t, matrix);
    response_tracked_release(&t);
    return code;
}
