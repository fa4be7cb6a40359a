// SPDX-License-Identifier: Apache-2.0
#include "engine/core.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/idle.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "net/port.h"

enum { NS_PER_S = 1000000000, SLEEP_NS = 100000000 };

/** Waits until `deadline`; returns the time then. */
static uint64_t wait_until(uint64_t deadline) {
    uint64_t now = rm_tsc();
    for (; now < deadline; now = rm_tsc())
        rm_pause();
    return now;
}

static void show_wait(struct rm_core *core) {
    rm_counter_set(core->counters, RM_CORE_WAIT_NS, (uint64_t)((double)core->polling.wait_ticks * core->ns_per_tick));
}

/** Between the cycle that ended at `now` with `work` and the next, which begins when this returns. */
static uint64_t pause_after(struct rm_core *core, struct rm_idle *idle, uint32_t work, uint64_t now) {
    uint64_t const before = core->polling.wait_ticks;
    uint64_t const wait = rm_polling_next(&core->polling, work);
    if (wait != before)
        show_wait(core);
    if (wait == 0) {
        if (work != 0)
            rm_idle_end(idle);
        else if (core->spin_ticks != 0)
            rm_idle_wait(idle, now, core->spin_ticks);
        else
            rm_pause();
        return now;
    }
    uint64_t const end = wait_until(now + wait);
    rm_counter_add(core->counters, RM_CORE_WAIT_TICKS, end - now);
    rm_counter_add(core->counters, RM_CORE_IDLE_TICKS, end - now);
    return end;
}

static bool list_has(struct rm_core_list const *list, struct rm_place const *place) {
    for (uint32_t i = 0; i < list->duty_count; ++i)
        if (list->duty[i].place == place)
            return true;
    return false;
}

/** Releases the roles that are not on the new list: from here on another core may run them. */
static void release_others(struct rm_core *core, struct rm_core_list const *list, uint64_t ended_tsc) {
    bool released = false;
    for (uint32_t i = 0; i < core->duty_count; ++i) {
        struct rm_place *const place = core->duty[i].place;
        if (list_has(list, place))
            continue;
        place->released_tsc = ended_tsc;
        atomic_store_explicit(&place->cpu, RM_PLACE_NONE, memory_order_release);
        released = true;
    }
    if (released)
        rm_net_thread_flush();
}

static void begin_polling(struct rm_core *core, uint32_t target_packets) {
    core->polling =
        (struct rm_polling){.target_packets = target_packets, .longest_wait_ticks = core->polling.longest_wait_ticks};
    rm_counter_set(core->counters, RM_CORE_TARGET_PACKETS, target_packets);
    show_wait(core);
}

static void take_role(struct rm_core *core, struct rm_duty const *duty) {
    struct rm_place *const place = duty->place;
    uint64_t const now = rm_tsc();
    if (place->released_tsc != 0)
        place->stood_ticks = now > place->released_tsc ? now - place->released_tsc : 0;
    if (duty->arrive != NULL)
        duty->arrive(duty->role, core->counters);
    atomic_store_explicit(&place->cpu, core->cpu, memory_order_release);
}

/** Takes what is there of the list, in its order. */
static void take_list(struct rm_core *core, struct rm_core_list const *list) {
    core->duty_count = core->awaited = 0;
    for (uint32_t i = 0; i < list->duty_count; ++i) {
        uint32_t const cpu = atomic_load_explicit(&list->duty[i].place->cpu, memory_order_acquire);
        if (cpu == RM_PLACE_NONE)
            take_role(core, &list->duty[i]);
        else if (cpu != core->cpu) {
            ++core->awaited;
            continue;
        }
        core->duty[core->duty_count++] = list->duty[i];
    }
}

/** Between two cycles, of which the last ended at `ended_tsc`. */
static void obey_list(struct rm_core *core, uint64_t ended_tsc) {
    uint32_t const given = atomic_load_explicit(&core->given, memory_order_acquire);
    struct rm_core_list const *const list = &core->list[given % 2];
    bool const is_new = given != atomic_load_explicit(&core->taken, memory_order_relaxed);
    if (is_new) {
        release_others(core, list, ended_tsc);
        begin_polling(core, list->target_packets);
    }
    take_list(core, list);
    if (is_new)
        atomic_store_explicit(&core->taken, given, memory_order_release);
}

static bool has_news(struct rm_core const *core) {
    return core->awaited != 0 || atomic_load_explicit(&core->given, memory_order_relaxed) !=
                                     atomic_load_explicit(&core->taken, memory_order_relaxed);
}

/** Until it is woken, or a little while: who counts its loops sees that it lives. */
static void core_sleep(struct rm_core *core) {
    uint64_t const until_ns = rm_monotonic_ns() + SLEEP_NS;
    struct timespec const until = {.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
    sem_clockwait(&core->wake, CLOCK_MONOTONIC, &until);
}

/** The duty cycle. What a turn took counts as busy when a role had work, so the sum is the thread's whole time. */
static void core_cycle(struct rm_core *core) {
    uint64_t before = rm_tsc();
    uint64_t ended = before;
    uint64_t longest = 0;
    struct rm_idle idle = {0};
    while (!atomic_load_explicit(core->stop, memory_order_relaxed)) {
        if (has_news(core)) {
            obey_list(core, ended);
            before = rm_tsc(); /* after the last duty of each role that has come: for no role does time go back */
        }
        if (core->duty_count == 0 && core->awaited == 0) {
            core_sleep(core);
            before = rm_tsc();
        }
        uint32_t work = 0;
        for (uint32_t i = 0; i < core->duty_count; ++i)
            work += core->duty[i].run(core->duty[i].role, before);
        uint64_t const now = ended = rm_tsc();
        rm_counter_add(core->counters, RM_CORE_LOOPS, 1);
        rm_counter_add(core->counters, work ? RM_CORE_BUSY_TICKS : RM_CORE_IDLE_TICKS, now - before);
        if (work)
            rm_counter_add(core->counters, RM_CORE_BUSY_LOOPS, 1);
        uint64_t const next = pause_after(core, &idle, work, now);
        if (next - before > longest) {
            longest = next - before;
            rm_counter_set(core->counters, RM_CORE_LONGEST_GAP_TICKS, longest);
        }
        before = next;
    }
}

static enum rm_code core_pin(struct rm_core *core) {
    enum rm_code const code = rm_pin(core->cpu, &core->error);
    if (code != RM_OK)
        return code;
    char name[16];
    snprintf(name, sizeof name, "rm-core-%u", core->cpu % 10000);
    pthread_setname_np(pthread_self(), name);
    return rm_net_thread_join(&core->error);
}

static void *core_run(void *argument) {
    struct rm_core *core = argument;
    bool const good = core_pin(core) == RM_OK;
    sem_post(&core->ready);
    if (good) {
        core_cycle(core);
        rm_net_thread_leave();
    }
    return NULL;
}

bool rm_core_has_taken(struct rm_core *core) {
    return atomic_load_explicit(&core->taken, memory_order_acquire) ==
           atomic_load_explicit(&core->given, memory_order_relaxed);
}

bool rm_core_give(struct rm_core *core, struct rm_core_list const *list) {
    if (!rm_core_has_taken(core))
        return false;
    uint32_t const given = atomic_load_explicit(&core->given, memory_order_relaxed);
    core->list[(given + 1) % 2] = *list;
    atomic_store_explicit(&core->given, given + 1, memory_order_release);
    return true;
}

bool rm_core_is_settled(struct rm_core *core) {
    if (!rm_core_has_taken(core))
        return false;
    struct rm_core_list const *const list = &core->list[atomic_load_explicit(&core->given, memory_order_relaxed) % 2];
    for (uint32_t i = 0; i < list->duty_count; ++i)
        if (atomic_load_explicit(&list->duty[i].place->cpu, memory_order_acquire) != core->cpu)
            return false;
    return true;
}

void rm_core_wake(struct rm_core *core) { sem_post(&core->wake); }

enum rm_code rm_core_start(struct rm_core *core, atomic_bool const *stop, struct rm_error *error) {
    core->stop = stop;
    rm_counter_set(core->counters, RM_CORE_CORE, core->cpu);
    rm_counter_set(core->counters, RM_CORE_LONGEST_WAIT_NS,
                   (uint64_t)((double)core->polling.longest_wait_ticks * core->ns_per_tick));
    sem_init(&core->ready, 0, 0);
    sem_init(&core->wake, 0, 0);
    int const reason = pthread_create(&core->thread, NULL, core_run, core);
    if (reason != 0)
        return rm_fail(error, RM_E_SYSTEM, "core %u: no thread: %s", core->cpu, strerror(reason));
    while (sem_wait(&core->ready) != 0) {
        /* Interrupted by a signal: wait on. */
    }
    if (core->error.code == RM_OK)
        return RM_OK;
    rm_core_join(core);
    return rm_fail(error, core->error.code, "%s", core->error.text);
}

void rm_core_join(struct rm_core *core) {
    rm_core_wake(core);
    pthread_join(core->thread, NULL);
    sem_destroy(&core->wake);
    sem_destroy(&core->ready);
}

bool rm_cores_turned(struct rm_core *core, uint32_t count, unsigned *stuck) {
    for (uint32_t i = 0; i < count; ++i)
        if (rm_counter_get(core[i].counters, RM_CORE_LOOPS) == core[i].turned_loops) {
            *stuck = core[i].cpu;
            return false;
        }
    for (uint32_t i = 0; i < count; ++i)
        core[i].turned_loops = rm_counter_get(core[i].counters, RM_CORE_LOOPS);
    return true;
}
