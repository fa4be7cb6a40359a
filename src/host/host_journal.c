// SPDX-License-Identifier: Apache-2.0
#include "host/host_journal.h"

#include <stdlib.h>
#include <string.h>

#include <ringmaster/decision.h>

#include "base/zeroed.h"
#include "host/host_checksum.h"

/** Times that all settings fit: what was told at an init, what a person changed meanwhile, and the next init. */
enum { WHOLE_SETTINGS = 4 };

bool rm_host_journal_allocate(struct rm_host_journal *journal, uint32_t values) {
    journal->values = values;
    journal->room = (uint64_t)values * WHOLE_SETTINGS;
    journal->stepped = rm_zeroed(values, sizeof *journal->stepped);
    journal->entry = rm_zeroed(journal->room, sizeof *journal->entry);
    return journal->stepped != NULL && journal->entry != NULL;
}

void rm_host_journal_free(struct rm_host_journal *journal) {
    free(journal->stepped);
    free(journal->entry);
}

static bool journal_tells(struct rm_host_journal const *journal, double const *setting, uint32_t element) {
    return journal->is_whole || memcmp(&journal->stepped[element], &setting[element], sizeof *setting) != 0;
}

static uint32_t journal_count(struct rm_host_journal const *journal, double const *setting) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < journal->values; ++i)
        count += journal_tells(journal, setting, i);
    return count;
}

/** Writes what is another than in the last step, in the place of what no step has used. */
static void journal_write(struct rm_host_journal *journal, double const *setting) {
    struct rm_host_journal_entry entry = {.left = journal_count(journal, setting)};
    struct rm_checksum sum = rm_checksum_begin();
    rm_checksum_add(&sum, setting, journal->values);
    entry.checksum = rm_checksum_end(&sum);
    entry.generation = journal->generation = journal->stepped_generation + (entry.left > 0);
    journal->written = journal->stepped_written;
    for (uint32_t i = 0; i < journal->values; ++i) {
        if (!journal_tells(journal, setting, i))
            continue;
        memcpy(&entry.value, &setting[i], sizeof entry.value);
        entry.element = i;
        --entry.left;
        journal->entry[journal->written++ % journal->room] = entry;
    }
}

void rm_host_journal_begin(struct rm_host_journal *journal, double const *setting) {
    if (!rm_host_journal_has_room(journal))
        journal->taken = journal->stepped_written + journal->values - journal->room;
    journal->is_whole = true;
    journal_write(journal, setting);
}

void rm_host_journal_note(struct rm_host_journal *journal, double const *setting) { journal_write(journal, setting); }

bool rm_host_journal_has_room(struct rm_host_journal const *journal) {
    return journal->stepped_written - journal->taken + journal->values <= journal->room;
}

bool rm_host_journal_step(struct rm_host_journal *journal, double const *setting, union rm_lane lane[RM_LANES]) {
    if (journal->stepped_generation != journal->generation)
        memcpy(journal->stepped, setting, journal->values * sizeof *setting);
    journal->stepped_generation = journal->generation;
    journal->stepped_written = journal->written;
    journal->is_whole = false;
    if (journal->taken == journal->written)
        return false;
    struct rm_host_journal_entry const *entry = &journal->entry[journal->taken % journal->room];
    uint32_t const generation = entry->generation;
    lane[RM_ADOPTED_GENERATION].i = (int32_t)generation;
    for (unsigned v = 0; v < RM_ADOPTED_VALUES; ++v) {
        union rm_lane *const place = lane + RM_ADOPTED_FIRST + v * RM_ADOPTED_VALUE_LANES;
        entry = &journal->entry[journal->taken % journal->room];
        if (journal->taken == journal->written || entry->generation != generation) {
            place[0].i = -1;
            continue;
        }
        place[0].i = (int32_t)entry->element;
        memcpy(&place[1], &entry->value, sizeof entry->value);
        lane[RM_ADOPTED_LEFT].i = (int32_t)entry->left;
        lane[RM_ADOPTED_CHECKSUM].i = (int32_t)entry->checksum;
        ++journal->taken;
    }
    return true;
}
