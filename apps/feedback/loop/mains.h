// SPDX-License-Identifier: Apache-2.0
/** Follows the mains. How far the phasors of the resonators at their line have turned says by how much the true
 * frequency is off; all resonators are scaled alike. */
#ifndef FEEDBACK_MAINS_H
#define FEEDBACK_MAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "../matrix/solver.h"

struct feedback_mains {
    /** Cycles between two looks. */
    uint32_t every;
    /** Cycles since the last one. */
    uint32_t count;
    /** True frequency over the nominal one, as far as known. */
    double scale;
    /** [part][2 · channels] phasors at the last look. */
    double *phasor[FEEDBACK_PARTS_MAX];
};

bool feedback_mains_make(struct feedback_mains *mains, struct feedback_layout const *layout, double rate_hz);
void feedback_mains_free(struct feedback_mains *mains);

/** Forgets the phasors; `scale` stays. */
void feedback_mains_forget(struct feedback_mains *mains, struct feedback_layout const *layout);

/** Counts one cycle that was ON. True when it took a look that changed the controllers. */
bool feedback_mains_follow(struct feedback_mains *mains, struct feedback_configuration const *configuration,
                           struct feedback_layout const *layout, struct feedback_answer *answer);

/** Sets all controllers to `mains->scale`, after another answer was taken. */
void feedback_mains_apply(struct feedback_mains const *mains, struct feedback_layout const *layout,
                          struct feedback_answer *answer);

#endif
