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
 * The median decides where the clock stands. An instrument's *phase error* is its newest turn less the turn that was
 * due when that came. It is above 0 for long only for a faulty instrument, or for all when the clock is behind.
 *
 * - Every 10 ms (rm_turn_gate_review) an instrument whose phase error is above that of more than half of those that
 *   have sent since, by more than RM_GATE_FAR turns, becomes an outlier. Its turns are stored, but not shown to the
 *   clock, until it is back among the others. So one instrument moves the clock by no more than that, or for no longer
 *   than 10 ms: one that gains so fast that the clock is RM_TURN_CLOCK_CAPTURE turns away by then has it stepped back
 *   to the median. Of two neither can outvote the other, and the newer is followed: it is natural to be late, and not
 *   to be early.
 * - At the end of a burst that brought turns early or refused as ahead (rm_turn_gate_early): when more than half of
 *   those that have sent since the first of them came have reached a turn above what is observable, the clock is
 *   behind, not they. It is stepped to the turn that more than half have reached, and what was refused meanwhile in the
 *   same burst is asked again (receive.c). Three at least must have sent, or all where there are fewer.
 * - When no arrival was believed for a quarter of a second, the clock is stepped to the median of the phase errors.
 *
 * When nothing comes any more, either the link is down or the instruments stand still. So the window's upper edge runs
 * on with the clock, and its lower edge stops `silence_turns` / 2 above where it was. So none is refused that comes
 * back, whether it has counted on or goes on from where it stood.
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
    /** An instrument that is further ahead of the others has moved the clock by no more than they can move it back. */
    RM_GATE_FAR = RM_TURN_CLOCK_CAPTURE / 2,
};

struct rm_gate_config {
    /** Nominal turn rate. */
    double turn_rate_hz;

    double tsc_hz;
    /** rm_turn_clock.rate_range; 0: the clock's own. */
    double rate_range;
    /** The clock follows arrivals: rm_turn_clock_follow. */
    bool follows;
    /** Turns accepted above the prediction. */
    uint64_t ahead_turns;
    /** Turns; an instrument further from the clock is a fault. */
    uint64_t phase_turns;
    /** Turns accepted below the prediction, and the distance at which a silent stream follows. */
    uint64_t silence_turns;
    /** Instruments needed to re-anchor; 0: more than half of those that send. */
    uint32_t quorum;
};

/** What the gate knows of one instrument. */
struct rm_gate_vote {
    /** The newest turn that was refused. */
    rm_turn turn;
    /** How many refusals in a row agreed with each other. */
    uint32_t run;
    /** A turn was accepted in this turn-counter epoch … */
    bool known;
    /** … this one last. */
    rm_turn accepted;
    /** TSC when the instrument last sent anything. */
    uint64_t seen_tsc;
    /** Newest turn less the turn that was due, where it is counted: see `counted`. */
    int64_t phase_error;
    /** It is counted in the median that is being taken. */
    bool counted;
    /** It was far ahead of more than half at the last review: its turns are not shown to the clock. */
    bool outlier;

    struct rm_survey_mark mark[RM_SURVEY_SPANS];
    /** It is an outlier, or has been found to be early alone since the last review: that its turns are early says
     * nothing of the clock. */
    bool suspect;
};

enum rm_gate_outcome {
    /** The turn was refused. */
    RM_GATE_REFUSED,
    /** A quorum wanted the clock elsewhere, and it was stepped there. */
    RM_GATE_STEPPED,
    /** The same, in a new turn-counter epoch: the caller restarts every stream. */
    RM_GATE_RESTARTED,
};

struct rm_turn_gate {
    struct rm_turn_clock clock;
    struct rm_gate_config config;
    struct rm_turn_survey survey;
    /** Lowest turn accepted in this burst … */
    rm_turn lowest;
    /** … up to `lowest` + `span`. */
    uint64_t span;
    /** Newest turn accepted in this turn-counter epoch. */
    rm_turn newest;
    /** The turn due by the clock when the burst arrived; a short counter means a turn near it. */
    rm_turn due;
    /** Turns of this burst above it are early: either they are wrong, or the clock is. A clock that follows stands
     * where the last burst left it, so a whole cycle of setpoints may lie between. */
    rm_turn observable;
    /** The newest turn-counter epoch of the role's streams: adopted ones may be further on than 0. */
    uint64_t turn_epoch;
    /** TSC when the first early turn of those that still are early came; 0: there is none. */
    uint64_t early_tsc;
    /** TSC of the last review. */
    uint64_t review_tsc;
    /** Counters of the set "clock". */
    rm_counter *counters;
};

void rm_turn_gate_init(struct rm_turn_gate *gate, struct rm_gate_config const *config, rm_counter *counters);

/** Sets the window. Call it once per burst, before its packets. */
void rm_turn_gate_burst(struct rm_turn_gate *gate, uint64_t tsc);

/** True when `turn` may be stored. The instrument sends a record every `period_turns`, and may be ahead by
 * `ahead_turns` records: its ring has room for them. */
static inline bool rm_turn_gate_accepts(struct rm_turn_gate const *gate, rm_turn turn, uint64_t period_turns) {
    return turn - gate->lowest <= gate->span + (period_turns - 1) * gate->config.ahead_turns;
}

/** Anchors the clock at the first turn that the role ever sees, which is below RM_TURN_END. */
void rm_turn_gate_first(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc);

/** Call it after `turn` was accepted. */
static inline void rm_gate_vote_accepted(struct rm_gate_vote *vote, rm_turn turn) {
    vote->run = 0;
    vote->known = true;
    vote->accepted = turn;
}

/** Notes the vote after `turn`, below RM_TURN_END, was refused. `votes` are those of all `count` instruments, `mine`
 * among them. When a quorum is reached, the clock stands at `turn`. */
enum rm_gate_outcome rm_turn_gate_refused(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc,
                                          struct rm_gate_vote *mine, struct rm_gate_vote *const *votes, uint32_t count);

/** Call it once per burst, after its packets, with the newest turn accepted from it that is not early. */
void rm_turn_gate_observe(struct rm_turn_gate *gate, rm_turn newest, uint64_t tsc);

/** Call it once per burst that brought turns above `observable`, accepted or refused, after its packets.
 * RM_GATE_STEPPED: more than half are there, and so is the clock now. */
enum rm_gate_outcome rm_turn_gate_early(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes,
                                        uint32_t count);

/** Call it every 10 ms: it finds the outliers, and steps a clock that is lost. */
void rm_turn_gate_review(struct rm_turn_gate *gate, uint64_t tsc, struct rm_gate_vote *const *votes, uint32_t count);

/** True when the instrument has sent anything within the last second. */
static inline bool rm_gate_vote_sends(struct rm_turn_gate const *gate, struct rm_gate_vote const *vote, uint64_t tsc) {
    return vote->seen_tsc != 0 && (double)(tsc - vote->seen_tsc) <= gate->config.tsc_hz;
}

/** The phase error of the instrument: its newest turn, refused or not, less the turn due when it came. Needs an
 * anchored clock. */
int64_t rm_turn_gate_phase(struct rm_turn_gate const *gate, struct rm_gate_vote const *vote);

/** The phase error of rank `below` among those counted, from 0 for the lowest. */
int64_t rm_gate_ranked_phase_error(struct rm_gate_vote *const *votes, uint32_t count, uint32_t below);

/** The turn that is due by the clock, but at most `silence_turns` / 2 above the newest that came. */
rm_turn rm_turn_gate_now(struct rm_turn_gate const *gate, uint64_t tsc);

/** Fills in a reading for publication, with a TAI stamp taken now. */
void rm_turn_gate_reading(struct rm_turn_gate const *gate, struct rm_clock_reading *reading);

#endif
