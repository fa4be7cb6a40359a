// SPDX-License-Identifier: Apache-2.0
/** A core of the engine: one thread, pinned, that turns its roles over in a duty cycle.
 *
 * A role is a duty function that does a little work and says how much. Several roles may share a core: each gets its
 * turn. Between two cycles the core waits as polling.h says, and in simulated time longer. The thread ends when `*stop`
 * is set.
 */
#ifndef RM_ENGINE_CORE_H
#define RM_ENGINE_CORE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "engine/polling.h"

enum { RM_CORE_DUTIES_MAX = 16 };

struct rm_duty {
    /** Does some work, and returns how much: packets, or another unit. 0 is idle. */
    uint32_t (*run)(void *role, uint64_t tsc);

    void *role;
};

struct rm_core {
    /** Number of the CPU, as sched_setaffinity counts. */
    unsigned cpu;

    struct rm_duty duty[RM_CORE_DUTIES_MAX];
    uint32_t duty_count;
    struct rm_polling polling;
    /** The core naps when it had no work for so many ticks (base/idle.h): in simulated time, where the ring waits for
     * it, and it for the ring, or where the configuration leaves cores to others. 0: never. */
    uint64_t spin_ticks;
    double ns_per_tick;
    /** Counters of the set "core". */
    rm_counter *counters;

    /** RM_CORE_LOOPS when rm_cores_turned last said yes: its caller's alone. */
    uint64_t turned_loops;

    atomic_bool const *stop;
    pthread_t thread;
    sem_t ready;
    /** Why the thread did not start. */
    struct rm_error error;
};

/** Starts the thread and waits until it runs on its CPU. */
enum rm_code rm_core_start(struct rm_core *core, atomic_bool const *stop, struct rm_error *error);

/** Waits for the thread's end; `*stop` was set. */
void rm_core_join(struct rm_core *core);

/** True when each of `count` cores has gone round since this last returned true; else `*stuck` is the CPU of one that
 * has not. It looks at counters alone, and disturbs no core. For one thread. */
bool rm_cores_turned(struct rm_core *core, uint32_t count, unsigned *stuck);

#endif
