// SPDX-License-Identifier: Apache-2.0
/** Software queues over a link: `test_spread_link memif|af_packet|af_xdp`. One thread deals, two others receive. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conformance_numbered.h"

enum { SKIPPED = 77, FRAME_BYTES = 106, SOURCES = 64, QUEUES = 4, FRAMES = 200000, SOURCE_AT = 26, NUMBER_AT = 42 };
static uint32_t const NETWORK = 0x0A140000;

/** Frame number n comes from source n modulo SOURCES. Never more on their way than software queues hold. */
static void send_from_many(struct endpoints *endpoints, int end) {
    wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    wait_for_link(port, true);
    struct numbered numbered = {.fixed = FRAME_BYTES};
    struct rm_burst burst = {0};
    while (numbered.next < FRAMES) {
        while (numbered.next > atomic_load(&endpoints->shared->received) + 900)
            sched_yield();
        rm_port_reserve(port, 0, &burst, RM_BURST);
        uint64_t const first = numbered.next;
        numbered_fill(endpoints, port, &numbered, &burst);
        for (uint32_t i = 0; i < burst.count; ++i)
            for (uint32_t byte = 0; byte < 4; ++byte)
                burst.data[i][SOURCE_AT + byte] = (uint8_t)((NETWORK + (first + i) % SOURCES) >> 8 * (3 - byte));
        while (burst.count != 0)
            if (rm_port_send(port, 0, &burst) == 0)
                sched_yield();
    }
    rm_port_close(port);
}

struct poller {
    struct endpoints *endpoints;
    struct rm_port *port;
    uint16_t queue; /**< this, and the one after it */
    pthread_t thread;
    uint64_t next[SOURCES];
};

/** Every source comes complete, in order, and in its own queue only. */
static void check(struct poller *poller, uint16_t queue, struct rm_burst const *burst) {
    for (uint32_t i = 0; i < burst->count; ++i) {
        uint64_t number;
        memcpy(&number, burst->data[i] + NUMBER_AT, sizeof number);
        uint64_t const source = number % SOURCES;
        expect(rm_port_queue_of(poller->port, NETWORK + (uint32_t)source) == queue, "a source in its own queue");
        expect(number == poller->next[source] * SOURCES + source, "a source's frames in order, and all of them");
        ++poller->next[source];
    }
}

static void *poll_two_queues(void *argument) {
    struct poller *const poller = argument;
    struct rm_error error;
    struct rm_burst burst = {0};
    rm_net_thread_join(&error);
    while (atomic_load(&poller->endpoints->shared->received) < FRAMES) {
        for (uint32_t i = 0; i < 2; ++i) {
            uint16_t const queue = (uint16_t)(poller->queue + i);
            uint32_t const count = rm_port_receive(poller->port, queue, &burst);
            check(poller, queue, &burst);
            rm_port_release(poller->port, queue, &burst);
            atomic_fetch_add(&poller->endpoints->shared->received, count);
        }
        sched_yield();
    }
    rm_net_thread_leave();
    return NULL;
}

static void spread_and_receive(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    expect(rm_port_steering(port) == RM_STEERING_SOFTWARE, "software to steer");
    struct poller poller[QUEUES / 2] = {0};
    for (uint32_t i = 0; i < QUEUES / 2; ++i) {
        poller[i] = (struct poller){.endpoints = endpoints, .port = port, .queue = (uint16_t)(2 * i)};
        expect(pthread_create(&poller[i].thread, NULL, poll_two_queues, &poller[i]) == 0, "a thread");
    }
    atomic_store(&endpoints->shared->step, 1);
    uint64_t full = 0;
    while (atomic_load(&endpoints->shared->received) < FRAMES)
        if (rm_port_spread(port, &full) == 0)
            sched_yield();
    for (uint32_t i = 0; i < QUEUES / 2; ++i)
        pthread_join(poller[i].thread, NULL);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(full == 0 && totals.missed == 0 && totals.received == FRAMES, "nothing to be lost");
    rm_port_close(port);
}

static void every_source_stays_in_its_queue_and_nothing_is_lost(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, spread_and_receive);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_from_many)));
}

int main(int argc, char **argv) {
    struct endpoints endpoints;
    if (argc != 2 || !endpoints_make(&endpoints, argv[1])) {
        fprintf(stderr, "SKIPPED: software queues of '%s' were not tested\n", argc == 2 ? argv[1] : "");
        return SKIPPED;
    }
    endpoints.claimed = true; // frames of UDP
    endpoints.config[RECEIVER].queues = QUEUES;
    endpoints.config[RECEIVER].spread = true;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(every_source_stays_in_its_queue_and_nothing_is_lost, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
