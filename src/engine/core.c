// SPDX-License-Identifier: Apache-2.0
#include "engine/core.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/idle.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "net/port.h"

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

/** The duty cycle. What a turn took counts as busy when a role had work, so the sum is the thread's whole time. */
static void core_cycle(struct rm_core *core) {
    uint64_t before = rm_tsc();
    uint64_t longest = 0;
    struct rm_idle idle = {0};
    while (!atomic_load_explicit(core->stop, memory_order_relaxed)) {
        uint32_t work = 0;
        for (uint32_t i = 0; i < core->duty_count; ++i)
            work += core->duty[i].run(core->duty[i].role, before);
        uint64_t const now = rm_tsc();
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

enum rm_code rm_core_start(struct rm_core *core, atomic_bool const *stop, struct rm_error *error) {
    core->stop = stop;
    rm_counter_set(core->counters, RM_CORE_CORE, core->cpu);
    rm_counter_set(core->counters, RM_CORE_TARGET_PACKETS, core->polling.target_packets);
    rm_counter_set(core->counters, RM_CORE_LONGEST_WAIT_NS,
                   (uint64_t)((double)core->polling.longest_wait_ticks * core->ns_per_tick));
    sem_init(&core->ready, 0, 0);
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
    pthread_join(core->thread, NULL);
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
