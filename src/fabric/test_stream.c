// SPDX-License-Identifier: Apache-2.0
/** What a stream holds and shows within one turn-counter epoch of one owner. */
#include "fabric/test_stream_steps.h"

#include <math.h>

static void test_empty(void **state) {
    struct stream_ring *ring = *state;
    assert_int_equal(rm_stream_head(&ring->view), RM_TURN_NONE);
    assert_int_equal(verdict(ring, 0), RM_READ_BEFORE);
    assert_int_equal(verdict(ring, 12345), RM_READ_BEFORE);
    assert_int_equal(rm_stream_oldest(&ring->view, RM_TURN_NONE, 0), RM_TURN_NONE);
}

static void test_in_order(void **state) {
    struct stream_ring *ring = *state;
    for (rm_turn turn = 1000; turn < 1064; ++turn)
        assert_int_equal(put(ring, turn, 1), RM_PUT_NEW);
    assert_int_equal(verdict(ring, 1000), RM_READ_BEFORE); // nothing is visible before it is published
    rm_stream_writer_publish(&ring->writer, 77);
    assert_int_equal(rm_stream_head(&ring->view), 1063);
    assert_int_equal(atomic_load(&ring->stream->published_tsc), 77);
    for (rm_turn turn = 1000; turn < 1064; ++turn)
        assert_read(ring, turn, 1);
    assert_int_equal(verdict(ring, 1064), RM_READ_NOT_YET);
    assert_int_equal(verdict(ring, 999), RM_READ_BEFORE);
    assert_int_equal(ring->writer.skipped, 0);
}

static void test_gap_and_late_fill(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 10, 20, 1);
    fill(ring, 25, 30, 1);
    assert_int_equal(ring->writer.skipped, 4);
    for (rm_turn turn = 21; turn < 25; ++turn)
        assert_int_equal(verdict(ring, turn), RM_READ_MISSING);
    assert_null(rm_stream_writer_find(&ring->writer, 22));

    assert_int_equal(put(ring, 22, 1), RM_PUT_OUT_OF_ORDER);
    assert_read(ring, 22, 1); // at once
    assert_int_equal(verdict(ring, 21), RM_READ_MISSING);
    assert_int_equal(verdict(ring, 23), RM_READ_MISSING);
    struct rm_record own;
    struct rm_record const expected = record_of(22, 1);
    assert_non_null(rm_stream_writer_find(&ring->writer, 22));
    rm_slot_load(rm_stream_writer_find(&ring->writer, 22), &own);
    assert_memory_equal(&own, &expected, sizeof own);
    assert_int_equal(ring->writer.skipped, 4); // says what was missing at that moment
}

static void test_first_copy_wins(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 10, 20, 1);
    assert_int_equal(put(ring, 20, 2), RM_PUT_DUPLICATE);
    assert_int_equal(put(ring, 15, 2), RM_PUT_DUPLICATE);
    fill(ring, 25, 25, 1);
    assert_int_equal(put(ring, 22, 1), RM_PUT_OUT_OF_ORDER);
    assert_int_equal(put(ring, 22, 2), RM_PUT_DUPLICATE);
    assert_read(ring, 15, 1);
    assert_read(ring, 20, 1);
    assert_read(ring, 22, 1);
}

static void test_behind(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 100, 100, 1);
    assert_int_equal(put(ring, 99, 1), RM_PUT_BEHIND); // before the first
    fill(ring, 3000, 3000, 1);
    assert_int_equal(put(ring, 3000 - LATE_TURNS, 1), RM_PUT_BEHIND);
    assert_int_equal(put(ring, 3000 - LATE_TURNS + 1, 1), RM_PUT_OUT_OF_ORDER);
    assert_int_equal(verdict(ring, 3000 - LATE_TURNS), RM_READ_MISSING);
    assert_read(ring, 3000 - LATE_TURNS + 1, 1);
}

/** However long the late window is asked to be, no late record may land where a newer one lies. */
static void test_late_window_fits_the_ring(void **state) {
    struct stream_ring *ring = *state;
    rm_stream_writer_close(&ring->writer);
    assert_true(test_ring_open_writer(ring, 1000000));
    fill(ring, 0, 2999, 1);
    fill(ring, 3001, 5000, 1);
    assert_int_equal(put(ring, 3000, 2), RM_PUT_BEHIND);
    assert_read(ring, 5000 - READABLE + 1, 1);
    for (rm_turn turn = 5000 - READABLE + 1; turn <= 5000; ++turn)
        assert_read(ring, turn, 1);
}

static void test_laps(void **state) {
    struct stream_ring *ring = *state;
    for (rm_turn turn = 5; turn < 5 + 5 * CAPACITY; ++turn) {
        fill(ring, turn, turn, 1);
        if (turn < 5 + READABLE)
            continue;
        assert_read(ring, turn, 1);
        assert_read(ring, turn - READABLE + 1, 1);
        assert_int_equal(verdict(ring, turn - READABLE), RM_READ_LAPPED);
    }
}

/** A slot that was skipped still holds an earlier lap's turn: that is missing, not data. */
static void test_gap_over_an_old_lap(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 0, 2 * CAPACITY, 1);
    fill(ring, 2 * CAPACITY + 10, 2 * CAPACITY + 10, 1);
    for (rm_turn turn = 2 * CAPACITY + 1; turn < 2 * CAPACITY + 10; ++turn)
        assert_int_equal(verdict(ring, turn), RM_READ_MISSING);
    fill(ring, 9 * CAPACITY, 9 * CAPACITY, 1);
    for (rm_turn turn = 9 * CAPACITY - READABLE + 1; turn < 9 * CAPACITY; ++turn)
        assert_int_equal(verdict(ring, turn), RM_READ_MISSING);
}

static void test_decimated(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 1200, 1200 + 12 * 3 * CAPACITY, 1);
    rm_turn const head = 1200 + 12 * 3 * CAPACITY;
    for (rm_turn turn = head - 12 * (READABLE - 1); turn <= head; turn += 12)
        assert_read(ring, turn, 1);
    assert_int_equal(verdict(ring, head - 12 * READABLE), RM_READ_LAPPED);
    assert_int_equal(verdict(ring, head + 12), RM_READ_NOT_YET);

    fill(ring, head + 48, head + 48, 1);
    assert_int_equal(ring->writer.skipped, 3);
    assert_int_equal(verdict(ring, head + 24), RM_READ_MISSING);
    assert_int_equal(put(ring, head + 24, 1), RM_PUT_OUT_OF_ORDER);
    assert_read(ring, head + 24, 1);
    assert_int_equal(put(ring, head + 24, 2), RM_PUT_DUPLICATE);
    assert_int_equal(put(ring, head + 48 - 12 * LATE_TURNS, 2), RM_PUT_BEHIND);

    struct rm_record window[4];
    assert_int_equal(rm_stream_read_window(&ring->view, head + 12, 4, window), 2);
    assert_int_equal(window[0].turn, RM_TURN_NONE);
    assert_int_equal(window[1].turn, head + 24);
    assert_int_equal(window[2].turn, RM_TURN_NONE);
    assert_int_equal(window[3].turn, head + 48);
}

/** Promise 1: whatever is put, without any publish, the stored head stays within the margin of the published one. */
static void test_early_publish(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 0, 10, 1);
    for (rm_turn turn = 11; turn <= 10 + MARGIN; ++turn)
        put(ring, turn, 1);
    assert_int_equal(rm_stream_head(&ring->view), 10);
    for (rm_turn turn = 11 + MARGIN; turn < 3 * CAPACITY; ++turn) {
        put(ring, turn, 1);
        assert_in_range(rm_stream_head(&ring->view), turn - MARGIN, turn - 1);
    }
    put(ring, 100000, 1);
    assert_int_equal(rm_stream_head(&ring->view), 99999);
    assert_int_equal(verdict(ring, 99999), RM_READ_MISSING);
    publish(ring);
    assert_read(ring, 100000, 1);
}

static void test_pass_over(void **state) {
    struct stream_ring *ring = *state;
    rm_stream_writer_pass_over(&ring->writer, 50);
    assert_int_equal(ring->writer.head, RM_TURN_NONE); // an empty stream stays empty
    fill(ring, 100, 110, 1);
    rm_stream_writer_pass_over(&ring->writer, 105);
    assert_int_equal(ring->writer.head, 110);
    rm_stream_writer_pass_over(&ring->writer, 120);
    publish(ring);
    assert_int_equal(rm_stream_head(&ring->view), 120);
    assert_int_equal(ring->writer.skipped, 10);
    for (rm_turn turn = 111; turn <= 120; ++turn)
        assert_int_equal(verdict(ring, turn), RM_READ_MISSING);
    assert_int_equal(put(ring, 120, 1), RM_PUT_OUT_OF_ORDER);
    assert_int_equal(put(ring, 121, 1), RM_PUT_NEW);
    publish(ring);
    assert_read(ring, 120, 1);
    assert_read(ring, 121, 1);
    assert_int_equal(ring->writer.skipped, 10);

    rm_stream_writer_pass_over(&ring->writer, 50000);
    publish(ring);
    assert_int_equal(verdict(ring, 121), RM_READ_LAPPED);
    fill(ring, 50001, 50001, 1);
    assert_read(ring, 50001, 1);
}

/** Promise 1 holds for late records too: what silence skipped is published before they can come. */
static void test_pass_over_publishes_early(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 0, 2 * CAPACITY, 1);
    rm_stream_writer_pass_over(&ring->writer, 3 * CAPACITY - 1);
    assert_int_equal(put(ring, 3 * CAPACITY - 2, 2), RM_PUT_OUT_OF_ORDER); // over the slot of turn 2 * CAPACITY - 2
    assert_int_equal(verdict(ring, 2 * CAPACITY - 2), RM_READ_LAPPED);
    assert_read(ring, 3 * CAPACITY - 2, 2);
}

static void test_oldest(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 100, 200, 1);
    assert_int_equal(rm_stream_oldest(&ring->view, 200, 0), 100);
    assert_int_equal(rm_stream_oldest(&ring->view, 200, 50), 100);
    fill(ring, 201, 5000, 1);
    rm_turn const oldest = rm_stream_oldest(&ring->view, 5000, 0);
    assert_int_equal(oldest, 5000 - READABLE + 1);
    assert_read(ring, oldest, 1);
    assert_int_equal(verdict(ring, oldest - 1), RM_READ_LAPPED);
    assert_int_equal(rm_stream_oldest(&ring->view, 5000, 10), oldest + 10);
    assert_int_equal(rm_stream_oldest(&ring->view, 5000, CAPACITY), 5000);
}

static void test_oldest_decimated(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 0, 12 * 4000, 1);
    rm_turn const oldest = rm_stream_oldest(&ring->view, 12 * 4000, 0);
    assert_int_equal(oldest, 12 * (4000 - READABLE + 1));
    assert_read(ring, oldest, 1);
    assert_int_equal(rm_stream_oldest(&ring->view, 12 * 4000, 5), oldest + 60);
}

static void test_window(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 5, 9, 1);
    fill(ring, 11, 12, 1);
    struct rm_record window[10];
    assert_int_equal(rm_stream_read_window(&ring->view, 4, 10, window), 7);
    for (size_t i = 0; i < 10; ++i) {
        rm_turn const turn = 4 + i;
        bool const there = turn >= 5 && turn <= 12 && turn != 10;
        struct rm_record expected = there ? record_of(turn, 1) : (struct rm_record){.turn = RM_TURN_NONE};
        assert_memory_equal(&window[i], &expected, sizeof expected);
    }
}

static void test_wait(void **state) {
    struct stream_ring *ring = *state;
    assert_false(rm_stream_wait(&ring->view, 0, 1000));
    fill(ring, 5, 9, 1);
    assert_true(rm_stream_wait(&ring->view, 9, 0));
    assert_true(rm_stream_wait(&ring->view, 9, UINT64_MAX));
    assert_false(rm_stream_wait(&ring->view, 10, 3000000));
}

static void test_turn_zero(void **state) {
    struct stream_ring *ring = *state;
    assert_int_equal(verdict(ring, 0), RM_READ_BEFORE); // a fresh slot is not turn 0
    fill(ring, 0, 2, 1);
    assert_read(ring, 0, 1);
    assert_int_equal(put(ring, 0, 2), RM_PUT_DUPLICATE);
    assert_int_equal(rm_stream_oldest(&ring->view, 2, 0), 0);
}

static void test_large_turns(void **state) {
    struct stream_ring *ring = *state;
    rm_turn const middle = (rm_turn)1 << 63;
    fill(ring, middle - 2 * CAPACITY, middle + 2 * CAPACITY, 1);
    rm_turn const head = middle + 2 * CAPACITY;
    assert_read(ring, head - READABLE + 1, 1);
    assert_int_equal(verdict(ring, head - READABLE), RM_READ_LAPPED);
    assert_int_equal(verdict(ring, head + 1), RM_READ_NOT_YET);
    assert_int_equal(verdict(ring, RM_TURN_NONE - 1), RM_READ_NOT_YET);
    fill(ring, head + 3, head + 3, 1);
    assert_int_equal(put(ring, head + 1, 1), RM_PUT_OUT_OF_ORDER);
    assert_int_equal(put(ring, 0, 1), RM_PUT_BEHIND);
    assert_int_equal(rm_stream_oldest(&ring->view, head, 0), head - READABLE + 1);
}

/** The same bits are another number as a float. */
static void test_lane_values(void **state) {
    (void)state;
    static struct rm_stream const stream = {
        .lane_count = 2, .lane = {{.name = "x1", .type = RM_LANE_I32}, {.name = "setpoint", .type = RM_LANE_F32}}};
    struct rm_record const record = {.lane = {{.i = -5}, {.f = 2.5f}, {.i = 7}}};
    assert_true(rm_lane_value(&stream, &record, 0) == -5.0);
    assert_true(rm_lane_value(&stream, &record, 1) == 2.5);
    assert_true(isnan(rm_lane_value(&stream, &record, 2)));
    assert_true(isnan(rm_lane_value(&stream, &record, RM_LANES)));
    assert_int_equal(rm_stream_lane(&stream, "setpoint"), 1);
    assert_int_equal(rm_stream_lane(&stream, "set"), -1);
    assert_int_equal(rm_stream_lane(&stream, ""), -1); /* lanes that are not in use have no name */
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gap_and_late_fill, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_copy_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_window_fits_the_ring, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_laps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gap_over_an_old_lap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_decimated, set_up_decimated, tear_down),
        cmocka_unit_test_setup_teardown(test_early_publish, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pass_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pass_over_publishes_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_oldest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_oldest_decimated, set_up_decimated, tear_down),
        cmocka_unit_test_setup_teardown(test_window, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_turn_zero, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_turns, set_up, tear_down),
        cmocka_unit_test(test_lane_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
