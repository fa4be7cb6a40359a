// SPDX-License-Identifier: Apache-2.0
/** What a server that begins to send knows of one chain's setpoints, and what it does for what it does not know.
 *
 * What was sent last comes by the link, and what was obeyed last by the chains. Either may be late or lost: then a chain
 * has obeyed some steps of the other server that this one does not know of, each as long as a slew. Its first setpoints
 * shall be no further away than slews allow for the cycles since the chain obeyed anything. So it is asked until there
 * were enough of them. One that would have to wait for too long is not: its readback decides alone.
 */
#ifndef RM_STANDBY_BEGIN_H
#define RM_STANDBY_BEGIN_H

#include "standby.h"

enum {
    /** Cycles that a chain waits at most which did not answer: the majority is without it. */
    RM_STANDBY_WAITS_MOST = 64
};

struct rm_standby_begin {
    /** Steps that the chain may have obeyed and this server does not know of; UINT64_MAX: it knows of none. With 0 or 1
     * the first cycle repeats what is known, or goes a step behind it. */
    uint64_t behind;
    /** Cycles for which the chain is asked first. */
    uint64_t wait;
    /** They would be too many: what is known as sent is no ground, the readback alone is. */
    bool forgets;
};

/** Of the cycle in which `standby` began to send. `lag` is by how many cycles the chains are known to be ahead of what
 * this server knows as sent, `since` how old that is; UINT64_MAX where nothing is known.
 *
 *  - A chain that told, in answer to a query of the last N cycles, is behind by `lag`, and has been silent since. It may
 *    be one of the majority, so it waits for less than N cycles.
 *  - One that did not may obey the other server still, in every cycle until now.
 *  - A planned switch leaves no chain waiting.
 *  - A server that BEGAN knows of nothing. */
struct rm_standby_begin rm_standby_begin_at(struct rm_standby const *standby, uint32_t chain, uint64_t lag,
                                            uint64_t since);

#endif
