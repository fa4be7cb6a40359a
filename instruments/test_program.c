// SPDX-License-Identifier: Apache-2.0
/** ringmaster-instruments as a whole, over the kernel's UDP on the loopback interface: what is sent arrives bit for
 * bit, what is said of it is true. Argument: the program. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/counter.h>
#include <ringmaster/parameter.h>

#include "beam.h"
#include "fabric/segment_map.h"
#include "ring_config.h"
#include "test_world.h"
#include "wire/native.h"

enum { TURNS = 100, FIRST = 5000, INSTRUMENTS = 2 };

static char const MACHINE[] = "instruments:\n"
                              "  - {name: bpm01, kind: bpm, id: 1, port: ring, source: 127.0.0.1}\n"
                              "  - {name: blm01, kind: blm, id: 7, port: ring, source: 127.0.0.2}\n";
static char const OVERLAY[] = "beam: {tune_x: 0.21}\n";

static struct test_world *make(char const *program) {
    struct test_world *world = test_world_make(program);
    test_world_write(world, MACHINE, OVERLAY);
    return world;
}

/** A datagram that has arrived, and its sender; `record` has its turn and lanes. */
struct arrival {
    uint32_t source;
    struct rm_native native;
    struct rm_record record;
};

static bool receive(struct test_world *world, struct arrival *arrival) {
    struct test_arrival const *came = test_world_receive(world, 0);
    if (came == NULL)
        return false;
    assert_int_equal(rm_native_parse(came->payload, came->length, &arrival->native), RM_PORT_DECODED);
    rm_native_record(&arrival->native, arrival->native.turn, 0, &arrival->record);
    arrival->source = came->source_ipv4;
    return true;
}

static void check_arrival(struct arrival const *arrival, rm_turn turn, struct rm_virtual_instrument const *instrument,
                          union rm_lane const *lanes) {
    assert_int_equal(arrival->native.turn, turn);
    assert_int_equal(arrival->native.kind, instrument->kind);
    assert_int_equal(arrival->native.instrument, instrument->id);
    assert_int_equal(arrival->native.lane_count, instrument->lane_count);
    assert_memory_equal(arrival->record.lane, lanes, sizeof arrival->record.lane);
}

/** Each instrument has a socket, which keeps its order; between them there is none. */
static void the_beam_arrives_bit_for_bit(void **state) {
    struct test_world *world = make(*state);
    assert_int_equal(test_world_run(world, "", "run %s --turns 100 --json"), 0);
    test_world_check_output(world, "\"sent\": 200, \"turns\": 100, ");
    test_world_check_output(world, "\"tune_x\": 0.21, \"tune_y\": 0.1612, ");
    struct rm_ring_config ring;
    struct rm_beam *beam;
    assert_int_equal(rm_ring_config_load(&world->files, &ring, NULL), RM_OK);
    assert_int_equal(rm_beam_make(&ring.beam, ring.instruments, INSTRUMENTS, &beam, NULL), RM_OK);
    rm_turn next[INSTRUMENTS] = {FIRST, FIRST};
    struct arrival arrival = {0};
    while (receive(world, &arrival)) {
        uint32_t const i = arrival.source == ring.instruments[0].source_ipv4 ? 0 : 1;
        assert_int_equal(arrival.source, ring.instruments[i].source_ipv4);
        check_arrival(&arrival, next[i], &ring.instruments[i],
                      rm_beam_turn(beam, next[i], 0, INSTRUMENTS) + (size_t)i * RM_LANES);
        ++next[i];
    }
    assert_int_equal(next[0], FIRST + TURNS);
    assert_int_equal(next[1], FIRST + TURNS);
    rm_beam_free(beam);
    rm_ring_config_free(&ring);
    test_world_destroy(world);
}

static void the_ring_publishes_what_it_sent(void **state) {
    struct test_world *world = make(*state);
    char lines[512];
    snprintf(lines, sizeof lines, "%sfaults: [{instrument: blm01, fault: drop, probability: 0.5}]\n", OVERLAY);
    test_world_write(world, MACHINE, lines);
    test_world_keep(world);
    assert_int_equal(test_world_run(world, "", "run %s --turns 100"), 0);
    struct rm_mapped_segment mapped;
    test_world_map(world, &mapped);
    rm_counter const *bpm = test_world_object(&mapped, "counters/sender/bpm01"),
                     *blm = test_world_object(&mapped, "counters/sender/blm01");
    assert_int_equal(rm_counter_get(bpm, RM_SENDER_SENT), 100);
    assert_int_equal(rm_counter_get(bpm, RM_SENDER_TURNS), 100);
    uint64_t const dropped = rm_counter_get(blm, RM_SENDER_DROPPED);
    assert_in_range(dropped, 20, 80);
    assert_int_equal(rm_counter_get(blm, RM_SENDER_SENT), 100 - dropped);
    double tune = 0, rate = 0;
    struct rm_parameter_reading reading;
    rm_parameter_read(test_world_object(&mapped, "ring/tune_x"), &tune, sizeof tune, &reading);
    rm_parameter_read(test_world_object(&mapped, "ring/turn_rate_hz"), &rate, sizeof rate, &reading);
    assert_float_equal(tune, 0.21, 0);
    assert_float_equal(rate, 20000, 0);
    rm_segment_unmap(&mapped);
    char faults[32];
    snprintf(faults, sizeof faults, "faults: %u dropped\n", (unsigned)dropped);
    test_world_check_output(world, faults);
    test_world_destroy(world);
}

/** A replay of one instrument, lane l of turn t being 100 t + l. */
static void write_replay(struct test_world const *world) {
    char path[64];
    snprintf(path, sizeof path, "%s/beam.replay", world->directory);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    uint8_t head[128] = "RMREPLAY1\n";
    head[16] = 1;                                                /* instruments */
    head[24] = 10;                                               /* turns */
    head[32] = 50;                                               /* first turn */
    memcpy(head + 64, (uint8_t[]){1, 0, 0, 127, 9, 0, 1, 3}, 8); /* 127.0.0.1, id 9, a BPM, 3 lanes */
    strcpy((char *)head + 72, "recorded");
    fwrite(head, 1, sizeof head, file);
    for (int32_t i = 0; i < 10 * RM_LANES; ++i) {
        int32_t const lane = i % RM_LANES < 3 ? i / RM_LANES * 100 + i % RM_LANES : 0;
        fwrite(&lane, 1, sizeof lane, file);
    }
    fclose(file);
}

static void a_recording_arrives_bit_for_bit_and_again(void **state) {
    struct test_world *world = make(*state);
    write_replay(world);
    char arguments[160];
    snprintf(arguments, sizeof arguments,
             "replay %s/beam.replay --rate 10000 --port-kind udp --to 127.0.0.1:%u --loop --turns 25 --json",
             world->directory, world->udp_port);
    assert_int_equal(test_world_run(world, "", arguments), 0);
    test_world_check_output(world, "\"sent\": 25, \"turns\": 25, ");
    test_world_check_output(world, "\"tune_x\": null");
    struct rm_virtual_instrument const recorded = {.kind = 1, .id = 9, .source_ipv4 = INADDR_LOOPBACK, .lane_count = 3};
    for (int32_t i = 0; i < 25; ++i) {
        union rm_lane const lanes[RM_LANES] = {{i % 10 * 100}, {i % 10 * 100 + 1}, {i % 10 * 100 + 2}};
        struct arrival arrival = {0};
        assert_true(receive(world, &arrival));
        assert_int_equal(arrival.source, recorded.source_ipv4);
        check_arrival(&arrival, 50u + (unsigned)i, &recorded, lanes);
    }
    test_world_destroy(world);
}

static void a_signal_or_its_time_ends_it_in_good_order(void **state) {
    struct test_world *world = make(*state);
    assert_int_equal(test_world_run(world, "timeout --preserve-status -s TERM 0.3", "run %s --turn-rate 1000 --json"),
                     0);
    test_world_check_output(world, "{\"instruments\": 2, \"sent\": ");
    assert_int_equal(test_world_run(world, "timeout --preserve-status -s INT 0.3", "run %s --turn-rate 1000 --json"),
                     0);
    test_world_check_output(world, "{\"instruments\": 2, \"sent\": ");
    assert_int_equal(test_world_run(world, "", "run %s --turn-rate 1000 --seconds 0.2"), 0);
    test_world_check_output(world, "datagrams of 2 instruments");
    test_world_destroy(world);
}

static void what_is_wrong_is_reported_on_one_line(void **state) {
    struct test_world *world = make(*state);
    assert_int_equal(test_world_run(world, "", "check %s"), 0);
    test_world_check_output(world, "2 instruments at 20000 turns/s");
    assert_int_equal(test_world_run(world, "", "run %s --core 100000"), 1);
    test_world_check_output(world, "cannot run on core 100000");
    assert_int_equal(test_world_run(world, "", "run %s --turns 0"), 2);
    test_world_check_output(world, "--turns: found \"0\", expected a whole number from 1");
    assert_int_equal(test_world_run(world, "", "run %s --wings"), 2);
    test_world_check_output(world, "unknown option \"--wings\"");
    assert_int_equal(test_world_run(world, "", "replay /proc/self/exe --rate 5 --to 127.0.0.1:4660"), 1);
    test_world_check_output(world, "not a replay file");
    assert_int_equal(test_world_run(world, "", "replay /proc/self/exe --to 127.0.0.1:4660"), 2);
    test_world_check_output(world, "--rate is missing");
    assert_int_equal(test_world_run(world, "", "run /no/such/ring.yaml"), 1);
    test_world_check_output(world, "/no/such/ring.yaml");
    test_world_destroy(world);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(the_beam_arrives_bit_for_bit, argv[1]),
        cmocka_unit_test_prestate(the_ring_publishes_what_it_sent, argv[1]),
        cmocka_unit_test_prestate(a_recording_arrives_bit_for_bit_and_again, argv[1]),
        cmocka_unit_test_prestate(a_signal_or_its_time_ends_it_in_good_order, argv[1]),
        cmocka_unit_test_prestate(what_is_wrong_is_reported_on_one_line, argv[1]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
