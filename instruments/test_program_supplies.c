// SPDX-License-Identifier: Apache-2.0
/** ringmaster-instruments with chains of supplies: this test is the server at the other end of a memif. Argument: the
 * program. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/counter.h>
#include <ringmaster/counters.h>
#include <ringmaster/parameter.h>
#include <ringmaster/stream.h>
#include <ringmaster/supply.h>

#include "net/port.h"
#include "test_world.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/setpoint.h"

enum { SUPPLIES = 12, CHAINS = 2, TERM = 9, INSTANCE = 99, FIRST_TURN = 777, TIMEOUT_SECONDS = 20, QUEUE = 0 };

static uint8_t const BROADCAST[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, SERVER_MAC[6] = {2, 0, 0, 0, 0, 1};

/** The virtual program and the server that it meets. */
struct bench {
    struct test_world *world;
    struct rm_port *port;
    pid_t pid;
    /** Answers go to the broadcast MAC. */
    bool mirrored;
    /** Datagrams, of them setpoints. */
    uint64_t sent[CHAINS], sequence[CHAINS];
    struct rm_native native;
    struct rm_record record; /**< of the answer that came last */
};

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wait_for_link(struct bench *bench) {
    double const end = now_seconds() + TIMEOUT_SECONDS;
    struct rm_port_statistics totals = {0};
    struct timespec const pause = {.tv_nsec = 1000 * 1000};
    for (rm_port_totals(bench->port, &totals); !totals.link_up; rm_port_totals(bench->port, &totals)) {
        assert_true(now_seconds() < end);
        struct rm_burst burst;
        rm_port_receive(bench->port, QUEUE, &burst); /* nothing yet: but the link is looked after */
        rm_port_release(bench->port, QUEUE, &burst);
        nanosleep(&pause, NULL);
    }
}

static struct bench *begin(char const *program, char const *machine, char const *overlay) {
    struct bench *bench = calloc(1, sizeof *bench);
    char text[1024];
    assert_non_null(bench);
    bench->world = test_world_make(program);
    struct rm_port_config config = {.name = "supplies", .kind = RM_PORT_MEMIF, .memif_server = true, .queues = 1};
    snprintf(config.socket_path, sizeof config.socket_path, "%s/memif.sock", bench->world->directory);
    struct rm_error error;
    if (rm_port_open(&config, &bench->port, &error) != RM_OK)
        fail_msg("%s", error.text);
    snprintf(text, sizeof text,
             "ports:\n"
             "  - {name: ring, kind: udp, address: 127.0.0.1:%u}\n"
             "  - {name: chains, kind: memif, socket: %s, answer: 10.30.255.1}\n"
             "setpoints: {period_turns: 10}\n%s",
             bench->world->udp_port, config.socket_path, machine);
    test_world_write(bench->world, text, overlay);
    bench->pid = test_world_start(bench->world, "--seconds", "60");
    wait_for_link(bench);
    return bench;
}

/** Ends the program, whose exit must be a good one. */
static void end(struct bench *bench) {
    assert_int_equal(test_world_end(bench->world, bench->pid), 0);
    rm_port_close(bench->port);
}

static void destroy(struct bench *bench) {
    test_world_destroy(bench->world);
    free(bench);
}

/** Sends one value to all supplies of chain 1 or 2, or asks. */
static void send(struct bench *bench, uint32_t chain, uint8_t flags, float value) {
    struct rm_flow const flow = {
        .destination_mac = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
        .source_mac = {2, 0, 0, 0, 0, 1},
        .source_ipv4 = 0x0A1EFF01,
        .destination_ipv4 = 0x0A1E0000 + chain,
        .source_port = 4662,
        .destination_port = 4662,
    };
    float values[SUPPLIES];
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        values[s] = value;
    struct rm_burst burst = {0};
    while (rm_port_reserve(bench->port, QUEUE, &burst, 1) == 0)
        wait_for_link(bench);
    uint8_t payload[RM_SETPOINT_LONGEST];
    bench->sequence[chain - 1] += flags == 0;
    rm_turn const turn = FIRST_TURN + ++bench->sent[chain - 1];
    uint32_t const length = rm_setpoint_write(payload, flags, (uint16_t)chain, turn, TERM, INSTANCE,
                                              bench->sequence[chain - 1], values, SUPPLIES);
    uint32_t const header = rm_frame_write_header(burst.data[0], &flow, length);
    memcpy(burst.data[0] + header, payload, length);
    burst.length[0] = header + length;
    while (burst.count != 0)
        rm_port_send(bench->port, QUEUE, &burst);
}

/** Takes what the next frame says, if it is a chain's answer. */
static bool understand(struct bench *bench, uint8_t const *frame, uint32_t length) {
    struct rm_datagram datagram;
    assert_int_equal(rm_frame_parse(frame, length, false, &datagram), RM_PORT_DECODED);
    if (datagram.source_ipv4 >> 16 != 0x0A1E)
        return false;
    assert_int_equal(datagram.destination_ipv4, 0x0A1EFF01);
    assert_memory_equal(frame, bench->mirrored ? BROADCAST : SERVER_MAC, 6);
    assert_int_equal(datagram.source_port, 4662);
    assert_int_equal(datagram.destination_port, 4660);
    assert_int_equal(rm_native_parse(datagram.payload, datagram.length, &bench->native), RM_PORT_DECODED);
    assert_int_equal(bench->native.kind, RM_KIND_POWER_SUPPLY);
    assert_int_equal(bench->native.instrument / RM_CHAIN_ID_PARTS, datagram.source_ipv4 & 0xFF);
    rm_native_record(&bench->native, bench->native.turn, 0, &bench->record);
    return true;
}

/** Waits for the part of a chain's answer to what was sent last. */
static void await(struct bench *bench, uint32_t chain, uint32_t part) {
    double const end = now_seconds() + TIMEOUT_SECONDS;
    bool found = false;
    while (!found) {
        struct rm_burst burst;
        assert_true(now_seconds() < end);
        rm_port_receive(bench->port, QUEUE, &burst);
        for (uint32_t i = 0; i < burst.count && !found; ++i)
            found = understand(bench, burst.data[i], burst.length[i]) &&
                    bench->native.instrument == chain * RM_CHAIN_ID_PARTS + part &&
                    bench->native.turn == FIRST_TURN + bench->sent[chain - 1];
        rm_port_release(bench->port, QUEUE, &burst);
    }
}

static void ask(struct bench *bench, uint32_t chain, uint32_t part) {
    send(bench, chain, RM_SETPOINT_QUERY, 0);
    await(bench, chain, part);
}

/** Asks until chain 1 has listened for long enough after it was switched on. */
static void await_listened(struct bench *bench) {
    double const end = now_seconds() + TIMEOUT_SECONDS;
    do {
        assert_true(now_seconds() < end);
        ask(bench, 1, 0);
    } while ((bench->native.status & RM_CHAIN_SAYS_LISTENING) != 0);
}

/** Asks until the first supply of chain 1 has these bits; it must be soon. */
static void await_bits(struct bench *bench, int32_t bits) {
    double const end = now_seconds() + TIMEOUT_SECONDS;
    do {
        assert_true(now_seconds() < end);
        ask(bench, 1, 0);
    } while ((bench->record.lane[1].i & 7) != bits);
}

#define TWELVE "supplies: [{name: \"{chain}_\", count: 12, unit: A, limits: [-10, 10], slew: 100}]"

static char const ONLY[] = "chains: [{name: c, count: 2, id: 1, port: chains, address: 10.30.0.1, " TWELVE "}]\n";
static char const ONE[] = "chains: [{name: c, id: 1, port: chains, address: 10.30.0.1, supplies: [{name: s, count: 12, "
                          "unit: A, limits: [-10, 10], slew: 100, safe: 1, safe_slew: 100}]}]\n";
static char const FOR_EVER[] = "chains: [{name: c, timeout_ms: 0}]\n";

static void setpoints_become_currents(void **state) {
    struct bench *bench = begin(*state, ONLY, FOR_EVER);
    ask(bench, 2, 1);
    assert_int_equal(bench->native.lane_count, 4);
    assert_float_equal(bench->record.lane[3].f, 0, 0);
    send(bench, 1, 0, 2.5f);
    send(bench, 2, 0, -3.5f);
    await(bench, 2, 1);
    assert_float_equal(bench->record.lane[3].f, -3.5f, 0);
    assert_int_equal(bench->native.status, 0);
    ask(bench, 1, 0);
    for (uint32_t s = 0; s < 10; ++s)
        assert_float_equal(bench->record.lane[2 + s].f, 2.5f, 0);
    struct rm_mapped_segment mapped;
    double currents[CHAINS * SUPPLIES] = {0};
    double const until = now_seconds() + TIMEOUT_SECONDS;
    struct rm_parameter_reading reading;
    test_world_map(bench->world, &mapped);
    while (currents[0] == 0 || currents[23] == 0) {
        assert_true(now_seconds() < until);
        assert_int_equal(
            rm_parameter_read(test_world_object(&mapped, "supply/current"), currents, sizeof currents, &reading),
            sizeof currents);
    }
    assert_float_equal(currents[11], 2.5, 0);
    assert_float_equal(currents[12], -3.5, 0);
    assert_float_equal(currents[23], -3.5, 0);
    end(bench);
    rm_counter const *counters = test_world_object(&mapped, "counters/supply/c02");
    assert_int_equal(rm_counter_get(counters, RM_SUPPLY_SETPOINTS), 1);
    assert_int_equal(rm_counter_get(counters, RM_SUPPLY_QUERIES), 1);
    assert_int_equal(rm_counter_get(counters, RM_SUPPLY_ANSWERS), 4);
    rm_segment_unmap(&mapped);
    test_world_check_output(bench->world,
                            "2 chains obeyed 2 setpoint datagrams, were asked 2 times, refused 0, sent 8");
    destroy(bench);
}

/** A second server on the same network hears what the chain answers to the first. */
static void answers_are_mirrored_where_the_overlay_says_so(void **state) {
    struct bench *bench = begin(*state, ONLY, "chains: [{name: c01, timeout_ms: 0, mirror: true}]\n");
    bench->mirrored = true;
    send(bench, 1, 0, 2.5f);
    await(bench, 1, 1);
    assert_float_equal(bench->record.lane[2].f, 2.5f, 0);
    bench->mirrored = false;
    ask(bench, 2, 0);
    end(bench);
    destroy(bench);
}

static void it_ramps_when_setpoints_stop(void **state) {
    struct bench *bench = begin(*state, ONE, "chains: [{name: c, timeout_ms: 20, stop: ramp}]\n");
    await_listened(bench);
    send(bench, 1, 0, 5);
    await_bits(bench, RM_SUPPLY_BIT_SAFE);
    assert_int_equal(bench->native.status, RM_CHAIN_SAYS_STOPPED | RM_CHAIN_SAYS_QUERIED);
    while (bench->record.lane[2].f != 1) {
        assert_in_range((int)(100 * bench->record.lane[2].f), 100, 500);
        ask(bench, 1, 0);
    }
    send(bench, 1, 0, 3);
    await(bench, 1, 0);
    assert_int_equal(bench->native.status, 0);
    assert_float_equal(bench->record.lane[2].f, 3, 0);
    end(bench);
    destroy(bench);
}

static void a_signal_resets_what_has_tripped(void **state) {
    char lines[512];
    snprintf(lines, sizeof lines, "%schain_faults: [{chain: c01, fault: trip, supply: 1}]\n", FOR_EVER);
    struct bench *bench = begin(*state, ONLY, lines);
    send(bench, 1, 0, 5);
    await_bits(bench, RM_SUPPLY_BIT_TRIPPED);
    assert_int_equal(bench->native.status, RM_CHAIN_SAYS_TRIPPED | RM_CHAIN_SAYS_QUERIED);
    assert_float_equal(bench->record.lane[2].f, 0, 0);
    assert_float_equal(bench->record.lane[3].f, 5, 0);
    kill(bench->pid, SIGUSR2);
    await_bits(bench, 0);
    send(bench, 1, 0, 4);
    await(bench, 1, 0);
    assert_float_equal(bench->record.lane[2].f, 4, 0);
    end(bench);
    destroy(bench);
}

/** A reading of x1, and its turn. */
struct seen {
    rm_turn turn;
    int32_t x;
};

/** The next that arrives over the kernel's UDP. */
static struct seen next_seen(struct bench *bench) {
    struct rm_native native;
    struct rm_record record;
    struct test_arrival const *came = test_world_await(bench->world);
    assert_non_null(came);
    assert_int_equal(rm_native_parse(came->payload, came->length, &native), RM_PORT_DECODED);
    rm_native_record(&native, native.turn, 0, &record);
    assert_int_equal(record.lane[1].i, 0);
    return (struct seen){native.turn, record.lane[0].i};
}

/** Sends `value` and compares the way to it, turn by turn, with a first order's; how many turns that were. Fewer where
 * the host took the ring's core away in the midst of it: turns that are due meanwhile are not sent. */
static unsigned follow_step(struct bench *bench, float value) {
    double const per_turn = -6.283185307179586 * 1000 / 20000, target = 2e6 * (double)value;
    int32_t const start = next_seen(bench).x;
    struct seen seen, before = {0};
    unsigned compared = 0;
    send(bench, 1, 0, value);
    while ((seen = next_seen(bench)).x == start)
        ;
    for (bool first = true; seen.x != (int32_t)target; before = seen, seen = next_seen(bench), first = false) {
        double const left = exp(per_turn * (double)(seen.turn - before.turn));
        assert_true(first || fabs((target - seen.x) - (target - before.x) * left) < 3);
        compared += !first;
    }
    assert_in_range(compared, 0, 60);
    return compared;
}

/** A quiet beam sees a step of a supply of 1000 Hz as what it is: a first order, to the nanometre, each turn at its own
 * time, also when it is sent late. */
static void instruments_follow_a_supply(void **state) {
    char machine[512];
    snprintf(machine, sizeof machine,
             "instruments: [{name: bpm01, kind: bpm, id: 1, port: ring, source: 127.0.0.1}]\n%s", ONE);
    struct bench *bench =
        begin(*state, machine,
              "beam: {orbit_um: 0, betatron_um: 0, synchrotron_um: 0, mains_um: 0, drift_um: 0, noise_um: 0}\n"
              "max_lag_ms: 100\n"
              "chains: [{name: c, timeout_ms: 0}]\n"
              "supplies: [{supplies: c, bandwidth_hz: 1000}]\n"
              "responses: [{supply: c/12, instrument: bpm01, lane: x1, per_unit: 2000000}]\n");
    assert_int_equal(next_seen(bench).x, 0);
    unsigned whole = 0;
    for (unsigned step = 0; whole == 0 && step < 100; ++step)
        whole += follow_step(bench, step % 2 == 0 ? 1 : 0) >= 5;
    assert_int_equal(whole, 1);
    int32_t const reached = next_seen(bench).x;
    for (unsigned k = 0; k < 100; ++k)
        assert_int_equal(next_seen(bench).x, reached);
    end(bench);
    destroy(bench);
}

/** Readings of turns and answers over one link. */
static void instruments_and_chains_may_share_a_port(void **state) {
    char machine[512];
    snprintf(machine, sizeof machine,
             "instruments: [{name: bpm01, kind: bpm, id: 1, port: chains, source: 10.20.0.1}]\n%s", ONE);
    struct bench *bench = begin(*state, machine, "");
    unsigned turns = 0;
    double const until = now_seconds() + TIMEOUT_SECONDS;
    await_listened(bench);
    send(bench, 1, 0, 4);
    await(bench, 1, 1);
    assert_float_equal(bench->record.lane[2].f, 4, 0);
    while (turns < 100) {
        struct rm_burst burst;
        assert_true(now_seconds() < until);
        rm_port_receive(bench->port, QUEUE, &burst);
        for (uint32_t i = 0; i < burst.count; ++i)
            turns += !understand(bench, burst.data[i], burst.length[i]);
        rm_port_release(bench->port, QUEUE, &burst);
    }
    end(bench);
    destroy(bench);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    struct rm_net_config const net = {.prefix = "ringmaster-test-supplies"};
    struct rm_error error;
    if (rm_net_start(&net, &error) != RM_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(setpoints_become_currents, argv[1]),
        cmocka_unit_test_prestate(answers_are_mirrored_where_the_overlay_says_so, argv[1]),
        cmocka_unit_test_prestate(it_ramps_when_setpoints_stop, argv[1]),
        cmocka_unit_test_prestate(a_signal_resets_what_has_tripped, argv[1]),
        cmocka_unit_test_prestate(instruments_follow_a_supply, argv[1]),
        cmocka_unit_test_prestate(instruments_and_chains_may_share_a_port, argv[1]),
    };
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    rm_net_stop();
    return failed;
}
