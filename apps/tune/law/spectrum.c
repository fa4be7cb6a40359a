// SPDX-License-Identifier: Apache-2.0
#include "spectrum.h"

#include <fftw3.h>
#include <math.h>

static double const PI = 3.14159265358979323846;

bool tune_spectrum_open(struct tune_spectrum *spectrum, uint32_t turns) {
    *spectrum = (struct tune_spectrum){.turns = turns, .bins = turns / 2 + 1, .simd = rm_simd_best()};
    spectrum->series = fftwf_alloc_real(turns);
    spectrum->bin = (struct tune_bin *)fftwf_alloc_complex(spectrum->bins);
    if (spectrum->series != NULL && spectrum->bin != NULL)
        spectrum->plan = fftwf_plan_dft_r2c_1d((int)turns, spectrum->series, (fftwf_complex *)spectrum->bin,
                                               FFTW_MEASURE | FFTW_DESTROY_INPUT);
    if (spectrum->plan != NULL)
        return true;
    tune_spectrum_close(spectrum);
    return false;
}

void tune_spectrum_close(struct tune_spectrum *spectrum) {
    if (spectrum->plan != NULL)
        fftwf_destroy_plan(spectrum->plan);
    fftwf_free(spectrum->series);
    fftwf_free(spectrum->bin);
    *spectrum = (struct tune_spectrum){0};
}

/** Takes the mean off, and returns it. Sums are in lanes, so that the bits do not depend on how many go side by side. */
__attribute__((always_inline)) static inline double mean_remove(float *series, uint32_t turns) {
    enum { LANES = 16 };
    double lane[LANES] = {0}, sum = 0.0;
    uint32_t n = 0;
    for (; n + LANES <= turns; n += LANES)
        for (uint32_t i = 0; i < LANES; ++i)
            lane[i] += (double)series[n + i];
    for (; n < turns; ++n)
        lane[n % LANES] += (double)series[n];
    for (uint32_t i = 0; i < LANES; ++i)
        sum += lane[i];
    float const mean = (float)(sum / turns);
    for (n = 0; n < turns; ++n)
        series[n] -= mean;
    return sum / turns;
}

static double mean_remove_scalar(float *series, uint32_t turns) { return mean_remove(series, turns); }

__attribute__((target("avx2"))) static double mean_remove_avx2(float *series, uint32_t turns) {
    return mean_remove(series, turns);
}

__attribute__((target("avx512f"))) static double mean_remove_avx512(float *series, uint32_t turns) {
    return mean_remove(series, turns);
}

void tune_spectrum_transform(struct tune_spectrum *spectrum) {
    if (spectrum->simd == RM_SIMD_AVX512)
        spectrum->mean = mean_remove_avx512(spectrum->series, spectrum->turns);
    else if (spectrum->simd == RM_SIMD_AVX2)
        spectrum->mean = mean_remove_avx2(spectrum->series, spectrum->turns);
    else
        spectrum->mean = mean_remove_scalar(spectrum->series, spectrum->turns);
    fftwf_execute(spectrum->plan);
}

void tune_bins_add_quadrature(struct tune_bin *bin, struct tune_bin const *quadrature, uint32_t bins) {
    for (uint32_t k = 0; k < bins; ++k) {
        bin[k].re -= quadrature[k].im;
        bin[k].im += quadrature[k].re;
    }
}

/** |V|² of bin k from its neighbours: X/2 − (X₋ e^(iπ/N) + X₊ e^(−iπ/N))/4, the turn's middle being (N − 1)/2. */
static float hann_square(struct tune_bin left, struct tune_bin middle, struct tune_bin right, float c, float s) {
    float const re = 0.5f * middle.re - 0.25f * (left.re * c - left.im * s + right.re * c + right.im * s);
    float const im = 0.5f * middle.im - 0.25f * (left.re * s + left.im * c - right.re * s + right.im * c);
    return re * re + im * im;
}

static void row_of(struct tune_bin const *bin, uint32_t turns, enum tune_window_kind kind, float scale, float *row) {
    uint32_t const last = turns / 2;
    float const c = (float)cos(PI / turns), s = (float)sin(PI / turns);
    if (kind != TUNE_HANN) {
        for (uint32_t k = 0; k <= last; ++k)
            row[k] = scale * (bin[k].re * bin[k].re + bin[k].im * bin[k].im);
        return;
    }
    struct tune_bin const below = {bin[1].re, -bin[1].im}, above = {bin[last - 1].re, -bin[last - 1].im};
    row[0] = scale * hann_square(below, bin[0], bin[1], c, s);
    for (uint32_t k = 1; k < last; ++k)
        row[k] = scale * hann_square(bin[k - 1], bin[k], bin[k + 1], c, s);
    row[last] = scale * hann_square(bin[last - 1], bin[last], above, c, s);
}

void tune_spectrum_power(struct tune_bin const *bin, uint32_t turns, enum tune_window_kind kind, float *power) {
    double const sum = tune_window_sum(kind, turns);
    row_of(bin, turns, kind, (float)(2.0 / (sum * sum)), power);
}

void tune_spectrum_density(struct tune_bin const *bin, uint32_t turns, enum tune_window_kind kind, float *density) {
    row_of(bin, turns, kind, (float)(2.0 / tune_window_squares(kind, turns)), density);
}
