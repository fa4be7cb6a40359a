// SPDX-License-Identifier: Apache-2.0
/** A core of the engine: one thread, pinned, that turns its roles over in a duty cycle.
 *
 * A role is a duty function that does a little work and says how much. Several roles may share a core: each gets its
 * turn. Between two cycles the core waits as polling.h says, and in simulated time longer. The thread ends when `*stop`
 * is set. A core without roles sleeps in the kernel, and comes round ten times a second, until it is given one.
 *
 * **Roles move from core to core while the threads run.** One thread, the mover, gives cores lists of duties:
 *
 *     rm_core_give(to, …)      it awaits the role, and runs what else it has
 *     rm_core_give(from, …)    it releases the role between two cycles; `to` takes it before its next cycle
 *     rm_core_is_settled       when both have done so
 *
 * Where a role runs is its place: the CPU of one core, or RM_PLACE_NONE between two. The core of that CPU alone runs the
 * duty, and alone stores RM_PLACE_NONE there, between two cycles, when the role is not on its new list. Only a core
 * that has the role on its list takes it from there. The mover puts a role on one list at a time and gives the next list
 * when all cores are settled, so that there is one such core. So a role is never run by two cores, and the third
 * thread, the mover, is not on the way from one to the other.
 *
 * Memory ordering: the store of RM_PLACE_NONE is a release; the load that finds it is an acquire. So all that the role
 * did on the old core (its private state, the queues of its ports, its counters' single-writer stores) happens before
 * its first duty on the new one. The list is written before the release store of `given`, which the core loads with
 * acquire; the core stores `taken` with release when it no longer reads the list before, and the mover loads it with
 * acquire before it writes there again. `stood_ticks` is written before the release store of the new CPU, which pairs
 * with the mover's acquire load in rm_core_is_settled.
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

/** No core runs the role. */
#define RM_PLACE_NONE UINT32_MAX

/** Where a role runs. */
struct rm_place {
    /** CPU of the core, or RM_PLACE_NONE. */
    _Atomic uint32_t cpu;
    /** Since when no core has run it: the end of its last cycle. 0: it has not run yet. */
    uint64_t released_tsc;
    /** For how long no core ran it when it moved last; 0: it never has. */
    uint64_t stood_ticks;
};

struct rm_duty {
    /** Does some work, and returns how much: packets, or another unit. 0 is idle. */
    uint32_t (*run)(void *role, uint64_t tsc);

    void *role;
    /** Called on the role's new core before its first duty there, with that core's counters. NULL: the role has nothing
     * that goes with its core. */
    void (*arrive)(void *role, rm_counter *core_counters);
    struct rm_place *place;
};

/** The roles of a core, in the order in which it runs them. */
struct rm_core_list {
    struct rm_duty duty[RM_CORE_DUTIES_MAX];
    uint32_t duty_count;
    /** Packets per poll that are aimed at (polling.h); 0: never wait. */
    uint32_t target_packets;
};

struct rm_core {
    /** Number of the CPU, as sched_setaffinity counts. */
    unsigned cpu;

    /** What the core runs now: those of its list that it has taken. Its thread's own. */
    uint32_t duty_count;
    struct rm_duty duty[RM_CORE_DUTIES_MAX];
    /** How many of its list it awaits. Its thread's own. */
    uint32_t awaited;
    /** Number of the list that was given last, and of the one that it has taken: list[number % 2]. */
    _Atomic uint32_t given;
    _Atomic uint32_t taken;

    struct rm_polling polling;
    struct rm_core_list list[2];
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
    /** Posted for a core that sleeps. */
    sem_t wake;
    /** Why the thread did not start. */
    struct rm_error error;
};

/** Gives the core what it is to run from its next cycle on; the list is copied. Once before its start, then while it
 * runs, by one thread, which then calls rm_core_wake. False, and nothing changed, when the core has not taken the list
 * before. */
bool rm_core_give(struct rm_core *core, struct rm_core_list const *list);

/** True when the core has taken its list: it runs what is there of it, and awaits the rest. */
bool rm_core_has_taken(struct rm_core *core);

/** True when the core has taken its list, and each of its roles has arrived. */
bool rm_core_is_settled(struct rm_core *core);

/** Wakes the core where it sleeps: then it does at least one cycle, which it counts as a loop. */
void rm_core_wake(struct rm_core *core);

/** Starts the thread and waits until it runs on its CPU. */
enum rm_code rm_core_start(struct rm_core *core, atomic_bool const *stop, struct rm_error *error);

/** Waits for the thread's end; `*stop` was set. */
void rm_core_join(struct rm_core *core);

/** True when each of `count` cores has gone round since this last returned true; else `*stuck` is the CPU of one that
 * has not. It looks at counters alone, and disturbs no core. For one thread. */
bool rm_cores_turned(struct rm_core *core, uint32_t count, unsigned *stuck);

#endif
