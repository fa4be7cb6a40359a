// SPDX-License-Identifier: Apache-2.0
/** Ports without a peer: ring, null, pcap. All in one process, as they live. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/port.h"

enum { MANY = 1000064, FRAME_BYTES = 106, JUMBO_BYTES = 9014, LARGE_RING = 8192 };

static struct rm_port *open_port(struct rm_port_config const *config) {
    struct rm_port *port = NULL;
    struct rm_error error = {0};
    rm_port_open(config, &port, &error);
    assert_string_equal(error.text, "");
    return port;
}

static void expect_refusal(struct rm_port_config const *config, enum rm_code code, char const *words) {
    struct rm_port *port = NULL;
    struct rm_error error = {0};
    assert_int_equal(rm_port_open(config, &port, &error), code);
    assert_null(port);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void fill(struct rm_burst *burst, uint64_t number, uint32_t length) {
    for (uint32_t i = 0; i < burst->count; ++i) {
        memset(burst->data[i], (int)(number + i), length);
        memcpy(burst->data[i], &(uint64_t){number + i}, sizeof number);
        burst->length[i] = length;
    }
}

/** Sends a burst and receives it. */
static void pass_burst(struct rm_port *port, uint64_t number, uint32_t length) {
    struct rm_burst burst = {0};
    assert_int_equal(rm_port_reserve(port, 0, &burst, RM_BURST), RM_BURST);
    fill(&burst, number, length);
    assert_int_equal(rm_port_send(port, 0, &burst), RM_BURST);
    assert_int_equal(rm_port_receive(port, 0, &burst), RM_BURST);
    for (uint32_t i = 0; i < burst.count; ++i) {
        assert_int_equal(burst.length[i], length);
        assert_memory_equal(burst.data[i], (&(uint64_t){number + i}), sizeof number);
        assert_int_equal(burst.data[i][length - 1], (uint8_t)(number + i));
    }
    rm_port_release(port, 0, &burst);
}

static void a_ring_gives_back_what_it_was_given(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 1};
    struct rm_port *const port = open_port(&config);
    assert_int_equal(rm_port_framing(port), RM_FRAMING_ETHERNET);
    assert_int_equal(rm_port_steering(port), RM_STEERING_ONE);
    assert_int_equal(rm_port_queue_of(port, 0x0A140001), 0);
    for (uint64_t number = 0; number < MANY; number += RM_BURST)
        pass_burst(port, number, FRAME_BYTES);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    assert_int_equal(totals.received, MANY);
    assert_int_equal(totals.sent, MANY);
    assert_int_equal(totals.missed + totals.errors + totals.unsent, 0);
    assert_true(totals.link_up);
    rm_port_close(port);
}

/** A thread that serves the port once, and lives on. */
struct server_thread {
    struct rm_port *port;
    pthread_t thread;
    sem_t served, end;
    uint32_t reserved;
};

static void *serve_once(void *argument) {
    struct server_thread *const server = argument;
    struct rm_burst burst = {0};
    struct rm_error error;
    if (rm_net_thread_join(&error) == RM_OK) {
        server->reserved = rm_port_reserve(server->port, 0, &burst, RM_BURST);
        rm_port_release(server->port, 0, &burst);
        rm_net_thread_flush();
    }
    sem_post(&server->served);
    sem_wait(&server->end);
    rm_net_thread_leave();
    return NULL;
}

static void a_port_that_goes_from_thread_to_thread_keeps_its_buffers(void **state) {
    (void)state;
    enum { THREADS = 24 };
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 1, .ring_slots = 64};
    struct rm_port *const port = open_port(&config);
    struct server_thread server[THREADS];
    uint32_t reserved = 0;
    for (int i = 0; i < THREADS; ++i) {
        server[i] = (struct server_thread){.port = port};
        sem_init(&server[i].served, 0, 0);
        sem_init(&server[i].end, 0, 0);
        assert_int_equal(pthread_create(&server[i].thread, NULL, serve_once, &server[i]), 0);
        sem_wait(&server[i].served);
        reserved += server[i].reserved;
    }
    for (int i = 0; i < THREADS; ++i) {
        sem_post(&server[i].end);
        pthread_join(server[i].thread, NULL);
        sem_destroy(&server[i].served);
        sem_destroy(&server[i].end);
    }
    assert_int_equal(reserved, THREADS * RM_BURST);
    rm_port_close(port);
}

static void a_ring_takes_jumbo_frames(void **state) {
    (void)state;
    struct rm_port_config const config = {
        .name = "ring", .kind = RM_PORT_RING, .queues = 1, .longest_frame = JUMBO_BYTES};
    struct rm_port *const port = open_port(&config);
    for (uint64_t number = 0; number < 100 * RM_BURST; number += RM_BURST)
        pass_burst(port, number, JUMBO_BYTES);
    rm_port_close(port);
}

static void a_full_ring_takes_a_part_and_keeps_the_rest(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 1};
    struct rm_port *const port = open_port(&config);
    struct rm_burst burst = {0};
    uint32_t sent = 0;
    do {
        rm_port_reserve(port, 0, &burst, RM_BURST);
        fill(&burst, sent, FRAME_BYTES);
        sent += rm_port_send(port, 0, &burst);
    } while (burst.count == 0);
    assert_in_range(sent, 512, 4096);
    assert_int_equal(rm_port_send(port, 0, &burst), 0);
    rm_port_release(port, 0, &burst);
    for (uint32_t received = 0; received < sent; received += burst.count) {
        rm_port_release(port, 0, &burst);
        assert_int_not_equal(rm_port_receive(port, 0, &burst), 0);
    }
    rm_port_release(port, 0, &burst);
    assert_int_equal(rm_port_receive(port, 0, &burst), 0);
    rm_port_close(port);
}

static void a_ring_holds_as_many_as_it_was_asked_for(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 1, .ring_slots = LARGE_RING};
    struct rm_port *const port = open_port(&config);
    struct rm_burst burst = {0};
    for (uint32_t sent = 0; sent < LARGE_RING; sent += RM_BURST) {
        assert_int_equal(rm_port_reserve(port, 0, &burst, RM_BURST), RM_BURST);
        fill(&burst, sent, FRAME_BYTES);
        assert_int_equal(rm_port_send(port, 0, &burst), RM_BURST);
    }
    assert_int_equal(rm_port_reserve(port, 0, &burst, 1), 1);
    fill(&burst, 0, FRAME_BYTES);
    assert_int_equal(rm_port_send(port, 0, &burst), 0);
    rm_port_release(port, 0, &burst);
    uint32_t received = 0;
    for (; rm_port_receive(port, 0, &burst) != 0; rm_port_release(port, 0, &burst))
        for (uint32_t i = 0; i < burst.count; ++i, ++received)
            assert_memory_equal(burst.data[i], &(uint64_t){received}, sizeof(uint64_t));
    assert_int_equal(received, LARGE_RING);
    rm_port_close(port);
}

/** A million are discarded only when every buffer comes back, and what is not yet discarded is received. */
static void what_is_discarded_is_gone(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 1};
    struct rm_port *const port = open_port(&config);
    struct rm_burst burst = {0};
    assert_int_equal(rm_port_discard(port, 0), 0);
    for (uint64_t number = 0; number < MANY; number += 2 * RM_BURST) {
        for (uint32_t i = 0; i < 2; ++i) {
            assert_int_equal(rm_port_reserve(port, 0, &burst, RM_BURST), RM_BURST);
            fill(&burst, number + i * RM_BURST, FRAME_BYTES);
            assert_int_equal(rm_port_send(port, 0, &burst), RM_BURST);
        }
        assert_int_equal(rm_port_discard(port, 0), RM_BURST);
        assert_int_equal(rm_port_receive(port, 0, &burst), RM_BURST);
        assert_memory_equal(burst.data[0], (&(uint64_t){number + RM_BURST}), sizeof number);
        rm_port_release(port, 0, &burst);
    }
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    assert_int_equal(totals.received, totals.sent);
    rm_port_close(port);
}

/** By the software queue, where there is one. */
static void what_was_spread_can_be_discarded(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 2, .spread = true};
    struct rm_port *const port = open_port(&config);
    struct rm_burst burst = {0};
    assert_int_equal(rm_port_reserve(port, 0, &burst, 3), 3);
    fill(&burst, 0, FRAME_BYTES); // no IPv4: all goes to queue 0
    assert_int_equal(rm_port_send(port, 0, &burst), 3);
    uint64_t full = 0;
    assert_int_equal(rm_port_spread(port, &full), 3);
    assert_int_equal(rm_port_discard(port, 1), 0);
    assert_int_equal(rm_port_discard(port, 0), 3);
    assert_int_equal(rm_port_discard(port, 0), 0);
    rm_port_close(port);
}

static void null_takes_all_and_gives_nothing(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "null", .kind = RM_PORT_NULL, .queues = 1};
    struct rm_port *const port = open_port(&config);
    struct rm_burst burst = {0};
    for (uint32_t sent = 0; sent < MANY; sent += RM_BURST) {
        assert_int_equal(rm_port_receive(port, 0, &burst), 0);
        assert_int_equal(rm_port_reserve(port, 0, &burst, RM_BURST), RM_BURST);
        fill(&burst, sent, FRAME_BYTES);
        assert_int_equal(rm_port_send(port, 0, &burst), RM_BURST);
    }
    rm_port_close(port);
}

/** A capture in the old format, microseconds: 16 bytes before each frame. Frames are of all lengths. */
static void write_capture(char const *path, uint32_t frames) {
    FILE *const file = fopen(path, "w");
    uint32_t const head[] = {0xA1B2C3D4, 2 | 4 << 16, 0, 0, 65535, 1};
    fwrite(head, sizeof head, 1, file);
    for (uint32_t i = 0; i < frames; ++i) {
        uint8_t frame[JUMBO_BYTES];
        uint32_t const length = 60 + i * 37 % (JUMBO_BYTES - 60);
        uint32_t const record[] = {i, 0, length, length};
        memset(frame, (int)i, length);
        fwrite(record, sizeof record, 1, file);
        fwrite(frame, length, 1, file);
    }
    assert_int_equal(fclose(file), 0);
}

static void a_capture_is_received_once(void **state) {
    (void)state;
    enum { FRAMES = 5000 };
    struct rm_port_config config = {.name = "file", .kind = RM_PORT_PCAP, .queues = 1, .longest_frame = JUMBO_BYTES};
    snprintf(config.file, sizeof config.file, "/tmp/rm-vdev-%d.pcap", getpid());
    write_capture(config.file, FRAMES);
    struct rm_port *const port = open_port(&config);
    struct rm_burst burst = {0};
    uint32_t number = 0;
    while (rm_port_receive(port, 0, &burst) != 0) {
        for (uint32_t i = 0; i < burst.count; ++i, ++number) {
            assert_int_equal(burst.length[i], 60 + number * 37 % (JUMBO_BYTES - 60));
            assert_int_equal(burst.data[i][burst.length[i] - 1], (uint8_t)number);
        }
        rm_port_release(port, 0, &burst);
    }
    assert_int_equal(number, FRAMES);
    assert_int_equal(rm_port_receive(port, 0, &burst), 0);
    rm_port_reserve(port, 0, &burst, 1);
    burst.length[0] = FRAME_BYTES;
    assert_int_equal(rm_port_send(port, 0, &burst), 0);
    rm_port_release(port, 0, &burst);
    rm_port_close(port);
    unlink(config.file);
}

static void ports_can_be_closed_and_opened_again(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 2};
    for (int i = 0; i < 50; ++i) {
        struct rm_port *const one = open_port(&config);
        struct rm_port *const other = open_port(&config);
        pass_burst(one, 7, FRAME_BYTES);
        pass_burst(other, 9, FRAME_BYTES);
        rm_port_close(one);
        rm_port_close(other);
    }
}

static void impossible_configurations_are_refused(void **state) {
    (void)state;
    struct rm_port_config config = {.name = "ring", .kind = RM_PORT_RING, .queues = 17};
    expect_refusal(&config, RM_E_CONFIG, "ring takes at most 16");
    config.queues = 1;
    config.ring_slots = 1 << 20;
    expect_refusal(&config, RM_E_CONFIG, "ring takes at most 524288");
    config.ring_slots = 0;
    config.exception_path = true;
    expect_refusal(&config, RM_E_CONFIG, "no exception path");
    config.exception_path = false;
    config.longest_frame = RM_LONGEST_FRAME_MAX + 1;
    expect_refusal(&config, RM_E_CONFIG, "longest frame of 9601 bytes");

    config = (struct rm_port_config){.name = "file", .kind = RM_PORT_PCAP, .queues = 1};
    expect_refusal(&config, RM_E_CONFIG, "path of a capture");
    strcpy(config.file, "/tmp/a,infinite_rx=1");
    expect_refusal(&config, RM_E_CONFIG, "no comma");
    strcpy(config.file, "/nowhere/a.pcap");
    expect_refusal(&config, RM_E_CONFIG, "No such file");
    strcpy(config.file, "/dev/null");
    expect_refusal(&config, RM_E_SYSTEM, "/dev/null");
    config.queues = 2;
    expect_refusal(&config, RM_E_CONFIG, "pcap takes at most 1");

    config = (struct rm_port_config){.name = "tap", .kind = RM_PORT_TAP, .queues = 1, .interface = "a,mac=fixed"};
    expect_refusal(&config, RM_E_CONFIG, "no interface can have that name");
    config = (struct rm_port_config){.name = "guest", .kind = RM_PORT_VIRTIO_USER, .queues = 1};
    expect_refusal(&config, RM_E_CONFIG, "absolute path");
    strcpy(config.socket_path, "/nowhere/vhost.sock");
    expect_refusal(&config, RM_E_SYSTEM, "start the host's end first");
    config.kind = RM_PORT_VHOST;
    strcpy(config.socket_path, "/proc/nowhere/vhost.sock");
    expect_refusal(&config, RM_E_SYSTEM, "choose a path that this user may write");
    config.kind = (enum rm_port_kind)77;
    expect_refusal(&config, RM_E_ARGUMENT, "unknown kind 77");
}

static int start_net(void **state) {
    (void)state;
    struct rm_net_config net = {.prefix = "ringmaster-tests"};
    struct rm_port_config const largest = {.kind = RM_PORT_RING, .queues = 2, .longest_frame = JUMBO_BYTES};
    rm_net_config_add(&net, &largest);
    struct rm_error error;
    return rm_net_start(&net, &error) == RM_OK ? 0 : -1;
}

static int stop_net(void **state) {
    (void)state;
    rm_net_stop();
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_ring_gives_back_what_it_was_given),
        cmocka_unit_test(a_port_that_goes_from_thread_to_thread_keeps_its_buffers),
        cmocka_unit_test(a_ring_takes_jumbo_frames),
        cmocka_unit_test(a_full_ring_takes_a_part_and_keeps_the_rest),
        cmocka_unit_test(a_ring_holds_as_many_as_it_was_asked_for),
        cmocka_unit_test(what_is_discarded_is_gone),
        cmocka_unit_test(what_was_spread_can_be_discarded),
        cmocka_unit_test(null_takes_all_and_gives_nothing),
        cmocka_unit_test(a_capture_is_received_once),
        cmocka_unit_test(ports_can_be_closed_and_opened_again),
        cmocka_unit_test(impossible_configurations_are_refused),
    };
    return cmocka_run_group_tests_name("vdev ports", tests, start_net, stop_net);
}
