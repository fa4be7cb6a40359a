// SPDX-License-Identifier: Apache-2.0
#include "spectrum.h"

#include <fftw3.h>
#include <math.h>

static double const PI = 3.14159265358979323846;
/** Plans that there are. With the last one goes what the planner keeps: an application that is unloaded leaves nothing. */
static unsigned plans;

static bool spectrum_open(struct tune_spectrum *spectrum, uint32_t turns, uint32_t quadratures, unsigned planner) {
    unsigned const flags = planner | FFTW_DESTROY_INPUT;
    int const n = (int)turns;
    *spectrum = (struct tune_spectrum){.turns = turns, .bins = turns / 2 + 1, .simd = rm_simd_best()};
    spectrum->quadratures = quadratures;
    spectrum->series = fftwf_alloc_real((size_t)quadratures * turns);
    spectrum->bin = (struct tune_bin *)fftwf_alloc_complex(quadratures == 1 ? spectrum->bins : turns);
    fftwf_complex *const bin = (fftwf_complex *)spectrum->bin;
    if (spectrum->series != NULL && bin != NULL)
        spectrum->plan = quadratures == 1
                             ? fftwf_plan_dft_r2c_1d(n, spectrum->series, bin, flags)
                             : fftwf_plan_dft_1d(n, (fftwf_complex *)spectrum->series, bin, FFTW_FORWARD, flags);
    if (spectrum->plan != NULL) {
        ++plans;
        return true;
    }
    tune_spectrum_close(spectrum);
    return false;
}

bool tune_spectrum_open(struct tune_spectrum *spectrum, uint32_t turns, uint32_t quadratures) {
    return spectrum_open(spectrum, turns, quadratures, FFTW_ESTIMATE);
}

bool tune_spectrum_open_measured(struct tune_spectrum *spectrum, uint32_t turns, uint32_t quadratures) {
    return spectrum_open(spectrum, turns, quadratures, FFTW_MEASURE);
}

void tune_spectrum_close(struct tune_spectrum *spectrum) {
    if (spectrum->plan != NULL) {
        fftwf_destroy_plan(spectrum->plan);
        if (--plans == 0)
            fftwf_cleanup();
    }
    fftwf_free(spectrum->series);
    fftwf_free(spectrum->bin);
    *spectrum = (struct tune_spectrum){0};
}

/** Takes the mean of even and that of odd values off; of one quadrature they are joined. Sums are in lanes, so that the
 * bits do not depend on how many go side by side. */
__attribute__((always_inline)) static inline void mean_remove(struct tune_spectrum *spectrum) {
    enum { LANES = 16 };
    float *const series = spectrum->series;
    uint32_t const turns = spectrum->turns, values = turns * spectrum->quadratures;
    double lane[LANES] = {0}, sum[2] = {0.0, 0.0};
    uint32_t n = 0;
    for (; n + LANES <= values; n += LANES)
        for (uint32_t i = 0; i < LANES; ++i)
            lane[i] += (double)series[n + i];
    for (; n < values; ++n)
        lane[n % LANES] += (double)series[n];
    for (uint32_t i = 0; i < LANES; ++i)
        sum[i % 2] += lane[i];
    bool const is_one = spectrum->quadratures == 1;
    spectrum->mean[0] = (is_one ? sum[0] + sum[1] : sum[0]) / turns;
    spectrum->mean[1] = is_one ? 0.0 : sum[1] / turns;
    float const even = (float)spectrum->mean[0], odd = is_one ? even : (float)spectrum->mean[1];
    for (n = 0; n + 1 < values; n += 2) {
        series[n] -= even;
        series[n + 1] -= odd;
    }
}

static void mean_remove_scalar(struct tune_spectrum *spectrum) { mean_remove(spectrum); }

__attribute__((target("avx2"))) static void mean_remove_avx2(struct tune_spectrum *spectrum) { mean_remove(spectrum); }

__attribute__((target("avx512f"))) static void mean_remove_avx512(struct tune_spectrum *spectrum) {
    mean_remove(spectrum);
}

void tune_spectrum_transform(struct tune_spectrum *spectrum) {
    if (spectrum->simd == RM_SIMD_AVX512)
        mean_remove_avx512(spectrum);
    else if (spectrum->simd == RM_SIMD_AVX2)
        mean_remove_avx2(spectrum);
    else
        mean_remove_scalar(spectrum);
    fftwf_execute(spectrum->plan);
}

/** |V|² of bin k from its neighbours: X/2 − (X₋ e^(iπ/N) + X₊ e^(−iπ/N))/4, the turn's middle being (N − 1)/2. */
static float hann_square(struct tune_bin left, struct tune_bin middle, struct tune_bin right, float c, float s) {
    float const re = 0.5f * middle.re - 0.25f * (left.re * c - left.im * s + right.re * c + right.im * s);
    float const im = 0.5f * middle.im - 0.25f * (left.re * s + left.im * c - right.re * s + right.im * c);
    return re * re + im * im;
}

/** At both ends, what lies beyond: of a real series the mirrored half. */
static struct tune_bin bin_beyond(struct tune_spectrum const *spectrum, uint32_t mirrored, uint32_t negative) {
    struct tune_bin const within = spectrum->bin[spectrum->quadratures == 1 ? mirrored : negative];
    return spectrum->quadratures == 1 ? (struct tune_bin){within.re, -within.im} : within;
}

static void row_of(struct tune_spectrum const *spectrum, enum tune_window_kind kind, float scale, float *row) {
    struct tune_bin const *const bin = spectrum->bin;
    uint32_t const turns = spectrum->turns, last = turns / 2;
    float const c = (float)cos(PI / turns), s = (float)sin(PI / turns);
    if (kind != TUNE_HANN) {
        for (uint32_t k = 0; k <= last; ++k)
            row[k] = scale * (bin[k].re * bin[k].re + bin[k].im * bin[k].im);
        return;
    }
    struct tune_bin const below = bin_beyond(spectrum, 1, turns - 1);
    struct tune_bin const above = bin_beyond(spectrum, last - 1, last + 1);
    row[0] = scale * hann_square(below, bin[0], bin[1], c, s);
    for (uint32_t k = 1; k < last; ++k)
        row[k] = scale * hann_square(bin[k - 1], bin[k], bin[k + 1], c, s);
    row[last] = scale * hann_square(bin[last - 1], bin[last], above, c, s);
}

void tune_spectrum_power(struct tune_spectrum const *spectrum, enum tune_window_kind kind, float *power) {
    double const sum = tune_window_sum(kind, spectrum->turns);
    row_of(spectrum, kind, (float)(2.0 / (sum * sum)), power);
}

void tune_spectrum_density(struct tune_spectrum const *spectrum, enum tune_window_kind kind, float *density) {
    row_of(spectrum, kind, (float)(2.0 / tune_window_squares(kind, spectrum->turns)), density);
}

void tune_spectrum_amplitudes(struct tune_bin const *bin, uint32_t turns, enum tune_window_kind kind, uint32_t count,
                              float *amplitude) {
    float const scale = (float)(2.0 / tune_window_sum(kind, turns));
    float const c = (float)cos(PI / turns), s = (float)sin(PI / turns);
    for (uint32_t k = 0; k < count; ++k) {
        float const square = kind == TUNE_HANN ? hann_square(bin[(int64_t)k - 1], bin[k], bin[k + 1], c, s)
                                               : bin[k].re * bin[k].re + bin[k].im * bin[k].im;
        amplitude[k] = scale * sqrtf(square);
    }
}
