// SPDX-License-Identifier: Apache-2.0
#include "engine/phase.h"

static double const SECONDS = 1.0;

enum { FEWEST_LOOKS = 8 }; /**< of a second in which most were lost to a stall, the best may be bad */

static void phase_publish(struct rm_phase const *phase, rm_counter *counters) {
    rm_counter_set(counters, RM_STREAM_PHASE_BEHIND, phase->most < 0 ? (uint64_t)-phase->most : 0);
    rm_counter_set(counters, RM_STREAM_PHASE_AHEAD, phase->least > 0 ? (uint64_t)phase->least : 0);
}

static void phase_begin(struct rm_phase *phase, uint64_t tsc) {
    phase->begin_tsc = tsc;
    phase->looks = 0;
    phase->least = INT64_MAX;
    phase->most = INT64_MIN;
}

void rm_phase_look(struct rm_phase *phase, struct rm_turn_gate const *gate, struct rm_gate_vote const *vote,
                   uint64_t tsc, rm_counter *counters) {
    if (phase->begin_tsc == 0 || !rm_turn_survey_supports(gate, tsc)) {
        phase_begin(phase, tsc);
        return;
    }
    bool const spoke = (vote->known || vote->run > 0) && vote->seen_tsc > phase->seen_tsc;
    if (!spoke)
        return;
    phase->seen_tsc = vote->seen_tsc;
    int64_t const error = rm_turn_gate_phase(gate, vote);
    phase->least = error < phase->least ? error : phase->least;
    phase->most = error > phase->most ? error : phase->most;
    ++phase->looks;
    if (phase->looks < FEWEST_LOOKS || (double)(tsc - phase->begin_tsc) < SECONDS * gate->config.tsc_hz)
        return;
    phase_publish(phase, counters);
    phase_begin(phase, tsc);
}
