// SPDX-License-Identifier: Apache-2.0
/** Swept sine: the response of the running decimator, amplitude and phase, against the taps and against the promises.
 *
 * Lanes 0 and 1 take cosine and sine as f32, lanes 2 and 3 the same as i32: two real lanes are one complex exponential,
 * so the response is a plain mean, at every frequency and however it aliases. Phase is measured at the turn that labels
 * the output. Frequencies are in cycles per turn.
 */
#include "filter/test_records.h"

#include <complex.h>
#include <math.h>

enum { MEASURED_OUTPUTS = 48, FLOAT_LANES = 0x3 };

static double const output_rate = 1.0 / 12;
static double const integer_amplitude = 1e9; /* in counts; rounding to counts and to 24 bits stays under -140 dB */

struct response {
    double complex of_floats;
    double complex of_integers;
};

static double complex exponential(double frequency, rm_turn turn) {
    return cexp(2 * M_PI * I * fmod(frequency * (double)turn, 1));
}

static struct response measure(struct rm_fir_design const *design, double frequency) {
    struct rm_decimator decimator;
    rm_decimator_init(&decimator, design, rm_simd_best(), FLOAT_LANES);
    struct response mean = {0, 0};
    rm_turn const settled = 2 * design->centre;
    uint32_t outputs = 0;
    for (rm_turn turn = 0; outputs < MEASURED_OUTPUTS; ++turn) {
        double complex const wave = exponential(frequency, turn);
        struct rm_record input = {.turn = turn}, output;
        input.lane[0].f = (float)creal(wave);
        input.lane[1].f = (float)cimag(wave);
        input.lane[2].i = (int32_t)lround(integer_amplitude * creal(wave));
        input.lane[3].i = (int32_t)lround(integer_amplitude * cimag(wave));
        if (!rm_decimator_push(&decimator, &input, &output) || turn < settled)
            continue;
        double complex const back = conj(exponential(frequency, output.turn)) / MEASURED_OUTPUTS;
        mean.of_floats += back * ((double)output.lane[0].f + I * (double)output.lane[1].f);
        mean.of_integers += back * ((double)output.lane[2].f + I * (double)output.lane[3].f) / integer_amplitude;
        ++outputs;
    }
    return mean;
}

/** The response that the taps stand for; real, since they are symmetric about the turn that labels the output. */
static double designed(struct rm_fir_design const *design, double frequency) {
    double sum = 0;
    for (uint32_t i = 0; i < design->taps; ++i)
        sum += (double)tap(design, i) * cos(2 * M_PI * frequency * ((double)i - design->centre));
    return sum;
}

static double level_db(double complex response) { return 20 * log10(cabs(response)); }

/** Measures at `steps` + 1 frequencies from `first` to `last`: each level lies in the limits, each phase is the
 * design's. */
static void sweep(struct rm_fir_design const *design, double first, double last, int steps, double lowest_db,
                  double highest_db) {
    for (int i = 0; i <= steps; ++i) {
        double const frequency = first + (last - first) * i / steps;
        struct response const response = measure(design, frequency);
        double const expected = designed(design, frequency);
        assert_true(cabs(response.of_floats - expected) < 5e-7);
        assert_true(cabs(response.of_integers - expected) < 5e-7);
        assert_true(level_db(response.of_floats) >= lowest_db && level_db(response.of_floats) <= highest_db);
        assert_true(level_db(response.of_integers) >= lowest_db && level_db(response.of_integers) <= highest_db);
    }
}

static void sharp_passes_within_a_tenth_of_a_decibel(void **state) {
    (void)state;
    sweep(&rm_fir_sharp, 0, 0.4 * output_rate, 100, -0.1, 0.1);
}

static void sharp_rejects_all_that_would_alias_into_its_passband(void **state) {
    (void)state;
    sweep(&rm_fir_sharp, 0.6 * output_rate, 0.5, 400, -INFINITY, -80);
}

/** Falls from 0 dB to -11.9 dB at 0.6 of the output rate, with no phase at the label turn. */
static void prompt_follows_its_design(void **state) {
    (void)state;
    sweep(&rm_fir_prompt, 0, 0.1 * output_rate, 50, -0.3, 0.001);
    sweep(&rm_fir_prompt, 0.1 * output_rate, 0.6 * output_rate, 50, -11.9, -0.28);
    sweep(&rm_fir_prompt, 0.6 * output_rate, 0.5, 200, -INFINITY, -11.8);
}

static void prompt_has_zeros_at_multiples_of_the_output_rate(void **state) {
    (void)state;
    for (int k = 1; k <= 6; ++k)
        sweep(&rm_fir_prompt, k * output_rate, k * output_rate, 1, -INFINITY, -120);
}

/** The fractional tunes of the Elettra 2.0 lattice S6BA-E, which fold to 4.3 and 1.4 kHz, into the band of a loop. */
static void prompt_holds_back_the_betatron_lines(void **state) {
    (void)state;
    sweep(&rm_fir_prompt, 1 - 0.9204042414, 1 - 0.9204042414, 1, -INFINITY, -52.9);
    sweep(&rm_fir_prompt, 0.1654425993, 0.1654425993, 1, -INFINITY, -84);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(sharp_passes_within_a_tenth_of_a_decibel),
        cmocka_unit_test(sharp_rejects_all_that_would_alias_into_its_passband),
        cmocka_unit_test(prompt_follows_its_design),
        cmocka_unit_test(prompt_has_zeros_at_multiples_of_the_output_rate),
        cmocka_unit_test(prompt_holds_back_the_betatron_lines),
    };
    return cmocka_run_group_tests_name("decimator_sweep", tests, NULL, NULL);
}
