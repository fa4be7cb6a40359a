// SPDX-License-Identifier: Apache-2.0
/** The sending half with a source that has times of its own, in times that nobody waits for. A tick is a nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traffic/sender.h"

enum { FRAMES = 300, LENGTH = 60, SLOTS = 1024, START = 1000000000, LATE_TICKS = 1000000, FOREVER = 1000000000 };

/** Frame i is due at due_ticks[i] after the start. */
struct timed_source {
    struct rm_source source;
    uint64_t start_tsc;
    uint64_t due_ticks[FRAMES];
    uint64_t next;
};

static struct timed_source *timed(struct rm_source *source) { return (struct timed_source *)source; }

static void timed_start(struct rm_source *source, uint64_t tsc) {
    timed(source)->start_tsc = tsc;
    timed(source)->next = 0;
}

static uint32_t timed_fill(struct rm_source *source, struct rm_burst *burst, uint64_t tsc) {
    (void)tsc;
    uint32_t filled = 0;
    for (; filled < burst->count && timed(source)->next < FRAMES; ++filled, ++timed(source)->next) {
        memset(burst->data[filled], 0, LENGTH);
        burst->length[filled] = LENGTH;
    }
    return filled;
}

static uint64_t timed_due(struct rm_source *source, uint64_t tsc) {
    uint64_t const gone = tsc > timed(source)->start_tsc ? tsc - timed(source)->start_tsc : 0;
    uint64_t until = timed(source)->next;
    while (until < FRAMES && timed(source)->due_ticks[until] <= gone)
        ++until;
    return timed(source)->next == FRAMES ? 1 : until - timed(source)->next;
}

static void timed_skip(struct rm_source *source, uint64_t count) { timed(source)->next += count; }

static void timed_free(struct rm_source *source) { free(source); }

static struct rm_source_ops const timed_ops = {
    .start = timed_start, .fill = timed_fill, .due = timed_due, .skip = timed_skip, .free = timed_free};

struct rig {
    rm_counter counters[RM_GENERATOR_COUNTERS];
    struct rm_histogram jitter;
    struct rm_port *port;
    struct rm_traffic_sender sender;
    struct timed_source *source;
};

/** All frames are due at the start, until a test says another time. */
static struct rig *begin(enum rm_traffic_late late, uint64_t count) {
    struct rig *const rig = calloc(1, sizeof *rig);
    struct rm_traffic_job *const job = calloc(1, sizeof *job);
    struct rm_port_config const config = {.name = "loop", .kind = RM_PORT_RING, .queues = 1, .ring_slots = SLOTS};
    struct rm_error error;
    assert_non_null(rig);
    assert_non_null(job);
    rig->source = calloc(1, sizeof *rig->source);
    assert_non_null(rig->source);
    rig->source->source.ops = &timed_ops;
    if (rm_port_open(&config, &rig->port, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_traffic_default(&job->traffic, 0);
    job->traffic.late = late;
    job->traffic.late_max_ns = LATE_TICKS;
    job->traffic.count = count;
    job->source = &rig->source->source;
    rm_traffic_sender_init(&rig->sender, rig->port, 0, rig->counters, &rig->jitter, 1e9);
    rm_traffic_sender_take(&rig->sender, job, START);
    return rig;
}

static void end(struct rig *rig) {
    rm_traffic_sender_stop(&rig->sender);
    rm_traffic_job_free(rm_traffic_sender_take(&rig->sender, NULL, 0));
    rm_port_close(rig->port);
    free(rig);
}

static uint64_t counted(struct rig const *rig, enum rm_generator_counter counter) {
    return rm_counter_get(rig->counters, counter);
}

/** Sends what is to be sent at that time. */
static void turn_at(struct rig *rig, uint64_t ticks) {
    while (rm_traffic_sender_turn(&rig->sender, START + ticks) > 0) {
        /* the next burst */
    }
}

static void what_is_due_together_is_sent_together(void **state) {
    (void)state;
    for (int late = RM_TRAFFIC_SEND_LATE; late <= RM_TRAFFIC_SKIP_LATE; ++late) {
        struct rig *const rig = begin((enum rm_traffic_late)late, 0);
        for (uint32_t i = FRAMES / 2; i < FRAMES; ++i)
            rig->source->due_ticks[i] = 10ull * LATE_TICKS;
        rm_traffic_sender_start(&rig->sender, START);
        turn_at(rig, 0);
        assert_int_equal(counted(rig, RM_GENERATOR_SENT), FRAMES / 2);
        turn_at(rig, 10ull * LATE_TICKS);
        assert_int_equal(counted(rig, RM_GENERATOR_SENT), FRAMES);
        assert_int_equal(counted(rig, RM_GENERATOR_SKIPPED), 0);
        end(rig);
    }
}

static void after_a_stall_is_done_what_was_chosen(void **state) {
    (void)state;
    for (int late = RM_TRAFFIC_SEND_LATE; late <= RM_TRAFFIC_SKIP_LATE; ++late) {
        struct rig *const rig = begin((enum rm_traffic_late)late, 0);
        for (uint32_t i = 0; i < FRAMES; ++i)
            rig->source->due_ticks[i] = (uint64_t)i * LATE_TICKS / 4;
        rm_traffic_sender_start(&rig->sender, START);
        turn_at(rig, 0);
        assert_int_equal(counted(rig, RM_GENERATOR_SENT), 1);
        turn_at(rig, 10ull * LATE_TICKS); /* frames 1 … 40 are due, of which 36 … 40 are not too late */
        assert_int_equal(counted(rig, RM_GENERATOR_SENT), 1 + (late == RM_TRAFFIC_SEND_LATE ? 5 : 1));
        assert_int_equal(counted(rig, RM_GENERATOR_SKIPPED), late == RM_TRAFFIC_SEND_LATE ? 35 : 39);
        end(rig);
    }
}

static void a_count_is_of_all_that_were_due(void **state) {
    (void)state;
    struct rig *const rig = begin(RM_TRAFFIC_SKIP_LATE, 50);
    for (uint32_t i = 0; i < FRAMES; ++i)
        rig->source->due_ticks[i] = (uint64_t)i * LATE_TICKS / 4;
    rm_traffic_sender_start(&rig->sender, START);
    turn_at(rig, 0);
    turn_at(rig, 10ull * LATE_TICKS);
    for (uint64_t ticks = 10ull * LATE_TICKS; ticks < FOREVER; ticks += LATE_TICKS / 4)
        turn_at(rig, ticks);
    assert_int_equal(counted(rig, RM_GENERATOR_SKIPPED), 39);
    assert_int_equal(counted(rig, RM_GENERATOR_SENT), 50 - 39);
    assert_false(atomic_load(&rig->sender.sending));
    end(rig);
}

static int net_begin(void **state) {
    (void)state;
    struct rm_net_config const config = {.prefix = "test_sender"};
    struct rm_error error;
    return rm_net_start(&config, &error) == RM_OK ? 0 : -1;
}

static int net_end(void **state) {
    (void)state;
    rm_net_stop();
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(what_is_due_together_is_sent_together),
        cmocka_unit_test(after_a_stall_is_done_what_was_chosen),
        cmocka_unit_test(a_count_is_of_all_that_were_due),
    };
    return cmocka_run_group_tests(tests, net_begin, net_end);
}
