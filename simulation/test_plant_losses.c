// SPDX-License-Identifier: Apache-2.0
/** Beam loss in a living ring: loss monitors, interlocks and sum signals tell of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

#include "test_plant_rig.h"

enum {
    FIRST = 5000,
    /* instruments */
    BPM = 0,
    BLMS = 3,
    INTERLOCK = BPM + 1 + BLMS,
    CHANNELS = 10 * BLMS,
    /* lanes */
    X1 = 0,
    SUM1 = 2,
    FLAGS = 0,
    PERMITS = 1,
    LOSS_TURN = 2,
    CURRENT = 3,
    ALL_PERMITS = 0xFF,
};

static char const DESCRIBED[] =
    "instruments:\n"
    "  - {name: bpm, kind: bpm, id: 1, port: ring, source: 10.20.0.1}\n"
    "  - {name: blm, kind: blm, id: 1, count: 3, port: ring, source: 10.20.1.1}\n"
    "  - {name: psi, kind: interlock, id: 1, port: ring, source: 10.20.2.1}\n"
    "setpoints: {period_turns: 120}\n"
    "chains: [{name: fx, id: 1, port: ring, address: 10.30.0.1, supplies: [{name: fx, count: 6, unit: A, limits: "
    "[-300, 300], slew: 1e6}]}]\n";

static char const OVERLAY[] = "first_turn: 5000\n"
                              "beam: {betatron_um: 1, synchrotron_um: 0, loss_counts: 0, sum_counts: 1e6}\n"
                              "machine:\n"
                              "  lattice: elettra2_like\n"
                              "  bpms: \"BPM_S01_0[12]\"\n"
                              "  step_turns: 12\n"
                              "  correctors: [{elements: \"CF_S01_*\", plane: x, supplies: fx, urad_per_unit: 10}]\n";

/** What is read of one turn. */
struct turn {
    union rm_lane bpm[RM_LANES], interlock[RM_LANES];
    int32_t loss[CHANNELS];
    int64_t losses;
    uint32_t most; /**< channel */
};

static struct turn read_turn_of(struct rm_plant *plant, uint64_t index, rm_turn number) {
    struct turn turn = {.losses = 0};
    union rm_lane lanes[RM_LANES];
    test_plant_reach(plant, index);
    rm_plant_read(plant, number, BPM, turn.bpm);
    rm_plant_read(plant, number, INTERLOCK, turn.interlock);
    for (uint32_t c = 0; c < CHANNELS; ++c) {
        if (c % 10 == 0)
            rm_plant_read(plant, number, 1 + c / 10, lanes);
        turn.loss[c] = lanes[c % 10].i;
        turn.losses += turn.loss[c];
        turn.most = turn.loss[c] > turn.loss[turn.most] ? c : turn.most;
    }
    return turn;
}

static struct turn read_turn(struct rm_plant *plant, uint64_t index) {
    return read_turn_of(plant, index, FIRST + index);
}

/** Reads turns until the beam is lost; the turn, or `most`. */
static uint64_t first_lost(struct rm_plant *plant, uint64_t from, uint64_t most, struct turn *turn) {
    for (uint64_t index = from; index < most; ++index) {
        *turn = read_turn(plant, index);
        if (turn->interlock[PERMITS].i != ALL_PERMITS)
            return index;
        assert_int_equal(turn->interlock[LOSS_TURN].i, -1);
    }
    return most;
}

static double channel_place(struct rm_plant const *plant, uint32_t channel) {
    return rm_machine_length_m(plant->machine) * (channel + 0.5) / CHANNELS;
}

/** The channel that sees most is the one nearest to the aperture where the beam was lost. */
static void check_nearest(struct rm_plant const *plant, struct turn const *turn) {
    struct rm_beam_loss const *loss = &plant->lanes.loss.loss;
    double const length = rm_machine_length_m(plant->machine), place = loss->aperture[loss->state.place].s_m;
    uint32_t nearest = 0;
    double least = length;
    for (uint32_t c = 0; c < CHANNELS; ++c) {
        double const way = fabs(channel_place(plant, c) - place), around = fmin(way, length - way);
        nearest = around < least ? c : nearest;
        least = fmin(least, around);
    }
    assert_int_equal(turn->most, nearest);
}

static void a_kick_beyond_the_chamber_loses_the_beam(void **state) {
    (void)state;
    struct rm_plant plant;
    struct turn turn;
    test_plant_open(&plant, DESCRIBED, OVERLAY, "events: [{event: kick, at_turn: 5100, y_um: 40000, x_um: 0}]\n");
    assert_int_equal(first_lost(&plant, 0, 300, &turn), 100);
    assert_int_equal(turn.interlock[LOSS_TURN].i, FIRST + 100);
    assert_int_equal(turn.interlock[PERMITS].i, ALL_PERMITS - 1);
    assert_int_equal(turn.interlock[FLAGS].i, 3);
    assert_true(turn.losses > 1000);
    check_nearest(&plant, &turn);
    for (uint64_t index = 101; index < 140; ++index) { /* positions are noise, new at each turn */
        int32_t const before = turn.bpm[X1].i;
        turn = read_turn(&plant, index);
        assert_int_not_equal(turn.bpm[X1].i, before);
    }
    assert_int_equal(turn.interlock[CURRENT].i, 0);
    assert_int_equal(turn.interlock[FLAGS].i, 2);
    assert_int_equal(turn.interlock[LOSS_TURN].i, FIRST + 100); /* it stays the turn of the loss */
    assert_int_equal(turn.bpm[SUM1].i, 0);
    assert_int_equal(turn.losses, 0);
    rm_plant_close(&plant);
}

/** Half of the acceptance is not lost, and a part of the beam beyond it is. */
static void a_kick_scrapes_as_much_as_is_beyond(void **state) {
    (void)state;
    struct rm_plant plant;
    char more[96];
    double acceptance = 1, root[2], dispersion;
    test_plant_open(&plant, DESCRIBED, OVERLAY, "");
    for (uint32_t a = 0; a < plant.lanes.loss.loss.count; ++a) {
        struct rm_loss_aperture const *at = &plant.lanes.loss.loss.aperture[a];
        acceptance = fmin(acceptance, at->half_m[0] / sqrt(at->beta_m[0]));
    }
    rm_machine_scales(plant.machine, root, &dispersion);
    rm_plant_close(&plant);
    snprintf(more, sizeof more, "events: [{event: kick, at_turn: 5100, y_um: 0, x_um: %.1f}]\n",
             1e6 * acceptance * root[0]);
    test_plant_open(&plant, DESCRIBED, OVERLAY, more);
    struct turn turn;
    assert_true(first_lost(&plant, 0, 300, &turn) < 120);
    for (uint64_t index = 120; index < 400; ++index)
        turn = read_turn(&plant, index);
    assert_true(turn.interlock[CURRENT].i > 40000 && turn.interlock[CURRENT].i < 360000);
    assert_float_equal(turn.bpm[SUM1].i / 1e6, turn.interlock[CURRENT].i / 400e3, 0.12); /* a sum is ± 10 % */
    rm_plant_close(&plant);
}

/** By dispersion and the momentum aperture, after 150 to 250 turns. */
static void an_rf_trip_loses_the_beam(void **state) {
    (void)state;
    struct rm_plant plant;
    struct turn turn;
    test_plant_open(&plant, DESCRIBED, OVERLAY, "events: [{event: rf_trip, at_turn: 5100}]\n");
    uint64_t const lost = first_lost(&plant, 0, 600, &turn);
    print_message("lost %llu turns after the trip\n", (unsigned long long)lost - 100);
    assert_in_range(lost, 100 + 150, 100 + 250);
    assert_int_equal(turn.interlock[LOSS_TURN].i, FIRST + (int32_t)lost);
    check_nearest(&plant, &turn);
    for (uint64_t index = lost + 1; index < lost + 40; ++index)
        turn = read_turn(&plant, index);
    assert_int_equal(turn.interlock[CURRENT].i, 0);
    rm_plant_close(&plant);
}

/** A supply moves the orbit to a wall that is narrow in one place, and the beam is lost there. */
static void an_orbit_bump_loses_the_beam_at_the_aperture(void **state) {
    (void)state;
    struct rm_plant plant;
    struct turn turn;
    test_plant_open(&plant, DESCRIBED, OVERLAY,
                    "  chamber: {apertures: [{elements: BPM_S06_03, x_mm: 1.5}]}\n"
                    "supplies: [{supplies: fx, slew: 1e6, bandwidth_hz: 20000}]\n");
    assert_int_equal(first_lost(&plant, 0, 100, &turn), 100);
    for (uint32_t s = 0; s < 6; ++s)
        rm_supply_set(&plant.chains.supply[s], plant.time, s % 2 == 0 ? 60 : -20);
    assert_true(first_lost(&plant, 100, 2000, &turn) < 2000);
    struct rm_beam_loss const *loss = &plant.lanes.loss.loss;
    assert_float_equal(loss->aperture[loss->state.place].half_m[0], 1.5e-3, 1e-9);
    check_nearest(&plant, &turn);
    rm_plant_close(&plant);
}

static void an_injection_fills_and_a_misfire_loses(void **state) {
    (void)state;
    struct rm_plant plant;
    struct turn turn;
    test_plant_open(&plant, DESCRIBED, OVERLAY, "events: [{event: kick, at_turn: 5010, y_um: 90000, x_um: 0}]\n");
    for (uint64_t index = 0; index < 100; ++index)
        turn = read_turn(&plant, index);
    assert_int_equal(turn.interlock[CURRENT].i, 0);
    test_plant_event(&plant, "event: injection, ma: 10, misfires: true");
    int64_t losses = 0;
    for (uint64_t index = 100; index < 160; ++index) {
        turn = read_turn(&plant, index);
        losses += turn.losses;
    }
    assert_true(losses > 1000);
    assert_int_equal(turn.interlock[CURRENT].i, 0);
    assert_int_equal(turn.interlock[PERMITS].i, ALL_PERMITS - 1);
    test_plant_event(&plant, "event: injection, ma: 10, x_um: 500");
    double most = 0;
    for (uint64_t index = 160; index < 220; ++index) {
        turn = read_turn(&plant, index);
        most = fmax(most, abs(turn.bpm[0].i));
        assert_int_equal(turn.losses, 0);
    }
    assert_int_equal(turn.interlock[CURRENT].i, 10000);
    assert_int_equal(turn.interlock[PERMITS].i, ALL_PERMITS);
    assert_int_equal(turn.interlock[LOSS_TURN].i, -1);
    assert_true(most > 100e3 && most < 2000e3); /* it is all of the beam that oscillates */
    test_plant_event(&plant, "event: injection");
    turn = read_turn(&plant, 221);
    assert_int_equal(turn.interlock[CURRENT].i, 400000);
    rm_plant_close(&plant);
}

/** The knob takes the beam away, and brings it back. */
static void the_knob_fills_a_lost_beam(void **state) {
    (void)state;
    struct rm_plant plant;
    struct rm_error error;
    struct turn turn;
    test_plant_open(&plant, DESCRIBED, OVERLAY, "events: [{event: kick, at_turn: 5010, y_um: 90000, x_um: 0}]\n");
    assert_int_equal(first_lost(&plant, 0, 100, &turn), 10);
    assert_int_equal(rm_plant_set(&plant, "beam", 1, &error), RM_OK); /* it was 1 all the time */
    for (uint64_t index = 11; index < 40; ++index)
        turn = read_turn(&plant, index);
    assert_int_equal(turn.interlock[CURRENT].i, 400000);
    assert_true(turn.bpm[SUM1].i > 800000);
    assert_int_equal(rm_plant_set(&plant, "beam", 0, &error), RM_OK);
    assert_in_range(first_lost(&plant, 40, 100, &turn), 40, 60);
    rm_plant_close(&plant);
}

/** The current falls by the lifetime, and what monitors count of it is in proportion. */
static void the_lifetime_takes_the_current(void **state) {
    (void)state;
    struct rm_plant plant;
    struct turn turn;
    char overlay[1024];
    double counts[2] = {0, 0};
    snprintf(overlay, sizeof overlay, "%s", OVERLAY);
    memcpy(strstr(overlay, "loss_counts: 0"), "loss_counts: 5", 14);
    test_plant_open(&plant, DESCRIBED, overlay, "  lifetime_h: 1e-5\n"); /* 36 ms */
    for (uint64_t index = 0; index < 38000; ++index) {
        bool const first = index < 1000, last = index >= 37000;
        if (!first && !last) {
            index = 36999;
            continue;
        }
        turn = read_turn(&plant, index);
        counts[last] += (double)turn.losses / (1000 * CHANNELS);
    }
    assert_float_equal(turn.interlock[CURRENT].i / 400e3, exp(-38000 / (0.036 * 1048576)), 1e-3);
    assert_float_equal(counts[0], 5, 0.5);
    assert_float_equal(counts[1] / counts[0], exp(-37000 / (0.036 * 1048576)), 0.03);
    assert_int_equal(turn.interlock[PERMITS].i, ALL_PERMITS);
    rm_plant_close(&plant);
}

/** The top-up brings the current back; its bump leaks, and so it does when an event injects. */
static void the_top_up_fills_the_beam(void **state) {
    (void)state;
    struct rm_plant plant;
    struct turn turn;
    test_plant_open(&plant, DESCRIBED, OVERLAY,
                    "  lifetime_h: 1e-5\n"
                    "  disturbances: {topup: {urad: 100, every_s: 0.01, turns: 200}}\n"
                    "events: [{event: injection, at_turn: 8000, ma: 0}]\n"); /* 10 ms are 10485.76 turns */
    turn = read_turn(&plant, 2980);
    int32_t const before = turn.bpm[0].i;
    turn = read_turn(&plant, 3100);
    assert_true(abs(turn.bpm[0].i - before) > 50e3);
    turn = read_turn(&plant, 10470);
    assert_float_equal(turn.interlock[CURRENT].i / 400e3, exp(-0.01 / 0.036), 0.01);
    assert_true(abs(turn.bpm[0].i - before) < 20e3);
    turn = read_turn(&plant, 10600);
    assert_float_equal(turn.interlock[CURRENT].i / 400e3, 1, 0.01);
    assert_true(abs(turn.bpm[0].i - before) > 50e3);
    rm_plant_close(&plant);
}

/** A run that goes on from a checkpoint has the current, the losses and the interlock of the one that ended. */
static void losses_go_on_from_a_checkpoint(void **state) {
    (void)state;
    struct rm_plant whole, rest;
    struct rm_error error;
    struct turn turn, again;
    char overlay[1024], path[] = "/tmp/ringmaster-losses-XXXXXX";
    rm_turn first = 0;
    int const file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    test_plant_open(&whole, DESCRIBED, OVERLAY,
                    "  lifetime_h: 1e-5\nevents: [{event: injection, at_turn: 5140, ma: 100, misfires: true}]\n");
    for (uint64_t index = 0; index <= 141; ++index)
        turn = read_turn(&whole, index);
    assert_true(turn.losses > 100);
    if (rm_machine_lanes_save(&whole.lanes, path, &error) != RM_OK)
        fail_msg("%s", error.text);
    snprintf(overlay, sizeof overlay, "first_turn: 5142\n%s", strchr(OVERLAY, '\n') + 1);
    test_plant_open(&rest, DESCRIBED, overlay, "  lifetime_h: 1e-5\n");
    if (rm_machine_lanes_load(&rest.lanes, path, &first, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(first, 5142);
    for (uint64_t index = 142; index < 400; ++index) {
        turn = read_turn(&whole, index);
        again = read_turn_of(&rest, index - 142, FIRST + index);
        assert_memory_equal(turn.interlock, again.interlock, sizeof turn.interlock);
        assert_memory_equal(turn.loss, again.loss, sizeof turn.loss);
        assert_int_equal(turn.bpm[SUM1].i, again.bpm[SUM1].i);
    }
    unlink(path);
    rm_plant_close(&whole);
    rm_plant_close(&rest);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_kick_beyond_the_chamber_loses_the_beam),
        cmocka_unit_test(a_kick_scrapes_as_much_as_is_beyond),
        cmocka_unit_test(an_rf_trip_loses_the_beam),
        cmocka_unit_test(an_orbit_bump_loses_the_beam_at_the_aperture),
        cmocka_unit_test(an_injection_fills_and_a_misfire_loses),
        cmocka_unit_test(the_knob_fills_a_lost_beam),
        cmocka_unit_test(the_lifetime_takes_the_current),
        cmocka_unit_test(the_top_up_fills_the_beam),
        cmocka_unit_test(losses_go_on_from_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
