// SPDX-License-Identifier: Apache-2.0
/** The objects of setpoints in the server's segment, where there are chains; ringmaster/supply.h says what they hold.
 *
 *     counters/chain/CHAIN
 *     grant/APPLICATION, counters/guard/APPLICATION     the operator's first
 *     SUPPLY/setpoint, SUPPLY/readback                  in the configuration's order
 *     setpoints/sent, setpoints/intended, counters/transmit, supply/state, latency/setpoint
 *     counters/standby                                  of one of two servers, or where there is a file of terms
 *     standby/state, setpoints/targets                  of one of two servers
 *     supply/names
 *
 * They are planned in this order, and found by their names. */
#ifndef RM_ENGINE_STORE_SETPOINTS_H
#define RM_ENGINE_STORE_SETPOINTS_H

#include <stdbool.h>

#include "config/config.h"
#include "fabric/segment_plan.h"

/** Adds the objects to the plan, which remembers what does not fit. False when there is no memory for the names. */
bool rm_store_plan_setpoints(struct rm_segment_plan *plan, struct rm_config const *config);

#endif
