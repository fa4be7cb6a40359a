// SPDX-License-Identifier: Apache-2.0
/** An earlier simulation's folder, read again: the records, what was sent, and what people set. */
#ifndef RM_SIMULATION_REPLAY_H
#define RM_SIMULATION_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "events.h"

struct rm_replay {
    char const *folder;
    uint64_t cycles;
    rm_turn first_turn;
    uint32_t inputs, actuators;
    FILE *readings, *tags, *sent;
    union rm_lane (*lanes)[RM_LANES];
    uint64_t *tag;
};

/** Opens the folder, and adds the recorded events to `events`. RM_E_CONFIG when the folder is not complete, or belongs
 * to an application with other numbers of inputs and actuators. */
enum rm_code rm_replay_open(char const *folder, uint32_t inputs, uint32_t actuators, struct rm_events *events,
                            struct rm_replay *replay, struct rm_error *error);

/** Reads the next cycle: the records that came, and what was sent last. */
enum rm_code rm_replay_next(struct rm_replay *replay, rm_turn turn, struct rm_record *record, bool *missing,
                            double *sent, struct rm_error *error);
void rm_replay_close(struct rm_replay *replay);

#endif
