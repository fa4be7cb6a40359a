// SPDX-License-Identifier: Apache-2.0
#include "fabric/inbox_thread.h"

#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"

static uint64_t const LOOK_NS = 100000000; /**< from one look about to the next */
static uint64_t const SLEEP_NS = 5000000;  /**< for which a bell may go unheard: a wake has no memory */

static void *inbox_thread_run(void *argument) {
    struct rm_inbox_thread *const self = argument;
    uint64_t look_ns = 0;
    while (!rm_inbox_thread_is_stopping(self)) {
        uint64_t const now = rm_monotonic_ns();
        if (now >= look_ns) {
            look_ns = now + LOOK_NS;
            rm_inbox_look(self->inbox);
            self->look(self->context);
        }
        self->answer(self->context, look_ns);
        uint64_t const slept = rm_monotonic_ns();
        rm_inbox_wait(self->inbox, SLEEP_NS);
        if (rm_monotonic_ns() - slept < SLEEP_NS / 2) /* the doorbell rang, maybe for the first time */
            rm_inbox_look(self->inbox);
    }
    return NULL;
}

enum rm_code rm_inbox_thread_start(struct rm_inbox_thread *self, struct rm_owner *owner, struct rm_error *error) {
    enum rm_code const code = rm_inbox_new(owner, &self->inbox, error);
    if (code != RM_OK)
        return code;
    int const reason = pthread_create(&self->thread, NULL, inbox_thread_run, self);
    if (reason != 0)
        return rm_fail(error, RM_E_SYSTEM, "no thread for the requests of others: %s", strerror(reason));
    self->started = true;
    pthread_setname_np(self->thread, "rm-control");
    return RM_OK;
}

void rm_inbox_thread_stop(struct rm_inbox_thread *self) {
    atomic_store(&self->stopping, true);
    if (self->started)
        pthread_join(self->thread, NULL);
    rm_inbox_free(self->inbox);
    self->inbox = NULL;
    self->started = false;
}
