// SPDX-License-Identifier: Apache-2.0
/** What counters are called in src/fabric/counters.toml, for programs that print them.
 *
 *     for (unsigned i = 0; i < rm_counter_set_size(set); ++i)
 *         printf("%s %" PRIu64 "\n", rm_counter_name(set, i), rm_counter_get(block, i));
 */
#ifndef RM_FABRIC_COUNTER_NAMES_H
#define RM_FABRIC_COUNTER_NAMES_H

#include <ringmaster/counters.h>

/** How many counters a set has; 0 for a set that does not exist. */
unsigned rm_counter_set_size(enum rm_counter_set_id set);

/** Name of counter `index` < rm_counter_set_size(set): "not_ipv4". Constant. */
char const *rm_counter_name(enum rm_counter_set_id set, unsigned index);

#endif
