// SPDX-License-Identifier: Apache-2.0
/** The thread on which an application's `work` runs: beside the one that steps, some hundred times a second, and of low
 * priority, so that it takes no time from a step where both share a core. */
#ifndef RM_HOST_HOST_WORKER_H
#define RM_HOST_HOST_WORKER_H

#include <ringmaster/error.h>

#include "host/host_program.h"

struct rm_host_worker;

/** Starts the thread. `*worker` stays NULL where the code has no `work`. */
enum rm_code rm_host_worker_start(struct rm_host_program const *program, struct rm_host_worker **worker,
                                  struct rm_error *error);

/** Waits until the present call has returned, and joins the thread. NULL is allowed. */
void rm_host_worker_stop(struct rm_host_worker *worker);

#endif
