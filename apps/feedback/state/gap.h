// SPDX-License-Identifier: Apache-2.0
/** Cycles that were not run: the host was late, and left them out. The supplies held what they were sent last; the
 * mains, the beam and whatever is excited went on. So what was prepared for the first of them is no good in the one
 * that comes now: before anything of it is used, all that goes by time is brought to where it is.
 *
 * A gap of up to `return_s` is gone on from as if nothing had been: the loop is as good as before once what it sends
 * has arrived. After a longer one it begins anew, softly.
 */
#ifndef FEEDBACK_GAP_H
#define FEEDBACK_GAP_H

#include <stdint.h>

struct feedback;

/** Called at the first record or step of a cycle, whose number is `at`. */
void feedback_gap_cross(struct feedback *feedback, uint64_t at);

/** Nothing was seen for so long that the beam may be anywhere: a row is no longer compared with where it was. */
void feedback_gap_forget(struct feedback *feedback);

#endif
