// SPDX-License-Identifier: Apache-2.0
/** What a stream shows when the machine's turn counter or its own server starts again. */
#include "fabric/test_stream_steps.h"

/** After a restart with lower turns no gap may show what the old epoch left in the slot, at no moment. */
static void test_restart_hides_the_old_epoch(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 5000, 5000 + 2 * CAPACITY, 1);
    rm_stream_writer_restart(&ring->writer);
    assert_int_equal(atomic_load(&ring->stream->turn_epoch), 1);
    assert_int_equal(rm_stream_head(&ring->view), RM_TURN_NONE);
    assert_int_equal(verdict(ring, 7000), RM_READ_BEFORE);

    fill(ring, 5900, 5900, 2); // below what lies in the ring, which are 6025 … 7048
    assert_none_of_generation(ring, 5000, 8000, 1);
    fill(ring, 6030, 6030, 2);
    assert_none_of_generation(ring, 5000, 8000, 1);
    rm_stream_writer_pass_over(&ring->writer, 6400);
    publish(ring);
    assert_none_of_generation(ring, 5000, 8000, 1);
    fill(ring, 6401, 6401, 2);
    assert_read(ring, 6030, 2);
    assert_read(ring, 6401, 2);
    assert_int_equal(put(ring, 6200, 2), RM_PUT_OUT_OF_ORDER);
    assert_read(ring, 6200, 2);
    assert_int_equal(put(ring, 5899, 2), RM_PUT_BEHIND);
    put(ring, 9000, 2); // a jump over more than the ring
    publish(ring);
    assert_none_of_generation(ring, 5000, 9000, 1);
    assert_read(ring, 9000, 2);
}

static void test_restart_upwards_and_again(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 100, 200, 1);
    rm_stream_writer_restart(&ring->writer);
    fill(ring, 50000, 50010, 2);
    assert_int_equal(verdict(ring, 150), RM_READ_BEFORE);
    rm_stream_writer_restart(&ring->writer);
    fill(ring, 0, 0, 3);
    fill(ring, 300, 300, 3);
    assert_int_equal(atomic_load(&ring->stream->turn_epoch), 2);
    assert_none_of_generation(ring, 0, 300, 1);
    assert_read(ring, 300, 3);
    assert_int_equal(put(ring, 150, 3), RM_PUT_OUT_OF_ORDER);
    assert_int_equal(put(ring, 150, 4), RM_PUT_DUPLICATE);
    assert_read(ring, 150, 3);
}

/** Presence bits must not survive from one epoch, or from one round of the bitmap, to the next. */
static void test_presence_is_forgotten(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 0, 100, 1);
    fill(ring, RM_PRESENCE_TURNS + 200, RM_PRESENCE_TURNS + 200, 1);
    assert_int_equal(put(ring, RM_PRESENCE_TURNS + 50, 1), RM_PUT_OUT_OF_ORDER);
    rm_stream_writer_pass_over(&ring->writer, 2 * RM_PRESENCE_TURNS + 190);
    assert_int_equal(put(ring, 2 * RM_PRESENCE_TURNS + 50, 1), RM_PUT_OUT_OF_ORDER);
    rm_stream_writer_restart(&ring->writer);
    fill(ring, 0, 0, 2);
    fill(ring, 210, 210, 2);
    assert_int_equal(put(ring, 200, 2), RM_PUT_OUT_OF_ORDER);
}

static void test_adoption_continues(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 0, 2000, 1);
    fill(ring, 2005, 2010, 1);
    for (rm_turn turn = 2011; turn < 2020; ++turn)
        put(ring, turn, 1); // the server dies before it publishes them
    reopen(ring);
    assert_int_equal(rm_stream_head(&ring->view), 2010);
    assert_read(ring, 1500, 1);
    rm_stream_writer_pass_over(&ring->writer, 3000); // it does not know yet where the machine is
    assert_int_equal(ring->writer.head, 2010);

    assert_int_equal(put(ring, 2100, 2), RM_PUT_NEW);
    publish(ring);
    assert_int_equal(atomic_load(&ring->stream->turn_epoch), 0);
    assert_int_equal(ring->writer.skipped, 0);
    assert_read(ring, 2010, 1);
    assert_read(ring, 2100, 2);
    assert_none_of_generation(ring, 2011, 2100, 1);
    assert_int_equal(put(ring, 2015, 2), RM_PUT_OUT_OF_ORDER);
    assert_int_equal(put(ring, 2003, 2), RM_PUT_OUT_OF_ORDER);
    assert_int_equal(put(ring, 2008, 2), RM_PUT_DUPLICATE); // the first copy is the old server's
    assert_read(ring, 2008, 1);
    assert_read(ring, 2003, 2);
}

static void test_adoption_begins_anew(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 5000, 7000, 1);
    reopen(ring);
    assert_read(ring, 6500, 1); // readable while nothing new has come
    fill(ring, 7000, 7000, 2);  // not above the old head: the counter was restarted
    assert_int_equal(atomic_load(&ring->stream->turn_epoch), 1);
    assert_int_equal(verdict(ring, 6999), RM_READ_BEFORE);

    reopen(ring);
    fill(ring, 6100, 6100, 3);
    fill(ring, 6900, 6900, 3);
    assert_int_equal(atomic_load(&ring->stream->turn_epoch), 2);
    assert_none_of_generation(ring, 6100, 6900, 1);
    assert_read(ring, 6900, 3);
}

/** Killed between the two halves of a restart: the next owner must not hand out one epoch's number twice. */
static void test_adoption_completes_a_restart(void **state) {
    struct stream_ring *ring = *state;
    fill(ring, 0, 100, 1);
    atomic_store(&ring->stream->head, RM_TURN_NONE);
    reopen(ring);
    fill(ring, 50, 60, 2);
    assert_int_equal(atomic_load(&ring->stream->turn_epoch), 1);
    assert_none_of_generation(ring, 0, 200, 1);
    assert_read(ring, 60, 2);
}

static void test_adoption_of_an_empty_stream(void **state) {
    struct stream_ring *ring = *state;
    reopen(ring);
    assert_int_equal(atomic_load(&ring->stream->turn_epoch), 0);
    fill(ring, 7, 9, 1);
    assert_read(ring, 7, 1);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_restart_hides_the_old_epoch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_restart_upwards_and_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_presence_is_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adoption_continues, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adoption_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adoption_completes_a_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adoption_of_an_empty_stream, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
