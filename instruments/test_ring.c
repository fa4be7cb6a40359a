// SPDX-License-Identifier: Apache-2.0
#include "test_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/zeroed.h"
#include "test_files.h"
#include "wire/reassembly.h"

enum { TIMEOUT = 100 };

struct test_ring *test_ring_make(char const *machine, char const *overlay) {
    struct test_ring *bench = rm_zeroed(1, sizeof *bench);
    char lines[1024];
    assert_non_null(bench);
    snprintf(lines, sizeof lines, "first_turn: %d\nbeam: {kick_um: 0}\n%s", TEST_RING_FIRST, overlay);
    test_files_load_good(machine, lines, &bench->ring);
    struct rm_ring_config const *ring = &bench->ring;
    assert_in_range(ring->group_count * ring->network_count, 1, TEST_RING_BLOCKS);
    assert_in_range(ring->port_count, 1, TEST_RING_PORTS);
    for (uint32_t b = 0; b < TEST_RING_BLOCKS; ++b)
        bench->blocks[b] = bench->counters[b];
    assert_int_equal(rm_beam_make(&ring->beam, ring->instruments, ring->instrument_count, &bench->beam, NULL), RM_OK);
    assert_int_equal(rm_beam_make(&ring->beam, ring->instruments, ring->instrument_count, &bench->again, NULL), RM_OK);
    assert_int_equal(rm_members_make(ring, bench->blocks, &bench->members, NULL), RM_OK);
    return bench;
}

void test_ring_destroy(struct test_ring *bench) {
    rm_members_free(&bench->members);
    rm_beam_free(bench->beam);
    rm_beam_free(bench->again);
    rm_ring_config_free(&bench->ring);
    free(bench);
}

static union rm_lane const *read_beam(void *state, uint64_t index, uint32_t first, uint32_t count) {
    return rm_beam_turn(state, TEST_RING_FIRST + index, first, count);
}

void test_ring_run(struct test_ring *bench, uint64_t turns) {
    struct rm_ring_config const *ring = &bench->ring;
    struct rm_port *ports[TEST_RING_PORTS];
    struct rm_sender_setup setup = {
        .instruments = ring->instruments,
        .members = bench->members.member,
        .member_count = ring->group_count,
        .network_count = ring->network_count,
        .ports = ports,
        .port_count = ring->port_count,
        .udp_checksum = ring->udp_checksum,
        .source = {read_beam, bench->beam},
        .first_turn = TEST_RING_FIRST,
        .turns = turns,
    };
    for (uint32_t p = 0; p < TEST_RING_PORTS; ++p)
        ports[p] = test_port_open(&bench->port[p]);
    if (ring->ports[0].paired) {
        assert_int_equal(ring->port_count, 1);
        setup.seconds = &ports[1];
    }
    for (uint32_t g = 0; g < ring->group_count; ++g)
        for (uint32_t n = 0; n < ring->network_count; ++n)
            bench->members.member[g].outlet[n].port = ring->groups[g].port[n];
    assert_int_equal(rm_sender_run(&setup, 1e9, &bench->stop, &bench->result, NULL), RM_OK);
    assert_int_equal(bench->port[0].lent + bench->port[1].lent, 0);
    assert_int_equal(bench->result.turns, turns);
}

uint64_t test_ring_counted(struct test_ring const *bench, uint32_t block, enum rm_sender_counter counter) {
    return rm_counter_get(bench->counters[block], counter);
}

uint32_t test_ring_index(struct rm_ring_config const *ring, uint32_t id) {
    for (uint32_t i = 0; i < ring->instrument_count; ++i)
        if (ring->instruments[i].id == id)
            return i;
    fail_msg("nobody has the id %u", id);
    return 0;
}

/** Compares a record with the beam. Counters of few bits are unwrapped from TEST_RING_FIRST on. */
static void check_record(struct test_ring *bench, struct rm_datagram const *datagram, uint32_t index,
                         struct test_reading *reading) {
    struct rm_virtual_group const *group = &bench->ring.groups[0];
    struct rm_layout const *layout = group->format->layout;
    struct rm_sample sample;
    struct rm_record record;
    rm_layout_read(layout, datagram->payload, index, &sample, &record);
    uint32_t const bits = rm_layout_counter_bits(layout);
    uint64_t const mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    uint64_t const near = TEST_RING_FIRST / group->period_turns;
    uint64_t const count = near + ((sample.counter - near) & mask);
    reading->turn = count * group->period_turns;
    uint32_t const instrument = test_ring_index(&bench->ring, sample.id);
    assert_int_equal(sample.status, bench->ring.instruments[instrument].status);
    union rm_lane const *expected = rm_beam_turn(bench->again, reading->turn, instrument, 1);
    for (unsigned l = 0; l < 3; ++l)
        assert_int_equal(record.lane[l].i, expected[l].i);
    ++reading->records;
}

static void check_datagram(struct test_ring *bench, struct rm_datagram const *datagram, struct test_reading *reading) {
    uint32_t records = 0;
    struct rm_layout const *layout = bench->ring.groups[0].format->layout;
    assert_int_equal(rm_layout_check(layout, datagram->payload, datagram->length, &records), RM_PORT_DECODED);
    for (uint32_t r = 0; r < records; ++r)
        check_record(bench, datagram, r, reading);
    ++reading->datagrams;
}

struct test_reading test_ring_read(struct test_ring *bench, uint32_t port) {
    struct test_port const *kept = &bench->port[port];
    struct rm_reassembly *reassembly = rm_reassembly_new(8, 9300, TIMEOUT);
    struct test_reading reading = {0};
    assert_non_null(reassembly);
    for (uint32_t i = 0; i < kept->count; ++i) {
        struct rm_datagram datagram = {0};
        enum rm_port_counter verdict = rm_frame_parse(kept->data[i], kept->length[i], false, &datagram);
        if (verdict == RM_PORT_FRAGMENT)
            verdict = rm_reassembly_put(reassembly, kept->data[i], kept->length[i], i, &datagram);
        ++reading.verdicts[verdict];
        if (verdict == RM_PORT_DECODED)
            check_datagram(bench, &datagram, &reading);
    }
    reading.verdicts[RM_PORT_FRAGMENT_EXPIRED] += rm_reassembly_expire(reassembly, kept->count + 2 * TIMEOUT);
    rm_reassembly_free(reassembly);
    return reading;
}
