// SPDX-License-Identifier: Apache-2.0
/** Makes the guard of the configuration's supplies and applications. */
#ifndef RM_ENGINE_GUARD_SETUP_H
#define RM_ENGINE_GUARD_SETUP_H

#include <ringmaster/error.h>

#include "config/config.h"
#include "engine/guard.h"

/** Makes a guard for all supplies and applications, numbered as in the configuration. Rates per second become steps
 * per cycle of setpoints. No supply has joined yet. The guard outlives the configuration; rm_guard_free frees it.
 * RM_E_ARGUMENT, RM_E_NO_SPACE. */
enum rm_code rm_guard_of_config(struct rm_config const *config, struct rm_guard **guard, struct rm_error *error);

#endif
