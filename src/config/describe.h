// SPDX-License-Identifier: Apache-2.0
/** Parts of rm_config_describe. */
#ifndef RM_CONFIG_DESCRIBE_H
#define RM_CONFIG_DESCRIBE_H

#include <stdio.h>

#include "config/config.h"

void rm_config_print_ipv4(uint32_t ipv4, FILE *out);

/** Turns from a record's turn to the moment when it closes, for `rate[index]`, as rm_instrument_rates gives it for an
 * instrument of this period. */
double rm_config_delay_turns(struct rm_config_rate const *rate, uint32_t index, uint32_t instrument_period);

/** Prints cycles, chains, supplies and applications; nothing where there are no chains. */
void rm_config_describe_setpoints(struct rm_config const *config, FILE *out);

/** Prints the two servers, and when one takes over from the other; nothing where there is one. */
void rm_config_describe_standby(struct rm_config const *config, FILE *out);

/** Prints the router's mode, interfaces, routes and neighbours; nothing where no role forwards. */
void rm_config_describe_router(struct rm_config const *config, FILE *out);

/** Prints a line for each setting that is allowed, but may not be intended. */
void rm_config_describe_remarks(struct rm_config const *config, FILE *out);

#endif
