// SPDX-License-Identifier: Apache-2.0
/** The duty cycle of a core: what it counts, how it ends, and how it does not begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cores.h"
#include "base/fail.h"
#include "base/timebase.h"
#include "engine/core.h"
#include "net/port.h"

void rm_net_thread_flush(void) {}

/* The core joins the network library as every polling thread does; here it is told from what. */
static _Thread_local int joined;
static bool net_refuses;
static atomic_int joins, leaves;

enum rm_code rm_net_thread_join(struct rm_error *error) {
    if (net_refuses)
        return rm_fail(error, RM_E_NO_SPACE, "no more threads");
    ++joined;
    atomic_fetch_add(&joins, 1);
    return RM_OK;
}

void rm_net_thread_leave(void) {
    --joined;
    atomic_fetch_add(&leaves, 1);
}

struct bench {
    struct rm_core core;
    struct rm_core_list list;
    struct rm_place place[2];
    rm_counter counters[RM_CORE_COUNTERS];
    atomic_bool stop;
    struct rm_error error;
};

static unsigned some_cpu(void) {
    cpu_set_t cpus;
    struct rm_error error;
    assert_int_equal(rm_cores_available(&cpus, &error), RM_OK);
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, &cpus))
        ++cpu;
    return cpu;
}

static void begin(struct bench *bench) {
    memset(bench, 0, sizeof *bench);
    bench->core.cpu = some_cpu();
    bench->core.counters = bench->counters;
    net_refuses = false;
    joins = leaves = 0;
}

static void add_role(struct bench *bench, uint32_t (*duty)(void *role, uint64_t tsc), void *role) {
    struct rm_place *const place = &bench->place[bench->list.duty_count];
    atomic_store(&place->cpu, RM_PLACE_NONE);
    bench->list.duty[bench->list.duty_count++] = (struct rm_duty){duty, role, NULL, place};
}

static enum rm_code start(struct bench *bench) {
    assert_true(rm_core_give(&bench->core, &bench->list));
    return rm_core_start(&bench->core, &bench->stop, &bench->error);
}

static uint64_t count(struct bench const *bench, enum rm_core_counter counter) {
    return rm_counter_get(bench->counters, counter);
}

/** A role that has `work` packets at every `every`th call, and sets `*stop` at call `last`. */
struct role {
    uint32_t work, every, last;
    atomic_uint calls;
    uint64_t first_tsc, last_tsc;
    bool time_fell, elsewhere;
    unsigned cpu;
    atomic_bool *stop;
};

static uint32_t role_duty(void *argument, uint64_t tsc) {
    struct role *role = argument;
    if (role->calls == 0)
        role->first_tsc = tsc;
    role->time_fell |= tsc < role->last_tsc;
    role->elsewhere |= joined != 1 || sched_getcpu() != (int)role->cpu;
    role->last_tsc = tsc;
    uint32_t const calls = atomic_fetch_add(&role->calls, 1) + 1;
    if (calls == role->last)
        atomic_store(role->stop, true);
    return calls % role->every == 0 ? role->work : 0;
}

static void two_roles_share_the_cycle_and_its_time(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench);
    struct role role[2] = {{.work = 7, .every = 4, .last = 1000}, {.work = 1, .every = 10, .last = UINT32_MAX}};
    for (int i = 0; i < 2; ++i) {
        role[i].cpu = bench.core.cpu;
        role[i].stop = &bench.stop;
        add_role(&bench, role_duty, &role[i]);
    }
    uint64_t const before = rm_tsc();
    assert_int_equal(start(&bench), RM_OK);
    rm_core_join(&bench.core);
    uint64_t const whole = rm_tsc() - before;

    for (int i = 0; i < 2; ++i) {
        assert_int_equal(role[i].calls, 1000);
        assert_false(role[i].time_fell);
        assert_false(role[i].elsewhere);
    }
    assert_int_equal(count(&bench, RM_CORE_CORE), bench.core.cpu);
    assert_int_equal(count(&bench, RM_CORE_LOOPS), 1000);
    assert_int_equal(count(&bench, RM_CORE_BUSY_LOOPS), 250 + 50); /* of 100 tenth calls 50 are also fourth ones */
    uint64_t const counted = count(&bench, RM_CORE_BUSY_TICKS) + count(&bench, RM_CORE_IDLE_TICKS);
    assert_true(counted >= role[0].last_tsc - role[0].first_tsc && counted <= whole);
    assert_true(count(&bench, RM_CORE_BUSY_TICKS) > 0 && count(&bench, RM_CORE_IDLE_TICKS) > 0);
    assert_in_range(count(&bench, RM_CORE_LONGEST_GAP_TICKS), counted / 1000, counted);
    assert_int_equal(joins, 1);
    assert_int_equal(leaves, 1);
}

static void a_core_stops_from_outside(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench);
    struct role role = {.every = 1, .last = UINT32_MAX, .cpu = bench.core.cpu, .stop = &bench.stop};
    add_role(&bench, role_duty, &role);
    assert_int_equal(start(&bench), RM_OK);
    while (atomic_load(&role.calls) < 100)
        sched_yield();
    atomic_store(&bench.stop, true);
    rm_core_join(&bench.core);
    uint32_t const calls = role.calls;
    assert_int_equal(count(&bench, RM_CORE_LOOPS), calls);
    assert_int_equal(count(&bench, RM_CORE_BUSY_LOOPS), 0);
    assert_int_equal(count(&bench, RM_CORE_BUSY_TICKS), 0);
}

static void nothing_runs_after_stop(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench);
    struct role role = {.every = 1, .last = UINT32_MAX, .cpu = bench.core.cpu, .stop = &bench.stop};
    add_role(&bench, role_duty, &role);
    bench.stop = true;
    assert_int_equal(start(&bench), RM_OK);
    rm_core_join(&bench.core);
    assert_int_equal(role.calls, 0);
    assert_int_equal(joins, 1);
    assert_int_equal(leaves, 1);
}

static void an_impossible_cpu_is_an_error(void **state) {
    (void)state;
    cpu_set_t cpus;
    struct rm_error ignored;
    assert_int_equal(rm_cores_available(&cpus, &ignored), RM_OK);
    unsigned absent = 0;
    while (absent < CPU_SETSIZE && CPU_ISSET(absent, &cpus))
        ++absent;
    unsigned const cpu[] = {absent, CPU_SETSIZE - 1, CPU_SETSIZE, 1u << 31};
    for (unsigned i = 0; i < sizeof cpu / sizeof cpu[0]; ++i) {
        struct bench bench;
        begin(&bench);
        struct role role = {.every = 1, .last = 1, .stop = &bench.stop};
        add_role(&bench, role_duty, &role);
        bench.core.cpu = cpu[i];
        assert_int_equal(start(&bench), RM_E_ARGUMENT);
        assert_int_equal(bench.error.code, RM_E_ARGUMENT);
        char expected[32];
        snprintf(expected, sizeof expected, "core %u: ", cpu[i]);
        assert_non_null(strstr(bench.error.text, expected));
        assert_int_equal(role.calls, 0);
        assert_int_equal(joins, 0);
    }
}

static void a_refusal_of_the_network_is_passed_on(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench);
    net_refuses = true;
    assert_int_equal(start(&bench), RM_E_NO_SPACE);
    assert_string_equal(bench.error.text, "no more threads");
    assert_int_equal(leaves, 0);
}

/** A role that stands still while `hold` is set. */
struct still {
    atomic_bool hold, holds;
};

static uint32_t still_duty(void *argument, uint64_t tsc) {
    (void)tsc;
    struct still *still = argument;
    while (atomic_load(&still->hold))
        atomic_store(&still->holds, true);
    return 0;
}

static void turns_within_a_minute(struct rm_core *core, uint32_t count) {
    unsigned stuck;
    bool turned = false;
    for (int i = 0; i < 60000 && !turned; ++i) {
        turned = rm_cores_turned(core, count, &stuck);
        usleep(1000);
    }
    assert_true(turned);
}

static void one_core_that_stands_still_is_found_among_those_that_turn(void **state) {
    (void)state;
    static struct bench bench;
    begin(&bench);
    struct still still = {false, false};
    rm_counter others[RM_CORE_COUNTERS] = {0};
    struct rm_core core[2] = {{.cpu = 4711, .counters = others}, bench.core};
    add_role(&bench, still_duty, &still);
    assert_true(rm_core_give(&core[1], &bench.list));
    assert_int_equal(rm_core_start(&core[1], &bench.stop, &bench.error), RM_OK);
    turns_within_a_minute(&core[1], 1);

    unsigned stuck = 0;
    assert_false(rm_cores_turned(core, 2, &stuck)); /* the other one has not gone round yet */
    assert_int_equal(stuck, 4711);
    rm_counter_add(others, RM_CORE_LOOPS, 1);
    atomic_store(&still.hold, true);
    while (!atomic_load(&still.holds))
        usleep(1000);
    rm_cores_turned(core, 2, &stuck); /* it may have turned before it stood still */
    for (int i = 0; i < 3; ++i) {
        rm_counter_add(others, RM_CORE_LOOPS, 1);
        assert_false(rm_cores_turned(core, 2, &stuck));
        assert_int_equal(stuck, core[1].cpu);
    }
    atomic_store(&still.hold, false);
    turns_within_a_minute(core, 2); /* the other one's last turn counts still */
    atomic_store(&bench.stop, true);
    rm_core_join(&core[1]);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(two_roles_share_the_cycle_and_its_time),
        cmocka_unit_test(a_core_stops_from_outside),
        cmocka_unit_test(nothing_runs_after_stop),
        cmocka_unit_test(an_impossible_cpu_is_an_error),
        cmocka_unit_test(a_refusal_of_the_network_is_passed_on),
        cmocka_unit_test(one_core_that_stands_still_is_found_among_those_that_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
