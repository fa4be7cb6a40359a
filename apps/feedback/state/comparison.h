// SPDX-License-Identifier: Apache-2.0
/** Another system that runs the machine, whose setpoints are among the inputs: ours are compared with them, and the
 * loop's states follow what was really sent, so that they do not drift away. */
#ifndef FEEDBACK_COMPARISON_H
#define FEEDBACK_COMPARISON_H

#include <stdint.h>

/** RMS of our setpoints less theirs, over those of which both are known. */
double feedback_shadow_rms(double const *ours, double const *theirs, uint32_t count);

#endif
