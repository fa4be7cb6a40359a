// SPDX-License-Identifier: Apache-2.0
/** Frames punted: `test_punt_queue memif|af_packet|tap`. Another thread receives them, and its answers arrive. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conformance_numbered.h"
#include "net/punt_queue.h"

enum { SKIPPED = 77, FRAME_BYTES = 106, ROUNDS = 20000, AHEAD = 100, NUMBER_AT = 14 };

static uint64_t number_in(uint8_t const *frame) {
    uint64_t number;
    memcpy(&number, frame + NUMBER_AT, sizeof number);
    return number;
}

struct slow {
    struct rm_port *port;
    struct endpoints *endpoints;
};

/** The exception path's thread: sends everything back, the sender's MAC address where the receiver's was. */
static void *answer(void *argument) {
    struct slow const *const slow = argument;
    uint16_t const queue = rm_port_slow_queue(slow->port);
    struct rm_error error;
    rm_net_thread_join(&error);
    struct rm_burst in = {0}, out = {0};
    while (atomic_load(&slow->endpoints->shared->step) < 2) {
        if (rm_port_receive(slow->port, queue, &in) == 0)
            sched_yield();
        rm_port_reserve(slow->port, queue, &out, in.count);
        expect(out.count == in.count, "buffers to answer from");
        for (uint32_t i = 0; i < in.count; ++i) {
            expect(in.length[i] == FRAME_BYTES && number_in(in.data[i]) % 2 == 1, "whole frames of odd numbers");
            memcpy(out.data[i], in.data[i], FRAME_BYTES);
            memcpy(out.data[i], in.data[i] + 6, 6);
            memcpy(out.data[i] + 6, in.data[i], 6);
            out.length[i] = FRAME_BYTES;
        }
        rm_port_release(slow->port, queue, &in);
        while (out.count != 0 && atomic_load(&slow->endpoints->shared->step) < 2)
            if (rm_port_send(slow->port, queue, &out) == 0)
                sched_yield();
        rm_port_release(slow->port, queue, &out);
    }
    rm_net_thread_leave();
    return NULL;
}

/** Punts odd numbers, and keeps even ones. */
static void receive_and_punt(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct slow slow = {.port = port, .endpoints = endpoints};
    struct rm_burst burst = {0};
    pthread_t thread;
    expect(rm_port_slow_queue(port) == 1, "the queue beyond the only one");
    expect(pthread_create(&thread, NULL, answer, &slow) == 0, "a thread");
    atomic_store(&endpoints->shared->step, 1);
    for (uint64_t next = 0; atomic_load(&endpoints->shared->step) < 2; rm_port_release(port, 0, &burst)) {
        if (rm_port_receive(port, 0, &burst) == 0)
            sched_yield();
        for (uint32_t i = 0; i < burst.count; ++i, ++next) {
            expect(number_in(burst.data[i]) == next, "frames in order");
            if (next % 2 == 0)
                continue;
            expect(rm_port_punt(port, 0, &burst, i), "room in the exception path");
            expect(burst.data[i] == NULL && burst.length[i] == 0, "the entry to be gone");
        }
    }
    pthread_join(thread, NULL);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(totals.received == ROUNDS && totals.sent == ROUNDS / 2, "each datagram to be counted once");
    rm_port_close(port);
}

/** Never more ahead of the answers than the exception path holds. */
static void send_and_be_answered(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    wait_for_link(port, true);
    struct numbered numbered = {.fixed = FRAME_BYTES};
    struct rm_burst out = {0}, in = {0};
    uint64_t answered = 1;
    while (answered < ROUNDS) {
        if (out.count == 0 && numbered.next < ROUNDS && numbered.next < answered + AHEAD) {
            rm_port_reserve(port, 0, &out, 8);
            numbered_fill(endpoints, port, &numbered, &out);
        }
        rm_port_send(port, 0, &out);
        if (rm_port_receive(port, 0, &in) == 0)
            sched_yield();
        for (uint32_t i = 0; i < in.count; ++i, answered += 2) {
            expect(in.length[i] == FRAME_BYTES && number_in(in.data[i]) == answered, "answers in order");
            expect(in.data[i][5] == 2 && in.data[i][11] == 1, "from the receiver to the sender");
        }
        rm_port_release(port, 0, &in);
    }
    atomic_store(&endpoints->shared->step, 2);
    rm_port_close(port);
}

static void what_was_punted_is_answered(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_and_punt);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_and_be_answered)));
}

static void send_many(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    wait_for_link(port, true);
    struct numbered numbered = {.fixed = FRAME_BYTES};
    numbered_send(endpoints, port, 0, &numbered, RM_PUNT_QUEUE_SLOTS + RM_BURST);
    close_sender(endpoints, port, RM_PUNT_QUEUE_SLOTS + RM_BURST);
}

/** What was punted is not taken. */
static void punt_too_many(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    atomic_store(&endpoints->shared->step, 1);
    struct rm_burst burst = {0};
    uint64_t next = 0;
    while (next < RM_PUNT_QUEUE_SLOTS + RM_BURST) {
        rm_port_receive(port, 0, &burst);
        for (uint32_t i = 0; i < burst.count; ++i, ++next) {
            bool const taken = rm_port_punt(port, 0, &burst, i);
            expect(taken == (next < RM_PUNT_QUEUE_SLOTS), "so many to be taken, and no more");
            expect(taken || number_in(burst.data[i]) == next, "what is not taken to stay");
        }
        rm_port_release(port, 0, &burst);
        atomic_store(&endpoints->shared->received, next);
    }
    uint64_t waited = 0;
    for (uint16_t const queue = rm_port_slow_queue(port); rm_port_receive(port, queue, &burst) != 0;) {
        for (uint32_t i = 0; i < burst.count; ++i)
            expect(number_in(burst.data[i]) == waited++, "the first of them, in order");
        rm_port_release(port, queue, &burst);
    }
    expect(waited == RM_PUNT_QUEUE_SLOTS, "all that was punted");
    rm_port_close(port);
}

static void a_full_exception_path_takes_no_more(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, punt_too_many);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_many)));
}

static void have_no_exception_path(struct endpoints *endpoints, int end) {
    endpoints->config[end].exception_path = false;
    struct rm_port *const port = open_end(endpoints, end);
    struct rm_burst burst = {0};
    expect(!rm_port_punt(port, 0, &burst, 0), "nothing to be punted");
    rm_port_close(port);
}

static void without_it_nothing_is_punted(void **state) {
    endpoints_begin(*state);
    assert_true(endpoints_wait(endpoints_start(*state, RECEIVER, have_no_exception_path)));
}

int main(int argc, char **argv) {
    struct endpoints endpoints;
    if (argc != 2 || !endpoints_make(&endpoints, argv[1])) {
        fprintf(stderr, "SKIPPED: the exception path of '%s' was not tested\n", argc == 2 ? argv[1] : "");
        return SKIPPED;
    }
    endpoints.config[RECEIVER].exception_path = true;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(what_was_punted_is_answered, &endpoints),
        cmocka_unit_test_prestate(a_full_exception_path_takes_no_more, &endpoints),
        cmocka_unit_test_prestate(without_it_nothing_is_punted, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
