// SPDX-License-Identifier: Apache-2.0
/** The feedback's small parts, each by itself: states, enable conditions, watching, golden orbit, excitation, tables,
 * handover, RF. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop/forward.h"
#include "loop/golden.h"
#include "loop/rf.h"
#include "loop/unload.h"
#include "state/actuators.h"
#include "state/comparison.h"
#include "state/delivery.h"
#include "state/enable_conditions.h"
#include "state/excite.h"
#include "state/names.h"
#include "state/states.h"
#include "state/watch.h"

enum { TIMEOUT = 3 };

static enum feedback_state const FAULT = FEEDBACK_FAULT, HOLD = FEEDBACK_HOLD, ON = FEEDBACK_ON;

static void test_states(void **state) {
    (void)state;
    static struct {
        enum feedback_state from;
        uint32_t loop, missing;
        enum feedback_state to;
        uint32_t cause;
    } const table[] = {
        {FEEDBACK_OFF, 0, 0, FEEDBACK_READY, 0},
        {FEEDBACK_READY, 0, FEEDBACK_NO_BEAM, FEEDBACK_OFF, 0},
        {FEEDBACK_READY, 1, 0, FEEDBACK_ON, 0},
        {FEEDBACK_OFF, 1, FEEDBACK_NO_BEAM, FEEDBACK_FAULT, FEEDBACK_NO_BEAM},
        {FEEDBACK_READY, 1, FEEDBACK_LARGE_ERROR, FEEDBACK_FAULT, FEEDBACK_LARGE_ERROR},
        {FEEDBACK_ON, 1, FEEDBACK_LARGE_ERROR, FEEDBACK_ON, 0}, /* once on, it is the loop's to correct */
        {FEEDBACK_ON, 1, FEEDBACK_NO_BEAM, FEEDBACK_FAULT, FEEDBACK_NO_BEAM},
        {FEEDBACK_ON, 1, FEEDBACK_GATED, FEEDBACK_HOLD, FEEDBACK_GATED},
        {FEEDBACK_ON, 1, FEEDBACK_LATE, FEEDBACK_HOLD, FEEDBACK_LATE},
        {FEEDBACK_ON, 1, FEEDBACK_NOT_SENT, FEEDBACK_HOLD, FEEDBACK_NOT_SENT},
        {FEEDBACK_ON, 1, FEEDBACK_NO_MATRIX, FEEDBACK_HOLD, FEEDBACK_NO_MATRIX},
        {FEEDBACK_ON, 1, FEEDBACK_FEW_BPMS, FEEDBACK_FAULT, FEEDBACK_FEW_BPMS},
        {FEEDBACK_ON, 1, FEEDBACK_FEW_ACTUATORS, FEEDBACK_HOLD, FEEDBACK_FEW_ACTUATORS},
        {FEEDBACK_READY, 1, FEEDBACK_FEW_ACTUATORS, FEEDBACK_FAULT, FEEDBACK_FEW_ACTUATORS},
        {FEEDBACK_ON, 1, FEEDBACK_FEW_ACTUATORS | FEEDBACK_FEW_BPMS, FEEDBACK_FAULT,
         FEEDBACK_FEW_ACTUATORS | FEEDBACK_FEW_BPMS},
        {FEEDBACK_ON, 1, FEEDBACK_SATURATION, FEEDBACK_FAULT, FEEDBACK_SATURATION},
        {FEEDBACK_ON, 1, FEEDBACK_NO_BEAM | FEEDBACK_FEW_BPMS, FEEDBACK_FAULT, FEEDBACK_NO_BEAM | FEEDBACK_FEW_BPMS},
        {FEEDBACK_ON, 2, 0, FEEDBACK_HOLD, 0},
        {FEEDBACK_ON, 0, 0, FEEDBACK_READY, 0},
        {FEEDBACK_ON, 0, FEEDBACK_NO_BEAM, FEEDBACK_OFF, 0},
        {FEEDBACK_HOLD, 1, 0, FEEDBACK_ON, 0},
        {FEEDBACK_HOLD, 1, FEEDBACK_FEW_BPMS, FEEDBACK_HOLD, 0}, /* waits */
        {FEEDBACK_FAULT, 1, 0, FEEDBACK_FAULT, 0},
        {FEEDBACK_FAULT, 0, 0, FEEDBACK_READY, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        struct feedback_states states = {.state = table[i].from, .timeout = TIMEOUT};
        struct feedback_state_requests const requests = {.loop = table[i].loop};
        enum feedback_state const is = feedback_states_next(&states, &requests, table[i].missing);
        if (is != table[i].to || states.cause != table[i].cause)
            fail_msg("line %zu: state %d, cause %x", i, is, states.cause);
    }
}

static void test_timeout_and_reset(void **state) {
    (void)state;
    struct feedback_states states = {.state = HOLD, .timeout = TIMEOUT};
    struct feedback_state_requests requests = {.loop = 1};
    states.state = ON;
    for (int i = 0; i <= TIMEOUT; ++i)
        assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_FEW_ACTUATORS), HOLD);
    assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_FEW_ACTUATORS), FAULT);
    states = (struct feedback_states){.state = HOLD, .timeout = TIMEOUT, .rearm = 1};
    for (int i = 0; i < TIMEOUT; ++i)
        assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_FEW_BPMS), HOLD);
    assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_NO_BEAM), HOLD); /* begins anew */
    for (int i = 0; i < TIMEOUT; ++i)
        assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_FEW_BPMS), HOLD);
    assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_FEW_BPMS), FAULT);
    assert_int_equal(states.cause, FEEDBACK_FEW_BPMS);
    assert_int_equal(feedback_states_next(&states, &requests, 0), FAULT);
    requests.reset = 1;
    assert_int_equal(feedback_states_next(&states, &requests, 0), ON);
}

static void test_rearming(void **state) {
    (void)state;
    struct feedback_states states = {.state = ON, .timeout = TIMEOUT, .rearm = 5};
    struct feedback_state_requests const requests = {.loop = 1};
    for (int i = 0; i < 5; ++i)
        assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_NO_BEAM), HOLD);
    assert_int_equal(feedback_states_next(&states, &requests, 0), ON); /* within its time */
    for (int i = 0; i < 5; ++i)
        assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_NO_BEAM), HOLD);
    assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_NO_BEAM), FAULT);
    assert_int_equal(states.cause, FEEDBACK_NO_BEAM);
    assert_int_equal(feedback_states_next(&states, &requests, 0), FAULT); /* too late */
    states = (struct feedback_states){.state = ON, .rearm = 5};
    assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_NO_BEAM), HOLD);
    assert_int_equal(feedback_states_next(&states, &requests, FEEDBACK_LARGE_ERROR),
                     FAULT); /* another orbit came back */
}

static bool beam_of(struct feedback_beam *beam, double first, double second) {
    feedback_beam_add(beam, first);
    feedback_beam_add(beam, second);
    return feedback_beam_judge(beam);
}

static void test_beam(void **state) {
    (void)state;
    struct feedback_beam beam = {.least = 100, .drop = 0.5, .return_cycles = 2, .watched = true};
    assert_false(feedback_beam_judge(&beam)); /* nothing known */
    assert_true(beam_of(&beam, 1000, 1200));
    assert_true(beam.mean == 1100.0);
    assert_true(feedback_beam_judge(&beam)); /* nothing came: as it was */
    assert_true(beam_of(&beam, 600, 600));
    assert_false(beam_of(&beam, 200, 200)); /* lost so much, though enough is left */
    assert_false(beam_of(&beam, 200, 200));
    assert_true(beam_of(&beam, 200, 200));
    assert_false(beam_of(&beam, 99, 99));
    assert_false(beam_of(&beam, NAN, INFINITY));
    struct feedback_beam blind = {.least = 100};
    assert_true(feedback_beam_judge(&blind));
}

static void test_gate(void **state) {
    (void)state;
    struct feedback_gate gate = {.cycles = 2};
    assert_false(feedback_gate_judge(&gate));
    feedback_gate_see(&gate, true);
    assert_true(feedback_gate_judge(&gate));
    feedback_gate_see(&gate, true); /* no rise */
    assert_true(feedback_gate_judge(&gate));
    assert_false(feedback_gate_judge(&gate));
    feedback_gate_see(&gate, false);
    feedback_gate_see(&gate, true);
    assert_true(feedback_gate_judge(&gate));
}

static struct feedback_watch_limits const watching = {.missing = 2, .frozen = 3, .jump_nm = 1000, .return_cycles = 4};

static void test_watch_frozen(void **state) {
    (void)state;
    struct feedback_watched row = {0};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(feedback_watch_take(&watching, &row, 7, 0, true), FEEDBACK_GOOD);
        assert_false(feedback_watch_close(&watching, &row));
    }
    assert_int_equal(feedback_watch_take(&watching, &row, 7, 0, true), FEEDBACK_BAD);
    assert_true(feedback_watch_close(&watching, &row));
    assert_int_equal(row.fault, FEEDBACK_ROW_FROZEN);
    for (int i = 0; i < 4; ++i) { /* moves again, and is back after its time */
        assert_int_equal(feedback_watch_take(&watching, &row, 8 + i, 0, true), FEEDBACK_BAD);
        assert_int_equal(feedback_watch_close(&watching, &row), i == 3);
    }
    assert_int_equal(feedback_watch_take(&watching, &row, 20, 0, true), FEEDBACK_GOOD);
}

static void test_watch_leaps(void **state) {
    (void)state;
    struct feedback_watched row = {0};
    int32_t error = 0;
    assert_false(feedback_watch_substitute(&watching, &row, &error)); /* nothing known */
    assert_int_equal(feedback_watch_take(&watching, &row, 5, 100, true), FEEDBACK_GOOD);
    feedback_watch_close(&watching, &row);
    assert_int_equal(feedback_watch_take(&watching, &row, 6, 2000, true), FEEDBACK_LEAP);
    feedback_watch_believe(&row, 2000);
    assert_false(feedback_watch_close(&watching, &row));
    assert_int_equal(feedback_watch_take(&watching, &row, 7, 4000, true), FEEDBACK_LEAP);
    feedback_watch_condemn(&row);
    assert_true(feedback_watch_substitute(&watching, &row, &error));
    assert_int_equal(error, 2000);
    assert_true(feedback_watch_close(&watching, &row));
    for (int i = 0; i < 10; ++i) { /* as long as it is there */
        assert_int_equal(feedback_watch_take(&watching, &row, 8 + i, 4000, true), FEEDBACK_BAD);
        feedback_watch_close(&watching, &row);
    }
    assert_int_equal(row.fault, FEEDBACK_ROW_JUMPED);
    assert_false(feedback_watch_substitute(&watching, &row, &error)); /* too long ago */
}

static void test_watch_silence(void **state) {
    (void)state;
    struct feedback_watched row = {0};
    int32_t error = 0;
    feedback_watch_take(&watching, &row, 5, 42, true);
    feedback_watch_close(&watching, &row);
    for (int i = 0; i < 2; ++i) {
        assert_true(feedback_watch_substitute(&watching, &row, &error));
        assert_int_equal(error, 42);
        assert_false(feedback_watch_close(&watching, &row));
    }
    assert_false(feedback_watch_substitute(&watching, &row, &error));
    assert_true(feedback_watch_close(&watching, &row));
    assert_int_equal(row.fault, FEEDBACK_ROW_SILENT);
    assert_int_equal(feedback_watch_take(&watching, &row, 6, 42, false), FEEDBACK_BAD);
    feedback_watch_close(&watching, &row);
    assert_int_equal(row.fault, FEEDBACK_ROW_SILENT | FEEDBACK_ROW_INVALID);
}

static void test_actuators(void **state) {
    (void)state;
    struct feedback_actuator_limits const limits = {.long_cycles = 2, .return_cycles = 3};
    struct feedback_actuator actuator = {0};
    assert_true(feedback_actuator_watch(&limits, &actuator, false, false));
    assert_int_equal(actuator.fault, FEEDBACK_ACTUATOR_LOST);
    for (int i = 0; i < 3; ++i)
        assert_int_equal(feedback_actuator_watch(&limits, &actuator, true, false), i == 2);
    for (int i = 0; i < 2; ++i)
        assert_false(feedback_actuator_watch(&limits, &actuator, true, true));
    assert_true(feedback_actuator_watch(&limits, &actuator, true, true));
    assert_int_equal(actuator.fault, FEEDBACK_ACTUATOR_SATURATED);
    int waited = 1;
    while (!feedback_actuator_watch(&limits, &actuator, true, true))
        ++waited;
    assert_int_equal(waited, 30); /* tried again */
    assert_int_equal(actuator.fault, 0);
}

static void test_golden_goes_together(void **state) {
    (void)state;
    double now[3];
    int32_t whole[3];
    double const first[3] = {0, 0, 5}, wanted[3] = {100, -50, 5};
    struct feedback_golden golden = {.rows = 3, .most = 10, .now = now, .whole = whole};
    feedback_golden_begin(&golden, first);
    feedback_golden_approach(&golden, wanted, 1);
    assert_true(now[0] == 10.0 && now[1] == -5.0 && now[2] == 5.0);
    for (int i = 0; i < 9; ++i)
        feedback_golden_approach(&golden, wanted, 1);
    assert_int_equal(whole[0], 100);
    assert_int_equal(whole[1], -50);
}

static double excited_rms(uint32_t kind, double *peak) {
    struct feedback_excite excite = {.rate_hz = 10000};
    struct feedback_excite_request const command = {kind, 3.0, 10.0, 2000.0};
    enum { COUNT = 100000 };
    double squares = 0.0;
    *peak = 0.0;
    feedback_excite_ask(&excite, &command);
    for (int i = 0; i < COUNT; ++i) {
        double const value = feedback_excite_next(&excite);
        squares += value * value;
        *peak = fmax(*peak, fabs(value));
    }
    return sqrt(squares / COUNT);
}

static void test_excitations(void **state) {
    (void)state;
    double peak = 0.0;
    assert_true(excited_rms(FEEDBACK_QUIET, &peak) == 0.0);
    assert_true(fabs(excited_rms(FEEDBACK_SINE, &peak) - 3.0 / sqrt(2.0)) < 1e-3 && peak <= 3.0);
    assert_true(fabs(excited_rms(FEEDBACK_MULTI_SINE, &peak) - 3.0 / sqrt(2.0)) < 0.05);
    assert_true(peak < 3.0 / sqrt(2.0) * 5.5); /* of 32 lines in phase it would be 8 */
    assert_true(excited_rms(FEEDBACK_PRBS, &peak) == 3.0);
    assert_true(excited_rms(FEEDBACK_CONSTANT, &peak) == 3.0);
}

static void test_prbs_is_of_full_length(void **state) {
    (void)state;
    enum { LENGTH = (1 << 15) - 1 };
    struct feedback_excite excite = {.rate_hz = 10000};
    struct feedback_excite_request const command = {FEEDBACK_PRBS, 1.0, 1.0, 2.0};
    feedback_excite_ask(&excite, &command);
    uint16_t const first = excite.shift;
    double sum = 0.0;
    for (int i = 0; i < LENGTH; ++i) {
        assert_true(i == 0 || excite.shift != first);
        sum += feedback_excite_next(&excite);
    }
    assert_int_equal(excite.shift, first);
    assert_true(fabs(sum) == 1.0);
}

static void test_forward(void **state) {
    (void)state;
    double at[] = {0, 10, 20}, value[] = {0, 1, 10, 3, 40, 3}, ahead[3] = {0};
    uint32_t output[] = {2, UINT32_MAX};
    struct feedback_forward const table = {.points = 3, .columns = 2, .at = at, .value = value, .output = output};
    static double const expected[][2] = {{-5, 0}, {0, 0}, {5, 5}, {10, 10}, {15, 25}, {20, 40}, {30, 40}, {NAN, 0}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
        memset(ahead, 0, sizeof ahead);
        feedback_forward_add(&table, expected[i][0], ahead);
        if (ahead[2] != expected[i][1] || ahead[0] != 0.0)
            fail_msg("at %g: %g", expected[i][0], ahead[2]);
    }
}

static void test_unload_arithmetic(void **state) {
    (void)state;
    double pending[2] = {0}, moved[2];
    double const handover[4] = {0.5, 0.0, 0.25, 1.0}, reference[2] = {1.0, 0.0};
    bool const in[2] = {true, false};
    double fast[2] = {3.0, 2.0}, slow[2] = {0.0, 0.0};
    struct feedback_unload unload = {
        .fasts = 2, .slows = 2, .rate = 0.01, .keep = 0.9, .handover = handover, .pending = pending, .moved = moved};
    for (int i = 0; i < 5000; ++i)
        feedback_unload_step(&unload, fast, reference, in, fast, slow);
    assert_true(fabs(fast[0] - 1.0) < 1e-6);
    assert_true(fast[1] == 2.0); /* out: nothing of it is moved */
    assert_true(fabs(slow[0] - 1.0) < 1e-6 && fabs(slow[1] - 0.5) < 1e-6);
    assert_true(feedback_unload_fits(1.0, 5.0) && !feedback_unload_fits(1.1, 5.0) && !feedback_unload_fits(0.0, 5.0));
}

static void test_rf(void **state) {
    (void)state;
    struct feedback_rf rf = {.every = 10, .gain = 0.5, .slew = 0.01};
    feedback_rf_begin(&rf, 100.0);
    for (int i = 0; i < 9; ++i)
        assert_true(feedback_rf_step(&rf, 2.0, 0.0, 200.0) == 100.0);
    assert_true(feedback_rf_step(&rf, 2.0, 0.0, 200.0) == 100.01); /* looked, and goes as it may */
    assert_true(rf.wanted == 1.0);
    for (int i = 0; i < 10000; ++i)
        assert_true(feedback_rf_step(&rf, 5.0, 0.0, 103.0) <= 103.0);
    assert_true(fabs(rf.now - 3.0) < 1e-9);
}

static void test_shadow(void **state) {
    (void)state;
    double const ours[3] = {1, 2, NAN}, theirs[3] = {4, -2, 1};
    assert_true(fabs(feedback_shadow_rms(ours, theirs, 3) - sqrt(12.5)) < 1e-12);
    assert_true(feedback_shadow_rms(ours, theirs, 0) == 0.0);
}

/** A vector that is still under way is not one that is lost. */
static void test_delivery(void **state) {
    (void)state;
    struct feedback_delivery delivery;
    double const low[] = {-10, -10, -10, -10}, high[] = {10, 10, 10, 10};
    double const first[] = {1, 1, 1, 1}, second[] = {2, 2, 2, 2}, third[] = {3, 3, 3, 3}, fourth[] = {4, 4, 4, 4};
    assert_true(feedback_delivery_make(&delivery, 4, low, high));
    feedback_delivery_begin(&delivery, first);
    assert_true(feedback_delivery_judge(&delivery, first, second));
    assert_true(feedback_delivery_judge(&delivery, second, third));
    assert_true(feedback_delivery_judge(&delivery, second, fourth)); /* the third is under way */
    assert_false(feedback_delivery_judge(&delivery, second, fourth));
    assert_false(feedback_delivery_judge(&delivery, second, fourth)); /* the command stands still, nothing is sent */
    assert_true(feedback_delivery_judge(&delivery, fourth, fourth));
    double const one_elsewhere[] = {9, 4, 4, 4}, two_elsewhere[] = {9, 9, 4, 4}, lost[] = {NAN, NAN, 4, 4};
    assert_true(feedback_delivery_judge(&delivery, one_elsewhere, fourth));
    assert_false(feedback_delivery_judge(&delivery, two_elsewhere, fourth));
    assert_true(feedback_delivery_judge(&delivery, lost, fourth)); /* where they are is unknown */
    double const rounded[] = {4.0f + 1e-6f, 4, 4, 4};
    assert_true(feedback_delivery_judge(&delivery, rounded, fourth));
    feedback_delivery_free(&delivery);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_states),      cmocka_unit_test(test_timeout_and_reset),
        cmocka_unit_test(test_rearming),    cmocka_unit_test(test_beam),
        cmocka_unit_test(test_gate),        cmocka_unit_test(test_watch_frozen),
        cmocka_unit_test(test_watch_leaps), cmocka_unit_test(test_watch_silence),
        cmocka_unit_test(test_actuators),   cmocka_unit_test(test_golden_goes_together),
        cmocka_unit_test(test_excitations), cmocka_unit_test(test_prbs_is_of_full_length),
        cmocka_unit_test(test_forward),     cmocka_unit_test(test_unload_arithmetic),
        cmocka_unit_test(test_rf),          cmocka_unit_test(test_shadow),
        cmocka_unit_test(test_delivery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
