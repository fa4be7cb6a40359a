// SPDX-License-Identifier: Apache-2.0
/** ringmaster-instruments as a whole, in a directory of its own, with receivers on the loopback interface. */
#ifndef RM_INSTRUMENTS_TEST_WORLD_H
#define RM_INSTRUMENTS_TEST_WORLD_H

#include <stdint.h>
#include <sys/types.h>

#include "fabric/segment_map.h"
#include "ring_config.h"

enum { TEST_WORLD_RECEIVERS = 2, TEST_WORLD_PAYLOAD_BYTES = 2048 };

struct test_arrival {
    uint32_t source_ipv4;
    uint32_t length;
    uint8_t payload[TEST_WORLD_PAYLOAD_BYTES];
};

/** Receivers are at 127.0.0.1 and 127.0.0.2, at the same UDP port. 200 datagrams fit into any socket's buffer, so it
 * need not be read meanwhile. */
struct test_world {
    char const *program;
    char directory[32];
    char config[48], overlay[48];
    struct rm_ring_files files;
    int receiver[TEST_WORLD_RECEIVERS];
    unsigned udp_port;
    /** What the program printed. */
    char output[1024];

    struct test_arrival arrival;
};

struct test_world *test_world_make(char const *program);
void test_world_destroy(struct test_world *world);

/** Writes the ring's two files: 20000 turns/s from turn 5000 on, a workspace, and these lines. Unless `machine` has
 * ports, it gets a udp port "ring" to the first receiver. */
void test_world_write(struct test_world const *world, char const *machine, char const *overlay);

/** Runs the program with these arguments; `%s` is the ring's files. Returns its exit status. */
int test_world_run(struct test_world *world, char const *before, char const *arguments);

/** Starts `run` on the ring's files with one more option. The other function ends it by SIGTERM, and returns its exit
 * status; its output is complete then. */
pid_t test_world_start(struct test_world const *world, char const *option, char const *value);
int test_world_end(struct test_world *world, pid_t pid);

void test_world_check_output(struct test_world const *world, char const *expected);

/** The next datagram at the first receiver; waits some seconds for it. NULL when nothing comes. Valid until the next
 * call. */
struct test_arrival const *test_world_await(struct test_world *world);

/** The same for one of the receivers, without waiting. */
struct test_arrival const *test_world_receive(struct test_world *world, uint32_t receiver);

/** An object of the ring's segment. */
void const *test_world_object(struct rm_mapped_segment const *mapped, char const *name);

/** Maps the ring's segment; rm_segment_unmap. */
/** Puts what a server left into the workspace: beside it stays what the ring left. */
void test_world_keep(struct test_world const *world);

void test_world_map(struct test_world const *world, struct rm_mapped_segment *mapped);

#endif
