// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

#include "beam.h"

/** The lanes of one instrument of a kind over some turns: their least and most values. */
static void range_of(unsigned kind, struct rm_beam_config const *config, int32_t low[RM_LANES],
                     int32_t high[RM_LANES]) {
    struct rm_virtual_instrument const instrument = {.kind = (uint8_t)kind};
    struct rm_beam *beam = NULL;
    assert_int_equal(rm_beam_make(config, &instrument, 1, &beam, NULL), RM_OK);
    for (unsigned l = 0; l < RM_LANES; ++l) {
        low[l] = INT32_MAX;
        high[l] = INT32_MIN;
    }
    for (rm_turn turn = 1; turn <= 5001; ++turn) {
        union rm_lane const *lanes = rm_beam_turn(beam, turn, 0, 1);
        for (unsigned l = 0; l < RM_LANES; ++l) {
            low[l] = lanes[l].i < low[l] ? lanes[l].i : low[l];
            high[l] = lanes[l].i > high[l] ? lanes[l].i : high[l];
        }
    }
    rm_beam_free(beam);
}

static void the_other_kinds_read_something_sensible(void **state) {
    (void)state;
    struct rm_beam_config const config = {
        .turn_rate_hz = 1157000,
        .tune_x = 0.2994,
        .tune_y = 0.1612,
        .synchrotron_tune = 0.0086,
        .betatron_um = 5,
        .betatron_modulation = 0.2,
        .modulation_hz = 1,
        .kick_um = 50,
        .kick_every_turns = 5000,
        .damping_turns = 1000,
        .synchrotron_um = 3,
        .mains_um = 20,
        .drift_um = 5,
        .drift_period_s = 60,
        .orbit_um = 100,
        .noise_um = 0.5,
        .sum_counts = 1e6,
        .loss_counts = 2,
        .seed = 1,
    };
    int32_t low[RM_LANES], high[RM_LANES];
    range_of(RM_KIND_PHOTON_BPM, &config, low, high);
    assert_true(high[0] > low[0] && high[1] > low[1]);
    assert_true(high[0] - low[0] < 60000); /* the kick of 50 um, on top of mains and drift, is averaged away */
    assert_in_range(low[2], 800000, 1200000);
    assert_int_equal(low[3], 0);
    assert_int_equal(high[3], 0);
    range_of(RM_KIND_INTERLOCK, &config, low, high);
    assert_int_equal(low[0], 0);
    assert_int_equal(high[0], 1);
    assert_int_equal(low[1], 0xFE);
    assert_int_equal(high[1], 0xFF);
    range_of(RM_KIND_POWER_SUPPLY, &config, low, high);
    assert_in_range(low[0] + 8100000, 0, 16200000);
    assert_true(high[0] - low[0] < 100);
    assert_in_range(high[1] - high[0], 10, 200);
    assert_int_equal(low[2], 1);
    assert_int_equal(high[2], 1);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_other_kinds_read_something_sensible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
