// SPDX-License-Identifier: Apache-2.0
#include "engine/control_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/control_thread_state.h"

static uint64_t const LOOK_NS = 100000000; /**< from one look at the workspace to the next */
static uint64_t const SLEEP_NS = 5000000;  /**< for which a bell may go unheard: a wake has no memory */

static void *control_thread_run(void *argument) {
    struct rm_control_thread *const control_thread = argument;
    uint64_t look_ns = 0;
    while (!atomic_load_explicit(&control_thread->stop, memory_order_relaxed)) {
        uint64_t const now = rm_monotonic_ns();
        if (now >= look_ns) {
            look_ns = now + LOOK_NS;
            rm_inbox_look(control_thread->inbox);
            rm_control_thread_look_at_clients(control_thread);
            rm_control_thread_show_supplies(control_thread);
        }
        rm_control_thread_answer(control_thread, look_ns);
        uint64_t const slept = rm_monotonic_ns();
        rm_inbox_wait(control_thread->inbox, SLEEP_NS);
        if (rm_monotonic_ns() - slept < SLEEP_NS / 2) /* the doorbell rang, maybe for the first time */
            rm_inbox_look(control_thread->inbox);
    }
    return NULL;
}

static enum rm_code control_thread_prepare(struct rm_control_thread *control_thread, struct rm_error *error) {
    struct rm_config const *const config = control_thread->setup.config;
    control_thread->client = calloc(config->application_count + 1u, sizeof *control_thread->client);
    control_thread->heard = calloc((size_t)config->chain_count * RM_CHAIN_ID_PARTS + 1u, sizeof *control_thread->heard);
    control_thread->sent = calloc(config->supply_count + 1u, sizeof *control_thread->sent);
    if (control_thread->client == NULL || control_thread->heard == NULL || control_thread->sent == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the control thread of %u applications",
                       config->application_count);
    memset(control_thread->heard, 0xff,
           ((size_t)config->chain_count * RM_CHAIN_ID_PARTS) * sizeof *control_thread->heard);
    control_thread->shown = RM_TURN_NONE;
    enum rm_code code = rm_workspace_path(config->workspace, control_thread->workspace, error);
    if (code == RM_OK)
        code = rm_control_thread_make_folders(control_thread, error);
    if (code == RM_OK)
        code = rm_inbox_new(control_thread->setup.owner, &control_thread->inbox, error);
    return code;
}

enum rm_code rm_control_thread_start(struct rm_control_thread_setup const *setup,
                                     struct rm_control_thread **control_thread, struct rm_error *error) {
    struct rm_control_thread *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the control thread");
    made->setup = *setup;
    enum rm_code code = control_thread_prepare(made, error);
    if (code == RM_OK) {
        int const reason = pthread_create(&made->thread, NULL, control_thread_run, made);
        made->started = reason == 0;
        if (reason != 0)
            code = rm_fail(error, RM_E_SYSTEM, "no thread for the control thread: %s", strerror(reason));
    }
    if (code == RM_OK) {
        pthread_setname_np(made->thread, "rm-control_thread");
        *control_thread = made;
    } else {
        rm_control_thread_stop(made);
    }
    return code;
}

void rm_control_thread_stop(struct rm_control_thread *control_thread) {
    if (control_thread == NULL)
        return;
    atomic_store(&control_thread->stop, true);
    if (control_thread->started)
        pthread_join(control_thread->thread, NULL);
    if (control_thread->client != NULL)
        rm_control_thread_free_clients(control_thread);
    rm_inbox_free(control_thread->inbox);
    free(control_thread->client);
    free(control_thread->heard);
    free(control_thread->sent);
    free(control_thread);
}
