// SPDX-License-Identifier: Apache-2.0
#include "sender_schedule.h"

void rm_schedule_add(struct rm_sender_schedule *schedule, struct rm_virtual_group const *group) {
    struct rm_section *last = &schedule->section[schedule->count];
    if (schedule->count == 0 || last[-1].period != group->period_turns) {
        *last = (struct rm_section){.first_instrument = group->first, .period = group->period_turns};
        if (schedule->count != 0)
            last->first_group = last[-1].first_group + last[-1].group_count;
        ++schedule->count;
    } else {
        --last;
    }
    ++last->group_count;
    last->instrument_count += group->count;
}

void rm_schedule_seek(struct rm_sender_schedule *schedule, uint64_t index) {
    for (uint32_t s = 0; s < schedule->count; ++s) {
        struct rm_section *section = &schedule->section[s];
        uint64_t const beyond = (schedule->first_turn + index) % section->period;
        section->next = beyond == 0 ? index : index + section->period - beyond;
    }
}

void rm_schedule_seek_late(struct rm_sender_schedule *schedule, uint64_t index, uint64_t late_turns) {
    rm_schedule_seek(schedule, index);
    for (uint32_t s = 0; s < schedule->count; ++s) {
        struct rm_section *section = &schedule->section[s];
        if (section->next >= section->period && index + section->period <= section->next + late_turns)
            section->next -= section->period;
    }
}

uint64_t rm_schedule_next(struct rm_sender_schedule const *schedule) {
    uint64_t next = UINT64_MAX;
    for (uint32_t s = 0; s < schedule->count; ++s)
        if (schedule->section[s].next < next)
            next = schedule->section[s].next;
    return next;
}
