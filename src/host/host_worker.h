// SPDX-License-Identifier: Apache-2.0
/** The thread on which an application's `work` runs: beside the one that steps, some hundred times a second, and of low
 * priority, so that it takes no time from a step where both share a core. */
#ifndef RM_HOST_HOST_WORKER_H
#define RM_HOST_HOST_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "host/host_program.h"

struct rm_host_worker;

/** Starts the thread. `*worker` stays NULL where the code has no `work`. */
enum rm_code rm_host_worker_start(struct rm_host_program const *program, struct rm_host_worker **worker,
                                  struct rm_error *error);

/** No call of `work` is under way, and none begins, until rm_host_worker_resume. It waits for one that is: some seconds
 * at worst. For the control thread. NULL is allowed. */
void rm_host_worker_pause(struct rm_host_worker *worker);
void rm_host_worker_resume(struct rm_host_worker *worker);

/** Calls that have begun so far. */
uint64_t rm_host_worker_begun(struct rm_host_worker const *worker);

/** True when a call has returned that began when `begun` had begun already. */
bool rm_host_worker_has_worked(struct rm_host_worker const *worker, uint64_t begun);

/** Waits until the present call has returned, and joins the thread. NULL is allowed. */
void rm_host_worker_stop(struct rm_host_worker *worker);

#endif
