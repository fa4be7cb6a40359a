// SPDX-License-Identifier: Apache-2.0
/** Row rings by the public interface: what a reader finds of rows that an owner puts, skips, laps, and adopts. */
#include "fabric/test_segment_steps.h"

#include <math.h>

#include <ringmaster/owner.h>
#include <ringmaster/workspace.h>

#include "fabric/rows_plan.h"

enum { WIDTH = 21, DEPTH = 12, CAPACITY = 16, READABLE = CAPACITY - RM_ROWS_MARGIN, PERIOD = 100 };

/** An owner, and a reader that is attached to it. */
struct rows_test {
    struct rm_owner *owner;
    rm_owner_index index;
    struct rm_workspace *workspace;
    struct rm_rows_view view;
};

static rm_owner_index add_rows(struct rm_owner *owner) {
    return rm_owner_rows(owner, &(struct rm_rows_plan){.name = "server/spectrum",
                                                       .unit = "nm",
                                                       .description = "spectra of one BPM",
                                                       .width = WIDTH,
                                                       .depth = DEPTH,
                                                       .period = PERIOD,
                                                       .axis_first = 0.05,
                                                       .axis_step = 0.01,
                                                       .axis_name = "tune",
                                                       .axis_unit = "1/turn"});
}

static void rows_open(struct rows_test *test) {
    struct rm_error error;
    assert_ok(rm_owner_new("demo", "server", &test->owner, &error), &error);
    test->index = add_rows(test->owner);
    assert_ok(rm_owner_open(test->owner, &error), &error);
    assert_ok(rm_workspace_attach("demo", 0, &test->workspace, &error), &error);
    assert_ok(rm_workspace_rows(test->workspace, "server/spectrum", &test->view, &error), &error);
}

static void rows_close(struct rows_test *test) {
    rm_workspace_detach(test->workspace);
    rm_owner_close(test->owner);
}

/** Value `i` of the row of a turn; `generation` tells rows of one turn apart. */
static float value_of(rm_turn turn, uint32_t generation, uint32_t i) {
    return (float)(turn + 1000u * generation) + 0.25f * (float)i;
}

static void put(struct rows_test *test, rm_turn turn, uint32_t generation) {
    float values[WIDTH];
    for (uint32_t i = 0; i < WIDTH; ++i)
        values[i] = value_of(turn, generation, i);
    assert_true(rm_owner_rows_put(test->owner, test->index, turn, generation, values, 77 + turn));
}

static enum rm_read verdict(struct rows_test const *test, rm_turn turn) {
    struct rm_record record;
    float values[WIDTH];
    return rm_rows_read(&test->view, turn, &record, values);
}

static void assert_row(struct rows_test const *test, rm_turn turn, uint32_t generation) {
    struct rm_record record;
    float values[WIDTH + 1] = {[WIDTH] = -1.0f};
    assert_string_equal(rm_read_text(rm_rows_read(&test->view, turn, &record, values)), rm_read_text(RM_READ_OK));
    assert_int_equal(record.turn, turn);
    assert_int_equal(record.lane[RM_ROWS_QUALITY].i, generation);
    assert_int_equal(rm_tag_tsc(record.tag, turn), 77 + turn);
    for (uint32_t i = 0; i < WIDTH; ++i)
        assert_true(values[i] == value_of(turn, generation, i));
    assert_true(values[WIDTH] == -1.0f); // nothing behind the row
}

static void test_what_it_is(void **state) {
    (void)state;
    struct rows_test test;
    rows_open(&test);
    assert_int_equal(test.view.width, WIDTH);
    assert_int_equal(test.view.stream.header->capacity, CAPACITY);
    assert_int_equal(test.view.stream.period, PERIOD);
    assert_string_equal(test.view.unit, "nm");
    assert_string_equal(test.view.header->axis_unit, "1/turn");
    assert_true(fabs(rm_rows_axis(&test.view, 20) - 0.25) < 1e-12);
    assert_int_equal(rm_stream_head(&test.view.stream), RM_TURN_NONE);
    assert_int_equal(verdict(&test, 0), RM_READ_BEFORE);
    rows_close(&test);
}

static void test_rows_are_lapped_and_skipped(void **state) {
    (void)state;
    struct rows_test test;
    rows_open(&test);
    for (rm_turn row = 3; row < 3 + 5 * CAPACITY; ++row) {
        put(&test, row * PERIOD, 1);
        assert_row(&test, row * PERIOD, 1);
        assert_int_equal(verdict(&test, (row + 1) * PERIOD), RM_READ_NOT_YET);
        rm_turn const oldest = row < 3 + READABLE ? 3 : row - READABLE + 1;
        assert_row(&test, oldest * PERIOD, 1);
        assert_int_equal(rm_stream_oldest(&test.view.stream, row * PERIOD, 0), oldest * PERIOD);
        assert_int_equal(verdict(&test, (oldest - 1) * PERIOD), oldest == 3 ? RM_READ_BEFORE : RM_READ_LAPPED);
    }
    rm_turn const last = (rm_turn)(2 + 5 * CAPACITY) * PERIOD;
    put(&test, last + 4 * PERIOD, 1);
    for (uint64_t i = 1; i < 4; ++i)
        assert_int_equal(verdict(&test, last + i * PERIOD), RM_READ_MISSING);
    assert_row(&test, last, 1);
    put(&test, last + 100 * CAPACITY * PERIOD, 1);
    assert_int_equal(verdict(&test, last), RM_READ_LAPPED);
    assert_int_equal(verdict(&test, last + (100 * CAPACITY - 1) * PERIOD), RM_READ_MISSING);
    rows_close(&test);
}

static void test_a_restart_hides_the_rows_before(void **state) {
    (void)state;
    struct rows_test test;
    rows_open(&test);
    for (rm_turn row = 100; row < 130; ++row)
        put(&test, row * PERIOD, 1);
    put(&test, 110 * PERIOD, 2);
    assert_int_equal(atomic_load(&test.view.stream.header->turn_epoch), 1);
    assert_row(&test, 110 * PERIOD, 2);
    assert_int_equal(verdict(&test, 129 * PERIOD), RM_READ_NOT_YET);
    put(&test, 120 * PERIOD, 2);
    for (rm_turn row = 111; row < 120; ++row)
        assert_int_equal(verdict(&test, row * PERIOD), RM_READ_MISSING);
    assert_int_equal(verdict(&test, 109 * PERIOD), RM_READ_BEFORE);
    rows_close(&test);
}

static void test_another_owner_goes_on(void **state) {
    (void)state;
    struct rows_test test;
    rows_open(&test);
    put(&test, 700, 1);
    put(&test, 800, 1);
    rm_owner_close(test.owner);
    rm_workspace_detach(test.workspace);
    rows_open(&test);
    assert_true(rm_owner_adopted(test.owner));
    assert_row(&test, 800, 1);
    put(&test, 1000, 2);
    assert_row(&test, 700, 1);
    assert_int_equal(verdict(&test, 900), RM_READ_MISSING);
    assert_row(&test, 1000, 2);
    assert_int_equal(atomic_load(&test.view.stream.header->turn_epoch), 0);
    rows_close(&test);
}

/** The values of a row that its owner was killed inside of lie over those of a row that is refused already. */
static void test_an_owner_killed_inside_of_a_row(void **state) {
    (void)state;
    struct rows_test test;
    rows_open(&test);
    for (rm_turn row = 1; row <= 2 * CAPACITY; ++row)
        put(&test, row * PERIOD, 1);
    struct rm_rows const *rows = rm_owner_memory(test.owner, test.index);
    uint8_t *const next = (uint8_t *)rows + rows->values_offset + (2 * CAPACITY + 1) % CAPACITY * rows->row_bytes;
    memset(next, 0x55, rows->row_bytes);
    rm_turn const oldest = rm_stream_oldest(&test.view.stream, 2 * CAPACITY * PERIOD, 0);
    assert_int_equal(verdict(&test, oldest - PERIOD), RM_READ_LAPPED);
    for (rm_turn turn = oldest; turn <= 2 * CAPACITY * PERIOD; turn += PERIOD)
        assert_row(&test, turn, 1);
    rows_close(&test);
}

static void test_windows(void **state) {
    (void)state;
    struct rows_test test;
    struct rm_record records[5];
    uint8_t results[5];
    static float values[5 * WIDTH];
    struct rm_stream_look look;
    rows_open(&test);
    put(&test, 200, 1);
    put(&test, 400, 1);
    assert_int_equal(rm_rows_read_results(&test.view, 100, 5, records, results, values, &look), 2);
    enum rm_read const expected[5] = {RM_READ_BEFORE, RM_READ_OK, RM_READ_MISSING, RM_READ_OK, RM_READ_NOT_YET};
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(results[i], expected[i]);
        assert_int_equal(isnan(values[i * WIDTH + WIDTH - 1]), expected[i] != RM_READ_OK);
    }
    assert_true(values[3 * WIDTH + 2] == value_of(400, 1, 2));
    assert_int_equal(look.head, 400);
    rows_close(&test);
}

static void test_what_is_refused(void **state) {
    (void)state;
    struct rows_test test;
    struct rm_error error;
    float const values[WIDTH] = {0};
    rows_open(&test);
    assert_false(rm_owner_rows_put(test.owner, test.index, RM_TURN_END, 0, values, 0));
    assert_false(rm_owner_rows_put(test.owner, test.index + 1, 0, 0, values, 0));
    struct rm_record const record = {.turn = 0};
    assert_false(rm_owner_stream_put(test.owner, test.index, &record, 0)); // it is no stream
    assert_int_equal(rm_workspace_rows(test.workspace, "server/spectra", &test.view, &error), RM_E_NOT_FOUND);
    rows_close(&test);
    struct rm_owner *owner;
    assert_ok(rm_owner_new("demo", "server", &owner, &error), &error);
    rm_owner_rows(owner, &(struct rm_rows_plan){.name = "server/none", .width = 0, .depth = 1, .period = 1});
    assert_int_equal(rm_owner_open(owner, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "server/none"));
    rm_owner_close(owner);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_what_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_are_lapped_and_skipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_restart_hides_the_rows_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_owner_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_owner_killed_inside_of_a_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_windows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
