// SPDX-License-Identifier: Apache-2.0
/** Writing a part of a parameter: what answering a request needs (ringmaster/request.h). */
#ifndef RM_FABRIC_PARAMETER_PARTS_H
#define RM_FABRIC_PARAMETER_PARTS_H

#include <stddef.h>

#include <ringmaster/parameter.h>

/** For the owner alone: `bytes` of values replace those from byte `from` on. What would lie beyond the parameter's end
 * is left out. Severity and stamp are set as rm_parameter_write does. */
void rm_parameter_write_part(struct rm_parameter *parameter, size_t from, void const *values, size_t bytes,
                             struct rm_stamp stamp);

/** For the next owner, before any other write: ends a change in which the last owner was killed. Where that may have
 * left some old and some new values, the severity becomes INVALID. */
void rm_parameter_heal(struct rm_parameter *parameter);

#endif
