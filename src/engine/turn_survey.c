// SPDX-License-Identifier: Apache-2.0
#include "engine/turn_survey.h"

#include <math.h>

#include "engine/turn_gate.h"

static double const SHORT_SECONDS = 0.3;    /**< three, the first among stalls, the next catching up, are a second */
static double const LONG_SECONDS = 4.0;     /**< a long span that is not measured by then begins anew */
static double const FRESH_SECONDS = 1.0;    /**< for so long a measured rate supports the clock's */
static double const LEAST_TOLERANCE = 0.03; /**< a sender's own pace may waver by it */
static double const VAGUE = 0.25;           /**< a measurement that may be wrong by more is none */
static double const BY_NAME = 1.0; /**< where none ever was, the clock's rate is within 1 + this of the nominal one */
static double const RATIO_ONE = (double)(1 << 24); /**< unit of a rate over the nominal one, where a lead holds it */

static rm_turn vote_claimed_turn(struct rm_gate_vote const *vote) {
    return vote->run > 0 ? vote->turn : vote->accepted;
}

static void begin_span(struct rm_turn_survey *survey, int which, uint64_t tsc, struct rm_gate_vote *const *votes,
                       uint32_t count) {
    struct rm_survey_span *const span = &survey->span[which];
    *span = (struct rm_survey_span){.begin_tsc = tsc, .before_ticks = span->gap_ticks};
    for (uint32_t i = 0; i < count; ++i) {
        bool const spoke = votes[i]->known || votes[i]->run > 0;
        votes[i]->mark[which] = (struct rm_survey_mark){vote_claimed_turn(votes[i]), spoke ? votes[i]->seen_tsc : 0};
    }
}

void rm_turn_survey_restart(struct rm_turn_survey *survey) {
    for (int which = 0; which < RM_SURVEY_SPANS; ++which)
        survey->span[which].begin_tsc = 0;
}

/** The rate of one instrument over the nominal one, into its lead; false where it says none. */
static bool measure_one(struct rm_turn_gate const *gate, struct rm_gate_vote *vote, int which, uint64_t span_ticks) {
    struct rm_survey_mark const *const mark = &vote->mark[which];
    double const ticks = (double)(int64_t)(vote->seen_tsc - mark->tsc);
    double const turns = (double)(int64_t)(vote_claimed_turn(vote) - mark->turn);
    if (mark->tsc == 0 || turns <= 0 || ticks < 0.5 * (double)span_ticks)
        return false;
    vote->phase_error = (int64_t)fmin(turns / ticks * gate->clock.nominal_ticks_per_turn * RATIO_ONE, 0x1p39);
    return vote->phase_error > 0;
}

/** By how much the rate of a span may be wrong, when nothing was heard for `gaps` of it: the machine may have stood
 * still meanwhile, and what was held up may have come before or after. */
static double doubt_by(double gaps, double span) {
    return LEAST_TOLERANCE + (gaps < 0.5 * span ? gaps / (span - gaps) : BY_NAME);
}

/** False where too few have said anything, or what they say is vague. */
static bool measure_votes(struct rm_turn_gate *gate, int which, uint64_t tsc, struct rm_gate_vote *const *votes,
                          uint32_t count) {
    struct rm_turn_survey *const survey = &gate->survey;
    struct rm_survey_span const *const span = &survey->span[which];
    uint64_t const ticks = tsc - span->begin_tsc;
    double const tolerance = doubt_by((double)(span->gap_ticks + span->before_ticks), (double)ticks);
    if (tolerance > VAGUE)
        return false;
    uint32_t live = 0, heard = 0;
    for (uint32_t i = 0; i < count; ++i) {
        live += rm_gate_vote_sends(gate, votes[i], tsc);
        votes[i]->counted = measure_one(gate, votes[i], which, ticks);
        heard += votes[i]->counted;
    }
    if (heard == 0 || 2 * heard <= live)
        return false;
    double const ratio = (double)rm_gate_ranked_phase_error(votes, count, heard / 2) / RATIO_ONE;
    survey->ticks_per_turn = gate->clock.nominal_ticks_per_turn / ratio;
    survey->tolerance = tolerance;
    survey->end_tsc = tsc;
    return true;
}

static uint64_t newest_seen(struct rm_gate_vote *const *votes, uint32_t count) {
    uint64_t newest = 0;
    for (uint32_t i = 0; i < count; ++i)
        newest = votes[i]->seen_tsc > newest ? votes[i]->seen_tsc : newest;
    return newest;
}

/** Nothing was heard between two looks, or since: whichever is longer. */
static void note_gap(struct rm_turn_survey *survey, uint64_t seen_tsc, uint64_t tsc) {
    uint64_t const between = tsc - survey->look_tsc;
    uint64_t const silent = tsc > seen_tsc ? tsc - seen_tsc : 0;
    uint64_t const gap = between > silent ? between : silent;
    for (int which = 0; which < RM_SURVEY_SPANS; ++which)
        if (gap > survey->span[which].gap_ticks)
            survey->span[which].gap_ticks = gap;
}

/** At the end of a short span: by that one, or else by the long one. */
static void conclude_survey(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes,
                            uint32_t count) {
    struct rm_turn_survey *const survey = &gate->survey;
    bool const measured = measure_votes(gate, RM_SURVEY_SHORT, tsc, votes, count) ||
                          measure_votes(gate, RM_SURVEY_LONG, tsc, votes, count);
    if (measured)
        rm_turn_clock_bound(&gate->clock, survey->ticks_per_turn, survey->tolerance);
    else if (survey->end_tsc == 0)
        rm_turn_clock_bound(&gate->clock, gate->clock.nominal_ticks_per_turn, BY_NAME);
    begin_span(survey, RM_SURVEY_SHORT, tsc, votes, count);
    if (measured || (double)(tsc - survey->span[RM_SURVEY_LONG].begin_tsc) > LONG_SECONDS * gate->config.tsc_hz)
        begin_span(survey, RM_SURVEY_LONG, tsc, votes, count);
}

void rm_turn_survey_look(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes, uint32_t count) {
    struct rm_turn_survey *const survey = &gate->survey;
    if (gate->clock.follows)
        return;
    if (survey->span[RM_SURVEY_SHORT].begin_tsc == 0) {
        begin_span(survey, RM_SURVEY_SHORT, tsc, votes, count);
        begin_span(survey, RM_SURVEY_LONG, tsc, votes, count);
    } else {
        note_gap(survey, newest_seen(votes, count), tsc);
        if ((double)(tsc - survey->span[RM_SURVEY_SHORT].begin_tsc) >= SHORT_SECONDS * gate->config.tsc_hz)
            conclude_survey(gate, tsc, votes, count);
    }
    survey->look_tsc = tsc;
}

bool rm_turn_survey_supports(struct rm_turn_gate const *gate, uint64_t tsc) {
    struct rm_turn_survey const *const survey = &gate->survey;
    double const off = gate->clock.ticks_per_turn / survey->ticks_per_turn;
    double const most = 1.0 + survey->tolerance;
    if (gate->clock.follows)
        return gate->clock.anchored; /* it has no rate, and stands where the instruments stand */
    return survey->end_tsc != 0 && (double)(tsc - survey->end_tsc) < FRESH_SECONDS * gate->config.tsc_hz &&
           off <= most && off >= 1.0 / most;
}
