// SPDX-License-Identifier: Apache-2.0
/** For tests and measurements of the host: a server's segment, written by hand: a clock that runs or stands, grants,
 * inputs, and what was sent. In a private place for workspaces. */
#ifndef RM_HOST_TEST_SERVER_H
#define RM_HOST_TEST_SERVER_H

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <ringmaster/clock.h>
#include <ringmaster/grant.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/supply.h>
#include <ringmaster/workspace.h>

#include "base/timebase.h"
#include "fabric/clock_writer.h"
#include "fabric/segment_file.h"
#include "fabric/segment_map.h"
#include "fabric/segment_plan.h"
#include "fabric/sequence_lock.h"
#include "fabric/standby_writer.h"
#include "fabric/stream_writer.h"
#include "fabric/test_workspace.h"

enum {
    /** Supplies of the server; the application has some of them. */
    TEST_SUPPLIES = 6,

    TEST_INPUTS = 2,
    TEST_PERIOD = 12,
    TEST_INPUTS_MAX = 256,
    /** Late records that a stream still takes, in turns. */
    TEST_LATE_TURNS = 64,
};

static double const TEST_TURN_RATE_HZ = 1000000.0;

/** What the server has. */
struct test_shape {
    /** What each of its inputs is. */
    struct rm_stream stream;
    /** Names of the streams that are its inputs. */
    char const *const *input;
    /** Names of all supplies, a line each. */
    char const *names;

    double turn_rate_hz;
    uint32_t inputs;
    /** It is one of two servers: test_server_role. */
    bool is_of_two;
    /** How many supplies there are; the application is granted the first of them. */
    uint32_t supplies, granted;
};

struct test_server {
    /** Writers lie on cache lines of their own. */
    struct rm_stream_writer writer[TEST_INPUTS_MAX];

    struct test_shape shape;
    struct rm_segment_plan plan;
    struct rm_segment segment;
    rm_planned_index clock, grant, sent, names, state, role, input[TEST_INPUTS_MAX];
    /** Grant number that was granted last. */
    uint64_t grant_number;
    /** Turn with which its role began. */
    rm_turn since_turn;
};

static inline void *test_memory(struct test_server *server, rm_planned_index index) {
    return rm_segment_memory(&server->segment, &server->plan, index);
}

/** Plans the segment. `application` may be NULL: the server has none. */
static inline void test_server_plan_as(struct test_server *server, char const *application,
                                       struct test_shape const *shape) {
    char name[RM_NAME_BYTES];
    server->shape = *shape;
    rm_plan_init(&server->plan);
    server->clock = rm_plan_clock(&server->plan, "clock", "the clock");
    if (application != NULL) {
        struct rm_grant const grant = {.actuator_count = shape->granted, .period_turns = shape->stream.period};
        snprintf(name, sizeof name, "grant/%s", application);
        server->grant = rm_plan_grant(&server->plan, name, "a grant", &grant);
    }
    server->sent = rm_plan_setpoints(&server->plan, "setpoints/sent", "what was sent", shape->supplies);
    server->names = rm_plan_text(&server->plan, "supply/names", "supplies", shape->names);
    server->state =
        rm_plan_parameter(&server->plan, "supply/state", "", "supplies", RM_ELEMENT_U32, shape->supplies, NULL);
    if (shape->is_of_two)
        server->role = rm_plan_standby_state(&server->plan, "standby/state", "what it is of two servers",
                                             &(struct rm_standby_state){.server = 1, .chains = 3, .majority = 2});
    for (unsigned i = 0; i < shape->inputs; ++i)
        server->input[i] = rm_plan_stream(&server->plan, shape->input[i], "a position monitor", &shape->stream);
}

/** The same with TEST_INPUTS inputs of one lane, and TEST_SUPPLIES supplies; alone, or of two. */
static inline void test_server_plan_of(struct test_server *server, char const *application, bool is_of_two) {
    static char const *const inputs[TEST_INPUTS] = {"bpm01/fast", "bpm02/fast"};
    struct test_shape const shape = {
        .input = inputs,
        .inputs = TEST_INPUTS,
        .stream = {.capacity = 1024,
                   .period = TEST_PERIOD,
                   .instrument_kind = RM_KIND_BPM,
                   .lane_count = 1,
                   .filter = "none",
                   .closing_delay_turns = 6.0,
                   .lane = {{.name = "x1", .unit = "nm", .type = RM_LANE_I32}}},
        .names = "ps/a\nps/ab\nps/b\nps/c\nps/d\nps/e\n",
        .supplies = TEST_SUPPLIES,
        .granted = 2,
        .turn_rate_hz = TEST_TURN_RATE_HZ,
        .is_of_two = is_of_two,
    };
    test_server_plan_as(server, application, &shape);
}

static inline void test_server_plan(struct test_server *server, char const *application) {
    test_server_plan_of(server, application, false);
}

/** What it is to the machine from now on. */
static inline void test_server_role(struct test_server *server, enum rm_standby_role role,
                                    enum rm_standby_reason reason) {
    rm_standby_state_publish(test_memory(server, server->role),
                             &(struct rm_standby_state_reading){
                                 .role = role, .reason = reason, .term = 1, .since_turn = ++server->since_turn});
}

/** Sends these setpoints to the supplies. */
static inline void test_server_send_values(struct test_server *server, double const *values, rm_turn turn) {
    struct rm_setpoint_vector *vector = rm_setpoints_begin(test_memory(server, server->sent));
    for (unsigned i = 0; i < server->shape.supplies; ++i)
        rm_setpoints_put(vector, i, values[i]);
    rm_setpoints_commit(vector, 1, turn, rm_tsc());
}

/** Sends setpoints to TEST_SUPPLIES supplies: `first`, `first` + 1, … */
static inline void test_server_send(struct test_server *server, double first) {
    double values[TEST_SUPPLIES];
    for (unsigned i = 0; i < TEST_SUPPLIES; ++i)
        values[i] = first + i;
    test_server_send_values(server, values, 0);
}

static inline void test_server_state(struct test_server *server, unsigned supply, uint32_t state) {
    uint32_t all[TEST_SUPPLIES] = {0};
    all[supply] = state;
    rm_parameter_write(test_memory(server, server->state), all, sizeof all, rm_stamp_now());
}

/** Sets the clock: `turn` is due at `tsc`. */
static inline void test_server_clock(struct test_server *server, rm_turn turn, uint64_t tsc, double tsc_hz) {
    struct rm_clock_reading const reading = {
        .anchored = true,
        .turn = turn,
        .turn_tsc = tsc,
        .ticks_per_turn = tsc_hz / server->shape.turn_rate_hz,
        .tsc_hz = tsc_hz,
        .tai_tsc = tsc,
        .tai_ns = rm_tai_ns(),
    };
    rm_clock_publish(test_memory(server, server->clock), &reading);
}

/** Opens the segment "server" of workspace "demo", or opens it again. False, with the reason on standard error. */
static inline bool test_server_open(struct test_server *server) {
    struct rm_error error;
    if (rm_segment_open("demo", "server", &server->plan, &server->segment, &error) != RM_OK) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    for (unsigned i = 0; i < server->shape.inputs; ++i)
        if (!rm_stream_writer_open(&server->writer[i], test_memory(server, server->input[i]), TEST_LATE_TURNS))
            return false;
    rm_segment_finish(&server->segment);
    return true;
}

/** Ends as a killed server does: the lock is gone, and the segment says LIVE. */
static inline void test_server_die(struct test_server *server) {
    for (unsigned i = 0; i < server->shape.inputs; ++i)
        rm_stream_writer_close(&server->writer[i]);
    close(server->segment.lock_file);
    server->segment.lock_file = -1;
    munmap(server->segment.header, server->segment.bytes);
    server->segment.header = NULL;
}

static inline void test_server_close(struct test_server *server) {
    for (unsigned i = 0; i < server->shape.inputs; ++i)
        rm_stream_writer_close(&server->writer[i]);
    rm_segment_close(&server->segment);
    rm_plan_free(&server->plan);
}

/** Grants an instance a new grant number, with which it may send vectors. With 0 and 0 it takes the grant back. */
static inline uint64_t test_server_grant(struct test_server *server, uint64_t instance, uint64_t pid) {
    struct rm_grant *grant = test_memory(server, server->grant);
    server->grant_number = instance == 0 ? 0 : rm_tai_ns();
    rm_sequence_begin(&grant->sequence);
    atomic_store_explicit(&grant->grant_number, server->grant_number, memory_order_relaxed);
    atomic_store_explicit(&grant->instance, instance, memory_order_relaxed);
    atomic_store_explicit(&grant->pid, pid, memory_order_relaxed);
    rm_sequence_end(&grant->sequence);
    return server->grant_number;
}

/** Puts a record of one input. */
static inline void test_server_record(struct test_server *server, unsigned input, rm_turn turn, int32_t value) {
    struct rm_record const record = {.turn = turn, .lane = {{.i = value}}};
    rm_stream_writer_put(&server->writer[input], &record);
    rm_stream_writer_publish(&server->writer[input], rm_tsc());
}

#endif
