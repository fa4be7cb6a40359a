// SPDX-License-Identifier: Apache-2.0
/** One signal: whether what it says may be believed. A value is bad where its record is missing or late, where it is no
 * finite number, where it is the end of its integer's range, and where it has been the very same for `frozen_steps`
 * records, which no reading with noise is; 0: that is not looked for. A decimated record that had to do without some of
 * its turns is bad too: what stands for them is what came last. */
#ifndef PREMORTEM_ONE_SIGNAL_H
#define PREMORTEM_ONE_SIGNAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct premortem_signal {
    /** Index of the input, and lane of its records. */
    uint32_t input, lane;
    /** The last finite value, and for how many records it has been the very same. */
    double last;
    uint32_t same;
    /** Its lane is a whole number; its records are decimated, so that their tags count missing turns. */
    bool is_whole, is_decimated;
};

/** Takes the value of a record that came in time. */
static inline bool premortem_signal_is_good(struct premortem_signal *signal, double value, uint32_t frozen_steps) {
    if (!isfinite(value) || (signal->is_whole && (value <= INT32_MIN || value >= INT32_MAX)))
        return false;
    signal->same = value == signal->last ? signal->same + (signal->same < UINT32_MAX) : 1;
    signal->last = value;
    return frozen_steps == 0 || signal->same < frozen_steps;
}

#endif
