// SPDX-License-Identifier: Apache-2.0
/** What a computer does to it that has other things to do as well: cycles without it, or without its inputs. Argument:
 * feedback.so. */
#include "rig.h"

/** The feedback does not run for so many cycles; the supplies stay where they are. Returns the largest orbit. */
static double leave_out(struct feedback_test *test, uint32_t count) {
    double largest = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        move(&test->machine);
        largest = fmax(largest, rms_nm(test, X));
    }
    return largest;
}

static double largest_orbit(struct feedback_test *test, uint32_t count) {
    double largest = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        cycle(test);
        largest = fmax(largest, rms_nm(test, X));
    }
    return largest;
}

static double mean_orbit(struct feedback_test *test, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        cycle(test);
        sum += rms_nm(test, X) / count;
    }
    return sum;
}

/** Ten times a second 30 cycles are left out. What the lines do in that time cannot be helped. */
static void test_goes_on_after_a_gap(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, all_lines);
    test->machine.wrongs.mains_nm = 5000.0;
    close_loop(test);
    cycles(test, 100000);
    double const before = mean_orbit(test, 1000);
    double unseen = 0.0, after = 0.0, later = 0.0;
    for (uint32_t gap = 0; gap < 20; ++gap) {
        unseen = fmax(unseen, leave_out(test, 30));
        after = fmax(after, largest_orbit(test, 100));
        later += mean_orbit(test, 834) / 20;
        assert_int_equal(state_of(test), FEEDBACK_ON);
    }
    if (!(after <= unseen && later < 0.2 * unseen && before < 0.05 * unseen))
        fail_msg("before %g nm, in gaps %g nm, then %g nm, later %g nm", before, unseen, after, later);
}

/** One cycle in HOLD, in which no setpoint moves. */
static double hold(struct feedback_test *test, double const *held) {
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    assert_memory_equal(held, test->setpoint, CORRECTORS * sizeof *held);
    return rms_nm(test, X);
}

/** After inputs that were away it waits until the burst is over. */
static double stabilise(struct feedback_test *test, double const *held) {
    double unseen = 0.0;
    for (uint32_t i = 1; i < FEEDBACK_STABLE_CYCLES; ++i)
        unseen = fmax(unseen, hold(test, held));
    return unseen;
}

enum { FOLLOW_CYCLES = 3 }; /**< until correctors are where they were told: a cycle of delay, and a pole at 1 kHz */

/** Hardly any input comes: whose fault that is, it is not the BPMs'. */
static void test_missing_burst_costs_its_cycles(void **state) {
    struct feedback_test *test = *state;
    double held[CORRECTORS];
    open_feedback(test, all_lines);
    test->machine.wrongs.mains_nm = 5000.0;
    close_loop(test);
    cycles(test, 100000);
    double const generation = reading(test, FEEDBACK_GENERATION, 0);
    double unseen = 0.0, after = 0.0, later = 0.0;
    for (uint32_t burst = 0; burst < 20; ++burst) {
        memcpy(held, test->setpoint, sizeof held);
        for (uint32_t i = 0; i < INPUTS; ++i)
            test->machine.wrongs.silent[i] = i >= burst % 5;
        for (uint32_t i = 0; i < 1 + 3 * burst; ++i) {
            unseen = fmax(unseen, hold(test, held));
            assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_LATE);
        }
        memset(test->machine.wrongs.silent, 0, sizeof test->machine.wrongs.silent);
        unseen = fmax(unseen, stabilise(test, held));
        unseen = fmax(unseen, largest_orbit(test, FOLLOW_CYCLES));
        after = fmax(after, largest_orbit(test, 100));
        later = fmax(later, mean_orbit(test, 800));
        assert_int_equal(state_of(test), FEEDBACK_ON);
        for (uint32_t row = 0; row < ROWS; ++row)
            assert_int_equal((int)reading(test, FEEDBACK_ROW_STATE, row), 0);
    }
    if (!(after <= unseen && later < 0.2 * unseen))
        fail_msg("in bursts %g nm, then %g nm, later %g nm", unseen, after, later);
    assert_true(reading(test, FEEDBACK_GENERATION, 0) == generation);
    assert_true(reading(test, FEEDBACK_SUBSTITUTED, 0) == 0.0);
}

/** Every other cycle comes, as behind a sender that is always late: a loop that answered those would have twice the
 * delay that its law is for. */
static void test_every_other_cycle_is_not_answered(void **state) {
    struct feedback_test *test = *state;
    double held[CORRECTORS];
    open_feedback(test, all_lines);
    test->machine.wrongs.mains_nm = 5000.0;
    close_loop(test);
    cycles(test, 100000);
    memcpy(held, test->setpoint, sizeof held);
    for (uint32_t i = 0; i < 61; ++i) {
        for (uint32_t input = 0; input < INPUTS; ++input)
            test->machine.wrongs.silent[input] = i % 2 == 0 && input > 0; /* of a cycle without any there is no step */
        (void)hold(test, held);
    }
    memset(test->machine.wrongs.silent, 0, sizeof test->machine.wrongs.silent);
    (void)stabilise(test, held);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

/** When they do not come back they are out, and it begins anew once they are. */
static void test_missing_for_long_begins_anew(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    for (uint32_t i = 0; i < INPUTS; ++i)
        test->machine.wrongs.silent[i] = true;
    cycles(test, 600);
    for (uint32_t row = 0; row < ROWS; ++row)
        assert_true((int)reading(test, FEEDBACK_ROW_STATE, row) & FEEDBACK_ROW_SILENT);
    memset(test->machine.wrongs.silent, 0, sizeof test->machine.wrongs.silent);
    assert_true(largest_step(test, 520) < 0.02);
    solve(test);
    assert_true(largest_step(test, 520) < 0.02);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    assert_true(rms_nm(test, X) < 500.0);
}

/** What happened in between was not seen: it is no leap of the rows that see its result. */
static void test_orbit_may_be_elsewhere_afterwards(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    cycles(test, 10);
    for (uint32_t again = 1; again <= 2; ++again) {
        for (uint32_t i = 0; i < INPUTS; ++i)
            test->machine.wrongs.silent[i] = again == 1;
        if (again == 1)
            cycles(test, 600);
        else
            leave_out(test, 600);
        memset(test->machine.wrongs.silent, 0, sizeof test->machine.wrongs.silent);
        for (uint32_t row = 8; row < 12; ++row)
            test->machine.wrongs.disturbance[row] = 4e5 * again;
        cycles(test, 600);
        assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
    }
}

/** Some rows see it in one cycle, some in the next, and so on: it was the beam all the same. */
static void test_beam_may_move_row_by_row(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    cycles(test, 10);
    for (uint32_t i = 0; i < 6; ++i) {
        test->machine.wrongs.leap_nm[i] = 8e5;
        cycle(test);
    }
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS - 12); /* those that see it later are believed */
    cycles(test, 600);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
}

int main(int count, char **argument) {
    if (!take_module(count, argument))
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_goes_on_after_a_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_burst_costs_its_cycles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_other_cycle_is_not_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_for_long_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_orbit_may_be_elsewhere_afterwards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beam_may_move_row_by_row, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
