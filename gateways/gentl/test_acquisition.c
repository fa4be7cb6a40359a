// SPDX-License-Identifier: Apache-2.0
/** Frames that the producer hands out: copied and in place, whole and not, and every way in which waiting ends. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_producer.h"

enum { LONG_MS = 60000, FLAGS = RM_IMAGE_HAS_GEOMETRY | RM_IMAGE_HAS_TURN };

static struct producer it;

static void acquisition_write(uint64_t address) {
    assert_int_equal(it.GCWritePort(it.camera, address, &(uint64_t){1}, &(size_t){8}), GC_ERR_SUCCESS);
}

static uint64_t stream_number(int32_t command) {
    uint64_t number = 0;
    assert_int_equal(it.DSGetInfo(it.stream, command, NULL, &number, &(size_t){8}), GC_ERR_SUCCESS);
    return number;
}

static void acquisition_start(uint64_t frames) {
    assert_int_equal(it.DSStartAcquisition(it.stream, ACQ_START_FLAGS_DEFAULT, frames), GC_ERR_SUCCESS);
    acquisition_write(0x130);
}

static void acquisition_stop(void) {
    acquisition_write(0x138);
    assert_int_equal(it.DSStopAcquisition(it.stream, ACQ_STOP_FLAGS_DEFAULT), GC_ERR_SUCCESS);
}

static BUFFER_HANDLE acquisition_next(void) {
    struct gentl_new_buffer data;
    assert_int_equal(it.EventGetData(it.event, &data, &(size_t){sizeof data}, LONG_MS), GC_ERR_SUCCESS);
    return data.buffer;
}

/** The buffer of a frame that is published when the stream waits for one: those before it began are not its. */
static BUFFER_HANDLE acquisition_first(uint64_t *number, enum rm_image_status status, uint32_t flags) {
    it.fake_await_reader(0);
    it.fake_publish(0, (*number)++, status, flags);
    return acquisition_next();
}

static uint64_t buffer_number(BUFFER_HANDLE buffer, int32_t command) {
    uint64_t number = 0;
    assert_int_equal(it.DSGetBufferInfo(it.stream, buffer, command, NULL, &number, &(size_t){8}), GC_ERR_SUCCESS);
    return number;
}

static uint8_t const *buffer_base(BUFFER_HANDLE buffer) {
    return (uint8_t const *)(uintptr_t)buffer_number(buffer, BUFFER_INFO_BASE);
}

static void check_frame(BUFFER_HANDLE buffer) {
    uint64_t const number = buffer_number(buffer, BUFFER_INFO_FRAMEID);
    uint8_t const *bytes = buffer_base(buffer);
    for (uint32_t i = 0; i < FAKE_BYTES; ++i)
        assert_int_equal(bytes[i], (uint8_t)(number + i));
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_TIMESTAMP), 1000 + number);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_TIMESTAMP_NS), 2000 + number);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_RINGMASTER_TURN), 3000 + number);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_WIDTH), FAKE_WIDTH);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_HEIGHT), FAKE_HEIGHT);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_XOFFSET), 5);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_YOFFSET), 6);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_PIXELFORMAT), 0x01080001);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_PIXELFORMAT_NAMESPACE), PIXELFORMAT_NAMESPACE_PFNC_32BIT);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_PAYLOADTYPE), PAYLOAD_TYPE_IMAGE);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_SIZE_FILLED), FAKE_BYTES);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_IS_INCOMPLETE), 0);
}

static void queue(BUFFER_HANDLE buffer) { assert_int_equal(it.DSQueueBuffer(it.stream, buffer), GC_ERR_SUCCESS); }

static BUFFER_HANDLE queue_allocated(size_t size) {
    BUFFER_HANDLE buffer;
    assert_int_equal(it.DSAllocAndAnnounceBuffer(it.stream, size, NULL, &buffer), GC_ERR_SUCCESS);
    queue(buffer);
    return buffer;
}

static BUFFER_HANDLE queue_announced(uint8_t *memory, size_t size) {
    BUFFER_HANDLE buffer;
    assert_int_equal(it.DSAnnounceBuffer(it.stream, memory, size, &it, &buffer), GC_ERR_SUCCESS);
    queue(buffer);
    return buffer;
}

static void test_announced_memory_gets_a_copy(void **state) {
    (void)state;
    uint8_t memory[2][FAKE_BYTES];
    producer_open(&it);
    BUFFER_HANDLE buffer = queue_announced(memory[0], FAKE_BYTES);
    queue_announced(memory[1], FAKE_BYTES);
    acquisition_start(GENTL_INFINITE);
    uint64_t number = 1;
    assert_ptr_equal(acquisition_first(&number, RM_IMAGE_WHOLE, FLAGS), buffer);
    assert_ptr_equal(buffer_base(buffer), memory[0]);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_NEW_DATA), 1);
    check_frame(buffer);
    assert_int_equal(it.fake_leases(0), 0);
    acquisition_stop();
    void *bytes, *user_pointer;
    assert_int_equal(it.DSRevokeBuffer(it.stream, buffer, &bytes, &user_pointer), GC_ERR_SUCCESS);
    assert_ptr_equal(bytes, memory[0]);
    assert_ptr_equal(user_pointer, &it);
    producer_close(&it);
}

static void test_allocated_buffers_are_the_frames_themselves(void **state) {
    (void)state;
    producer_open(&it);
    queue_allocated(FAKE_BYTES);
    acquisition_start(GENTL_INFINITE);
    uint64_t number = 1;
    BUFFER_HANDLE buffer = acquisition_first(&number, RM_IMAGE_WHOLE, FLAGS);
    check_frame(buffer);
    assert_ptr_equal(buffer_base(buffer), it.fake_bytes(0, buffer_number(buffer, BUFFER_INFO_FRAMEID)));
    assert_int_equal(it.fake_leases(0), 1);
    acquisition_stop();
    assert_int_equal(it.fake_leases(0), 1);
    check_frame(buffer);
    queue(buffer);
    assert_int_equal(it.fake_leases(0), 0);
    producer_close(&it);
}

/** The consumer keeps all that it gets. The stream holds one lease back, and copies what it cannot lend. */
static void test_leases_are_bounded(void **state) {
    (void)state;
    producer_open(&it);
    enum { BUFFERS = 6 };
    for (uint32_t i = 0; i < BUFFERS; ++i)
        queue_allocated(FAKE_BYTES);
    acquisition_start(GENTL_INFINITE);
    uint64_t number = 1;
    BUFFER_HANDLE held[FAKE_LEASES];
    held[0] = acquisition_first(&number, RM_IMAGE_WHOLE, FLAGS);
    for (uint32_t i = 1; i < FAKE_LEASES; ++i) {
        it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
        held[i] = acquisition_next();
    }
    assert_int_equal(it.fake_leases(0), FAKE_LEASES);
    it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
    it.fake_await_refusal(0);
    queue(held[0]);
    BUFFER_HANDLE copied = acquisition_next();
    check_frame(copied);
    assert_ptr_not_equal(buffer_base(copied), it.fake_bytes(0, number - 1));
    for (uint32_t i = 1; i < FAKE_LEASES; ++i)
        check_frame(held[i]);
    it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
    check_frame(acquisition_next());
    producer_close(&it);
}

/** A buffer that is still a frame in place is queued alone, while the stream's thread waits for the next frame. */
static void test_a_buffer_gives_its_lease_back_before_it_gets_another(void **state) {
    (void)state;
    producer_open(&it);
    queue_allocated(FAKE_BYTES);
    queue_allocated(FAKE_BYTES);
    acquisition_start(GENTL_INFINITE);
    uint64_t number = 1;
    BUFFER_HANDLE buffer = acquisition_first(&number, RM_IMAGE_WHOLE, FLAGS);
    for (uint32_t round = 0; round < 10; ++round) {
        assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_ALL_DISCARD), GC_ERR_SUCCESS);
        queue(buffer);
        it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
        assert_ptr_equal(acquisition_next(), buffer);
        check_frame(buffer);
        assert_int_equal(it.fake_leases(0), 1);
        assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_UNQUEUED_TO_INPUT), GC_ERR_SUCCESS);
        it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
        while (acquisition_next() != buffer)
            it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
    }
    producer_close(&it);
    assert_int_equal(it.fake_leases(0), 0);
}

static void test_frames_that_are_not_whole_say_so(void **state) {
    (void)state;
    producer_open(&it);
    queue_allocated(FAKE_BYTES);
    acquisition_start(GENTL_INFINITE);
    uint64_t number = 1;
    BUFFER_HANDLE buffer = acquisition_first(&number, RM_IMAGE_INCOMPLETE, RM_IMAGE_HAS_GEOMETRY);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_IS_INCOMPLETE), 1);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_DATA_LARGER_THAN_BUFFER), 0);
    uint64_t turn;
    assert_int_equal(it.DSGetBufferInfo(it.stream, buffer, BUFFER_INFO_RINGMASTER_TURN, NULL, &turn, &(size_t){8}),
                     GC_ERR_NOT_AVAILABLE);
    queue(buffer);
    it.fake_publish(0, number++, RM_IMAGE_FILLED, 0);
    buffer = acquisition_next();
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_IS_INCOMPLETE), 1);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_PAYLOADTYPE), PAYLOAD_TYPE_RAW_DATA);
    assert_int_equal(it.DSGetBufferInfo(it.stream, buffer, BUFFER_INFO_WIDTH, NULL, &turn, &(size_t){8}),
                     GC_ERR_NOT_AVAILABLE);
    producer_close(&it);
}

static void test_a_frame_larger_than_its_buffer_is_cut(void **state) {
    (void)state;
    producer_open(&it);
    uint8_t memory[FAKE_BYTES];
    memset(memory, 0xEE, sizeof memory);
    queue_announced(memory, FAKE_BYTES - 1);
    acquisition_start(GENTL_INFINITE);
    uint64_t number = 1;
    BUFFER_HANDLE buffer = acquisition_first(&number, RM_IMAGE_WHOLE, FLAGS);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_SIZE_FILLED), FAKE_BYTES - 1);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_IS_INCOMPLETE), 1);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_DATA_LARGER_THAN_BUFFER), 1);
    assert_int_equal(memory[FAKE_BYTES - 1], 0xEE);
    producer_close(&it);
}

static void test_an_acquisition_ends_after_its_frames(void **state) {
    (void)state;
    producer_open(&it);
    for (uint32_t i = 0; i < 4; ++i)
        queue_allocated(FAKE_BYTES);
    acquisition_start(2);
    uint64_t number = 1;
    (void)acquisition_first(&number, RM_IMAGE_WHOLE, FLAGS);
    it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
    (void)acquisition_next();
    it.fake_publish(0, number++, RM_IMAGE_WHOLE, FLAGS);
    struct gentl_new_buffer data;
    assert_int_equal(it.EventGetData(it.event, &data, &(size_t){sizeof data}, 50), GC_ERR_TIMEOUT);
    assert_int_equal(stream_number(STREAM_INFO_NUM_DELIVERED), 2);
    assert_int_equal(stream_number(STREAM_INFO_NUM_QUEUED), 2);
    assert_int_equal(it.DSStartAcquisition(it.stream, ACQ_START_FLAGS_DEFAULT, 1), GC_ERR_RESOURCE_IN_USE);
    acquisition_stop();
    acquisition_start(1);
    (void)acquisition_first(&number, RM_IMAGE_WHOLE, FLAGS);
    producer_close(&it);
}

static void test_buffers_are_flushed_where_they_shall_go(void **state) {
    (void)state;
    producer_open(&it);
    BUFFER_HANDLE buffer = queue_allocated(FAKE_BYTES);
    assert_int_equal(it.DSQueueBuffer(it.stream, buffer), GC_ERR_RESOURCE_IN_USE);
    assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_INPUT_TO_OUTPUT), GC_ERR_SUCCESS);
    assert_int_equal(stream_number(STREAM_INFO_NUM_AWAIT_DELIVERY), 1);
    assert_ptr_equal(acquisition_next(), buffer);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_NEW_DATA), 0);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_IS_INCOMPLETE), 1);
    assert_int_equal(buffer_number(buffer, BUFFER_INFO_SIZE_FILLED), 0);
    assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_UNQUEUED_TO_INPUT), GC_ERR_SUCCESS);
    assert_int_equal(stream_number(STREAM_INFO_NUM_QUEUED), 1);
    assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_ALL_DISCARD), GC_ERR_SUCCESS);
    assert_int_equal(stream_number(STREAM_INFO_NUM_QUEUED), 0);
    assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_ALL_TO_INPUT), GC_ERR_SUCCESS);
    assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_INPUT_TO_OUTPUT), GC_ERR_SUCCESS);
    assert_int_equal(it.DSFlushQueue(it.stream, ACQ_QUEUE_OUTPUT_DISCARD), GC_ERR_SUCCESS);
    assert_int_equal(stream_number(STREAM_INFO_NUM_AWAIT_DELIVERY), 0);
    assert_int_equal(stream_number(STREAM_INFO_NUM_ANNOUNCED), 1);
    producer_close(&it);
}

static void *wait_for_event(void *result) {
    struct gentl_new_buffer data;
    *(GC_ERROR *)result = it.EventGetData(it.event, &data, &(size_t){sizeof data}, GENTL_INFINITE);
    return NULL;
}

/** What ends a call that waits without end; it may come before the call waits. */
static void check_wait_ends(void (*end)(void), GC_ERROR expected, GC_ERROR or_expected) {
    pthread_t thread;
    GC_ERROR result = GC_ERR_SUCCESS;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &result), 0);
    end();
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (result != expected && result != or_expected)
        fail_msg("%d instead of %d or %d", result, expected, or_expected);
}

static void kill_event(void) { assert_int_equal(it.EventKill(it.event), GC_ERR_SUCCESS); }
static void unregister_event(void) {
    assert_int_equal(it.GCUnregisterEvent(it.stream, EVENT_NEW_BUFFER), GC_ERR_SUCCESS);
}
static void close_stream(void) { assert_int_equal(it.DSClose(it.stream), GC_ERR_SUCCESS); }
static void close_system(void) { assert_int_equal(it.TLClose(it.system), GC_ERR_SUCCESS); }
static void end_receiver(void) { it.fake_end(); }

static void test_waiting_ends(void **state) {
    (void)state;
    producer_open(&it);
    struct gentl_new_buffer data;
    assert_int_equal(it.EventGetData(it.event, &data, &(size_t){sizeof data}, 0), GC_ERR_TIMEOUT);
    check_wait_ends(kill_event, GC_ERR_ABORT, GC_ERR_ABORT);
    assert_int_equal(it.EventGetData(it.event, &data, &(size_t){sizeof data}, 1), GC_ERR_TIMEOUT);
    check_wait_ends(unregister_event, GC_ERR_ABORT, GC_ERR_INVALID_HANDLE);
    assert_int_equal(it.GCRegisterEvent(it.stream, EVENT_NEW_BUFFER, &it.event), GC_ERR_SUCCESS);
    check_wait_ends(close_stream, GC_ERR_ABORT, GC_ERR_INVALID_HANDLE);
    producer_close(&it);
    producer_open(&it);
    check_wait_ends(close_system, GC_ERR_ABORT, GC_ERR_INVALID_HANDLE);
    producer_close(&it);
    producer_open(&it);
    queue_allocated(FAKE_BYTES);
    acquisition_start(GENTL_INFINITE);
    check_wait_ends(end_receiver, GC_ERR_IO, GC_ERR_IO);
    producer_close(&it);
}

static void test_modules_are_closed_while_frames_come(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 20; ++round) {
        producer_open(&it);
        for (uint32_t i = 0; i < 3; ++i)
            queue_allocated(FAKE_BYTES);
        acquisition_start(GENTL_INFINITE);
        for (uint64_t i = 0; i < round; ++i)
            it.fake_publish(0, i, RM_IMAGE_WHOLE, FLAGS);
        producer_close(&it);
    }
}

static void *close_stream_of_it(void *result) {
    *(GC_ERROR *)result = it.DSClose(it.stream);
    return NULL;
}

/** One thread closes the stream, and another one the system above it. */
static void test_modules_are_closed_by_two_threads_at_once(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 20; ++round) {
        producer_open(&it);
        queue_allocated(FAKE_BYTES);
        acquisition_start(GENTL_INFINITE);
        GC_ERROR result;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, close_stream_of_it, &result), 0);
        close_system();
        assert_int_equal(it.TLClose(it.system), GC_ERR_INVALID_HANDLE);
        TL_HANDLE again;
        assert_int_equal(it.TLOpen(&again), GC_ERR_SUCCESS);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(result == GC_ERR_SUCCESS || result == GC_ERR_INVALID_HANDLE);
        assert_int_equal(it.TLClose(again), GC_ERR_SUCCESS);
        producer_close(&it);
    }
}

int main(int count, char **arguments) {
    if (count < 2)
        return 2;
    it = producer_load(arguments[1]);
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_announced_memory_gets_a_copy),
        cmocka_unit_test(test_allocated_buffers_are_the_frames_themselves),
        cmocka_unit_test(test_leases_are_bounded),
        cmocka_unit_test(test_a_buffer_gives_its_lease_back_before_it_gets_another),
        cmocka_unit_test(test_frames_that_are_not_whole_say_so),
        cmocka_unit_test(test_a_frame_larger_than_its_buffer_is_cut),
        cmocka_unit_test(test_an_acquisition_ends_after_its_frames),
        cmocka_unit_test(test_buffers_are_flushed_where_they_shall_go),
        cmocka_unit_test(test_waiting_ends),
        cmocka_unit_test(test_modules_are_closed_while_frames_come),
        cmocka_unit_test(test_modules_are_closed_by_two_threads_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
