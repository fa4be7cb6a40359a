// SPDX-License-Identifier: Apache-2.0
/** Instruments that see supplies: what a supply's current adds to their readings, at the moment of each turn. */
#ifndef RM_INSTRUMENTS_RESPONSES_H
#define RM_INSTRUMENTS_RESPONSES_H

#include <stdint.h>

#include "beam.h"
#include "chains.h"
#include "pace.h"

/** Where there are no chains, nothing is added. */
struct rm_responses {
    /** NULL until the chains are there. */
    struct rm_chains *chains;
    /** NULL until the turns begin. */
    struct rm_turn_pace const *pace;
};

/** When turn `index` of the run is due, on the chains' clock; without a pace, now. */
double rm_responses_time(struct rm_responses const *responses, uint64_t index);

/** Currents of all supplies when turn `index` is due, as struct rm_machine_currents wants them. `state` is a struct
 * rm_responses. */
void rm_responses_currents(void *state, uint64_t index, double *current);

/** The same of `count` supplies. */
void rm_responses_currents_of(void *state, uint64_t index, uint32_t const *supply, uint32_t count, double *current);

/** Adds the effect of the currents at `time` to `count` instruments from `first` on. */
void rm_responses_add_at(struct rm_chains *chains, struct rm_beam *beam, double time, uint32_t first, uint32_t count);

/** Adds the effect of the currents to what rm_beam_turn gave for turn `index` of the run and `count` instruments from
 * `first` on. A turn that is sent late sees the currents of its own time; but a current that has changed since is seen
 * as it was at its last change. */
void rm_responses_add(struct rm_responses const *responses, struct rm_beam *beam, uint64_t index, uint32_t first,
                      uint32_t count);

#endif
