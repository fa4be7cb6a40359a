// SPDX-License-Identifier: Apache-2.0
#include "stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

/** A pipe or socket ends when its other side does; a terminal or a file says nothing of that kind. */
static bool input_can_end(void) {
    struct stat input;
    return fstat(STDIN_FILENO, &input) == 0 && (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode));
}

static void *wait_for_the_end(void *argument) {
    struct rm_stop *const stop = argument;
    struct pollfd files[2] = {
        {.fd = stop->signals, .events = POLLIN},
        {.fd = input_can_end() ? STDIN_FILENO : -1, .events = POLLRDHUP},
    };
    while (poll(files, 2, -1) < 0 && errno == EINTR)
        continue;
    atomic_store_explicit(&stop->requested, true, memory_order_relaxed);
    return NULL;
}

enum rm_code rm_stop_start(struct rm_stop *stop, struct rm_error *error) {
    atomic_init(&stop->requested, false);
    pid_t const parent = getppid();
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    stop->signals = signalfd(-1, &ending, SFD_CLOEXEC);
    if (stop->signals < 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot wait for signals: %s", strerror(errno));
    int const why = pthread_create(&stop->thread, NULL, wait_for_the_end, stop);
    if (why != 0) {
        close(stop->signals);
        return rm_fail(error, RM_E_SYSTEM, "cannot start a thread: %s", strerror(why));
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        atomic_store_explicit(&stop->requested, true, memory_order_relaxed); // it ended just before
    return RM_OK;
}

void rm_stop_finish(struct rm_stop *stop) {
    pthread_kill(stop->thread, SIGINT); // it is blocked everywhere: this only ends the waiting
    pthread_join(stop->thread, NULL);
    close(stop->signals);
}
