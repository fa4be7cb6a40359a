// SPDX-License-Identifier: Apache-2.0
/** Keeping a thread to one core. */
#ifndef RM_BASE_PIN_H
#define RM_BASE_PIN_H

#include <stdint.h>

#include <ringmaster/error.h>

/** The highest number of a core. */
enum { RM_CORE_MOST = 1023 };

/** Moves the calling thread to a core, numbered as sched_setaffinity does, and keeps it there. Threads that it starts
 * later inherit that. RM_E_ARGUMENT names the cores that it may use. */
enum rm_code rm_pin(uint32_t core, struct rm_error *error);

#endif
