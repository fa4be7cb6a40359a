// SPDX-License-Identifier: Apache-2.0
/** The journal of settings: which values the steps have adopted, in order, until records of NAME/settings_adopted
 * (ringmaster/decision.h) have told all of them, three in a step.
 */
#ifndef RM_HOST_HOST_JOURNAL_H
#define RM_HOST_HOST_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

struct rm_host_journal_entry {
    uint64_t value;
    uint32_t generation;
    /** Element of the settings. */
    uint32_t element;
    /** Values of the generation behind this one. */
    uint32_t left;
    uint32_t checksum;
};

struct rm_host_journal {
    /** Number of values of all settings. */
    uint32_t values;
    /** Generation of the settings that the next step has; 0: there was none. */
    uint32_t generation;

    /* As the last step had them. What changed since then, before a step has used it, is one generation. */
    uint32_t stepped_generation;
    /** An init has begun since: the next generation has all values. */
    bool is_whole;
    double *stepped;
    uint64_t stepped_written;

    /** A ring buffer, and how many entries were ever written to it and taken out of it. */
    struct rm_host_journal_entry *entry;
    uint64_t room, written, taken;
};

/** Makes a journal of `values` values. False without memory; what there is then, rm_host_journal_free gives back. */
bool rm_host_journal_allocate(struct rm_host_journal *journal, uint32_t values);
void rm_host_journal_free(struct rm_host_journal *journal);

/** An init: all settings are a new generation. What does not fit beside it is left out, the oldest first: a reader finds
 * generations that do not come to an end. */
void rm_host_journal_begin(struct rm_host_journal *journal, double const *setting);

/** Some settings may have changed: those that have since the last step are a new generation. There is room. */
void rm_host_journal_note(struct rm_host_journal *journal, double const *setting);

/** True when all settings may change once: if not, they wait until some steps have told what is there. Without a step in
 * between they may change as often as they like. */
bool rm_host_journal_has_room(struct rm_host_journal const *journal);

/** A step was made with these settings. Takes out the next values, as lanes of its record. False when all are told. */
bool rm_host_journal_step(struct rm_host_journal *journal, double const *setting, union rm_lane lane[RM_LANES]);

#endif
