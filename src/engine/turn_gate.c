// SPDX-License-Identifier: Apache-2.0
#include "engine/turn_gate.h"

#include "base/timebase.h"

static double const LOST_SECONDS = 0.25;   /**< after this time without a believed arrival the clock steps */
static double const OUTAGE_SECONDS = 60.0; /**< a quorum further ahead than this has not been out, but restarted */
static int64_t const MAX_PHASE_ERROR = (int64_t)1 << 40; /**< what is beyond is as far: 11 days */

enum { FEWEST_SPEAKERS = 3 }; /**< that make the clock step forward at once, where so many send */

void rm_turn_gate_init(struct rm_turn_gate *gate, struct rm_gate_config const *config, rm_counter *counters) {
    *gate = (struct rm_turn_gate){.config = *config, .counters = counters};
    rm_turn_clock_init(&gate->clock, config->turn_rate_hz, config->tsc_hz);
    if (config->rate_range > 0)
        gate->clock.rate_range = config->rate_range;
    if (config->follows)
        rm_turn_clock_follow(&gate->clock);
    rm_counter_set(counters, RM_CLOCK_PHASE_LIMIT, config->phase_turns);
}

static rm_turn turn_gate_held_turn(struct rm_turn_gate const *gate, rm_turn predicted) {
    rm_turn const last = gate->newest + gate->config.silence_turns / 2;
    return predicted < last ? predicted : last;
}

rm_turn rm_turn_gate_now(struct rm_turn_gate const *gate, uint64_t tsc) {
    return turn_gate_held_turn(gate, rm_turn_clock_predict(&gate->clock, tsc));
}

void rm_turn_gate_burst(struct rm_turn_gate *gate, uint64_t tsc) {
    if (!gate->clock.anchored)
        return;
    rm_turn const predicted = rm_turn_clock_predict(&gate->clock, tsc);
    rm_turn const now = turn_gate_held_turn(gate, predicted);
    gate->lowest = now > gate->config.silence_turns ? now - gate->config.silence_turns : 0;
    gate->span = predicted + gate->config.ahead_turns - gate->lowest;
    gate->due = predicted;
    gate->observable = predicted + (gate->clock.follows ? gate->config.ahead_turns : RM_TURN_CLOCK_CAPTURE);
}

static void turn_gate_anchor(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc) {
    rm_turn_clock_step(&gate->clock, turn, tsc);
    gate->newest = turn;
    rm_counter_add(gate->counters, RM_CLOCK_ANCHORS, 1);
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_VOTES, 0);
    rm_turn_gate_burst(gate, tsc);
}

void rm_turn_gate_first(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc) {
    if (!gate->clock.anchored)
        turn_gate_anchor(gate, turn, tsc);
}

static void reinstate_all(struct rm_gate_vote *const *votes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        votes[i]->outlier = votes[i]->suspect = false;
}

static uint64_t turn_gate_distance(rm_turn a, rm_turn b) { return a > b ? a - b : b - a; }

struct tally {
    uint32_t live;   /**< instruments that send */
    uint32_t agree;  /**< those of them that vote for the turn */
    uint32_t onward; /**< those of the latter that sent turns not far below it before */
};

static struct tally count_votes(struct rm_turn_gate const *gate, rm_turn turn, uint64_t tsc,
                                struct rm_gate_vote *const *votes, uint32_t count) {
    uint64_t const outage_turns = (uint64_t)(OUTAGE_SECONDS * gate->config.turn_rate_hz);
    struct tally tally = {0};
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_gate_vote const *vote = votes[i];
        if (!rm_gate_vote_sends(gate, vote, tsc))
            continue;
        ++tally.live;
        if (vote->run < RM_GATE_VOTE_RUN || turn_gate_distance(vote->turn, turn) > gate->config.ahead_turns)
            continue;
        ++tally.agree;
        tally.onward += vote->known && vote->turn - vote->accepted <= outage_turns;
    }
    return tally;
}

enum rm_gate_outcome rm_turn_gate_refused(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc,
                                          struct rm_gate_vote *mine, struct rm_gate_vote *const *votes,
                                          uint32_t count) {
    mine->run = mine->run > 0 && turn_gate_distance(turn, mine->turn) <= gate->config.ahead_turns ? mine->run + 1 : 1;
    mine->turn = turn;
    if (mine->run % RM_GATE_VOTE_RUN != 0)
        return RM_GATE_REFUSED;
    struct tally const tally = count_votes(gate, turn, tsc, votes, count);
    uint32_t const needed = gate->config.quorum != 0 ? gate->config.quorum : tally.live / 2 + 1;
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_VOTES, tally.agree);
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_NEEDED, needed);
    if (tally.agree < needed)
        return RM_GATE_REFUSED;
    turn_gate_anchor(gate, turn, tsc);
    gate->early_tsc = 0;
    reinstate_all(votes, count);
    for (uint32_t i = 0; i < count; ++i)
        votes[i]->run = 0;
    if (tally.onward >= needed)
        return RM_GATE_STEPPED;
    ++gate->turn_epoch;
    rm_turn_survey_restart(&gate->survey);
    for (uint32_t i = 0; i < count; ++i)
        votes[i]->known = false;
    return RM_GATE_RESTARTED;
}

void rm_turn_gate_observe(struct rm_turn_gate *gate, rm_turn newest, uint64_t tsc) {
    if (newest > gate->newest)
        gate->newest = newest;
    rm_turn_clock_observe(&gate->clock, newest, tsc);
}

/** Of `turn`, which came at `tsc`. */
static int64_t phase_error_of(struct rm_turn_gate const *gate, rm_turn turn, uint64_t tsc) {
    int64_t const phase_error = (int64_t)(turn - rm_turn_clock_predict(&gate->clock, tsc));
    return phase_error < -MAX_PHASE_ERROR  ? -MAX_PHASE_ERROR
           : phase_error > MAX_PHASE_ERROR ? MAX_PHASE_ERROR
                                           : phase_error;
}

int64_t rm_turn_gate_phase(struct rm_turn_gate const *gate, struct rm_gate_vote const *vote) {
    return phase_error_of(gate, vote->run > 0 ? vote->turn : vote->accepted, vote->seen_tsc);
}

static uint32_t at_most(struct rm_gate_vote *const *votes, uint32_t count, int64_t phase_error) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += votes[i]->counted && votes[i]->phase_error <= phase_error;
    return sum;
}

/** Found by halving, which needs no memory. */
int64_t rm_gate_ranked_phase_error(struct rm_gate_vote *const *votes, uint32_t count, uint32_t below) {
    int64_t low = -MAX_PHASE_ERROR, high = MAX_PHASE_ERROR;
    while (low < high) {
        int64_t const middle = low + (high - low) / 2;
        if (at_most(votes, count, middle) > below)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/** Moves the clock, and nothing else: a lead is of when its instrument was heard, and a clock at a wrong rate, carried
 * on from there to now, may be far above all that ever came. */
static void turn_gate_step_clock(struct rm_turn_gate *gate, int64_t phase_error, uint64_t tsc) {
    rm_turn const turn = rm_turn_clock_predict(&gate->clock, tsc) + (uint64_t)phase_error;
    rm_turn_clock_step(&gate->clock, turn, tsc);
    rm_turn_gate_burst(gate, tsc);
}

/** Which instruments have sent since one first was early, and which of them are early. */
struct speakers {
    uint32_t live; /**< instruments that send */
    uint32_t count;
    uint32_t early;
};

/** Whether the instrument's newest turn, accepted or not, is early and goes on from what it sent before. */
static bool is_early(struct rm_turn_gate const *gate, struct rm_gate_vote *vote, bool alone) {
    bool const refused = vote->run > 0;
    rm_turn const claimed = refused ? vote->turn : vote->accepted;
    double const onward = (double)(int64_t)(claimed - vote->accepted);
    vote->phase_error = phase_error_of(gate, claimed, vote->seen_tsc);
    /* A refused turn of the only one that sends has no witness but those that follow it: rm_turn_gate_refused. */
    return vote->known && vote->phase_error > RM_TURN_CLOCK_CAPTURE && !(refused && alone) &&
           onward <= OUTAGE_SECONDS * gate->config.turn_rate_hz;
}

static struct speakers turn_gate_count_speakers(struct rm_turn_gate const *gate, uint64_t tsc,
                                                struct rm_gate_vote *const *votes, uint32_t count) {
    struct speakers speakers = {0};
    for (uint32_t i = 0; i < count; ++i)
        speakers.live += rm_gate_vote_sends(gate, votes[i], tsc);
    /* Of the burst in which it began, an instrument that is not early may have sent before; it counts in that burst
     * alone. */
    uint64_t const since = gate->early_tsc + (gate->early_tsc != tsc);
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_gate_vote *const vote = votes[i];
        bool const early = is_early(gate, vote, speakers.live == 1) && vote->seen_tsc >= gate->early_tsc;
        vote->counted = early || (vote->seen_tsc >= since && vote->seen_tsc != 0);
        if (!early)
            vote->phase_error = vote->phase_error < 0 ? vote->phase_error : 0;
        speakers.count += vote->counted;
        speakers.early += early;
    }
    return speakers;
}

/** More than half of those that sent after the first early turn say otherwise. So an early instrument is a suspect
 * until the next review: a faulty one then costs no look at all the others in each burst. Its turns that are due still
 * count: they may come by the fast path, which knows nothing of this. */
static void suspect_early(struct rm_turn_gate *gate, struct rm_gate_vote *const *votes, uint32_t count) {
    gate->early_tsc = 0;
    for (uint32_t i = 0; i < count; ++i)
        votes[i]->suspect |= votes[i]->counted && votes[i]->phase_error > RM_TURN_CLOCK_CAPTURE;
}

enum rm_gate_outcome rm_turn_gate_early(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes,
                                        uint32_t count) {
    double const longest_ticks = (double)gate->config.ahead_turns * gate->clock.nominal_ticks_per_turn;
    if (gate->early_tsc == 0 || (double)(tsc - gate->early_tsc) > longest_ticks)
        gate->early_tsc = tsc;
    struct speakers const speakers = turn_gate_count_speakers(gate, tsc, votes, count);
    uint32_t const fewest = speakers.live < FEWEST_SPEAKERS ? speakers.live : FEWEST_SPEAKERS;
    if (speakers.early == 0 || speakers.count < fewest)
        return RM_GATE_REFUSED;
    uint32_t const half = speakers.count / 2 + 1;
    uint32_t const needed = gate->config.quorum > half ? gate->config.quorum : half;
    if (speakers.early < needed) {
        if (tsc != gate->early_tsc && 2 * speakers.early < speakers.count)
            suspect_early(gate, votes, count);
        return RM_GATE_REFUSED;
    }
    int64_t const phase_error = rm_gate_ranked_phase_error(votes, count, speakers.count - needed);
    if (phase_error > (int64_t)gate->config.ahead_turns)
        rm_counter_add(gate->counters, RM_CLOCK_ANCHORS, 1);
    gate->early_tsc = 0;
    reinstate_all(votes, count);
    turn_gate_step_clock(gate, phase_error, tsc);
    if (gate->clock.turn > gate->newest)
        gate->newest = gate->clock.turn;
    return RM_GATE_STEPPED;
}

/** Whether an outlier was heard together with the others, and not before a stall that they came after: then it is the
 * one that has moved the clock. */
static bool was_pulled(struct rm_turn_gate const *gate, struct rm_gate_vote *const *votes, uint32_t count) {
    uint64_t const together = (uint64_t)(RM_TURN_CLOCK_CAPTURE * gate->clock.nominal_ticks_per_turn);
    uint64_t newest = 0, outlier = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t const seen = votes[i]->counted ? votes[i]->seen_tsc : 0;
        newest = seen > newest ? seen : newest;
        outlier = votes[i]->outlier && seen > outlier ? seen : outlier;
    }
    return outlier != 0 && newest - outlier <= together;
}

void rm_turn_gate_review(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes, uint32_t count) {
    uint32_t live = 0, heard = 0;
    rm_turn_survey_look(gate, tsc, votes, count);
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_gate_vote *const vote = votes[i];
        live += rm_gate_vote_sends(gate, vote, tsc);
        vote->counted = vote->seen_tsc > gate->review_tsc && vote->known && vote->run == 0;
        vote->phase_error = vote->counted ? phase_error_of(gate, vote->accepted, vote->seen_tsc) : 0;
        heard += vote->counted;
    }
    /* Instruments that send less often than this is called are waited for. */
    if (2 * heard <= live)
        return;
    gate->review_tsc = tsc;
    int64_t const median = rm_gate_ranked_phase_error(votes, count, heard / 2);
    for (uint32_t i = 0; i < count; ++i)
        if (votes[i]->counted)
            votes[i]->outlier = votes[i]->suspect = votes[i]->phase_error > median + RM_GATE_FAR;
    bool const lost = (double)(tsc - gate->clock.believed_tsc) > LOST_SECONDS * gate->config.tsc_hz;
    bool const off = median > RM_TURN_CLOCK_CAPTURE || median < -RM_TURN_CLOCK_CAPTURE;
    if (off && (lost || (median < 0 && was_pulled(gate, votes, count))))
        turn_gate_step_clock(gate, median, tsc);
}

void rm_turn_gate_reading(struct rm_turn_gate const *gate, struct rm_clock_reading *reading) {
    uint64_t const now = rm_tsc();
    *reading = (struct rm_clock_reading){
        .anchored = gate->clock.anchored,
        .turn_epoch = gate->turn_epoch,
        .turn = gate->clock.turn,
        .turn_tsc = gate->clock.follows ? rm_tsc() : gate->clock.tsc, /* it still stands there */
        .ticks_per_turn = gate->clock.ticks_per_turn,
        .residual_ticks = gate->clock.residual_ticks,
        .tsc_hz = gate->config.tsc_hz,
        .tai_tsc = now,
        .tai_ns = rm_tai_ns(),
        .measured_ticks_per_turn = gate->survey.ticks_per_turn,
        .supported = rm_turn_survey_supports(gate, now),
    };
}
