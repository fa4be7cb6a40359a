// SPDX-License-Identifier: Apache-2.0
/* Records that are calibrated before they are stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/test_receive_rig.h"

enum { CALIBRATED = 0, RAW = 1, LANE = 2 };

static rm_turn const TURN = 5000;

static struct rm_record stored(struct receive_rig const *rig, uint32_t index) {
    struct rm_stream_view const view = rig_view(&rig->instrument[index]->writer);
    struct rm_record record;
    assert_int_equal(rm_stream_read(&view, TURN, &record), RM_READ_OK);
    return record;
}

static void only_calibrated_lanes_change_on_their_way(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = 2});
    struct rm_lane_info lanes[RM_LANES] = {{.name = ""}};
    for (int i = 0; i < RIG_LANES; ++i)
        lanes[i].type = RM_LANE_I32;
    struct rm_calibration calibration;
    rm_calibration_identity(&calibration, lanes, RIG_LANES);
    calibration.lane[LANE] = (struct rm_calibration_lane){{3, 0.5}};
    calibration.calibrated_lanes = 1u << LANE;
    struct rm_calibration_compiled compiled;
    rm_calibration_compile(&calibration, lanes, &compiled);
    rig->instrument[CALIBRATED]->calibration = &compiled;

    rig_set_tsc(rig_tsc_of(TURN));
    rig_send_all(rig, TURN);
    assert_null(rig_poll(rig));
    struct rm_record const record = stored(rig, CALIBRATED);
    assert_true(record.lane[LANE].f == 3 + 0.5f * (float)rig_value(CALIBRATED, TURN, LANE));
    for (uint32_t i = 0; i < RIG_LANES; ++i)
        assert_true(i == LANE || record.lane[i].i == rig_value(CALIBRATED, TURN, i));
    assert_true(rig_shows(rig, RAW, TURN));
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(only_calibrated_lanes_change_on_their_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
