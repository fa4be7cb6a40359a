// SPDX-License-Identifier: Apache-2.0
/** BPMs that lie, correctors that trip or stand at their limits, a beam that is lost: what is out, and how it goes on.
 * Argument: feedback.so. */
#include "rig.h"

/** The row's state, and that the loop goes on as if nothing had been. */
static void expect_out(struct feedback_test *test, uint32_t input, uint32_t fault) {
    for (uint32_t k = 0; k < 4; ++k)
        assert_int_equal((int)reading(test, FEEDBACK_ROW_STATE, 4 * input + k) & fault, fault);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_bad_bpms_are_out(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
    double generation = reading(test, FEEDBACK_GENERATION, 0);

    test->machine.wrongs.leap_nm[2] = 1e6; /* within that very cycle */
    assert_true(largest_step(test, 1) < 0.02);
    expect_out(test, 2, FEEDBACK_ROW_JUMPED);
    expect_stable(test, generation);

    generation = reading(test, FEEDBACK_GENERATION, 0);
    test->machine.wrongs.invalid[4] = true;
    assert_true(largest_step(test, 1) < 0.02);
    expect_out(test, 4, FEEDBACK_ROW_INVALID);
    expect_stable(test, generation);

    generation = reading(test, FEEDBACK_GENERATION, 0);
    test->machine.wrongs.silent[6] = true;
    cycle(test);
    expect_out(test, 6, FEEDBACK_ROW_MISSING); /* substituted */
    assert_false((int)reading(test, FEEDBACK_ROW_STATE, 24) & FEEDBACK_ROW_SILENT);
    cycles(test, 4);
    expect_out(test, 6, FEEDBACK_ROW_SILENT);
    expect_stable(test, generation);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS - 12);

    generation = reading(test, FEEDBACK_GENERATION, 0);
    test->machine.wrongs.frozen[8] = true;
    cycles(test, 6);
    expect_out(test, 8, FEEDBACK_ROW_FROZEN);
    expect_stable(test, generation);

    double const beam = test->machine.wrongs.beam; /* all come back */
    test->machine.wrongs = (struct machine_wrongs){.beam = beam};
    disturb(test, 0.5);
    cycles(test, 700);
    solve(test);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
    assert_true(reading(test, FEEDBACK_SUBSTITUTED, 0) > 0.0);
}

static void test_too_few_bpms_is_a_fault(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    close_loop(test);
    for (uint32_t i = 0; i < 6; ++i)
        test->machine.wrongs.invalid[i] = true;
    cycles(test, 2);
    assert_int_equal(state_of(test), FEEDBACK_FAULT);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_FEW_BPMS);
    assert_true(reading(test, FEEDBACK_CAUSE_NUMBER, 0) >= 0.0);
    assert_true(reading(test, FEEDBACK_CAUSE_TURN, 0) > 0.0);
    for (uint32_t i = 0; i < 6; ++i)
        test->machine.wrongs.invalid[i] = false;
    cycles(test, 700);
    assert_int_equal(state_of(test), FEEDBACK_FAULT); /* until a person has looked */
    set(test, FEEDBACK_RESET, 1);
    solve(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_lost_beam_holds_within_its_cycle(void **state) {
    struct feedback_test *test = *state;
    test->rearm_s = 10;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    double held[CORRECTORS];
    memcpy(held, test->setpoint, sizeof held);
    test->machine.wrongs.beam = 0.3;
    for (uint32_t row = 0; row < ROWS; ++row) /* and readings are anything */
        test->machine.wrongs.disturbance[row] += 1e5 * (row % 3);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    assert_memory_equal(held, test->setpoint, sizeof held);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_NO_BEAM);
    cycles(test, 100);
    assert_memory_equal(held, test->setpoint, sizeof held);
    disturb(test, 0.5);
    test->machine.wrongs.beam = 1.0;
    assert_true(largest_step(test, 1500) < 0.02);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_a_lost_beam_is_for_a_person_to_look_at(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    double held[CORRECTORS];
    memcpy(held, test->setpoint, sizeof held);
    test->machine.wrongs.beam = 0.3;
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_FAULT);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_NO_BEAM);
    cycles(test, 100);
    test->machine.wrongs.beam = 1.0;
    cycles(test, 1500);
    assert_int_equal(state_of(test), FEEDBACK_FAULT); /* also when it is back */
    assert_memory_equal(held, test->setpoint, sizeof held);
    set(test, FEEDBACK_RESET, 1);
    assert_true(largest_step(test, 500) < 0.02);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_tripped_corrector_leaves(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    double const generation = reading(test, FEEDBACK_GENERATION, 0);
    double const kept = test->setpoint[2];
    test->machine.wrongs.lost[2] = true;
    cycles(test, 3);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 2), FEEDBACK_ACTUATOR_LOST);
    expect_stable(test, generation);
    assert_true(fabs(test->setpoint[2] - kept) < 0.02);
    test->machine.wrongs.lost[2] = false;
    cycles(test, 700);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 2), 0);
    solve(test);
    assert_true(largest_step(test, 500) < 0.02);
}

static void test_saturated_corrector_leaves(void **state) {
    struct feedback_test *test = *state;
    test->actuator[0].high = 0.05; /* of what the disturbance asks for: 0.2 */
    open_feedback(test, one_family);
    disturb(test, -0.5);
    cycles(test, 20);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    set(test, FEEDBACK_MODES, 6);
    for (uint32_t c = 2; c < 6; ++c) { /* only the two fast ones of this plane: no other can take its part */
        double const out = 0;
        put(test, FEEDBACK_ACTUATOR_MASK, c, &out, 1);
    }
    cycles(test, 100);
    solve(test);
    cycles(test, 2000);
    assert_true(test->setpoint[0] <= 0.05);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 0), FEEDBACK_ACTUATOR_SATURATED);
    solve(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    assert_true(reading(test, FEEDBACK_SATURATED, 0) == 1.0);
    cycles(test, 1000);
    assert_true(test->setpoint[0] == 0.05);
    assert_true(largest_step(test, 200) < 0.02);
}

static void lose(struct feedback_test *test, uint32_t count, bool is_lost) {
    for (uint32_t c = 0; c < count; ++c)
        test->machine.wrongs.lost[c] = is_lost;
}

/** Chains are lost, and join again. */
static void test_lost_chains_come_back(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    for (uint32_t away = 1; away <= 300; away *= 6) {
        lose(test, 10, true);
        for (uint32_t i = 0; i < away; ++i, cycle(test))
            rm_host_program_work(test->program);
        lose(test, 10, false);
        cycles(test, 2);
        assert_int_equal(state_of(test), FEEDBACK_HOLD);
        cycles(test, 10 * away + 5);
        double largest = 0.0;
        for (uint32_t i = 0; i < 4; ++i) {
            rm_host_program_work(test->program);
            largest = fmax(largest, largest_step(test, 100));
        }
        assert_true(largest < 0.02);
        assert_int_equal(state_of(test), FEEDBACK_ON);
        cycles(test, 1000);
        assert_true(rms_nm(test, X) < 300.0 && rms_nm(test, Y) < 300.0);
    }
    lose(test, 10, true);
    cycles(test, 22000);
    assert_int_equal(state_of(test), FEEDBACK_FAULT);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_FEW_ACTUATORS);
}

/** What has gone to its limits is brought back by the loop, once a person has looked. */
static void test_gets_out_of_saturation(void **state) {
    struct feedback_test *test = *state;
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        test->actuator[c].low = -0.3;
        test->actuator[c].high = 0.3;
    }
    for (uint32_t again = 0; again < 2; ++again) {
        struct rm_error error;
        if (again == 0)
            open_feedback(test, one_family);
        else
            assert_int_equal(rm_host_program_init(test->program, &error), RM_OK);
        disturb(test, 0.5);
        set(test, FEEDBACK_LOOP, 0);
        close_loop(test);
        for (uint32_t row = 0; row < ROWS; ++row)
            for (uint32_t c = 0; c < CORRECTORS; ++c)
                test->machine.wrongs.disturbance[row] += (c % 2 ? 2.0 : -2.0) * test->machine.response[row][c];
        cycles(test, 3000);
        assert_int_equal(state_of(test), FEEDBACK_FAULT);
        assert_true((int)reading(test, FEEDBACK_CAUSE, 0) & (FEEDBACK_SATURATION | FEEDBACK_FEW_ACTUATORS));
        disturb(test, 0.5);
        if (again == 0) {
            set(test, FEEDBACK_LOOP, 0);
            cycles(test, 20);
            solve(test);
            cycles(test, 20);
            assert_int_equal(state_of(test), FEEDBACK_READY);
            set(test, FEEDBACK_LOOP, 1);
        } else {
            solve(test);
            cycles(test, 20);
            set(test, FEEDBACK_RESET, 1);
        }
        cycles(test, 3000);
        assert_int_equal(state_of(test), FEEDBACK_ON);
        assert_true(rms_nm(test, X) < 500.0 && rms_nm(test, Y) < 500.0);
    }
}

int main(int count, char **argument) {
    if (!take_module(count, argument))
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_bad_bpms_are_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_few_bpms_is_a_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_beam_holds_within_its_cycle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lost_beam_is_for_a_person_to_look_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tripped_corrector_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_saturated_corrector_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_chains_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gets_out_of_saturation, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
