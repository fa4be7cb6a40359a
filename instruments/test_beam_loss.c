// SPDX-License-Identifier: Apache-2.0
/** A beam among apertures of known optics. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "beam_loss.h"

enum { PLACES = 4 };

/** β of 9, 16, 4 and 25 m horizontally: the acceptances are 10/3, 10/4, 5/2 and 10/5 mm/√m; the third is an aperture of
 * 5 mm, which with its dispersion of 50 mm is also that of the energy. */
static struct rm_loss_aperture const chamber[PLACES] = {
    {.s_m = 10, .half_m = {10e-3, 5e-3}, .beta_m = {9, 4}},
    {.s_m = 60, .half_m = {10e-3, 5e-3}, .beta_m = {16, 9}},
    {.s_m = 110, .half_m = {5e-3, 5e-3}, .beta_m = {4, 25}, .dispersion_m = {0.05, 0}},
    {.s_m = 160, .half_m = {10e-3, 5e-3}, .beta_m = {25, 1}},
};

/** A bunch of 50 µm at β = 25 m. */
static struct rm_beam_loss_config const beam = {
    .current_ma = 400,
    .emittance_m = {1e-10, 1e-12},
    .energy_spread = 1e-3,
    .damping_turns = 7000,
};

static struct rm_beam_loss make(struct rm_beam_loss_config const *config) {
    struct rm_beam_loss loss;
    struct rm_error error;
    if (rm_beam_loss_make(config, chamber, PLACES, &loss, &error) != RM_OK)
        fail_msg("%s", error.text);
    return loss;
}

/** The beam oscillates for so many turns; returns what was lost of it. */
static double oscillate(struct rm_beam_loss *loss, rm_turn first, uint32_t turns, double x, double y, double delta) {
    double const amplitude2[2] = {x * x, y * y};
    double lost = 0;
    for (uint32_t t = 0; t < turns; ++t) {
        rm_beam_loss_turn(loss, first + t, amplitude2, delta);
        lost += loss->state.lost_ma;
    }
    return lost;
}

static void a_quiet_beam_loses_nothing(void **state) {
    (void)state;
    struct rm_beam_loss loss = make(&beam);
    assert_float_equal(oscillate(&loss, 100, 1000, 1e-3, 1e-4, 0.002), 0, 0);
    assert_float_equal(loss.state.current_ma, 400, 0);
    assert_true(loss.state.lost_turn == RM_TURN_NONE);
    rm_beam_loss_free(&loss);
}

/** At an amplitude at which the centroid touches the wall, half of the bunch is beyond. */
static void a_kick_loses_what_is_beyond_the_smallest_acceptance(void **state) {
    (void)state;
    struct rm_beam_loss loss = make(&beam);
    double const lost = oscillate(&loss, 100, 2000, 10e-3 / 5, 0, 0);
    assert_float_equal(lost / 400, 0.5, 0.01);
    assert_float_equal(loss.state.current_ma + lost, 400, 1e-6);
    assert_int_equal(loss.state.place, 3);
    rm_beam_loss_free(&loss);
    loss = make(&beam);
    double const size = sqrt(1e-10 * 25);
    assert_float_equal(oscillate(&loss, 100, 2000, (10e-3 - 2 * size) / 5, 0, 0) / 400, 0.5 * erfc(2 / sqrt(2)), 1e-3);
    assert_true(loss.state.lost_turn >= 100 && loss.state.lost_turn < 130);
    rm_beam_loss_free(&loss);
}

/** A kick far beyond the wall: the turn of the loss is that of the kick, and in some turns nothing is left. */
static void a_large_kick_loses_all_at_once(void **state) {
    (void)state;
    struct rm_beam_loss loss = make(&beam);
    assert_float_equal(oscillate(&loss, 100, 50, 0, 1e-4, 0), 0, 0);
    assert_float_equal(oscillate(&loss, 150, 100, 0, 5e-3, 0), 400, 1e-6); /* 25 mm at β = 25 m, of 5 mm */
    assert_int_equal(loss.state.lost_turn, 150);
    assert_int_equal(loss.state.place, 2);
    assert_float_equal(loss.state.current_ma, 0, 0);
    rm_beam_loss_free(&loss);
}

static void an_orbit_bump_loses_the_beam_where_it_is(void **state) {
    (void)state;
    struct rm_beam_loss loss = make(&beam);
    float const x[PLACES] = {0, 0, 0, 0}, bump[PLACES] = {0, 10.2e-3f, 0, 0}, y[PLACES] = {0, 0, 0, 0};
    rm_beam_loss_set_orbit(&loss, x, y, 120);
    assert_float_equal(oscillate(&loss, 100, 20, 1e-5, 1e-5, 0), 0, 0);
    rm_beam_loss_set_orbit(&loss, bump, y, 120);
    assert_true(oscillate(&loss, 120, 200, 1e-5, 1e-5, 0) > 399);
    assert_int_equal(loss.state.place, 1);
    assert_int_equal(loss.state.lost_turn, 120);
    rm_beam_loss_free(&loss);
}

/** By dispersion: 5 mm at 50 mm are 10 %; by the momentum aperture earlier. */
static void energy_loses_the_beam(void **state) {
    (void)state;
    struct rm_beam_loss_config config = beam;
    struct rm_beam_loss loss = make(&config);
    assert_float_equal(oscillate(&loss, 100, 100, 0, 0, 0.07), 0, 1e-6);
    assert_true(oscillate(&loss, 200, 100, 0, 0, -0.105) > 399);
    assert_int_equal(loss.state.place, 2);
    rm_beam_loss_free(&loss);
    config.momentum_aperture = 0.04;
    loss = make(&config);
    assert_float_equal(oscillate(&loss, 100, 100, 0, 0, 0.03), 0, 1e-6);
    assert_float_equal(oscillate(&loss, 200, 400, 0, 0, 0.04) / 400, 0.5, 0.01);
    assert_true(loss.state.lost_turn == 200);
    rm_beam_loss_free(&loss);
}

/** What was cut away is lost once; it grows again with the damping time, and then is lost once more. */
static void what_is_cut_away_grows_again(void **state) {
    (void)state;
    struct rm_beam_loss loss = make(&beam);
    float const zero[PLACES] = {0, 0, 0, 0};
    double const first = oscillate(&loss, 0, 1000, 10e-3 / 5, 0, 0);
    assert_float_equal(oscillate(&loss, 1000, 1000, 10e-3 / 5, 0, 0), 0, 1e-3);
    rm_beam_loss_set_orbit(&loss, zero, zero, 7000);
    double const again = oscillate(&loss, 8000, 1000, 10e-3 / 5, 0, 0);
    assert_float_equal(again / (400 - first), (0.5 - 0.5 * exp(-1)) / (1 - 0.5 * exp(-1)), 0.01);
    rm_beam_loss_free(&loss);
}

static void the_current_decays_with_the_lifetime(void **state) {
    (void)state;
    struct rm_beam_loss_config config = beam;
    config.lifetime_turns = 1e6;
    struct rm_beam_loss loss = make(&config);
    float const zero[PLACES] = {0, 0, 0, 0};
    for (int step = 0; step < 100; ++step)
        rm_beam_loss_set_orbit(&loss, zero, zero, 10000);
    assert_float_equal(loss.state.current_ma, 400 * exp(-1), 1e-6);
    assert_true(loss.state.lost_turn == RM_TURN_NONE);
    rm_beam_loss_free(&loss);
}

static void injected_charge_is_captured_or_lost(void **state) {
    (void)state;
    struct rm_beam_loss loss = make(&beam);
    double const small[2] = {1e-3, 0}, large[2] = {3e-3, 0};
    rm_beam_loss_fill(&loss, 0);
    assert_float_equal(rm_beam_loss_inject(&loss, 10, small, false), 10, 1e-6);
    assert_float_equal(loss.state.current_ma, 10, 1e-6);
    assert_float_equal(rm_beam_loss_inject(&loss, 10, large, false), 0, 1e-6);
    double lost = 0;
    for (rm_turn turn = 0; turn < 100; ++turn) {
        rm_beam_loss_turn(&loss, turn, (double const[2]){0, 0}, 0);
        lost += loss.state.stray_lost_ma;
        assert_float_equal(loss.state.lost_ma, 0, 0);
    }
    assert_float_equal(lost, 10, 1e-6);
    assert_int_equal(loss.state.stray_place, 3);
    assert_float_equal(rm_beam_loss_inject(&loss, 10, small, true), 0, 0); /* a misfire */
    assert_float_equal(loss.state.current_ma, 10, 1e-6);
    assert_float_equal(loss.state.stray_ma, 10, 1e-6);
    rm_beam_loss_free(&loss);
}

static void a_lost_beam_is_filled_again(void **state) {
    (void)state;
    struct rm_beam_loss loss = make(&beam);
    rm_beam_loss_all(&loss, 77);
    assert_int_equal(loss.state.lost_turn, 77);
    assert_int_equal(loss.state.place, 2); /* where the dispersion is */
    assert_float_equal(loss.state.current_ma, 0, 0);
    rm_beam_loss_fill(&loss, 100);
    assert_float_equal(loss.state.current_ma, 100, 0);
    assert_true(loss.state.lost_turn == RM_TURN_NONE);
    rm_beam_loss_free(&loss);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_quiet_beam_loses_nothing),
        cmocka_unit_test(a_kick_loses_what_is_beyond_the_smallest_acceptance),
        cmocka_unit_test(a_large_kick_loses_all_at_once),
        cmocka_unit_test(an_orbit_bump_loses_the_beam_where_it_is),
        cmocka_unit_test(energy_loses_the_beam),
        cmocka_unit_test(what_is_cut_away_grows_again),
        cmocka_unit_test(the_current_decays_with_the_lifetime),
        cmocka_unit_test(injected_charge_is_captured_or_lost),
        cmocka_unit_test(a_lost_beam_is_filled_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
