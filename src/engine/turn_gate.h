// SPDX-License-Identifier: Apache-2.0
/** Which turns a receive role believes, just now.
 *
 * A turn is accepted in a window around the turn clock: from `silence_turns` below the turn that is due to
 * `ahead_turns` above it. Everything else is refused and counted. A refused instrument votes for its own turn by
 * staying consistent; when a quorum of instruments votes for the same turns, the machine's counter must have been
 * restarted: the clock is anchored there, as a new turn-counter epoch, and every stream begins again. One instrument
 * alone cannot do that. Where the turns voted for are merely some seconds above those that the same instruments sent
 * before, it was an outage that the clock misjudged: the clock is stepped, and the streams go on.
 *
 * Where the clock stands is the median's business. An instrument's *lead* is its newest turn less the turn that was due
 * when that came: nobody's is above 0 for long but a liar's, or everybody's when the clock is behind.
 *
 * - Every 10 ms (rm_turn_gate_review) whoever leads more than half of those that have spoken since by more than
 *   RM_GATE_FAR turns becomes an outlier: its turns are stored, but not shown to the clock, until it is back
 *   among the others. So one instrument moves the clock by no more than that, or for no longer than 10 ms: one that
 *   gains so fast that the clock is RM_TURN_CLOCK_CAPTURE turns away by then has it stepped back to the median. Of two
 *   neither can outvote the other, and the newer is followed: it is natural to be late, and not to be early.
 * - At the end of a burst that brought turns early or refused as ahead (rm_turn_gate_early): when more than half of
 *   those that have spoken since the first of them came have reached a turn above what is observable, the clock is
 *   behind, not they. It is stepped to the turn that more than half have reached, and what was refused meanwhile in the
 *   same burst is asked again (receive.c). Three at least must have spoken, or all where there are fewer.
 * - When no arrival was believed for a quarter of a second, the clock is stepped to the median of the leads.
 *
 * When nothing comes any more, either the link is down or the instruments stand still. So the window's upper edge runs
 * on with the clock, and its lower edge stops `silence_turns` / 2 above where it was: whether they come back having
 * counted on or from where they stood, none is refused.
 */
#ifndef RM_ENGINE_TURN_GATE_H
#define RM_ENGINE_TURN_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/counter.h>

#include "base/turn_clock.h"
#include "engine/counting.h"
#include "engine/turn_survey.h"

enum {
    /** Consistent refusals that make a vote. */
    RM_GATE_VOTE_RUN = 16,
    /** Who leads the others by more has moved the clock by no more than they can move it back. */
    RM_GATE_FAR = RM_TURN_CLOCK_CAPTURE / 2,
};

struct rm_gate_config {
    /** Nominal. */
    double turn_rate_hz;

    double tsc_hz;
    /** Of the clock's rate: rm_turn_clock.rate_range; 0: the clock's own. */
    double rate_range;
    /** Of the clock: rm_turn_clock_follow. */
    bool follows;
    /** Accepted above the prediction. */
    uint64_t ahead_turns;
    /** An instrument further from the clock is a fault. */
    uint64_t phase_turns;
    /** Accepted below it, and the distance at which a silent stream follows. */
    uint64_t silence_turns;
    /** Instruments needed to re-anchor; 0: more than half of those that send. */
    uint32_t quorum;
};

/** What the gate knows of one instrument. */
struct rm_gate_vote {
    /** The newest refused. */
    rm_turn turn;
    /** How many in a row agreed with each other. */
    uint32_t run;
    /** A turn was accepted in this turn-counter epoch … */
    bool known;
    /** … this one last. */
    rm_turn accepted;
    /** When the instrument last sent anything. */
    uint64_t seen_tsc;
    /** Newest turn less what was due, where it is counted: see `counted`. */
    int64_t phase_error;
    /** In the median that is being taken. */
    bool counted;
    /** Far ahead of more than half at the last review: its turns are not shown to the clock. */
    bool outlier;

    struct rm_survey_mark mark[RM_SURVEY_SPANS];
    /** So, or found to be early alone since: that its turns are early is its own affair. */
    bool suspect;
};

enum rm_gate_outcome {
    /** The turn was refused, that is all. */
    RM_GATE_REFUSED,
    /** A quorum wanted the clock elsewhere, and there it is. */
    RM_GATE_STEPPED,
    /** So too, in a new turn-counter epoch: the caller restarts every stream. */
    RM_GATE_RESTARTED,
};

struct rm_turn_gate {
    struct rm_turn_clock clock;
    struct rm_gate_config config;
    struct rm_turn_survey survey;
    /** Accepted in this burst … */
    rm_turn lowest;
    /** … up to lowest + span. */
    uint64_t span;
    /** Newest turn ever accepted in this turn-counter epoch. */
    rm_turn newest;
    /** By the clock, when the burst arrived; short counters mean a turn near it. */
    rm_turn due;
    /** Turns of this burst above it are early: they are wrong, or the clock is. */
    rm_turn observable;
    /** The newest of the role's streams: adopted ones may be further on than 0. */
    uint64_t turn_epoch;
    /** When the first of those came that are early just now; 0: nobody is. */
    uint64_t early_tsc;
    /** Of the last review. */
    uint64_t review_tsc;
    /** Set "clock". */
    rm_counter *counters;
};

void rm_turn_gate_init(struct rm_turn_gate *gate, struct rm_gate_config const *config, rm_counter *counters);

/** Once per burst, before its packets: sets the window. */
void rm_turn_gate_burst(struct rm_turn_gate *gate, uint64_t tsc);

/** True when `turn` may be stored, of an instrument that sends a record every `period_turns`: it may be ahead by
 * `ahead_turns` records, as its ring has room for. */
static inline bool rm_turn_gate_accepts(struct rm_turn_gate const *gate, rm_turn turn, uint64_t period_turns) {
    return turn - gate->lowest <= gate->span + (period_turns - 1) * gate->config.ahead_turns;
}

/** The first turn that the role ever sees anchors the clock. Below RM_TURN_END. */
void rm_turn_gate_first(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc);

/** After an acceptance of `turn`. */
static inline void rm_gate_vote_accepted(struct rm_gate_vote *vote, rm_turn turn) {
    vote->run = 0;
    vote->known = true;
    vote->accepted = turn;
}

/** After a refusal of `turn`, below RM_TURN_END: notes the vote. `votes` are those of all `count` instruments, `mine`
 * among them. When a quorum is reached the clock stands at `turn`. */
enum rm_gate_outcome rm_turn_gate_refused(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc,
                                          struct rm_gate_vote *mine, struct rm_gate_vote *const *votes, uint32_t count);

/** Once per burst, after its packets, with the newest turn accepted from it that is not early. */
void rm_turn_gate_observe(struct rm_turn_gate *gate, rm_turn newest, uint64_t tsc);

/** Once per burst that brought turns above `observable`, accepted or refused, after its packets: RM_GATE_STEPPED when
 * more than half are there, and so is the clock, now. */
enum rm_gate_outcome rm_turn_gate_early(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes,
                                        uint32_t count);

/** Every 10 ms: says who is an outlier, and steps a clock that is lost. */
void rm_turn_gate_review(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes, uint32_t count);

/** Whether the instrument has sent anything within the last second. */
static inline bool rm_gate_vote_sends(struct rm_turn_gate const *gate, struct rm_gate_vote const *vote, uint64_t tsc) {
    return vote->seen_tsc != 0 && (double)(tsc - vote->seen_tsc) <= gate->config.tsc_hz;
}

/** The phase error of the instrument: its newest turn, refused or not, less the turn due when it came. Needs an
 * anchored clock. */
int64_t rm_turn_gate_phase(struct rm_turn_gate const *gate, struct rm_gate_vote const *vote);

/** The lead that `below` of those counted are below, and no other is. */
int64_t rm_gate_ranked_phase_error(struct rm_gate_vote *const *votes, uint32_t count, uint32_t below);

/** The turn that is due by the clock, but no more than `silence_turns` / 2 above the newest that came. */
rm_turn rm_turn_gate_now(struct rm_turn_gate const *gate, uint64_t tsc);

/** Fills in a reading for publication, with a TAI stamp taken now. */
void rm_turn_gate_reading(struct rm_turn_gate const *gate, struct rm_clock_reading *reading);

#endif
