// SPDX-License-Identifier: Apache-2.0
#include "sender.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "base/zeroed.h"
#include "datagram.h"
#include "test_port.h"
#include "wire/native.h"

#include <ringmaster/stream.h>

enum { COUNT = 9 };
static rm_turn const FIRST = 1000000;
static double const TSC_HZ = 1e9; /* nothing here depends on the true one */

/** A sender of nine instruments into an array. */
struct bench {
    struct test_port port;
    struct rm_port *as_port;
    struct rm_format native;
    struct rm_virtual_instrument instruments[COUNT];
    struct rm_virtual_group groups[COUNT];
    struct rm_sender_member members[COUNT];
    struct rm_fault faults[COUNT];
    rm_counter counters[COUNT][RM_SENDER_COUNTERS];
    union rm_lane lanes[COUNT * RM_LANES];
    struct rm_sender_setup setup;
    atomic_bool stop;
};

/** Lane l of instrument m at index i is (i, m, l) in digits. */
static union rm_lane const *digits(void *state, uint64_t index, uint32_t first, uint32_t count) {
    struct bench *bench = state;
    assert_in_range(first + count, 1, COUNT);
    for (int32_t i = 0; i < COUNT * RM_LANES; ++i)
        bench->lanes[i].i = (int32_t)index * 10000 + i / RM_LANES * 100 + i % RM_LANES;
    return bench->lanes + (size_t)first * RM_LANES;
}

static int make(void **state) {
    struct bench *bench = rm_zeroed(1, sizeof *bench);
    assert_true(rm_format_builtin("native", &bench->native));
    for (uint32_t m = 0; m < COUNT; ++m) {
        uint32_t const source = 0x0A140001 + m;
        bench->instruments[m] = (struct rm_virtual_instrument){
            .kind = RM_KIND_BPM, .id = (uint16_t)(m + 1), .source_ipv4 = source, .lane_count = 8};
        bench->groups[m] = (struct rm_virtual_group){
            .first = m, .count = 1, .source_ipv4 = {source}, .period_turns = 1, .format = &bench->native};
        bench->members[m] = (struct rm_sender_member){
            .group = &bench->groups[m],
            .outlet = {{.flow = {.destination_ipv4 = 0x0A14FF01, .source_port = 4660, .destination_port = 4660},
                        .mtu = 1500,
                        .counters = bench->counters[m],
                        .faults = &bench->faults[m]}},
        };
    }
    bench->as_port = test_port_open(&bench->port);
    bench->setup = (struct rm_sender_setup){
        .instruments = bench->instruments,
        .members = bench->members,
        .member_count = COUNT,
        .network_count = 1,
        .ports = &bench->as_port,
        .port_count = 1,
        .source = {digits, bench},
        .first_turn = FIRST,
        .turns = 1000,
    };
    *state = bench;
    return 0;
}

static int destroy(void **state) {
    free(*state);
    return 0;
}

static struct rm_sender_result run(struct bench *bench) {
    struct rm_sender_result result;
    assert_int_equal(rm_sender_run(&bench->setup, TSC_HZ, &bench->stop, &result, NULL), RM_OK);
    assert_int_equal(bench->port.lent, 0);
    return result;
}

static uint64_t sum(struct bench const *bench, enum rm_sender_counter counter) {
    uint64_t total = 0;
    for (uint32_t m = 0; m < COUNT; ++m)
        total += rm_counter_get(bench->counters[m], counter);
    return total;
}

static void add_fault(struct bench *bench, uint32_t member, struct rm_fault fault) {
    fault.key = member;
    bench->faults[member] = fault;
    bench->members[member].outlet[0].fault_count = 1;
}

static enum rm_port_counter parse(struct bench const *bench, uint32_t i, struct rm_datagram *datagram,
                                  struct rm_native *native) {
    struct test_port const *kept = &bench->port;
    enum rm_port_counter const verdict = rm_frame_parse(kept->data[i], kept->length[i], false, datagram);
    return verdict == RM_PORT_DECODED ? rm_native_parse(datagram->payload, datagram->length, native) : verdict;
}

static void sends_every_instrument_of_every_turn_in_order(void **state) {
    struct bench *bench = *state;
    struct rm_sender_result const result = run(bench);
    assert_int_equal(result.turns, 1000);
    assert_int_equal(bench->port.count, 9000);
    for (uint32_t i = 0; i < 9000; ++i) {
        struct rm_datagram datagram = {0};
        struct rm_native native = {0};
        assert_int_equal(parse(bench, i, &datagram, &native), RM_PORT_DECODED);
        assert_int_equal(native.turn, FIRST + i / COUNT);
        assert_int_equal(native.instrument, i % COUNT + 1);
        assert_int_equal(native.lane_count, 8);
        assert_int_equal(datagram.source_ipv4, 0x0A140001 + i % COUNT);
        assert_int_equal(datagram.destination_ipv4, 0x0A14FF01);
        assert_int_equal(datagram.destination_port, 4660);
        struct rm_record record;
        rm_native_record(&native, native.turn, 0, &record);
        assert_int_equal(record.lane[7].i, i / COUNT * 10000 + i % COUNT * 100 + 7);
    }
    for (uint32_t m = 0; m < COUNT; ++m) {
        assert_int_equal(rm_counter_get(bench->counters[m], RM_SENDER_SENT), 1000);
        assert_int_equal(rm_counter_get(bench->counters[m], RM_SENDER_TURNS), 1000);
        assert_int_equal(rm_counter_get(bench->counters[m], RM_SENDER_WAITS), 0);
    }
}

static void sends_bare_payloads_where_the_kernel_frames_them(void **state) {
    struct bench *bench = *state;
    bench->port.ops.framing = RM_FRAMING_UDP;
    run(bench);
    struct rm_native native = {0};
    assert_int_equal(rm_native_parse(bench->port.data[10], bench->port.length[10], &native), RM_PORT_DECODED);
    assert_int_equal(native.turn, FIRST + 1);
    assert_int_equal(native.instrument, 2);
}

static void waits_for_a_full_link_and_loses_nothing(void **state) {
    struct bench *bench = *state;
    bench->port.most = 7;
    bench->port.refusals = 2;
    run(bench);
    assert_int_equal(bench->port.count, 9000);
    assert_int_equal(sum(bench, RM_SENDER_SENT), 9000);
    assert_in_range(sum(bench, RM_SENDER_WAITS), 9000 / 7, 2 * 9000 / 7);
    assert_in_range(sum(bench, RM_SENDER_LONGEST_WAIT_TICKS), 1, sum(bench, RM_SENDER_WAIT_TICKS));
    for (uint32_t i = 0; i < 9000; ++i) {
        struct rm_datagram datagram = {0};
        struct rm_native native = {0};
        assert_int_equal(parse(bench, i, &datagram, &native), RM_PORT_DECODED);
        assert_int_equal(native.turn * COUNT + native.instrument, (FIRST * COUNT) + 1 + i);
    }
}

static void each_damage_is_found_by_its_own_counter(void **state) {
    struct bench *bench = *state;
    struct {
        enum rm_fault_kind kind;
        enum rm_sender_counter made;
        enum rm_port_counter found;
    } const cases[] = {
        {RM_FAULT_CORRUPT, RM_SENDER_CORRUPTED, RM_PORT_BAD_UDP_CHECKSUM},
        {RM_FAULT_TRUNCATED, RM_SENDER_TRUNCATED, RM_PORT_TRUNCATED},
        {RM_FAULT_WRONG_VERSION, RM_SENDER_WRONG_VERSION, RM_PORT_UNKNOWN_VERSION},
    };
    for (uint32_t c = 0; c < 3; ++c)
        add_fault(bench, c, (struct rm_fault){.kind = cases[c].kind, .at_turn = RM_TURN_NONE, .probability = 0.2});
    run(bench);
    assert_int_equal(bench->port.count, 9000);
    uint64_t found[RM_PORT_COUNTERS] = {0};
    for (uint32_t i = 0; i < 9000; ++i) {
        struct rm_datagram datagram = {0};
        struct rm_native native = {0};
        ++found[parse(bench, i, &datagram, &native)];
    }
    for (uint32_t c = 0; c < 3; ++c) {
        uint64_t const made = rm_counter_get(bench->counters[c], cases[c].made);
        assert_in_range(made, 120, 280);
        assert_int_equal(found[cases[c].found], made);
    }
}

static void unseen_corruption_passes_all_checksums(void **state) {
    struct bench *bench = *state;
    bench->setup.udp_checksum = true;
    add_fault(bench, 0,
              (struct rm_fault){.kind = RM_FAULT_CORRUPT, .at_turn = RM_TURN_NONE, .probability = 1, .unseen = true});
    run(bench);
    for (uint32_t i = 0; i < 9000; ++i) {
        struct rm_datagram datagram = {0};
        assert_int_equal(rm_frame_parse(bench->port.data[i], bench->port.length[i], false, &datagram), RM_PORT_DECODED);
    }
    assert_int_equal(rm_counter_get(bench->counters[0], RM_SENDER_CORRUPTED), 1000);
}

static void sends_what_was_held_back_after_the_last_turn(void **state) {
    struct bench *bench = *state;
    add_fault(bench, 4, (struct rm_fault){.kind = RM_FAULT_DELAY, .at_turn = RM_TURN_NONE, .turns = 50});
    run(bench);
    assert_int_equal(bench->port.count, 9000);
    struct rm_datagram datagram = {0};
    struct rm_native native = {0};
    assert_int_equal(parse(bench, 8999, &datagram, &native), RM_PORT_DECODED);
    assert_int_equal(native.instrument, 5);
    assert_int_equal(native.turn, FIRST + 999);
}

static void gives_unneeded_buffers_back(void **state) {
    struct bench *bench = *state;
    for (uint32_t m = 0; m < COUNT; ++m)
        add_fault(bench, m, (struct rm_fault){.kind = RM_FAULT_DROP, .at_turn = RM_TURN_NONE, .probability = 0.5});
    run(bench); /* checks that no buffer stays lent */
    assert_int_equal(bench->port.count, 9000 - sum(bench, RM_SENDER_DROPPED));
}

static void turns_pass_unsent_while_the_link_is_down(void **state) {
    struct bench *bench = *state;
    bench->setup.turn_rate_hz = 1e5;
    bench->setup.turns = 5000;
    bench->port.down_after = 9 * 500;
    bench->port.down_looks = 5;
    struct rm_sender_result const result = run(bench);
    assert_true(result.link_down_turns > 0);
    assert_int_equal(result.turns + result.link_down_turns, 5000);
    assert_int_equal(bench->port.count, sum(bench, RM_SENDER_SENT));
    assert_in_range(bench->port.count, (result.turns - 10) * COUNT, result.turns * COUNT); /* less the burst given up */
    rm_turn last = FIRST - 1;
    for (uint32_t i = 0; i < bench->port.count; ++i) {
        struct rm_datagram datagram = {0};
        struct rm_native native = {0};
        assert_int_equal(parse(bench, i, &datagram, &native), RM_PORT_DECODED);
        assert_true(native.turn >= last);
        last = native.turn;
    }
    if (result.turns > 510) /* or this machine stood still until all turns had passed */
        assert_int_equal(last, FIRST + 4999);
}

static void a_stop_ends_a_wait_and_counts_only_what_was_sent(void **state) {
    struct bench *bench = *state;
    bench->port.down_after = 1;
    bench->port.down_looks = UINT32_MAX;
    bench->port.stop = &bench->stop;
    bench->setup.turns = UINT64_MAX;
    run(bench);
    assert_true(atomic_load(&bench->stop));
    assert_in_range(bench->port.count, 1, RM_BURST);
    assert_int_equal(bench->port.count, sum(bench, RM_SENDER_SENT));
}

/** What a poll hook saw. */
struct hook {
    struct bench *bench;
    struct rm_turn_pace const *pace;
    uint64_t polls, late; /**< calls; those after the first turn was due */
    uint64_t waiting;     /**< those while the sender waited for its link */
    uint32_t sent;        /**< datagrams, at the last */
};

static void hook_begins(void *state, struct rm_turn_pace const *pace) {
    struct hook *hook = state;
    assert_null(hook->pace);
    assert_int_equal(hook->bench->port.count, 0);
    hook->pace = pace;
}

static void hook_is_polled(void *state, uint64_t tsc) {
    struct hook *hook = state;
    ++hook->polls;
    hook->late += hook->pace != NULL && tsc >= hook->pace->start_tsc;
    if (!hook->bench->setup.hook.elsewhere)
        assert_int_equal(hook->bench->port.lent, 0); /* the queue is its own meanwhile */
    hook->waiting += hook->bench->port.lent != 0;
    hook->sent = hook->bench->port.count;
}

/** Between two bursts, when no buffer is lent. */
static void a_hook_is_looked_after(void **state) {
    struct bench *bench = *state;
    struct hook hook = {.bench = bench};
    bench->setup.hook = (struct rm_sender_hook){.poll = hook_is_polled, .begin = hook_begins, .state = &hook};
    run(bench);
    assert_non_null(hook.pace);
    assert_int_equal(bench->port.count, 9000);
    assert_true(hook.polls >= 9000 / (2 * RM_BURST)); /* a burst is filled up with a whole turn */
    assert_int_equal(hook.polls, hook.late);
    assert_in_range(hook.sent, 9000 - 2 * RM_BURST, 9000);
}

static void one_that_is_elsewhere_is_looked_after_while_the_link_is_full(void **state) {
    struct bench *bench = *state;
    struct hook hook = {.bench = bench};
    bench->port.refusals = 3;
    bench->setup.hook =
        (struct rm_sender_hook){.poll = hook_is_polled, .begin = hook_begins, .state = &hook, .elsewhere = true};
    run(bench);
    assert_int_equal(bench->port.count, 9000);
    assert_true(hook.waiting >= 9000 / (2 * RM_BURST));
}

/** A loop that answers each cycle when it has been asked three times. */
struct loop {
    struct bench *bench;
    uint32_t asked;
    rm_turn cycle;
    uint64_t time;  /**< of the ring, at the last poll … */
    uint64_t stood; /**< … and for so many polls it has not changed */
    bool forgotten; /**< the server that it answers by */
};

enum { CYCLE_TURNS = 20, ANSWER_TURNS = 5 };

static void loop_is_polled(void *state, uint64_t tsc) {
    struct loop *loop = state;
    assert_true(tsc >= loop->time);
    loop->stood += tsc == loop->time;
    loop->time = tsc;
}

/** What may not be sent before this cycle's setpoints are there has not been sent. */
static bool loop_has(void *state, rm_turn cycle) {
    struct loop *loop = state;
    assert_int_equal(cycle % CYCLE_TURNS, 0);
    assert_true(loop->bench->port.count <= COUNT * (cycle + CYCLE_TURNS + ANSWER_TURNS - FIRST));
    loop->asked = cycle == loop->cycle ? loop->asked + 1 : 0;
    loop->cycle = cycle;
    if (loop->asked >= 3)
        return true;
    if (cycle >= FIRST)
        assert_true(loop->bench->port.count <= COUNT * (cycle + ANSWER_TURNS - FIRST));
    return false;
}

static void set_lock_step(struct bench *bench, struct loop *loop) {
    bench->setup.turn_rate_hz = 1e6;
    bench->setup.max_lag_s = 20e-6;
    bench->setup.lock_step = (struct rm_lock_step_config){CYCLE_TURNS, ANSWER_TURNS};
    bench->setup.hook = (struct rm_sender_hook){.poll = loop_is_polled, .has = loop_has, .state = loop};
}

static void in_lock_step_no_turn_is_sent_before_the_answer_and_none_is_skipped(void **state) {
    struct bench *bench = *state;
    struct loop loop = {.bench = bench};
    set_lock_step(bench, &loop);
    struct rm_sender_result const result = run(bench);
    assert_int_equal(result.turns, 1000);
    assert_int_equal(result.skipped_turns, 0);
    assert_int_equal(bench->port.count, 9000);
    assert_true(loop.stood > 0);
}

static bool never_has(void *state, rm_turn cycle) {
    (void)state;
    return cycle < FIRST + 5 * CYCLE_TURNS;
}

static void in_lock_step_setpoints_that_never_come_are_an_error(void **state) {
    struct bench *bench = *state;
    struct loop loop = {.bench = bench};
    set_lock_step(bench, &loop);
    bench->setup.hook.has = never_has;
    struct rm_sender_result result;
    struct rm_error error;
    double const hurried_tsc_hz = 1e6; /* ten of its seconds are some milliseconds */
    assert_int_equal(rm_sender_run(&bench->setup, hurried_tsc_hz, &bench->stop, &result, &error), RM_E_DEAD);
    assert_non_null(strstr(error.text, "no setpoints for 10 s at turn 1000105"));
    assert_int_equal(result.turns, 5 * CYCLE_TURNS + ANSWER_TURNS);
}

static bool always_has(void *state, rm_turn cycle) {
    (void)state;
    (void)cycle;
    return true;
}

/** A server that hangs before its first setpoints, for which nothing waits yet. */
static void in_lock_step_a_link_that_takes_nothing_is_an_error(void **state) {
    struct bench *bench = *state;
    struct loop loop = {.bench = bench};
    set_lock_step(bench, &loop);
    bench->setup.hook.has = always_has;
    bench->port.most = 7;
    bench->port.refusals = UINT32_MAX;
    struct rm_sender_result result;
    struct rm_error error;
    double const hurried_tsc_hz = 1e6; /* ten of its seconds are some milliseconds */
    assert_int_equal(rm_sender_run(&bench->setup, hurried_tsc_hz, &bench->stop, &result, &error), RM_E_DEAD);
    assert_non_null(strstr(error.text, "no setpoints for 10 s at turn 1000000"));
}

/** A server that ends in the midst of the run, and the next one, which answers nothing that was sent before it came. */
static bool has_until_it_ends(void *state, rm_turn cycle) {
    struct loop *loop = state;
    bool const is_there = cycle < FIRST + 5 * CYCLE_TURNS || loop->forgotten;
    if (!is_there && loop->asked++ == 0) {
        loop->bench->port.down_after = loop->bench->port.count;
        loop->bench->port.down_looks = 3;
    }
    return is_there;
}

static void forget(void *state) {
    struct loop *loop = state;
    assert_int_equal(loop->bench->port.down_looks, 0);
    loop->forgotten = true;
}

static void in_lock_step_another_server_is_not_waited_for_before_it_has_sent(void **state) {
    struct bench *bench = *state;
    struct loop loop = {.bench = bench};
    set_lock_step(bench, &loop);
    bench->setup.hook.has = has_until_it_ends;
    bench->setup.hook.forget = forget;
    struct rm_sender_result const result = run(bench);
    assert_true(loop.forgotten);
    assert_int_equal(result.turns, 1000);
    assert_int_equal(bench->port.count, 9000);
}

/** The same of a server that ends while the ring sends: it has answered the cycle, and the link goes down behind it. */
static bool has_until_it_ends_behind_it(void *state, rm_turn cycle) {
    struct loop *loop = state;
    rm_turn const last = FIRST + 5 * CYCLE_TURNS;
    if (cycle == last && loop->asked++ == 0) {
        loop->bench->port.down_after = loop->bench->port.count + COUNT;
        loop->bench->port.down_looks = 3;
    }
    return cycle <= last || loop->forgotten;
}

static void in_lock_step_a_server_that_ends_while_turns_are_sent_has_a_successor(void **state) {
    struct bench *bench = *state;
    struct loop loop = {.bench = bench};
    set_lock_step(bench, &loop);
    bench->setup.hook.has = has_until_it_ends_behind_it;
    bench->setup.hook.forget = forget;
    struct rm_sender_result const result = run(bench);
    assert_true(loop.forgotten);
    assert_int_equal(result.turns, 1000);
    assert_int_equal(result.skipped_turns, 0);
    assert_int_equal(result.link_down_turns, 0);
    assert_in_range(bench->port.count, 9000 - RM_BURST, 9000); /* the burst at hand was given up */
}

/** A source that stalls once, as a core that is taken away does: 5 ms, which are 500 turns. */
static union rm_lane const *stalling(void *state, uint64_t index, uint32_t first, uint32_t count) {
    if (index == 100 && first == 0) {
        struct timespec const stall = {.tv_nsec = 5 * 1000 * 1000};
        nanosleep(&stall, NULL);
    }
    return digits(state, index, first, count);
}

static void lets_turns_pass_that_are_long_over(void **state) {
    struct bench *bench = *state;
    bench->setup.source.turn = stalling;
    bench->setup.turn_rate_hz = 100000;
    bench->setup.max_lag_s = 0.001;
    struct rm_sender_result const result = run(bench);
    assert_true(result.skipped_turns >= 400);
    assert_int_equal(result.turns + result.skipped_turns, 1000);
    assert_int_equal(sum(bench, RM_SENDER_SKIPPED_TURNS), COUNT * result.skipped_turns);
    assert_int_equal(sum(bench, RM_SENDER_SENT), COUNT * result.turns);
}

/** Takes the core away between two looks: 21 ms, which are more than a reading's period and the maximum lag. */
static void doze(void *state, uint64_t tsc) {
    unsigned *const looks = state;
    struct timespec const pause = {.tv_nsec = 21 * 1000 * 1000};
    (void)tsc;
    if ((*looks)++ % 2 == 0)
        nanosleep(&pause, NULL);
}

/** A sender that is late at every look still sends a reading that is not later than the maximum lag. */
static void one_that_is_always_late_sends_the_newest_readings(void **state) {
    struct bench *bench = *state;
    unsigned looks = 0;
    for (uint32_t m = 0; m < COUNT; ++m)
        bench->groups[m].period_turns = 1000;
    bench->setup.turns = 50000;
    bench->setup.turn_rate_hz = 100000;
    bench->setup.max_lag_s = 0.0099;
    bench->setup.hook = (struct rm_sender_hook){.poll = doze, .state = &looks};
    struct rm_sender_result const result = run(bench);
    assert_true(result.skipped_turns > 0);
    assert_true(sum(bench, RM_SENDER_SENT) > 0);
}

static void sends_all_without_a_maximum_lag(void **state) {
    struct bench *bench = *state;
    bench->setup.source.turn = stalling;
    bench->setup.turn_rate_hz = 100000;
    struct rm_sender_result const result = run(bench);
    assert_int_equal(result.skipped_turns, 0);
    assert_int_equal(result.turns, 1000);
}

/** What a poll hook saw of the ring's time. */
struct observer {
    struct bench *bench;
    struct rm_turn_pace const *pace;
    uint64_t last_tsc, behind; /**< calls in which it was a hundred turns behind */
};

static void observer_begins(void *state, struct rm_turn_pace const *pace) { ((struct observer *)state)->pace = pace; }

static void observer_is_polled(void *state, uint64_t tsc) {
    struct observer *observer = state;
    assert_true(tsc >= observer->last_tsc);
    observer->last_tsc = tsc;
    if (observer->pace == NULL)
        return;
    assert_true(tsc <= rm_turn_pace_tsc(observer->pace, observer->bench->port.count / COUNT));
    observer->behind += rm_turn_pace_due(observer->pace, rm_tsc()) > rm_turn_pace_due(observer->pace, tsc) + 100;
}

/** Whatever a poll hook is told comes before the turn that waits to be sent, however late that is. */
static void a_hook_has_the_time_of_the_next_turn(void **state) {
    struct bench *bench = *state;
    struct observer observer = {.bench = bench};
    bench->setup.source.turn = stalling;
    bench->setup.turn_rate_hz = 100000;
    bench->setup.max_lag_s = 1.0;
    bench->setup.hook =
        (struct rm_sender_hook){.poll = observer_is_polled, .begin = observer_begins, .state = &observer};
    run(bench);
    assert_int_equal(bench->port.count, 9000);
    assert_true(observer.behind > 0);
}

/** Groups that send at each thousandth turn cost nothing at the others. */
static void seldom_groups_leave_bursts_full(void **state) {
    struct bench *bench = *state;
    struct hook hook = {.bench = bench};
    for (uint32_t m = 0; m + 1 < COUNT; ++m)
        bench->groups[m].period_turns = 1000;
    bench->setup.hook = (struct rm_sender_hook){.poll = hook_is_polled, .begin = hook_begins, .state = &hook};
    run(bench);
    assert_int_equal(bench->port.count, 1000 + COUNT - 1); /* the first turn is a thousandth */
    assert_in_range(hook.polls, 1000 / (2 * RM_BURST), 2 * 1000 / RM_BURST);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(lets_turns_pass_that_are_long_over, make, destroy),
        cmocka_unit_test_setup_teardown(one_that_is_always_late_sends_the_newest_readings, make, destroy),
        cmocka_unit_test_setup_teardown(in_lock_step_no_turn_is_sent_before_the_answer_and_none_is_skipped, make,
                                        destroy),
        cmocka_unit_test_setup_teardown(in_lock_step_setpoints_that_never_come_are_an_error, make, destroy),
        cmocka_unit_test_setup_teardown(in_lock_step_a_link_that_takes_nothing_is_an_error, make, destroy),
        cmocka_unit_test_setup_teardown(in_lock_step_another_server_is_not_waited_for_before_it_has_sent, make,
                                        destroy),
        cmocka_unit_test_setup_teardown(in_lock_step_a_server_that_ends_while_turns_are_sent_has_a_successor, make,
                                        destroy),
        cmocka_unit_test_setup_teardown(sends_all_without_a_maximum_lag, make, destroy),
        cmocka_unit_test_setup_teardown(sends_every_instrument_of_every_turn_in_order, make, destroy),
        cmocka_unit_test_setup_teardown(sends_bare_payloads_where_the_kernel_frames_them, make, destroy),
        cmocka_unit_test_setup_teardown(waits_for_a_full_link_and_loses_nothing, make, destroy),
        cmocka_unit_test_setup_teardown(each_damage_is_found_by_its_own_counter, make, destroy),
        cmocka_unit_test_setup_teardown(unseen_corruption_passes_all_checksums, make, destroy),
        cmocka_unit_test_setup_teardown(sends_what_was_held_back_after_the_last_turn, make, destroy),
        cmocka_unit_test_setup_teardown(gives_unneeded_buffers_back, make, destroy),
        cmocka_unit_test_setup_teardown(turns_pass_unsent_while_the_link_is_down, make, destroy),
        cmocka_unit_test_setup_teardown(a_stop_ends_a_wait_and_counts_only_what_was_sent, make, destroy),
        cmocka_unit_test_setup_teardown(a_hook_is_looked_after, make, destroy),
        cmocka_unit_test_setup_teardown(one_that_is_elsewhere_is_looked_after_while_the_link_is_full, make, destroy),
        cmocka_unit_test_setup_teardown(a_hook_has_the_time_of_the_next_turn, make, destroy),
        cmocka_unit_test_setup_teardown(seldom_groups_leave_bursts_full, make, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
