// SPDX-License-Identifier: Apache-2.0
/** Setting a parameter (ringmaster/parameter.h). For the owner of its segment, from one thread. */
#ifndef RM_FABRIC_PARAMETER_WRITER_H
#define RM_FABRIC_PARAMETER_WRITER_H

#include <stddef.h>

#include <ringmaster/parameter.h>

/** Copies `bytes` ≤ value_bytes of values in and stamps the change with TAI now and `turn` (or RM_TURN_NONE). */
void rm_parameter_write(struct rm_parameter *parameter, void const *values, size_t bytes, rm_turn turn);

/** One double. */
void rm_parameter_write_f64(struct rm_parameter *parameter, double value, rm_turn turn);

#endif
