// SPDX-License-Identifier: Apache-2.0
/** Which groups have a reading at which turn of the run. Neighbours of equal period form a section: their readings are
 * asked for at once. */
#ifndef RM_INSTRUMENTS_SENDER_SCHEDULE_H
#define RM_INSTRUMENTS_SENDER_SCHEDULE_H

#include <stdint.h>

#include <ringmaster/record.h>

#include "virtual_instrument.h"

struct rm_section {
    uint32_t first_group;
    uint32_t group_count;
    uint32_t first_instrument;
    uint32_t instrument_count;
    uint64_t period;
    /** Turn of the run, from 0, of its next reading. */
    uint64_t next;
};

struct rm_sender_schedule {
    /** First turn of the run. */
    rm_turn first_turn;

    uint32_t count;
    struct rm_section *section;
};

/** Appends a group to the last section, or begins a section with it. Groups come in the order of their instruments,
 * and `schedule->section` has room. */
void rm_schedule_add(struct rm_sender_schedule *schedule, struct rm_virtual_group const *group);

/** Moves on to turn `index` of the run. */
void rm_schedule_seek(struct rm_sender_schedule *schedule, uint64_t index);

/** Moves on to turn `index`, but for the newest reading before it of each section, where it is not more than `late_turns`
 * before it: a sender that is late at every look, by less than that, would else never send. */
void rm_schedule_seek_late(struct rm_sender_schedule *schedule, uint64_t index, uint64_t late_turns);

/** The turn of the run at which a group has its next reading. */
uint64_t rm_schedule_next(struct rm_sender_schedule const *schedule);

/** Number of readings that a section has before turn `end` of the run. */
static inline uint64_t rm_section_readings(struct rm_section const *section, uint64_t end) {
    if (end <= section->next)
        return 0;
    return section->period == 1 ? end - section->next : (end - 1 - section->next) / section->period + 1;
}

#endif
