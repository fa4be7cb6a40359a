// SPDX-License-Identifier: Apache-2.0
/** The motion of a living machine's beam, as the readings of a plant show it: by quadrupoles' setpoints and ripple, and by
 * the RF. No look of the background comes in between. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "instruments/lane_model.h"
#include "plant.h"

enum { FIRST = 8000, TBT = 1, SET_AT = 4096, HALF = 4096 };

static double const RATE_HZ = 1 << 20;

static char const MACHINE[] =
    "workspace: test\n"
    "turn_rate_hz: 1048576\n"
    "ports: [{name: ring, kind: memif, socket: /run/ringmaster/nowhere.sock, answer: 10.20.255.1}]\n"
    "instruments:\n"
    "  - {name: slow, kind: bpm, id: 1, port: ring, source: 10.20.0.1, period_turns: 128}\n"
    "  - {name: tbt, kind: bpm, id: 101, port: ring, source: 10.20.4.1}\n"
    "  - {name: llrf, kind: llrf, id: 1, port: ring, source: 10.20.2.1}\n"
    "setpoints: {period_turns: 128}\n"
    "chains: [{name: q, id: 1, port: ring, address: 10.30.0.1, supplies: [{name: q, unit: A, limits: [-10, 10], slew: "
    "100}]}]\n"
    "roles: [{role: receive, core: 0, ports: [ring]}]\n";

static char const OVERLAY[] =
    "first_turn: 8000\n"
    "beam: {betatron_um: 0, kick_um: 20, kick_every_turns: 8000, synchrotron_um: 0, noise_um: 0}\n"
    "machine:\n"
    "  lattice: elettra2_like\n"
    "  seed: 7\n"
    "  bpms: \"BPM_S01_0[56] BPM_S01_0[56]\"\n"
    "  step_turns: 128\n"
    "  strengths: [{elements: QF1_S01_01, supplies: q, per_unit: 0.001}]\n";

static char const RIPPLE[] = "supplies: [{supplies: q, ripple: [{hz: 16384, amplitude: 4}]}]\n";

struct test_plant {
    char config[40], overlay[40];
    struct rm_plant plant;
};

static void check(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static void write_file(char *path, char const *text, char const *more) {
    strcpy(path, "/tmp/ringmaster-motion-XXXXXX");
    int const file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(write(file, more, strlen(more)), strlen(more));
    close(file);
}

static struct test_plant *plant_open(char const *more) {
    struct test_plant *test = calloc(1, sizeof *test);
    struct rm_error error;
    assert_non_null(test);
    write_file(test->config, MACHINE, "");
    write_file(test->overlay, OVERLAY, more);
    struct rm_ring_files const files = {.config = test->config, .overlay = test->overlay};
    enum rm_code const code = rm_plant_open(&files, true, 0, &test->plant, &error);
    unlink(test->config);
    unlink(test->overlay);
    check(code, &error);
    return test;
}

static void plant_close(struct test_plant *test) {
    rm_plant_close(&test->plant);
    free(test);
}

static int32_t read_lane(struct test_plant *test, uint64_t index, uint32_t instrument, uint32_t lane) {
    union rm_lane lanes[RM_LANES];
    struct rm_error error;
    check(rm_plant_advance(&test->plant, (double)index / RATE_HZ, &error), &error);
    rm_plant_read(&test->plant, FIRST + index, instrument, lanes);
    return lanes[lane].i;
}

/** x of the turn-by-turn BPM, in nm. */
static void record_turns(struct test_plant *test, uint64_t from, uint32_t count, double *x) {
    double mean = 0;
    for (uint32_t i = 0; i < count; ++i)
        mean += (x[i] = read_lane(test, from + i, TBT, 0)) / count;
    for (uint32_t i = 0; i < count; ++i)
        x[i] -= mean;
}

/** Size of a line with a Hann window. */
static double line(double const *x, uint32_t count, double tune) {
    double real = 0, imaginary = 0;
    for (uint32_t i = 0; i < count; ++i) {
        double const window = 1 - cos(2 * M_PI * i / count), angle = 2 * M_PI * fmod(tune * i, 1);
        real += window * x[i] * cos(angle);
        imaginary += window * x[i] * sin(angle);
    }
    return 2 * hypot(real, imaginary) / count;
}

/** The line between 0.1 and 0.45 that is largest. */
static double largest_line(double const *x, uint32_t count, double *size) {
    double best = 0;
    *size = 0;
    for (uint32_t step = 0; step < 3 * count / 2; ++step) {
        double const tune = 0.1 + 0.25 * step / count, here = line(x, count, tune);
        best = here > *size ? tune : best;
        *size = here > *size ? here : *size;
    }
    return best;
}

static double machine_shift(struct test_plant *test) { return rm_machine_oscillation(test->plant.machine)->shift[0]; }

static void a_quadrupoles_setpoint_moves_the_line_in_the_same_window(void **state) {
    (void)state;
    enum { SHORT = 1024 };
    struct test_plant *test = plant_open("");
    double x[SHORT], size;
    record_turns(test, 0, SHORT, x);
    double const before = largest_line(x, SHORT, &size);
    assert_float_equal(before, rm_machine_says(test->plant.machine).tune[0], 0.3 / SHORT);
    rm_supply_set(&test->plant.chains.supply[0], (SHORT - 0.5) / RATE_HZ, 4);
    record_turns(test, SHORT, SHORT, x);
    double const after = largest_line(x, SHORT, &size);
    assert_true(fabs(machine_shift(test)) > 3e-3);
    assert_float_equal(after - before, machine_shift(test), 0.6 / SHORT);
    assert_true(line(x, SHORT, before) < 0.01 * size); /* nothing is left where it was */
    plant_close(test);
}

/** A ripple of 4 A is a frequency modulation: its sidebands are J₁ of the shift over the ripple's tune. The magnets are
 * felt every 8 turns: that takes 1 % of it. */
static void ripple_of_a_supply_makes_sidebands(void **state) {
    (void)state;
    enum { LONG = 2048 };
    struct test_plant *quiet = plant_open(""), *test = plant_open(RIPPLE);
    double *x = calloc(LONG, sizeof *x), most = 0, carrier, quiet_carrier;
    record_turns(quiet, 0, LONG, x);
    double const tune = largest_line(x, LONG, &quiet_carrier), ripple = 16384 / RATE_HZ;
    for (uint32_t i = 0; i < LONG; ++i) {
        x[i] = read_lane(test, i, TBT, 0);
        most = fmax(most, fabs(machine_shift(test)));
    }
    double mean = 0;
    for (uint32_t i = 0; i < LONG; ++i)
        mean += x[i] / LONG;
    for (uint32_t i = 0; i < LONG; ++i)
        x[i] -= mean;
    carrier = line(x, LONG, tune);
    double const depth = most / ripple;
    assert_true(depth > 0.2);
    assert_float_equal(carrier / quiet_carrier, j0(depth), 0.03);
    for (int side = -1; side <= 1; side += 2)
        assert_float_equal(line(x, LONG, tune + side * ripple) / quiet_carrier, j1(depth), 0.03);
    free(x);
    plant_close(quiet);
    plant_close(test);
}

/** The orbit moves by the dispersion from turn to turn, the cavities' lanes fall, and then there is no beam. */
static void rf_trip_is_in_the_readings(void **state) {
    (void)state;
    enum { LLRF = 2, CAVITY_AMP = 1, SUM1 = 2 };
    struct test_plant *test = plant_open("");
    struct rm_error error;
    double weight[2][RM_OSCILLATION_PHASE];
    double const at_first = read_lane(test, 1000, TBT, 0);
    double const volts = read_lane(test, 1000, LLRF, CAVITY_AMP);
    check(rm_plant_set(&test->plant, "rf_voltage", 0, &error), &error);
    uint64_t lost = 0;
    for (uint64_t index = 1001; index < 1400 && lost == 0; ++index) {
        double const x = read_lane(test, index, TBT, 0);
        struct rm_oscillation_state const *now = &rm_machine_oscillation(test->plant.machine)->state;
        rm_machine_bpm_weights(test->plant.machine, 2, weight);
        double moved = 0;
        for (int p = RM_OSCILLATION_DELTA; p <= RM_OSCILLATION_SQUARE; ++p)
            moved += 1e9 * weight[0][p] * now->part[p];
        if (index == 1100) {
            assert_true(moved < -400e3);                    /* 4 µm a turn and more, at 50 mm */
            assert_true(fabs(x - at_first - moved) < 40e3); /* the kick of turn 8000 still swings */
            assert_true(read_lane(test, index, LLRF, CAVITY_AMP) < 0.1 * volts);
        }
        if (rm_machine_beam(test->plant.machine) == 0)
            lost = index;
    }
    assert_in_range(lost, 1150, 1250);
    assert_true(abs(read_lane(test, lost + 8, TBT, SUM1)) < 10000);
    plant_close(test);
}

/** The bunch follows the cavities: they are so much later, and it comes as much earlier against their phase. */
static void a_phase_of_the_rf_is_in_its_lanes(void **state) {
    (void)state;
    enum { LLRF = 2, CAVITY_PHASE = 0, BEAM_PHASE = 7, SETTLED = 60000 };
    double const degree_urad = 1e6 * M_PI / 180;
    struct test_plant *test = plant_open("");
    struct rm_error error;
    double const cavity = read_lane(test, 1000, LLRF, CAVITY_PHASE), bunch = read_lane(test, 1000, LLRF, BEAM_PHASE);
    check(rm_plant_set(&test->plant, "rf_phase", 1, &error), &error);
    double const share = 150 / RM_LANE_BEAM_PHASE_URAD; /* of the bunch's phase that is seen in the cavities */
    assert_float_equal(read_lane(test, SETTLED, LLRF, BEAM_PHASE) - bunch, -degree_urad, 2500);
    assert_float_equal(read_lane(test, SETTLED, LLRF, CAVITY_PHASE) - cavity, (1 - share) * degree_urad, 2000);
    plant_close(test);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_quadrupoles_setpoint_moves_the_line_in_the_same_window),
        cmocka_unit_test(ripple_of_a_supply_makes_sidebands),
        cmocka_unit_test(rf_trip_is_in_the_readings),
        cmocka_unit_test(a_phase_of_the_rf_is_in_its_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
