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
};

static void *host_worker_run(void *argument) {
    struct rm_host_worker *worker = argument;
    rm_background_enter();
    while (!atomic_load_explicit(&worker->ending, memory_order_relaxed)) {
        uint64_t const begun_ns = rm_monotonic_ns();
        rm_host_program_work(worker->program);
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
    free(worker);
}
