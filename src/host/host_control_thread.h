// SPDX-License-Identifier: Apache-2.0
/** The thread beside a host. It does all that takes system calls:
 *
 *   - the server: it waits for it, attaches to it, leaves it when it ends, and attaches again. It reports each change
 *     once;
 *   - requests for settings: it sleeps on the doorbell of request.h, judges by limits, and proposes the rest to the
 *     application. Requests of one requester that come together are one proposal;
 *   - the other one of two servers: host_peer.h.
 */
#ifndef RM_HOST_HOST_CONTROL_THREAD_H
#define RM_HOST_HOST_CONTROL_THREAD_H

#include <ringmaster/error.h>

struct rm_host;
struct rm_host_control_thread;

enum rm_code rm_host_control_thread_start(struct rm_host *host, struct rm_host_control_thread **control_thread,
                                          struct rm_error *error);

/** A line for people. */
__attribute__((format(printf, 2, 3))) void rm_host_say(struct rm_host const *host, char const *format, ...);

/** Joins the thread, and detaches from the server. The stepping thread must not be in a duty, nor enter one again.
 * NULL is allowed. */
void rm_host_control_thread_stop(struct rm_host_control_thread *control_thread);

#endif
