// SPDX-License-Identifier: Apache-2.0
/** ringmaster-instruments with other formats, a mirror and kicks, over the kernel's UDP on the loopback interface.
 * Argument: the program. */
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/counter.h>
#include <ringmaster/parameter.h>

#include "beam.h"
#include "ring_config.h"
#include "test_world.h"
#include "wire/native.h"

enum { FIRST = 5000, BPMS = 80, PERIOD = 116, DATAGRAMS = 50, NETWORKS = 2, KICKED_NM = 20000 };

static void check_libera(struct test_arrival const *arrival, struct rm_ring_config const *ring, struct rm_beam *beam,
                         uint64_t number) {
    struct rm_layout const *layout = ring->groups[0].format->layout;
    uint32_t records = 0;
    assert_int_equal(rm_layout_check(layout, arrival->payload, arrival->length, &records), RM_PORT_DECODED);
    assert_int_equal(records, BPMS);
    union rm_lane const *expected = rm_beam_turn(beam, number * PERIOD, 0, BPMS);
    for (uint32_t r = 0; r < BPMS; ++r, expected += RM_LANES) {
        struct rm_sample sample;
        struct rm_record record;
        rm_layout_read(layout, arrival->payload, r, &sample, &record);
        assert_int_equal(sample.counter, number);
        assert_int_equal(sample.id, r);
        assert_memory_equal(record.lane, expected, 3 * sizeof record.lane[0]);
    }
}

static void libera_goes_through_both_networks(void **state) {
    struct test_world *world = test_world_make(*state);
    char lines[512];
    snprintf(
        lines, sizeof lines,
        "formats: [{name: libera, preset: libera_grouping, udp_port: %u}]\n"
        "ports:\n"
        "  - {name: ring, kind: udp, address: 127.0.0.1:%u}\n"
        "  - {name: b, kind: udp, address: 127.0.0.2:%u}\n"
        "instruments: [{name: bpm, kind: bpm, format: libera, count: %d, id: 0, period_turns: %d, port: ring, source: "
        "127.0.0.3, mirror: {port: b, source: 127.0.0.4}}]\n",
        world->udp_port, world->udp_port, world->udp_port, BPMS, PERIOD);
    test_world_write(world, lines, "faults: [{instrument: bpm, fault: drop, probability: 0.5, network: b}]\n");
    test_world_keep(world);
    char arguments[64];
    snprintf(arguments, sizeof arguments, "run %%s --turns %d", DATAGRAMS * PERIOD);
    assert_int_equal(test_world_run(world, "", arguments), 0);
    struct rm_mapped_segment mapped;
    struct rm_ring_config ring;
    struct rm_beam *beam;
    assert_int_equal(rm_ring_config_load(&world->files, &ring, NULL), RM_OK);
    assert_int_equal(rm_beam_make(&ring.beam, ring.instruments, BPMS, &beam, NULL), RM_OK);
    test_world_map(world, &mapped);
    rm_counter const *a = test_world_object(&mapped, "counters/sender/bpm");
    rm_counter const *b = test_world_object(&mapped, "counters/sender/bpm/b");
    assert_int_equal(rm_counter_get(a, RM_SENDER_SENT), DATAGRAMS);
    assert_int_equal(rm_counter_get(b, RM_SENDER_SENT), DATAGRAMS - rm_counter_get(b, RM_SENDER_DROPPED));
    uint64_t number = FIRST / PERIOD;
    struct test_arrival const *arrival;
    while ((arrival = test_world_receive(world, 0)) != NULL) {
        assert_int_equal(arrival->source_ipv4, INADDR_LOOPBACK + 2);
        check_libera(arrival, &ring, beam, ++number);
    }
    assert_int_equal(number, FIRST / PERIOD + DATAGRAMS);
    uint32_t mirrored = 0;
    for (; (arrival = test_world_receive(world, 1)) != NULL; ++mirrored)
        assert_int_equal(arrival->source_ipv4, INADDR_LOOPBACK + 3);
    assert_int_equal(mirrored, rm_counter_get(b, RM_SENDER_SENT));
    assert_in_range(mirrored, 5, DATAGRAMS - 5);
    rm_segment_unmap(&mapped);
    rm_beam_free(beam);
    rm_ring_config_free(&ring);
    test_world_destroy(world);
}

static rm_turn published_kick(struct rm_mapped_segment const *mapped) {
    rm_turn turn = 0;
    struct rm_parameter_reading reading;
    rm_parameter_read(test_world_object(mapped, "ring/kick_turn"), &turn, sizeof turn, &reading);
    return turn;
}

/** The next datagram's x1 in nm, and its turn. */
static int32_t await_x(struct test_world *world, rm_turn *turn) {
    struct test_arrival const *arrival = test_world_await(world);
    struct rm_native native = {0};
    struct rm_record record;
    assert_non_null(arrival);
    assert_int_equal(rm_native_parse(arrival->payload, arrival->length, &native), RM_PORT_DECODED);
    rm_native_record(&native, native.turn, 0, &record);
    *turn = native.turn;
    return record.lane[0].i;
}

static void a_signal_kicks_the_beam_and_the_turn_is_reported(void **state) {
    struct test_world *world = test_world_make(*state);
    test_world_write(world, "instruments: [{name: bpm01, kind: bpm, id: 1, port: ring, source: 127.0.0.1}]\n",
                     "beam: {orbit_um: 0, noise_um: 0, mains_um: 0, drift_um: 0, betatron_um: 0, synchrotron_um: 0}\n");
    pid_t const pid = test_world_start(world, "--turn-rate", "2000");
    struct rm_mapped_segment mapped;
    rm_turn turn;
    assert_int_equal(await_x(world, &turn), 0);
    test_world_map(world, &mapped);
    assert_true(published_kick(&mapped) == RM_TURN_NONE);
    kill(pid, SIGUSR1);
    while (abs(await_x(world, &turn)) < KICKED_NM)
        continue;
    assert_int_equal(test_world_end(world, pid), 0);
    assert_int_equal(published_kick(&mapped), turn);
    char said[64];
    snprintf(said, sizeof said, "kicked the beam at turn %llu\n", (unsigned long long)turn);
    test_world_check_output(world, said);
    rm_segment_unmap(&mapped);
    test_world_destroy(world);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(libera_goes_through_both_networks, argv[1]),
        cmocka_unit_test_prestate(a_signal_kicks_the_beam_and_the_turn_is_reported, argv[1]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
