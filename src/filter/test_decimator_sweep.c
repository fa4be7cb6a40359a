// SPDX-License-Identifier: Apache-2.0
/** Swept sine: the response of running decimators, alone and in a row, amplitude and phase, against the taps and
 * against the promises.
 *
 * Lanes 0 and 1 take cosine and sine as f32, lanes 2 and 3 the same as i32: two real lanes are one complex exponential,
 * so the response is a plain mean, at every frequency and however it aliases. Phase is measured at the turn that labels
 * the output. Frequencies are in output rates.
 */
#include "filter/test_row.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { MEASURED_OUTPUTS = 24, FLOAT_LANES = 0x3 };

static double const integer_amplitude = 1e9; /* in counts; rounding to counts and to 24 bits stays under -140 dB */

/** One rate. */
struct rate {
    char const *form;
    uint32_t decimation[ROW_MAX + 1];
};

static struct rate const fast = {"sharp", {12}};
static struct rate const low_latency = {"low_latency", {12}};
static struct rate const loop = {"sharp", {12, 10}};
static struct rate const loop_low_latency = {"low_latency", {12, 10}};
static struct rate const slow = {"sharp", {12, 10, 10, 10, 10}};
static struct rate const slow_low_latency = {"low_latency", {12, 10, 10, 10, 10}};

struct response {
    double complex of_floats;
    double complex of_integers;
};

static double complex exponential(double frequency, rm_turn turn) {
    return cexp(2 * M_PI * I * fmod(frequency * (double)turn, 1));
}

/** `frequency` in cycles per turn. */
static struct response measure(struct rate const *rate, double frequency) {
    struct rm_decimator_input const lanes = {.period = 1, .float_lanes = FLOAT_LANES};
    struct decimator_row row = row_of(rate->form, rate->decimation, rm_simd_best(), &lanes);
    struct response mean = {0, 0};
    rm_turn const settled = 2 * last_of(&row)->closing_turns;
    uint32_t outputs = 0;
    for (rm_turn turn = 0; outputs < MEASURED_OUTPUTS; ++turn) {
        double complex const wave = exponential(frequency, turn);
        struct rm_record input = {.turn = turn};
        struct rm_decimated output;
        input.lane[0].f = (float)creal(wave);
        input.lane[1].f = (float)cimag(wave);
        input.lane[2].i = (int32_t)lround(integer_amplitude * creal(wave));
        input.lane[3].i = (int32_t)lround(integer_amplitude * cimag(wave));
        if (!row_push(&row, &input, &output) || turn <= settled)
            continue;
        union rm_lane const *const lane = output.record.lane;
        double complex const back = conj(exponential(frequency, output.record.turn)) / MEASURED_OUTPUTS;
        mean.of_floats += back * ((double)lane[0].f + I * (double)lane[1].f);
        mean.of_integers += back * ((double)lane[2].f + I * (double)lane[3].f) / integer_amplitude;
        ++outputs;
    }
    return mean;
}

/** The response that the taps stand for; real, since they are symmetric about the turn that labels the output. */
static double designed(struct rate const *rate, double frequency) {
    double product = 1;
    for (uint32_t stage = 0; rate->decimation[stage] != 0; ++stage) {
        struct rm_fir_design const *const design = rm_fir_find(rate->form, rate->decimation[stage]);
        double sum = 0;
        for (uint32_t i = 0; i < design->taps; ++i)
            sum += (double)tap(design, i) * cos(2 * M_PI * frequency * ((double)i - design->centre));
        product *= sum;
        frequency *= rate->decimation[stage];
    }
    return product;
}

static double level_db(double complex response) { return 20 * log10(cabs(response)); }

static uint32_t period(struct rate const *rate) {
    uint32_t product = 1;
    for (uint32_t stage = 0; rate->decimation[stage] != 0; ++stage)
        product *= rate->decimation[stage];
    return product;
}

/** Measures at `steps` + 1 frequencies from `first` to `last`, both in output rates: each level lies in the limits,
 * each phase is the design's. */
static void sweep(struct rate const *rate, double first, double last, int steps, double lowest_db, double highest_db) {
    for (int i = 0; i <= steps; ++i) {
        double const frequency = (first + (last - first) * i / steps) / period(rate);
        struct response const response = measure(rate, frequency);
        double const expected = designed(rate, frequency);
        assert_true(cabs(response.of_floats - expected) < 5e-7);
        assert_true(cabs(response.of_integers - expected) < 5e-7);
        assert_true(level_db(response.of_floats) >= lowest_db && level_db(response.of_floats) <= highest_db);
        assert_true(level_db(response.of_integers) >= lowest_db && level_db(response.of_integers) <= highest_db);
    }
}

/** Of every sharp design: within a tenth of a decibel where it passes, 80 dB down where it would fold into that. */
static void every_sharp_design_keeps_its_promise(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        struct rate const rate = {rm_fir_designs[d].name, {rm_fir_designs[d].decimation}};
        if (strcmp(rate.form, "sharp") != 0)
            continue;
        sweep(&rate, 0, 0.4, 40, -0.1, 0.1);
        sweep(&rate, 0.6, rate.decimation[0] / 2.0, 150, -INFINITY, -80);
    }
}

static void every_low_latency_design_has_zeros_at_multiples_of_the_output_rate(void **state) {
    (void)state;
    for (int d = 0; d < RM_FIR_DESIGNS; ++d) {
        struct rate const rate = {rm_fir_designs[d].name, {rm_fir_designs[d].decimation}};
        if (strcmp(rate.form, "low_latency") != 0)
            continue;
        sweep(&rate, 0, 0.1, 20, -0.3, 0.001);
        for (uint32_t k = 1; k <= rate.decimation[0] / 2; ++k)
            sweep(&rate, k, k, 1, -INFINITY, -120);
    }
}

/** Falls from 0 dB to -11.9 dB at 0.6 of the output rate, with no phase at the label turn. */
static void low_latency_follows_its_design(void **state) {
    (void)state;
    sweep(&low_latency, 0.1, 0.6, 50, -11.9, -0.28);
    sweep(&low_latency, 0.6, 6, 200, -INFINITY, -11.8);
    sweep(&loop_low_latency, 0, 0.1, 10, -0.3, 0.001);
    sweep(&loop_low_latency, 0.6, 60, 100, -INFINITY, -11.8);
}

/** The fractional tunes of the Elettra 2.0 lattice S6BA-E, which fold to 4.3 and 1.4 kHz, into the band of a loop. */
static void low_latency_holds_back_the_betatron_lines(void **state) {
    (void)state;
    sweep(&low_latency, 12 * (1 - 0.9204042414), 12 * (1 - 0.9204042414), 1, -INFINITY, -52.9);
    sweep(&low_latency, 12 * 0.1654425993, 12 * 0.1654425993, 1, -INFINITY, -84);
}

static void the_sharp_row_keeps_the_promise_of_one(void **state) {
    (void)state;
    sweep(&fast, 0, 0.4, 100, -0.1, 0.1);
    sweep(&loop, 0, 0.4, 40, -0.1, 0.1);
    sweep(&loop, 0.6, 60, 300, -INFINITY, -80);
    sweep(&loop, 5.4, 6.6, 24, -INFINITY, -80); /* the transition band of the first */
}

/** Each frequency takes half a second of beam and more: only some. The last are the second filter's transition band and
 * a betatron line. */
static void the_slow_rows_keep_it_too(void **state) {
    (void)state;
    sweep(&slow, 0.1, 0.4, 2, -0.1, 0.1);
    sweep(&slow, 0.6, 0.6, 1, -INFINITY, -80);
    sweep(&slow, 499.9, 499.9, 1, -INFINITY, -80);
    sweep(&slow, 120000 * 0.1654425993, 120000 * 0.1654425993, 1, -INFINITY, -80);
    sweep(&slow_low_latency, 0.1, 0.1, 1, -0.3, -0.2);
    sweep(&slow_low_latency, 1, 1, 1, -INFINITY, -120);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_sharp_design_keeps_its_promise),
        cmocka_unit_test(every_low_latency_design_has_zeros_at_multiples_of_the_output_rate),
        cmocka_unit_test(low_latency_follows_its_design),
        cmocka_unit_test(low_latency_holds_back_the_betatron_lines),
        cmocka_unit_test(the_sharp_row_keeps_the_promise_of_one),
        cmocka_unit_test(the_slow_rows_keep_it_too),
    };
    return cmocka_run_group_tests_name("decimator_sweep", tests, NULL, NULL);
}
