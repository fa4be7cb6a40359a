// SPDX-License-Identifier: Apache-2.0
/** Whole rings as their files describe them, sent into arrays and read as a receiver reads them: frames, fragments,
 * layouts. */
#ifndef RM_INSTRUMENTS_TEST_RING_H
#define RM_INSTRUMENTS_TEST_RING_H

#include "beam.h"
#include "members.h"
#include "test_port.h"

enum { TEST_RING_BLOCKS = 16, TEST_RING_PORTS = 2, TEST_RING_FIRST = 1000000 };

/** A ring between its file and two ports. */
struct test_ring {
    /** [port] the second one is the mirror, or of a pair the second server. */
    struct test_port port[TEST_RING_PORTS];

    struct rm_ring_config ring;
    struct rm_beam *beam;
    /** A second beam of the same configuration, to compare with. */
    struct rm_beam *again;

    struct rm_members members;
    rm_counter counters[TEST_RING_BLOCKS][RM_SENDER_COUNTERS];
    rm_counter *blocks[TEST_RING_BLOCKS];
    atomic_bool stop;
    struct rm_sender_result result;
};

/** What a receiver makes of everything that reached a port. */
struct test_reading {
    uint32_t datagrams;
    uint32_t records;
    uint64_t verdicts[RM_PORT_COUNTERS];
    /** Turn of the last record. */
    rm_turn turn;
};

/** Makes a ring of a machine and an overlay of these lines (test_files.h). Its first turn is TEST_RING_FIRST. */
struct test_ring *test_ring_make(char const *machine, char const *overlay);
void test_ring_destroy(struct test_ring *bench);

/** Sends so many turns into the ports. */
void test_ring_run(struct test_ring *bench, uint64_t turns);

uint64_t test_ring_counted(struct test_ring const *bench, uint32_t block, enum rm_sender_counter counter);

/** Reads all that reached a port, of the first group's format, and compares every record with the beam. */
struct test_reading test_ring_read(struct test_ring *bench, uint32_t port);

/** Index of the instrument with this id. */
uint32_t test_ring_index(struct rm_ring_config const *ring, uint32_t id);

#endif
