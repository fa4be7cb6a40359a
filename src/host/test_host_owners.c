// SPDX-License-Identifier: Apache-2.0
/** Inputs that another application writes: waited for, missing while it is away, and found again where it has begun
 * anew with other streams. */
#include "host/test_host_rig.h"

static char const *const told[] = {"other/told"};

struct other {
    struct rm_owner *owner;
    rm_owner_index stream;
};

/** The other application, whose stream keeps so many records. */
static struct other other_open(uint64_t capacity) {
    struct rm_stream const stream = {.capacity = capacity,
                                     .period = TEST_PERIOD,
                                     .instrument_kind = RM_KIND_APPLICATION,
                                     .filter = "none",
                                     .gain = 1.0,
                                     .lane_count = 1,
                                     .lane = {{.name = "value", .type = RM_LANE_I32}}};
    struct other other;
    struct rm_error error;
    if (rm_owner_new("demo", "other", &other.owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    other.stream = rm_owner_stream(other.owner, "other/told", "what it tells", &stream);
    if (rm_owner_open(other.owner, &error) != RM_OK)
        fail_msg("%s", error.text);
    return other;
}

static void other_tell(struct host_test *test, struct other const *other, int32_t value) {
    struct rm_record record = {.turn = test->turn};
    record.lane[0].i = value;
    assert_true(rm_owner_stream_put(other->owner, other->stream, &record, BASE + test->turn * 1000));
}

/** A host that has been granted, and `other` that it takes. */
static struct other host_beside(struct host_test *test) {
    test->setup.input = told;
    test->setup.input_count = 1;
    test->setup.setting_count = 1;
    test->setup.setting = &(struct rm_host_setting){"gain", 1.0};
    open_host(test);
    wait_for_words(test, "waiting for the server");
    assert_true(has_reported(test, "stream/other/told"));
    struct other const other = other_open(1024);
    wait_for_words(test, "is there");
    grant(test);
    return other;
}

static void test_steps_by_another_applications_stream(void **state) {
    struct host_test *test = *state;
    double values[ACTUATORS];
    struct other other = host_beside(test);
    other_tell(test, &other, 2);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    newest(test, values);
    assert_true(values[0] == 2.5 + 2.0 && values[1] == 4.5 + 2.0);
    assert_true(reading(test, TEST_TURN) == (double)test->turn && reading(test, TEST_MISSING) == 0.0);
    rm_owner_close(other.owner);
}

/** Steps go on at the deadline, without it, and with it when it is back as it was. */
static void test_its_records_are_missing_while_it_is_away(void **state) {
    struct host_test *test = *state;
    struct other other = host_beside(test);
    other_tell(test, &other, 2);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    rm_owner_close(other.owner);
    test->turn += 4 * TEST_PERIOD;
    turn_until(test, RM_APPLICATION_MISSING, 1);
    other = other_open(1024);
    test->turn += 2 * TEST_PERIOD;
    other_tell(test, &other, 5);
    uint64_t const missing = counter(test, RM_APPLICATION_MISSING);
    turn_until(test, RM_APPLICATION_STEPS, counter(test, RM_APPLICATION_STEPS) + 1);
    assert_int_equal(counter(test, RM_APPLICATION_MISSING), missing);
    assert_int_equal(counter(test, RM_APPLICATION_GRANTS), 1);
    rm_owner_close(other.owner);
}

static void test_one_that_begins_anew_with_other_streams_is_found(void **state) {
    struct host_test *test = *state;
    struct other other = host_beside(test);
    other_tell(test, &other, 2);
    turn_until(test, RM_APPLICATION_STEPS, 1);
    rm_owner_close(other.owner);
    other = other_open(2048);
    wait_for_words(test, "has begun anew with other streams");
    test->turn += TEST_PERIOD;
    other_tell(test, &other, 5);
    turn_until(test, RM_APPLICATION_STEPS, 2);
    assert_true(reading(test, TEST_MISSING) == 0.0);
    rm_owner_close(other.owner);
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_steps_by_another_applications_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_its_records_are_missing_while_it_is_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_begins_anew_with_other_streams_is_found, set_up, tear_down),
    };
    if (argc != 2)
        return 2;
    application = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
