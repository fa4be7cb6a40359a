// SPDX-License-Identifier: Apache-2.0
/** From the supplies and applications of the configuration to their guard. */
#ifndef RM_ENGINE_GUARD_SETUP_H
#define RM_ENGINE_GUARD_SETUP_H

#include <ringmaster/error.h>

#include "config/config.h"
#include "engine/guard.h"

/** A guard for all supplies and applications, as numbered there: what the configuration has per second is per cycle of
 * setpoints in it. No supply has joined yet. rm_guard_free frees it; it outlives the configuration. RM_E_ARGUMENT,
 * RM_E_NO_SPACE. */
enum rm_code rm_guard_of_config(struct rm_config const *config, struct rm_guard **guard, struct rm_error *error);

#endif
