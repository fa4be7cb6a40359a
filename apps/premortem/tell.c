// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "names.h"
#include "premortem.h"

uint32_t premortem_latched(struct premortem const *premortem, struct premortem_file const *file) {
    uint32_t latched = 0;
    for (uint32_t d = 0; d < file->detectors; ++d)
        latched += premortem->detector[d].latch.is_latched;
    return latched;
}

static double turn_or_none(rm_turn turn) { return turn == RM_TURN_NONE ? -1.0 : (double)turn; }

static void tell_detector(struct premortem_detector const *detector, uint32_t const *at, uint32_t d, double *reading) {
    reading[at[PREMORTEM_STATE] + d] = detector->state;
    reading[at[PREMORTEM_LEVEL] + d] = detector->level;
    reading[at[PREMORTEM_CROSSED] + d] = turn_or_none(detector->latch.crossed);
    reading[at[PREMORTEM_COUNT] + d] = (double)detector->latch.alarms;
    reading[at[PREMORTEM_MASKED_COUNT] + d] = (double)detector->latch.masked;
    reading[at[PREMORTEM_BAD] + d] = (double)detector->bad;
}

void premortem_tell(struct premortem const *premortem, struct rm_application_setup const *setup,
                    struct rm_command *command) {
    struct premortem_memory *memory = setup->memory;
    uint32_t const *at = setup->reading_at;
    double *reading = command->reading;
    uint64_t lost;
    for (uint32_t d = 0; d < PREMORTEM_DETECTORS_MAX; ++d)
        command->stream[PREMORTEM_LEVELS][d] = NAN;
    for (uint32_t d = 0; d < memory->file.detectors; ++d) {
        tell_detector(&premortem->detector[d], at, d, reading);
        command->stream[PREMORTEM_LEVELS][d] = (float)premortem->detector[d].level;
    }
    reading[at[PREMORTEM_PERMIT]] = premortem_outputs_permit(&premortem->outputs, &memory->file, &lost);
    reading[at[PREMORTEM_PERMIT_LOST]] = (double)lost;
    reading[at[PREMORTEM_ACTED]] = (double)premortem->acted;
    reading[at[PREMORTEM_SHADOWED]] = (double)premortem->shadowed;
    reading[at[PREMORTEM_ASKED]] = (double)atomic_load_explicit(&memory->asks.granted, memory_order_relaxed);
    reading[at[PREMORTEM_REFUSED]] = (double)atomic_load_explicit(&memory->asks.refused, memory_order_relaxed);
    reading[at[PREMORTEM_LATCHED]] = premortem_latched(premortem, &memory->file);
    reading[at[PREMORTEM_ALARM_DETECTOR]] = premortem->alarm_detector;
    reading[at[PREMORTEM_ALARM_TURN]] = premortem->alarm_turn;
    reading[at[PREMORTEM_ALARMS]] = (double)premortem->alarms;
}
