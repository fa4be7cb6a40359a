// SPDX-License-Identifier: Apache-2.0
/** The cores that this process may run on. */
#ifndef RM_BASE_CORES_H
#define RM_BASE_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

/** The cores that sched_getaffinity gives for this process: those of the machine less those that a container or
 * taskset took away. */
enum rm_code rm_cores_available(cpu_set_t *cores, struct rm_error *error);

/** Writes a set as people do, "0-3,8"; cut with "…" where `size` bytes are too few. */
char const *rm_cores_text(cpu_set_t const *cores, char *text, size_t size);

/** Reads such a list, "2,4-7". False where the text is none. */
bool rm_cores_read(char const *text, cpu_set_t *cores);

#endif
