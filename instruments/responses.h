// SPDX-License-Identifier: Apache-2.0
/** Instruments that see supplies: what a supply's current adds to their readings, at the moment of each turn. */
#ifndef RM_INSTRUMENTS_RESPONSES_H
#define RM_INSTRUMENTS_RESPONSES_H

#include <stdint.h>

#include "beam.h"
#include "chains.h"
#include "pace.h"

/** Without chains there are none. */
struct rm_responses {
    /** NULL until they are there. */
    struct rm_chains *chains;
    /** NULL until turns begin. */
    struct rm_pace const *pace;
};

/** When turn `index` of the run is due, on the chains' clock; without a pace, now. */
double rm_responses_time(struct rm_responses const *responses, uint64_t index);

/** Currents of all supplies when turn `index` is due: those of rm_machine_currents, `state` being the responses. */
void rm_responses_currents(void *state, uint64_t index, double *current);

/** Adds what the currents at `time` do to `count` instruments from `first` on. */
void rm_responses_add_at(struct rm_chains *chains, struct rm_beam *beam, double time, uint32_t first, uint32_t count);

/** Adds to what rm_beam_turn gave for turn `index` of the run and `count` instruments from `first` on. A turn that is
 * sent late sees the currents of its own time, but for what has changed since: that it sees as it was then. */
void rm_responses_add(struct rm_responses const *responses, struct rm_beam *beam, uint64_t index, uint32_t first,
                      uint32_t count);

#endif
