// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"

static sigset_t all_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    return set;
}

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Waits for a signal, at most until `end`; returns it, or 0. */
static int wait_for_signal(sigset_t const *set, double end) {
    double seconds = end - now_seconds();
    int caught;
    if (isinf(seconds)) {
        caught = sigwaitinfo(set, NULL);
    } else {
        seconds = seconds < 0 ? 0 : seconds;
        struct timespec time = {.tv_sec = (time_t)seconds};
        time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
        caught = sigtimedwait(set, NULL, &time);
    }
    return caught < 0 ? 0 : caught; /* the time is over, or the shell has stopped and continued us */
}

static void *wait_for_the_end(void *argument) {
    struct rm_signals *signals = argument;
    double const end = signals->seconds > 0 ? now_seconds() + signals->seconds : HUGE_VAL;
    sigset_t set = all_signals();
    if (signals->kick == NULL)
        sigdelset(&set, SIGUSR1);
    int caught;
    do {
        caught = wait_for_signal(&set, end);
        if (caught == SIGUSR1 && signals->kick != NULL)
            signals->kick(signals->state);
        if (caught == SIGUSR2)
            atomic_fetch_add_explicit(&signals->resets, 1, memory_order_relaxed);
    } while (caught != SIGINT && caught != SIGTERM && now_seconds() < end);
    atomic_store_explicit(&signals->stop, true, memory_order_relaxed);
    return NULL;
}

void rm_signals_block(void) {
    sigset_t const set = all_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

enum rm_code rm_signals_start(struct rm_signals *signals, double seconds, void (*kick)(void *state), void *state,
                              struct rm_error *error) {
    *signals = (struct rm_signals){.seconds = seconds, .kick = kick, .state = state};
    int const reason = pthread_create(&signals->thread, NULL, wait_for_the_end, signals);
    if (reason != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot start a thread: %s", strerror(reason));
    return RM_OK;
}

void rm_signals_finish(struct rm_signals *signals) {
    pthread_kill(signals->thread, SIGINT); /* it is blocked everywhere: this only ends the waiting */
    pthread_join(signals->thread, NULL);
}
