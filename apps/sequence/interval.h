// SPDX-License-Identifier: Apache-2.0
/** What an expression may come to, without knowing what machine and people say: intervals of its operands in, an interval
 * of its value out. It may be wider than what really comes, never narrower. */
#ifndef SEQUENCE_INTERVAL_H
#define SEQUENCE_INTERVAL_H

#include "program.h"

struct sequence_interval {
    double low, high;
};

/** What operands may be: variables and counters keep their limits, the supply these; all others may be any number. A
 * truth is 0 to 1: with `high` 0 it is never true, with `low` 1 always. */
struct sequence_interval sequence_interval_of(struct sequence_program const *program, struct sequence_value value,
                                              struct sequence_interval supply);

/** Bits of the operands that are in it, as struct sequence_expression has them. */
uint32_t sequence_value_uses(struct sequence_program const *program, struct sequence_value value);

/** Whether variables and numbers are all that it depends on. */
bool sequence_value_is_known(struct sequence_program const *program, struct sequence_value value);

#endif
