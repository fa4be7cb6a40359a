// SPDX-License-Identifier: Apache-2.0
#include "peak.h"

#include <complex.h>
#include <math.h>

enum { REACH = TUNE_PEAK_REACH, NEAR = 2 * REACH + 1, STEPS_MOST = 20, IMAGES = 3 };

static double const PI = 3.14159265358979323846, LN_2 = 0.69314718055994530942, HANN_SHARE = 0.375;
/** Bins: far below any error of single precision. */
static double const LAST_STEP = 1e-7;

/** The bins around the peak, turned to the middle of the window. */
struct near_bins {
    enum tune_window_kind kind;
    uint32_t turns;
    /** Of the first one. */
    uint32_t first;
    double complex bin[NEAR];
    /** Of the line at −f over the conjugate of that at f. */
    double complex image;
};

/** Of the near bins, as seen from `at`. */
static void near_kernels(struct near_bins const *near, enum tune_window_kind kind, double at,
                         struct tune_kernel *kernel) {
    tune_window_kernels(kind, near->turns, near->first - at, NEAR, kernel);
}

/** H and H′ without what the image leaks, and the same of a tone at this place: ρ is their ratio. */
struct near_integral {
    double complex value, slope;
    double tone, tone_slope;
};

static struct near_integral integral_at(struct near_bins const *near, double at) {
    struct near_integral integral = {0.0, 0.0, 0.0, 0.0};
    struct tune_kernel tone[NEAR], kernel[NEAR], image[NEAR];
    double leak = 0.0, leak_slope = 0.0;
    near_kernels(near, TUNE_RECTANGULAR, at, tone);
    near_kernels(near, near->kind, at, kernel);
    near_kernels(near, TUNE_RECTANGULAR, -at, image);
    for (uint32_t i = 0; i < NEAR; ++i) {
        integral.value += near->bin[i] * kernel[i].value;
        integral.slope -= near->bin[i] * kernel[i].slope;
        integral.tone += tone[i].value * kernel[i].value;
        integral.tone_slope -= tone[i].value * kernel[i].slope;
        leak += image[i].value * kernel[i].value;
        leak_slope -= image[i].value * kernel[i].slope;
    }
    double complex half = integral.value / integral.tone;
    for (int i = 0; i < IMAGES; ++i)
        half = (integral.value - conj(half) * near->image * leak) / integral.tone;
    integral.value -= conj(half) * near->image * leak;
    integral.slope -= conj(half) * near->image * leak_slope;
    return integral;
}

/** Re(H′/H) at `at` of a tone at `of`. */
static double tone_ratio(struct near_bins const *near, double of, double at) {
    struct tune_kernel tone[NEAR], kernel[NEAR];
    double value = 0.0, slope = 0.0;
    near_kernels(near, TUNE_RECTANGULAR, of, tone);
    near_kernels(near, near->kind, at, kernel);
    for (uint32_t i = 0; i < NEAR; ++i) {
        value += tone[i].value * kernel[i].value;
        slope -= tone[i].value * kernel[i].slope;
    }
    return slope / value;
}

/** How ψ at `at` changes with the line's place: by a small difference, of a tone. */
static double psi_gain(struct near_bins const *near, double at) {
    double const small = 1e-3;
    return (tone_ratio(near, at + small, at) - tone_ratio(near, at - small, at)) / (2.0 * small);
}

/** Where ψ is 0, from a start that is less than a bin off. */
static double line_place(struct near_bins const *near, double start, double gain) {
    double place = start;
    for (int i = 0; i < STEPS_MOST; ++i) {
        struct near_integral const integral = integral_at(near, place);
        double const psi = creal(integral.slope / integral.value) - integral.tone_slope / integral.tone;
        double const step = fmax(-0.25, fmin(0.25, psi / gain));
        place = fmax(start - 1.0, fmin(start + 1.0, place + step));
        if (fabs(step) < LAST_STEP)
            break;
    }
    return place;
}

/** Root of the sum of squares of what noise of each bin moves ψ by, over what the place does. */
static double place_sigma(struct near_bins const *near, double place, double gain, double floor) {
    struct near_integral const integral = integral_at(near, place);
    struct tune_kernel kernel[NEAR];
    double const rho = integral.tone_slope / integral.tone;
    double squares = 0.0;
    near_kernels(near, near->kind, place, kernel);
    for (uint32_t i = 0; i < NEAR; ++i) {
        double const by = -kernel[i].slope - rho * kernel[i].value;
        squares += by * by;
    }
    return sqrt(0.5 * floor * squares) / (cabs(integral.value) * fabs(gain));
}

static float rectangular_power(struct tune_bin bin) { return bin.re * bin.re + bin.im * bin.im; }

/** |V|² of a Hann window to within the 1/N by which neighbours' phases differ: to look for the greatest bin. */
static float hann_power(struct tune_bin const *bin) {
    float const re = 0.5f * bin->re - 0.25f * (bin[-1].re + bin[1].re);
    float const im = 0.5f * bin->im - 0.25f * (bin[-1].im + bin[1].im);
    return re * re + im * im;
}

static uint32_t band_power(struct tune_bin const *bin, enum tune_window_kind kind, struct tune_band band,
                           float *power) {
    uint32_t top = 0;
    for (uint32_t k = band.first; k <= band.last; ++k) {
        uint32_t const i = k - band.first;
        power[i] = kind == TUNE_HANN ? hann_power(bin + k) : rectangular_power(bin[k]);
        top = power[i] > power[top] ? i : top;
    }
    return top;
}

/** The element that would stand at `rank` if they were in order; moves them. All are numbers. N. Wirth, Algorithms + Data
 * Structures = Programs, 2.3.4 (1976), after C. A. R. Hoare. */
static float ranked(float *value, int32_t count, int32_t rank) {
    for (int32_t low = 0, high = count - 1; low < high;) {
        float const pivot = value[rank];
        int32_t i = low, j = high;
        while (i <= j) {
            while (value[i] < pivot)
                ++i;
            while (pivot < value[j])
                --j;
            if (i > j)
                break;
            float const kept = value[i];
            value[i++] = value[j];
            value[j--] = kept;
        }
        low = j < rank ? i : low;
        high = rank < i ? j : high;
    }
    return value[rank];
}

/** E|X|² of noise, from Hann-windowed bins, into which the peak leaks less: these have 3/8 of it. They are distributed
 * exponentially, so that their median is ln 2 of their mean. NaN where some bin is no number, or there are none. */
static double band_floor(struct tune_bin const *bin, struct tune_band band, uint32_t top) {
    float power[TUNE_BAND_BINS_MAX] = {0};
    int32_t count = 0;
    for (uint32_t k = band.first; k <= band.last; ++k)
        if (k + REACH < top || k > top + REACH) {
            power[count] = hann_power(bin + k);
            if (!isfinite(power[count++]))
                return NAN;
        }
    return count > 0 ? (double)ranked(power, count, count / 2) / (LN_2 * HANN_SHARE) : NAN;
}

/** What else stands out. */
static void other_find(float const *power, struct tune_band band, enum tune_window_kind kind, uint32_t turns,
                       struct tune_peak *peak) {
    uint32_t const top = peak->bin - band.first;
    uint32_t other = top;
    float greatest = 0.0f;
    for (uint32_t i = 0; i <= band.last - band.first; ++i)
        if ((i + REACH < top || i > top + REACH) && power[i] > greatest) {
            other = i;
            greatest = power[i];
        }
    double const share = tune_window_squares(kind, turns) / turns;
    peak->other_bin = other + band.first;
    peak->other_ratio = sqrt((double)greatest / (double)power[top]);
    peak->other_signal_to_noise = sqrt(2.0 * (double)greatest / (peak->floor * share));
}

static void near_take(struct near_bins *near, struct tune_bin const *bin, uint32_t top) {
    double const middle = 0.5 * (near->turns - 1.0);
    uint32_t const last = near->turns / 2 - REACH;
    near->first = top <= REACH ? 0 : (top > last ? last : top) - REACH;
    for (uint32_t i = 0; i < NEAR; ++i) {
        uint32_t const k = near->first + i;
        double complex const turned = cexp(I * 2.0 * PI * fmod(k * middle / near->turns, 1.0));
        near->bin[i] = ((double)bin[k].re + I * (double)bin[k].im) * turned;
    }
}

/** By the greater neighbour: the interpolation of two bins. */
static double start_place(float const *power, struct tune_band band, enum tune_window_kind kind, uint32_t top) {
    uint32_t const i = top - band.first;
    double const left = i > 0 ? sqrt((double)power[i - 1]) : 0.0;
    double const right = top < band.last ? sqrt((double)power[i + 1]) : 0.0;
    double const ratio = fmax(left, right) / sqrt((double)power[i]);
    double const beside = kind == TUNE_HANN ? (2.0 * ratio - 1.0) / (1.0 + ratio) : ratio / (1.0 + ratio);
    return right > left ? top + beside : top - beside;
}

bool tune_peak_find(struct tune_bin const *bin, uint32_t turns, enum tune_window_kind kind, struct tune_band band,
                    struct tune_peak *peak) {
    float power[TUNE_BAND_BINS_MAX] = {0};
    uint32_t const top = band.first + band_power(bin, kind, band, power);
    *peak = (struct tune_peak){.bin = top, .floor = band_floor(bin, band, top)};
    if (!(power[top - band.first] > 0.0f) || !isfinite(power[top - band.first]) || !isfinite(peak->floor))
        return false;
    struct near_bins near = {.kind = kind, .turns = turns, .image = band.image_re + I * band.image_im};
    near_take(&near, bin, top);
    double const start = start_place(power, band, kind, top), gain = psi_gain(&near, start);
    double const place = line_place(&near, start, gain);
    struct near_integral const integral = integral_at(&near, place);
    double complex const half = integral.value / integral.tone;
    other_find(power, band, kind, turns, peak);
    peak->tune = place / turns;
    peak->tune_sigma = place_sigma(&near, place, gain, peak->floor) / turns;
    peak->amplitude = 2.0 * cabs(half);
    peak->amplitude_sigma = sqrt(2.0 * peak->floor) / turns;
    peak->phase_rad = remainder(carg(half) - PI * place * (turns - 1.0) / turns, 2.0 * PI);
    peak->signal_to_noise = peak->amplitude / peak->amplitude_sigma;
    return true;
}

/** Σ w² t² of Hann is N³ (1/32 − 1/(4π²) + 1/(64π²)), in the limit of many turns. */
double tune_error_least(enum tune_window_kind kind, uint32_t turns, double amplitude, double noise) {
    double const n = turns, bound = sqrt(6.0 / (n * n * n)) * noise / (PI * amplitude);
    double const squares = 1.0 / 32.0 - 15.0 / (64.0 * PI * PI), spread = (1.0 / 12.0 - 1.0 / (2.0 * PI * PI)) / 2.0;
    return kind == TUNE_HANN ? bound * sqrt(squares / 12.0) / spread : bound;
}
