// SPDX-License-Identifier: Apache-2.0
/** What an owner finds in vectors that another instance of it left. */
#ifndef RM_FABRIC_SETPOINT_VECTORS_H
#define RM_FABRIC_SETPOINT_VECTORS_H

#include <stdbool.h>

#include <ringmaster/setpoint.h>

/** The greatest of the three sequences. */
uint64_t rm_setpoints_newest(struct rm_setpoints const *setpoints);

/** True when these sequences cannot have come from rm_setpoints_begin and rm_setpoints_commit: counting could not go
 * on from them. */
bool rm_setpoints_confused(struct rm_setpoints const *setpoints);

#endif
