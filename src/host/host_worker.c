// SPDX-License-Identifier: Apache-2.0
#include "host/host_worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/background.h"
#include "base/fail.h"

static uint64_t const REST_NS = 10000000;

struct rm_host_worker {
    struct rm_host_program const *program;
    atomic_bool ending;
    pthread_t thread;
    /** Held during a call of `work`. */
    pthread_mutex_t calls;
    /** Calls that have begun, and those that have returned. */
    _Atomic uint64_t begun, returned;
};

static void *host_worker_run(void *argument) {
    struct rm_host_worker *worker = argument;
    rm_background_enter();
    while (!atomic_load_explicit(&worker->ending, memory_order_relaxed)) {
        uint64_t const begun_ns = rm_monotonic_ns();
        pthread_mutex_lock(&worker->calls);
        /* Acquire and release: what the stepping thread left before it looked at `begun` is there for the call that it
         * waits for, and what the call made is there for the thread that has seen that it returned. */
        atomic_fetch_add_explicit(&worker->begun, 1, memory_order_acq_rel);
        rm_host_program_work(worker->program);
        atomic_fetch_add_explicit(&worker->returned, 1, memory_order_release);
        pthread_mutex_unlock(&worker->calls);
        rm_background_rest(begun_ns, REST_NS, &worker->ending);
    }
    return NULL;
}

enum rm_code rm_host_worker_start(struct rm_host_program const *program, struct rm_host_worker **worker,
                                  struct rm_error *error) {
    if (program->code.it->work == NULL)
        return RM_OK;
    struct rm_host_worker *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a thread");
    made->program = program;
    pthread_mutex_init(&made->calls, NULL);
    int const reason = pthread_create(&made->thread, NULL, host_worker_run, made);
    if (reason != 0) {
        free(made);
        return rm_fail(error, RM_E_SYSTEM, "no thread: %s", strerror(reason));
    }
    pthread_setname_np(made->thread, "rm-work");
    *worker = made;
    return RM_OK;
}

void rm_host_worker_stop(struct rm_host_worker *worker) {
    if (worker == NULL)
        return;
    atomic_store(&worker->ending, true);
    pthread_join(worker->thread, NULL);
    pthread_mutex_destroy(&worker->calls);
    free(worker);
}

void rm_host_worker_pause(struct rm_host_worker *worker) {
    if (worker != NULL)
        pthread_mutex_lock(&worker->calls);
}

void rm_host_worker_resume(struct rm_host_worker *worker) {
    if (worker != NULL)
        pthread_mutex_unlock(&worker->calls);
}

uint64_t rm_host_worker_begun(struct rm_host_worker const *worker) {
    return atomic_load_explicit(&worker->begun, memory_order_acquire);
}

bool rm_host_worker_has_worked(struct rm_host_worker const *worker, uint64_t begun) {
    return atomic_load_explicit(&worker->returned, memory_order_acquire) > begun;
}
