// SPDX-License-Identifier: Apache-2.0
/** sum += factor · column, of which matrices times vectors are made between two cycles. Each element has one order of
 * sums whatever the instruction set, so the bits are the same. */
#ifndef FEEDBACK_ACCUMULATE_H
#define FEEDBACK_ACCUMULATE_H

#include <stdint.h>

void feedback_accumulate(double *sum, double const *column, double factor, uint32_t count);

/** The same four times, one column after the other, to the bit: the sums are fetched and put away once. */
void feedback_accumulate_four(double *restrict sum, double const *const column[4], double const factor[4],
                              uint32_t count);

#endif
