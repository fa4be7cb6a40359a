// SPDX-License-Identifier: Apache-2.0
/** The thread beside a host: all that takes system calls.
 *
 *   - the server: waited for, attached to, left when it ends, attached to again; each change is said once;
 *   - requests for settings: it sleeps on the doorbell of request.h, judges by limits, and proposes the rest to the
 *     application. Requests of one requester that come together are one proposal.
 */
#ifndef RM_HOST_HOST_CONTROL_THREAD_H
#define RM_HOST_HOST_CONTROL_THREAD_H

#include <ringmaster/error.h>

struct rm_host;
struct rm_host_control_thread;

enum rm_code rm_host_control_thread_start(struct rm_host *host, struct rm_host_control_thread **control_thread,
                                          struct rm_error *error);

/** Joins it, and detaches from the server. The stepping thread is in no duty and will not be again. NULL is allowed. */
void rm_host_control_thread_stop(struct rm_host_control_thread *control_thread);

#endif
