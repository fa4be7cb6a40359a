// SPDX-License-Identifier: Apache-2.0
/** A run that goes on from a checkpoint, beside one that was not interrupted. Argument: the lattice. */
#include "test_machine_rig.h"

#include <stdio.h>
#include <unistd.h>

#include "machine_checkpoint.h"

enum { EVERY = 16, BEFORE = 200, AFTER = 200, LOOK_EVERY = 70, READ = 5 };

static struct rm_beam_config const beam = {
    .betatron_um = 1, .synchrotron_um = 2, .kick_um = 30, .kick_every_turns = 500, .seed = 3};

/** All that has a memory; where `sextupole` says so, a supply of a sextupole instead of a quadrupole's. */
static void make_busy(struct machine_rig *rig, bool sextupole) {
    static char name[] = "SD1_S05_01";
    rig_init(rig);
    if (sextupole) {
        rig->config.group[2].elements = name;
        rig->config.group[2].change = RM_CHANGE_SEXTUPOLE;
        rig->config.group[2].per_unit = 0.5;
    }
    rig->config.disturbances.mains[0].hz = 50;
    rig->config.disturbances.mains[0].orbit_m = 10e-6;
    rig->config.disturbances.mains_count = 1;
    rig->config.disturbances.mains_wander = 0.01;
    rig->config.disturbances.ground_rms_m = 50e-9;
    rig->config.disturbances.ground_corner_hz = 10;
    rig->config.disturbances.step_rad = 1e-6;
    rig->config.disturbances.step_every_s = 3e-3;
    rig->config.group[0].eddy_hz = 500;
    rig->config.bpm_delay_s = 2.5 / RATE_HZ;
    rig->config.bpm_bandwidth_hz = 1000;
    rig->config.blend_s = 10 / RATE_HZ;
    rig_make(rig);
    assert_int_equal(rm_machine_excite(rig->machine, &beam, &rig->error), RM_OK);
    rm_oscillation_average(rm_machine_oscillation(rig->machine), 120);
    rm_oscillation_enter(rm_machine_oscillation(rig->machine), 1000);
}

/** Steps, each with some turns, and reads: [READ] of each step. A look is taken at the step after it was made. */
static void run_on(struct machine_rig *rig, uint32_t steps, double (*read)[READ]) {
    struct rm_oscillation *oscillation = rm_machine_oscillation(rig->machine);
    for (uint32_t s = 0; s < steps; ++s) {
        uint64_t const setpoint = rig->steps / 20;
        for (uint32_t c = 0; c < SUPPLIES; ++c)
            rig->current[c] = c == RF ? 0 : sin((double)(setpoint + c));
        step(rig);
        if (rig->steps % LOOK_EVERY == 0 || rig->steps == BEFORE)
            refresh(rig);
        rm_machine_set_strengths(rig->machine, &rig->current[STRENGTH]);
        for (int turn = 0; turn < EVERY; ++turn)
            rm_oscillation_step(oscillation);
        rm_machine_read(rig->machine, 7, &read[s][0], &read[s][1]);
        rm_machine_true_orbit(rig->machine, 9, &read[s][2], &read[s][3]);
        read[s][4] = oscillation->state.part[RM_OSCILLATION_P2];
    }
}

static void go_on_to_the_same_bits(bool sextupole) {
    char path[] = "/tmp/ringmaster-checkpoint-XXXXXX";
    struct machine_rig *rig = calloc(2, sizeof *rig);
    double(*read)[BEFORE][READ] = calloc(3, sizeof *read);
    struct rm_machine_moment moment = {.origin = 5, .turn = 77}, found;
    close(mkstemp(path));
    make_busy(&rig[0], sextupole);
    run_on(&rig[0], BEFORE, read[0]); /* its last look waits to be taken */
    assert_int_equal(rm_machine_save(rig[0].machine, &moment, path, &rig[0].error), RM_OK);
    run_on(&rig[0], AFTER, read[1]);
    make_busy(&rig[1], sextupole);
    rig[1].steps = BEFORE;
    assert_int_equal(rm_machine_load(rig[1].machine, path, &found, &rig[1].error), RM_OK);
    assert_memory_equal(&found, &moment, sizeof moment);
    run_on(&rig[1], AFTER, read[2]);
    assert_memory_equal(read[2], read[1], AFTER * sizeof read[1][0]);
    assert_true(fabs(read[1][AFTER - 1][0] - read[0][BEFORE - 1][0]) > 100);
    for (int r = 0; r < 2; ++r)
        rig_free(&rig[r]);
    unlink(path);
    free(read);
    free(rig);
}

static void test_a_run_goes_on_to_the_same_bits(void **state) {
    (void)state;
    go_on_to_the_same_bits(false);
}

static void test_a_run_with_a_sextupole_goes_on_to_the_same_bits(void **state) {
    (void)state;
    go_on_to_the_same_bits(true);
}

/** Of the same sizes, with other errors or another motion. */
static void test_another_machines_checkpoint_is_refused(void **state) {
    (void)state;
    char path[] = "/tmp/ringmaster-checkpoint-XXXXXX";
    struct machine_rig rig;
    struct rm_machine_moment moment = {.origin = 5, .turn = 77};
    struct rm_beam_config other = beam;
    close(mkstemp(path));
    rig_init(&rig);
    for (int machine = 0; machine < 4; ++machine) {
        rig.config.seed += machine == 1;
        rig.config.errors.bpm_gain += machine == 2 ? 0.01 : 0;
        other.kick_um += machine == 3 ? 1 : 0;
        rig_make(&rig);
        assert_int_equal(rm_machine_excite(rig.machine, &other, &rig.error), RM_OK);
        if (machine > 0) {
            assert_int_equal(rm_machine_load(rig.machine, path, &moment, &rig.error), RM_E_CONFIG);
            assert_non_null(strstr(rig.error.text, "another machine"));
        }
        assert_int_equal(rm_machine_save(rig.machine, &moment, path, &rig.error), RM_OK);
        rig_free(&rig);
    }
    unlink(path);
}

static void test_what_is_no_checkpoint_of_it_is_refused(void **state) {
    (void)state;
    char path[] = "/tmp/ringmaster-checkpoint-XXXXXX";
    struct machine_rig rig;
    struct rm_machine_moment moment;
    int const file = mkstemp(path);
    rig_init(&rig);
    rig_make(&rig);
    assert_int_equal(write(file, path, sizeof path), sizeof path);
    close(file);
    assert_int_equal(rm_machine_load(rig.machine, path, &moment, &rig.error), RM_E_CONFIG);
    assert_non_null(strstr(rig.error.text, "another machine or build"));
    unlink(path);
    rig_free(&rig);
    rig_make(&rig);
    assert_int_equal(rm_machine_load(rig.machine, path, &moment, &rig.error), RM_E_NOT_FOUND);
    step(&rig);
    refresh(&rig);
    step(&rig);
    rig_free(&rig);
}

int main(int argc, char **argv) {
    if (!rig_take_lattice(argc, argv))
        return EXIT_FAILURE;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_a_run_goes_on_to_the_same_bits),
        cmocka_unit_test(test_a_run_with_a_sextupole_goes_on_to_the_same_bits),
        cmocka_unit_test(test_another_machines_checkpoint_is_refused),
        cmocka_unit_test(test_what_is_no_checkpoint_of_it_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
