// SPDX-License-Identifier: Apache-2.0
/** Makes the decision record of each step (ringmaster/decision.h says what it is).
 *
 *     struct rm_host_decisions decisions = {.put = put, .context = …};
 *     if (!rm_host_decisions_open(&decisions, program)) …
 *     … rm_host_decisions_stream(&decisions, i, …) describes stream i of decisions.stream_count
 *     rm_host_decisions_begin(&decisions, grant_number);             after each init
 *     each cycle:
 *         rm_host_decisions_adopt(&decisions);                       where settings have changed
 *         … rm_host_program_step, the vector is committed
 *         uint32_t const setpoints = rm_host_decisions_setpoints(&decisions, committed);
 *         … rm_host_program_prepare
 *         rm_host_decisions_record(&decisions, &outcome);
 *     rm_host_decisions_close(&decisions);
 *
 * It knows of no segment: it hands each record to `put`. So the host, the simulation and a replay make the same ones.
 */
#ifndef RM_HOST_HOST_DECISION_H
#define RM_HOST_HOST_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/decision.h>
#include <ringmaster/stream.h>

#include "host/host_journal.h"
#include "host/host_program.h"

/** What only the caller knows of a step. Its turn, records and what is missing are in the program's `given`. */
struct rm_host_outcome {
    /** When it was over. */
    uint64_t tsc;
    /** Steps left out before it. */
    uint64_t skipped;
    bool late, committed;
    /** From rm_host_decisions_setpoints. */
    uint32_t setpoints;
};

struct rm_host_decisions {
    /** Takes one record of a stream, of a step that was over at `tsc`. */
    void (*put)(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc);
    void *context;

    struct rm_host_program const *program;
    /** Streams: `decision`, `settings_adopted`, then `masks` of `missing`, `groups` of `sent`, `ends` of `unfinished`. */
    uint32_t stream_count;

    uint32_t masks, groups, ends;
    /** Its arrays among the readings that are compared. */
    uint32_t arrays;
    /** [group] what had been sent, as recorded last. */
    float (*sent)[RM_LANES];

    struct rm_host_journal journal;
    /** The record of `decision` that was put last. */
    struct rm_record last;
    uint64_t grant_number;
    /** When the step was over whose records are put. */
    uint64_t tsc;
    /** There was a step since `open`. */
    bool has_stepped;
    /** All of `sent` is to be recorded: an init has begun. */
    bool is_fresh;
};

/** Streams before those of `missing`. */
enum { RM_DECISION_STREAM = 0, RM_ADOPTED_STREAM = 1, RM_FIRST_MASK_STREAM = 2 };

/** `put` and `context` are set, all else is zero. False without memory; what there is then,
 * rm_host_decisions_close gives back. */
bool rm_host_decisions_open(struct rm_host_decisions *decisions, struct rm_host_program const *program);
void rm_host_decisions_close(struct rm_host_decisions *decisions);

/** Describes stream `i`: all constant members of `*stream`, its name without the application's, and a sentence of
 * RM_DESCRIPTION_BYTES. */
void rm_host_decisions_stream(struct rm_host_decisions const *decisions, uint32_t i, struct rm_stream *stream,
                              char name[RM_LANE_NAME_BYTES + 8], char description[RM_DESCRIPTION_BYTES]);

/** After an init. */
void rm_host_decisions_begin(struct rm_host_decisions *decisions, uint64_t grant_number);

/** Between two steps, when settings have changed. There must be room: rm_host_journal_has_room. */
static inline void rm_host_decisions_adopt(struct rm_host_decisions *decisions) {
    rm_host_journal_note(&decisions->journal, decisions->program->setting);
}

/** The checksum of the command's setpoints, which are gone when the next ones are expected. */
uint32_t rm_host_decisions_setpoints(struct rm_host_decisions const *decisions, bool committed);

/** Puts the records of the step that was made last, `prepare` included, before the next one's inputs come. */
void rm_host_decisions_record(struct rm_host_decisions *decisions, struct rm_host_outcome const *outcome);

#endif
