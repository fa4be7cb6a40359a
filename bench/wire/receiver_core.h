// SPDX-License-Identifier: Apache-2.0
/** One thread of the receiver, on its core: polls its links in turn until their windows are closed.
 *
 * Where all its links sleep, so does the thread, until one of them has something. What the core was used for is counted
 * from the beginning of the first link's window to the end of the last one's. After that it goes on receiving for as
 * long as the senders do, though no longer than 2 s: so that a sender that was told to run a little longer than the
 * window does not find its link gone.
 */
#ifndef RM_BENCH_WIRE_RECEIVER_CORE_H
#define RM_BENCH_WIRE_RECEIVER_CORE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "polling.h"
#include "receiver_link.h"
#include "stop.h"

struct rm_receiver_core {
    uint32_t core;
    uint32_t link_count;
    /** The first of its links, which follow each other. */
    struct rm_receiver_link *received;

    struct rm_stop const *stop;
    double tsc_hz;
    struct rm_link *link[RM_LINKS_MAX];
    struct rm_link_burst burst;
    struct rm_poll_times polling;
    /** All of its links sleep, and so does the thread. */
    bool sleeps;
    /** counting: the first window has begun. counted: the last one has ended. */
    bool counting, counted;
    /** TSC when all windows were closed; 0: not yet. */
    uint64_t closed_tsc;

    double cpu_begin_s;
    /** CPU time on its core, within `seconds`. */
    double cpu_s, seconds;

    pthread_t thread;
    sem_t ready;
    /** Code RM_OK, or why the thread could not run. */
    struct rm_error error;
};

/** Starts the thread on links whose windows have begun to wait. Returns when the thread runs on its core, or has
 * failed. The caller has filled in the core's first five members. */
enum rm_code rm_receiver_core_start(struct rm_receiver_core *core, struct rm_error *error);

/** Waits for the thread's end. */
void rm_receiver_core_join(struct rm_receiver_core *core);

#endif
