// SPDX-License-Identifier: Apache-2.0
/** What ends a run: SIGINT, SIGTERM, or its time. A thread waits for them and sets a flag, so that the sending loop
 * makes no system call and no signal handler needs a global. */
#ifndef RM_INSTRUMENTS_ENDING_H
#define RM_INSTRUMENTS_ENDING_H

#include <pthread.h>
#include <stdatomic.h>

#include <ringmaster/error.h>

struct rm_ending {
    atomic_bool stop;
    double seconds; /**< 0: no end */
    pthread_t thread;
};

/** Blocks the two signals in the calling thread and starts waiting; call before other threads start. RM_E_SYSTEM. */
enum rm_code rm_ending_start(struct rm_ending *ending, double seconds, struct rm_error *error);

/** Ends the waiting; the signals stay blocked. */
void rm_ending_finish(struct rm_ending *ending);

#endif
