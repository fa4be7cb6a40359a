// SPDX-License-Identifier: Apache-2.0
#include "ending.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"

static sigset_t endings(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static void *wait_for_the_end(void *argument) {
    struct rm_ending *ending = argument;
    sigset_t const set = endings();
    struct timespec time;
    time.tv_sec = (time_t)ending->seconds;
    time.tv_nsec = (long)((ending->seconds - (double)time.tv_sec) * 1e9);
    int caught;
    do
        caught = ending->seconds > 0 ? sigtimedwait(&set, NULL, &time) : sigwaitinfo(&set, NULL);
    while (caught < 0 && errno == EINTR); /* a stop and a continue from the shell */
    atomic_store_explicit(&ending->stop, true, memory_order_relaxed);
    return NULL;
}

enum rm_code rm_ending_start(struct rm_ending *ending, double seconds, struct rm_error *error) {
    atomic_init(&ending->stop, false);
    ending->seconds = seconds;
    sigset_t const set = endings();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int const reason = pthread_create(&ending->thread, NULL, wait_for_the_end, ending);
    if (reason != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot start a thread: %s", strerror(reason));
    return RM_OK;
}

void rm_ending_finish(struct rm_ending *ending) {
    pthread_kill(ending->thread, SIGINT); /* it is blocked everywhere: this only ends the waiting */
    pthread_join(ending->thread, NULL);
}
