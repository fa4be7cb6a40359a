// SPDX-License-Identifier: Apache-2.0
/** The machine's turn rate over a long time, by the instruments' own counters.
 *
 * The turn clock's fit looks at windows of 10 ms. On a host that takes cores away, what comes in such a window is a
 * queue being emptied, at any rate. Over a longer span a queue says little: each instrument's turns over its ticks are
 * right within the stalls of that span, and the median of the instruments is wrong only where most are. So the survey
 * measures, tells how far its figure can be believed, and bounds the fit.
 *
 * A short span follows a machine that changes; a long one measures where stalls leave no short span whole.
 */
#ifndef RM_ENGINE_TURN_SURVEY_H
#define RM_ENGINE_TURN_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

struct rm_turn_gate;
struct rm_gate_vote;

enum { RM_SURVEY_SHORT, RM_SURVEY_LONG, RM_SURVEY_SPANS };

struct rm_survey_span {
    /** TSC at which the span began; 0: it has not. */
    uint64_t begin_tsc;
    /** Longest time in the span without any arrival … */
    uint64_t gap_ticks;
    /** … and in the span before: what was held up there may have come in this one. */
    uint64_t before_ticks;
};

/** Where one instrument stood when a span began. */
struct rm_survey_mark {
    rm_turn turn;
    /** TSC when that turn came; 0: the instrument had sent none. */
    uint64_t tsc;
};

struct rm_turn_survey {
    struct rm_survey_span span[RM_SURVEY_SPANS];
    /** TSC of the last look. */
    uint64_t look_tsc;
    /** TSC of the end of the last span that was measured; 0: there is none. */
    uint64_t end_tsc;
    /** What was measured in that span. */
    double ticks_per_turn;
    /** Share of it by which it may be wrong. */
    double tolerance;
};

/** Call it with each review. When a span is over, it measures; then it bounds the clock's rate, and replaces one that
 * is impossible. */
void rm_turn_survey_look(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes, uint32_t count);

/** Forgets all notes, because the turn counter began anew. */
void rm_turn_survey_restart(struct rm_turn_survey *survey);

/** True when the clock's rate agrees with what instruments have counted lately. */
bool rm_turn_survey_supports(struct rm_turn_gate const *gate, uint64_t tsc);

#endif
