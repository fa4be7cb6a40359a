// SPDX-License-Identifier: Apache-2.0
/** Roles go from core to core: no two cores ever run one, none is lost, and what the one core wrote the other reads.
 * Roles write plain memory, so a thread sanitizer sees each hand-over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/cores.h"
#include "base/timebase.h"
#include "engine/core.h"
#include "net/port.h"

enum {
    CORES = 2,
    ROLES = 4,
    MOVES = 200,
    /** A core without roles comes round as often. */
    SLEEP_NS = 100000000,
};

static atomic_int flushes;

enum rm_code rm_net_thread_join(struct rm_error *error) {
    (void)error;
    return RM_OK;
}

void rm_net_thread_leave(void) {}

void rm_net_thread_flush(void) { atomic_fetch_add(&flushes, 1); }

/** What one core after the other writes, without a lock. */
struct role {
    uint64_t calls;
    uint64_t last_tsc;
    /** Counters of the core that it arrived at. */
    rm_counter *counters;
    uint32_t arrivals;
    /** Set while the duty runs. */
    bool inside;
    bool met_itself, time_fell, elsewhere;
    struct rm_place *place;
    /** The same as `calls`, for the test. */
    _Atomic uint64_t seen;
};

struct bench {
    struct rm_core core[CORES];
    rm_counter counters[CORES][RM_CORE_COUNTERS];
    struct rm_place place[ROLES];
    struct role role[ROLES];
    atomic_bool stop;
};

static uint32_t role_duty(void *argument, uint64_t tsc) {
    struct role *const role = argument;
    role->met_itself |= role->inside;
    role->inside = true;
    role->time_fell |= tsc < role->last_tsc;
    role->last_tsc = tsc;
    uint32_t const cpu = atomic_load_explicit(&role->place->cpu, memory_order_relaxed);
    role->elsewhere |= rm_counter_get(role->counters, RM_CORE_CORE) != cpu;
    ++role->calls;
    atomic_store_explicit(&role->seen, role->calls, memory_order_relaxed);
    role->inside = false;
    return 0;
}

static void role_arrive(void *argument, rm_counter *core_counters) {
    struct role *const role = argument;
    ++role->arrivals;
    role->counters = core_counters;
}

/** The list of a core; roles are named by letters, "ca": role 2, then role 0. */
static struct rm_core_list list_of(struct bench *bench, char const *roles) {
    struct rm_core_list list = {.duty_count = 0};
    for (; *roles != '\0'; ++roles) {
        uint32_t const role = (uint32_t)(*roles - 'a');
        list.duty[list.duty_count++] =
            (struct rm_duty){role_duty, &bench->role[role], role_arrive, &bench->place[role]};
    }
    return list;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL); }

static void tell(struct bench *bench, uint32_t core, char const *roles) {
    struct rm_core_list const list = list_of(bench, roles);
    assert_true(rm_core_give(&bench->core[core], &list));
    rm_core_wake(&bench->core[core]);
}

static void settle(struct bench *bench) {
    for (uint32_t i = 0; i < CORES; ++i)
        while (!rm_core_is_settled(&bench->core[i]))
            nap();
}

/** Each role has run once more. */
static void see_all_run(struct bench *bench) {
    uint64_t before[ROLES];
    for (uint32_t i = 0; i < ROLES; ++i)
        before[i] = atomic_load_explicit(&bench->role[i].seen, memory_order_relaxed);
    for (uint32_t i = 0; i < ROLES; ++i)
        while (atomic_load_explicit(&bench->role[i].seen, memory_order_relaxed) == before[i])
            nap();
}

static bool begin(struct bench *bench, char const *first, char const *second) {
    cpu_set_t cpus;
    struct rm_error error;
    assert_int_equal(rm_cores_available(&cpus, &error), RM_OK);
    if (CPU_COUNT(&cpus) < CORES)
        return false;
    memset(bench, 0, sizeof *bench);
    flushes = 0;
    for (uint32_t i = 0; i < ROLES; ++i) {
        atomic_store(&bench->place[i].cpu, RM_PLACE_NONE);
        bench->role[i].place = &bench->place[i];
    }
    unsigned cpu = 0;
    for (uint32_t i = 0; i < CORES; ++i, ++cpu) {
        while (!CPU_ISSET(cpu, &cpus))
            ++cpu;
        struct rm_core *const core = &bench->core[i];
        core->cpu = cpu;
        core->counters = bench->counters[i];
        core->spin_ticks = 1; /* it naps: other programs need the cores, too */
        struct rm_core_list const list = list_of(bench, i == 0 ? first : second);
        assert_true(rm_core_give(core, &list));
        assert_false(rm_core_give(core, &list)); /* nothing has taken the first one */
        assert_int_equal(rm_core_start(core, &bench->stop, &error), RM_OK);
    }
    settle(bench);
    return true;
}

static void end(struct bench *bench) {
    atomic_store(&bench->stop, true);
    for (uint32_t i = 0; i < CORES; ++i)
        rm_core_join(&bench->core[i]);
    for (uint32_t i = 0; i < ROLES; ++i) {
        struct role const *const role = &bench->role[i];
        assert_false(role->met_itself);
        assert_false(role->time_fell);
        assert_false(role->elsewhere);
    }
}

static void roles_go_to_and_fro(void **state) {
    (void)state;
    static struct bench bench;
    if (!begin(&bench, "ab", "cd"))
        skip();
    /* Exchanged; all on one core, the other sleeps; back; another order. */
    static char const *const lists[][CORES] = {{"cb", "ad"}, {"abcd", ""}, {"ab", "cd"}, {"ba", "dc"},
                                               {"", "dcba"}, {"abc", "d"}, {"ab", "cd"}};
    uint32_t const turns = sizeof lists / sizeof lists[0];
    for (uint32_t i = 0; i < MOVES; ++i) {
        uint32_t const first = i % 2; /* who is told first does not matter */
        tell(&bench, first, lists[i % turns][first]);
        tell(&bench, 1 - first, lists[i % turns][1 - first]);
        settle(&bench);
        for (uint32_t core = 0; core < CORES; ++core)
            for (char const *role = lists[i % turns][core]; *role != '\0'; ++role)
                assert_int_equal(atomic_load(&bench.place[*role - 'a'].cpu), bench.core[core].cpu);
        if (i % 20 == 0)
            see_all_run(&bench);
    }
    see_all_run(&bench);
    end(&bench);
    assert_true(flushes > 0);
}

static void a_role_waits_for_the_core_that_has_it(void **state) {
    (void)state;
    static struct bench bench;
    if (!begin(&bench, "abcd", ""))
        skip();
    tell(&bench, 1, "a"); /* and core 0 has it, still */
    while (!rm_core_has_taken(&bench.core[1]))
        nap();
    see_all_run(&bench);
    assert_false(rm_core_is_settled(&bench.core[1]));
    assert_int_equal(atomic_load(&bench.place[0].cpu), bench.core[0].cpu);
    assert_int_equal(bench.place[0].stood_ticks, 0);
    uint64_t const begin_tsc = rm_tsc();
    tell(&bench, 0, "bcd");
    settle(&bench);
    uint64_t const took = rm_tsc() - begin_tsc;
    see_all_run(&bench);
    end(&bench);
    assert_int_equal(bench.role[0].arrivals, 2);
    assert_int_equal(bench.role[1].arrivals, 1);
    assert_int_equal(bench.place[1].stood_ticks, 0);
    assert_true(bench.place[0].stood_ticks > 0);
    assert_true(bench.place[0].released_tsc + bench.place[0].stood_ticks <= begin_tsc + took);
}

static void a_core_without_roles_sleeps(void **state) {
    (void)state;
    static struct bench bench;
    if (!begin(&bench, "abcd", ""))
        skip();
    while (rm_counter_get(bench.counters[1], RM_CORE_LOOPS) < 2) /* it comes round by itself, now and then */
        nap();
    uint64_t const loops = rm_counter_get(bench.counters[1], RM_CORE_LOOPS);
    uint64_t const begin_ns = rm_monotonic_ns();
    for (uint32_t i = 0; i < 100; ++i)
        see_all_run(&bench);
    uint64_t const slept = rm_counter_get(bench.counters[1], RM_CORE_LOOPS) - loops;
    assert_true(slept <= (rm_monotonic_ns() - begin_ns) / SLEEP_NS + 1);
    uint64_t const before = rm_counter_get(bench.counters[1], RM_CORE_LOOPS);
    rm_core_wake(&bench.core[1]);
    while (rm_counter_get(bench.counters[1], RM_CORE_LOOPS) == before)
        nap();
    end(&bench); /* also of a core that sleeps */
}

static void a_list_brings_its_own_polling(void **state) {
    (void)state;
    static struct bench bench;
    if (!begin(&bench, "ab", "cd"))
        skip();
    struct rm_core_list list = list_of(&bench, "ab");
    list.target_packets = 7;
    assert_true(rm_core_give(&bench.core[0], &list));
    settle(&bench);
    see_all_run(&bench);
    end(&bench);
    assert_int_equal(rm_counter_get(bench.counters[0], RM_CORE_TARGET_PACKETS), 7);
    assert_int_equal(rm_counter_get(bench.counters[1], RM_CORE_TARGET_PACKETS), 0);
    assert_int_equal(flushes, 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(roles_go_to_and_fro),
        cmocka_unit_test(a_role_waits_for_the_core_that_has_it),
        cmocka_unit_test(a_core_without_roles_sleeps),
        cmocka_unit_test(a_list_brings_its_own_polling),
    };
    return cmocka_run_group_tests_name("core_move", tests, NULL, NULL);
}
