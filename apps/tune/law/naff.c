// SPDX-License-Identifier: Apache-2.0
#include "naff.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "naff_pass.h"

enum { LANES = TUNE_NAFF_LANES, LINE_BYTES = 64, PASSES_MOST = 12 };

static double const TWO_PI = 6.28318530717958647692;
/** Bins. A step leaves its third power, and a hundredth of itself where much leakage is taken off. */
static double const LAST_STEP = 1e-7;

static double *naff_memory(uint32_t values) {
    double *const memory = aligned_alloc(LINE_BYTES, values * sizeof(double));
    return memory == NULL ? NULL : memset(memory, 0, values * sizeof(double));
}

bool tune_naff_open(struct tune_naff *naff, uint32_t turns, enum tune_window_kind kind, enum rm_simd simd) {
    *naff = (struct tune_naff){.turns = turns, .kind = kind, .simd = rm_simd_choose(simd)};
    naff->padded = (turns + LANES - 1) / LANES * LANES;
    naff->weight = naff_memory(naff->padded);
    naff->rest = naff_memory(naff->padded);
    naff->product = naff_memory(naff->padded);
    if (!tune_spectrum_open(&naff->spectrum, turns, 1) || naff->weight == NULL || naff->rest == NULL ||
        naff->product == NULL) {
        tune_naff_close(naff);
        return false;
    }
    for (uint32_t n = 0; n < turns; ++n)
        naff->weight[n] = tune_window_weight(kind, turns, n);
    return true;
}

void tune_naff_close(struct tune_naff *naff) {
    tune_spectrum_close(&naff->spectrum);
    free(naff->weight);
    free(naff->rest);
    free(naff->product);
    *naff = (struct tune_naff){0};
}

void tune_naff_take(struct tune_naff *naff, double const *x) {
    double lane[LANES] = {0}, sum = 0.0;
    uint32_t n = 0;
    for (; n + LANES <= naff->turns; n += LANES)
        for (uint32_t i = 0; i < LANES; ++i)
            lane[i] += x[n + i];
    for (; n < naff->turns; ++n)
        lane[n % LANES] += x[n];
    for (uint32_t i = 0; i < LANES; ++i)
        sum += lane[i];
    for (n = 0; n < naff->turns; ++n)
        naff->rest[n] = x[n] - sum / naff->turns;
}

/** The phasors of powers of two of a turn make those of 32 turns. */
static void phasors_begin(struct tune_naff_phasors *phasors, double tune, double first) {
    double complex turn[LANES] = {cexp(I * TWO_PI * tune * first)};
    for (uint32_t lanes = 1; lanes < LANES; lanes *= 2) {
        double complex const further = cexp(I * TWO_PI * tune * lanes);
        for (uint32_t i = 0; i < lanes; ++i)
            turn[lanes + i] = turn[i] * further;
    }
    for (uint32_t i = 0; i < LANES; ++i) {
        phasors->re[i] = creal(turn[i]);
        phasors->im[i] = cimag(turn[i]);
    }
    double complex const step = cexp(I * TWO_PI * tune * LANES);
    phasors->step_re = creal(step);
    phasors->step_im = cimag(step);
    phasors->first = first;
}

/** H and its slope per bin. */
struct naff_integral {
    double complex value, slope;
};

static struct naff_integral integral_of(struct tune_naff const *naff, double tune) {
    struct tune_naff_phasors phasors;
    struct tune_naff_moments moments;
    phasors_begin(&phasors, tune, -0.5 * (naff->turns - 1.0));
    if (naff->simd == RM_SIMD_AVX512)
        tune_naff_avx512(naff->product, naff->padded, &phasors, &moments);
    else if (naff->simd == RM_SIMD_AVX2)
        tune_naff_avx2(naff->product, naff->padded, &phasors, &moments);
    else
        tune_naff_scalar(naff->product, naff->padded, &phasors, &moments);
    double cosine = 0.0, sine = 0.0, cosine_t = 0.0, sine_t = 0.0;
    for (uint32_t i = 0; i < LANES; ++i) {
        cosine += moments.cosine[i];
        sine += moments.sine[i];
        cosine_t += moments.cosine_t[i];
        sine_t += moments.sine_t[i];
    }
    return (struct naff_integral){cosine - I * sine, -TWO_PI / naff->turns * (sine_t + I * cosine_t)};
}

/** What the mean took off of the line half e^(2πi ν t) + its conjugate. */
static double mean_of(struct tune_naff const *naff, double tune, double complex half) {
    double const sum = tune_window_kernel(TUNE_RECTANGULAR, naff->turns, tune * naff->turns).value;
    return 2.0 * creal(half) * sum / naff->turns;
}

/** Takes off what the line at −ν leaks, 2 ν N bins away, and the mean that was taken off of both, ν N bins away. */
static void integral_without_leakage(struct tune_naff const *naff, double tune, struct naff_integral *integral) {
    double const whole = tune_window_sum(naff->kind, naff->turns);
    struct tune_kernel const image = tune_window_kernel(naff->kind, naff->turns, 2.0 * tune * naff->turns);
    struct tune_kernel const mean = tune_window_kernel(naff->kind, naff->turns, tune * naff->turns);
    double complex half = integral->value / whole;
    enum { TIMES = 4 };
    for (int i = 0; i < TIMES; ++i)
        half = (integral->value - conj(half) * image.value + mean_of(naff, tune, half) * mean.value) / whole;
    integral->value = half * whole;
    integral->slope -= conj(half) * image.slope - mean_of(naff, tune, half) * mean.slope;
}

/** From bins: the greatest in the band, and by its greater neighbour how far beside it. NaN: there is nothing. */
static double coarse_tune(struct tune_naff *naff, double low, double high) {
    uint32_t const turns = naff->turns, first = (uint32_t)fmax(1.0, ceil(low * turns));
    uint32_t const last = (uint32_t)fmin(0.5 * turns - 1.0, floor(high * turns));
    float *const power = naff->spectrum.series; /* free after the transform */
    for (uint32_t n = 0; n < turns; ++n)
        naff->spectrum.series[n] = (float)naff->rest[n];
    tune_spectrum_transform(&naff->spectrum);
    tune_spectrum_power(&naff->spectrum, naff->kind, power);
    uint32_t top = first;
    for (uint32_t k = first; k <= last; ++k)
        top = power[k] > power[top] ? k : top;
    if (first > last || !(power[top] > 0.0f))
        return NAN;
    bool const is_right = power[top + 1] > power[top - 1];
    double const ratio = sqrt((double)power[is_right ? top + 1 : top - 1] / (double)power[top]);
    double const beside = naff->kind == TUNE_HANN ? (2.0 * ratio - 1.0) / (1.0 + ratio) : ratio / (1.0 + ratio);
    return (top + (is_right ? beside : -beside)) / turns;
}

/** And puts back what the mean took off of it, so that what remains has no mean. */
static void line_subtract(struct tune_naff *naff, struct tune_line const *line, double mean) {
    struct tune_naff_phasors phasors;
    phasors_begin(&phasors, line->tune, 0.0);
    double const a = line->amplitude * cos(line->phase_rad), b = line->amplitude * sin(line->phase_rad);
    for (uint32_t n = 0; n < naff->turns; n += LANES)
        for (uint32_t i = 0; i < LANES; ++i) {
            double const re = phasors.re[i], im = phasors.im[i];
            naff->rest[n + i] -= a * re - b * im - mean;
            phasors.re[i] = re * phasors.step_re - im * phasors.step_im;
            phasors.im[i] = re * phasors.step_im + im * phasors.step_re;
        }
}

bool tune_naff_next(struct tune_naff *naff, double low, double high, struct tune_line *line) {
    double tune = coarse_tune(naff, low, high);
    if (isnan(tune))
        return false;
    for (uint32_t n = 0; n < naff->turns; ++n)
        naff->product[n] = naff->weight[n] * naff->rest[n];
    double const turns = naff->turns, bin = TWO_PI / turns;
    double const curve = bin * bin * tune_window_spread(naff->kind, naff->turns);
    double complex half = 0.0;
    double step = INFINITY;
    for (int pass = 0; pass < PASSES_MOST && fabs(step) > LAST_STEP; ++pass) {
        struct naff_integral integral = integral_of(naff, tune);
        integral_without_leakage(naff, tune, &integral);
        if (integral.value == 0.0)
            return false;
        step = fmax(-0.5, fmin(0.5, creal(integral.slope / integral.value) / curve));
        tune = fmax(low, fmin(high, tune + step / turns));
        half = (integral.value + integral.slope * step) / tune_window_sum(naff->kind, naff->turns);
    }
    line->tune = tune;
    line->amplitude = 2.0 * cabs(half);
    line->phase_rad = remainder(carg(half) - TWO_PI * tune * 0.5 * (turns - 1.0), TWO_PI);
    line_subtract(naff, line, mean_of(naff, tune, half));
    return true;
}
