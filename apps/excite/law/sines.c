// SPDX-License-Identifier: Apache-2.0
#include "sines.h"

#include <math.h>
#include <stdbool.h>

enum { ARRAYS = 7, LINE = 64 };

size_t excite_sines_bytes(uint32_t capacity) {
    size_t const bytes = capacity * (ARRAYS * sizeof(double) + sizeof(uint32_t));
    return (bytes + LINE - 1) / LINE * LINE;
}

void excite_sines_place(struct excite_sines *sines, uint32_t capacity, void *memory) {
    double *next = memory;
    double **const array[ARRAYS] = {&sines->sine,      &sines->cosine, &sines->turn_sine, &sines->turn_cosine,
                                    &sines->amplitude, &sines->hz,     &sines->phase};
    for (int a = 0; a < ARRAYS; ++a, next += capacity)
        *array[a] = next;
    sines->target = (uint32_t *)(void *)next;
    sines->capacity = capacity;
}

void excite_sines_clear(struct excite_sines *sines, double step_s) {
    sines->count = sines->next = 0;
    sines->step = UINT64_MAX;
    sines->step_s = step_s;
}

void excite_sines_add(struct excite_sines *sines, uint32_t target, double amplitude, double hz, double phase) {
    uint32_t const i = sines->count++;
    double const angle = 2.0 * M_PI * hz * sines->step_s;
    sines->target[i] = target;
    sines->amplitude[i] = amplitude;
    sines->hz[i] = hz;
    sines->phase[i] = phase;
    sines->turn_sine[i] = sin(angle);
    sines->turn_cosine[i] = cos(angle);
}

/** Computes sine `i` as it is at the step. */
static void compute_anew(struct excite_sines *sines, uint32_t i) {
    double const periods = sines->hz[i] * ((double)sines->step * sines->step_s);
    double const angle = 2.0 * M_PI * (periods - floor(periods)) + sines->phase[i];
    sincos(angle, &sines->sine[i], &sines->cosine[i]);
}

static void turn_all(struct excite_sines *sines) {
    double *const restrict sine = sines->sine, *const restrict cosine = sines->cosine;
    double const *const restrict turn_sine = sines->turn_sine, *const restrict turn_cosine = sines->turn_cosine;
    for (uint32_t i = 0; i < sines->count; ++i) {
        double const s = sine[i] * turn_cosine[i] + cosine[i] * turn_sine[i];
        cosine[i] = cosine[i] * turn_cosine[i] - sine[i] * turn_sine[i];
        sine[i] = s;
    }
}

void excite_sines_go(struct excite_sines *sines, uint64_t step) {
    if (step == sines->step)
        return;
    bool const turns = sines->step != UINT64_MAX && step - sines->step <= EXCITE_SINES_TURNS;
    for (uint64_t s = sines->step; turns && s < step; ++s)
        turn_all(sines);
    sines->step = step;
    for (uint32_t i = turns ? sines->next : 0; i < sines->count; i += turns ? EXCITE_SINES_ROUND : 1)
        compute_anew(sines, i);
    sines->next = (sines->next + 1) % EXCITE_SINES_ROUND;
}

double excite_sines_add_up(struct excite_sines const *sines, double envelope, double *value) {
    double largest = 0.0;
    for (uint32_t i = 0; i < sines->count; ++i) {
        double const added = sines->amplitude[i] * sines->sine[i], size = fabs(added);
        largest = size > largest ? size : largest;
        value[sines->target[i]] += envelope * added;
    }
    return envelope * largest;
}

double excite_sines_steepest(double amplitude, double hz, double step_s) {
    double const half = M_PI * hz * step_s;
    return 2.0 * fabs(amplitude) * (half < M_PI / 2.0 ? sin(half) : 1.0);
}
