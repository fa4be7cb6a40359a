// SPDX-License-Identifier: Apache-2.0
/** What ends a run: SIGINT, SIGTERM, or its time; SIGUSR1, which kicks the beam; and SIGUSR2, which resets supplies
 * that have tripped. A thread waits for them, so that the sending loop makes no system call and no signal handler needs
 * a global. */
#ifndef RM_INSTRUMENTS_SIGNALS_H
#define RM_INSTRUMENTS_SIGNALS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/error.h>

struct rm_signals {
    atomic_bool stop;
    /** Resets asked for so far. */
    _Atomic uint64_t resets;
    /** Seconds after which the run ends; 0: no end. */
    double seconds;
    /** Called on the waiting thread at each SIGUSR1; or NULL. */
    void (*kick)(void *state);
    void *state;
    pthread_t thread;
};

/** Blocks the signals in the calling thread; call before other threads start. */
void rm_signals_block(void);

/** Starts to wait for them, after rm_signals_block. `kick` is called on the waiting thread at each SIGUSR1; NULL: it is
 * not waited for. RM_E_SYSTEM. */
enum rm_code rm_signals_start(struct rm_signals *signals, double seconds, void (*kick)(void *state), void *state,
                              struct rm_error *error);

/** Ends the waiting; the signals stay blocked. */
void rm_signals_finish(struct rm_signals *signals);

#endif
