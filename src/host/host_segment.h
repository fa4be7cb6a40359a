// SPDX-License-Identifier: Apache-2.0
/** The application's own segment: what others see of it.
 *
 *     setpoints/NAME                 its setpoint vectors
 *     NAME/SETTING, NAME/READING     parameters; NAME/settings is the group of all settings
 *     NAME/STREAM                    streams; one record per step, under its turn
 *     NAME/decision, NAME/settings_adopted, NAME/missing0 …, NAME/sent0 …
 *                                    the decision record: ringmaster/decision.h
 *     counters/application/NAME      set "application"
 *     latency/NAME                   time from the inputs seen to the vector committed
 *     age/NAME                       time from when a turn's inputs are expected to its vector committed
 *     NAME/replies, NAME/requests
 *
 *     NAME/withdrawn                 why it may not act any more: enum rm_withdrawal, where it has permissions
 *
 *     state/NAME, NAME/state_wanted, NAME/in_step, counters/follow/NAME
 *                                    of one of two servers: host_standby.h
 *
 * Settings begin with the configuration's values. Where the last instance was killed they go on with the values that
 * they had: a crash must not undo what an operator has set. Permissions (host_permissions.h) begin at 0, always.
 */
#ifndef RM_HOST_HOST_SEGMENT_H
#define RM_HOST_HOST_SEGMENT_H

#include <ringmaster/error.h>

struct rm_host;

/** Opens the segment, and fills in all members of the host that lie in it. */
enum rm_code rm_host_segment_open(struct rm_host *host, struct rm_error *error);

#endif
