// SPDX-License-Identifier: Apache-2.0
/** What ends a program of this room before its time: SIGINT, SIGTERM, the end of its parent, or of the pipe or socket
 * that is its standard input. So a measurement that is killed leaves no program behind. A thread waits for them, so
 * that a polling loop makes no system call. */
#ifndef RM_BENCH_WIRE_STOP_H
#define RM_BENCH_WIRE_STOP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <ringmaster/error.h>

struct rm_stop {
    atomic_bool requested;
    /** The file from which the signals are read. */
    int signals;

    pthread_t thread;
};

/** Begins to wait; before any other thread starts, and before the caller is pinned. RM_E_SYSTEM. */
enum rm_code rm_stop_start(struct rm_stop *stop, struct rm_error *error);

/** Ends the waiting; the signals stay blocked. */
void rm_stop_finish(struct rm_stop *stop);

static inline bool rm_stop_requested(struct rm_stop const *stop) {
    return atomic_load_explicit(&stop->requested, memory_order_relaxed);
}

#endif
