// SPDX-License-Identifier: Apache-2.0
/** The thread beside an owner's real-time threads, of the server and of each application: it answers what others ask
 * for, and looks about every 100 ms. It sleeps in between, on the doorbell of the owner's inbox.
 *
 * Fill in the functions, then rm_inbox_thread_start … rm_inbox_thread_stop. Memory of zeros may be stopped. */
#ifndef RM_FABRIC_INBOX_THREAD_H
#define RM_FABRIC_INBOX_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/request.h>

struct rm_inbox_thread {
    /** Looks about: which others have come and gone, what is to be said. The inbox itself was looked at just before. */
    void (*look)(void *context);
    /** Answers the requests that wait, one at least. Where they come without end, it returns when CLOCK_MONOTONIC is
     * `until_ns`. */
    void (*answer)(void *context, uint64_t until_ns);
    void *context;

    /** Made by rm_inbox_thread_start; this thread's alone. */
    struct rm_inbox *inbox;
    pthread_t thread;
    bool started;
    atomic_bool stopping;
};

/** Starts the thread, named "rm-control". RM_E_NO_SPACE, RM_E_SYSTEM; what there is then is freed by
 * rm_inbox_thread_stop. */
enum rm_code rm_inbox_thread_start(struct rm_inbox_thread *self, struct rm_owner *owner, struct rm_error *error);

/** Ends the thread, and frees its inbox. */
void rm_inbox_thread_stop(struct rm_inbox_thread *self);

/** For `answer`, where it waits for others: true when the thread is to end. */
static inline bool rm_inbox_thread_is_stopping(struct rm_inbox_thread const *self) {
    return atomic_load_explicit(&self->stopping, memory_order_relaxed);
}

#endif
