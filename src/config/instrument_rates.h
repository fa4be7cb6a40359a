// SPDX-License-Identifier: Apache-2.0
/** Which streams an instrument has, by how often it sends.
 *
 * An instrument that sends every turn has NAME/turn and the configured rates as they are. One that sends every P turns
 * has NAME/raw, and those configured rates whose period is at least RM_RATES_SLOWER · P turns: they are slow enough to
 * be filtered out of its own records. Each such rate starts from the rate that the configuration says. Where the
 * instrument does not have that one, it starts from the next before it that it has, and in the end from its own
 * records. It is decimated to the period of the configured rate, or next to it, by the fewest filters that come within
 * RM_RATES_NEAR of it. So a 10 kHz instrument (one record per 116 turns) has NAME/raw and, by a decimation of 1000,
 * NAME/slow and NAME/slow_low_latency.
 */
#ifndef RM_CONFIG_INSTRUMENT_RATES_H
#define RM_CONFIG_INSTRUMENT_RATES_H

#include <stdint.h>

#include "config/config.h"

enum { RM_RATES_SLOWER = 10 };
#define RM_RATES_NEAR 0.05 /* of the configured period */

/** The rates of an instrument that sends every `period_turns` turns. `from` is an index into `rate`; `period` is in
 * turns, for this instrument. Returns how many there are. Reads config->rate and nothing else. */
uint32_t rm_instrument_rates(struct rm_config const *config, uint32_t period_turns,
                             struct rm_config_rate rate[RM_CONFIG_RATES_MAX]);

/** Slots of the instrument's own stream: buffers.turn_records for every turn; for others a power of two that holds the
 * same time, four late windows and 2^14 records at least. */
uint64_t rm_instrument_records(struct rm_config const *config, uint32_t period_turns);

/** Name of the instrument's own stream: "turn" or "raw". */
char const *rm_instrument_own_rate(uint32_t period_turns);

#endif
