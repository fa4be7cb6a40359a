// SPDX-License-Identifier: Apache-2.0
/** The pace of frames that a sender sends by its clock, as a receiver sees it, whatever made some of them late.
 *
 * A frame comes when it is due or later. So in the first tenth of a window, and in the last, the frame that was the
 * least late against the nominal pace tells when it was due, and between those two lies the pace. A stall of either
 * end, of which the frames come late and all at once, does not move it; frames that never come do. */
#ifndef RM_BENCH_PACE_FIT_H
#define RM_BENCH_PACE_FIT_H

#include <float.h>
#include <stdint.h>

struct bench_pace_point {
    /** Number of the frame in the window, and when it came. */
    uint64_t frame;
    uint64_t tsc;
    /** Against the nominal pace; DBL_MAX: there is none yet. */
    double late_ticks;
};

struct bench_pace_fit {
    double nominal_ticks;
    uint64_t begin_tsc;
    uint64_t window_ticks;
    /** So far. */
    uint64_t frames;
    struct bench_pace_point first, last;
};

static inline void bench_pace_fit_begin(struct bench_pace_fit *fit, double nominal_ticks, uint64_t tsc,
                                        uint64_t window_ticks) {
    struct bench_pace_point const none = {.late_ticks = DBL_MAX};
    *fit = (struct bench_pace_fit){nominal_ticks, tsc, window_ticks, 0, none, none};
}

/** Takes `count` frames, at least one, which came at once: the last of them was the least late. */
static inline void bench_pace_fit_take(struct bench_pace_fit *fit, uint32_t count, uint64_t tsc) {
    fit->frames += count;
    uint64_t const gone = tsc - fit->begin_tsc, tenth = fit->window_ticks / 10;
    if (gone >= tenth && gone < fit->window_ticks - tenth)
        return;
    struct bench_pace_point *const point = gone < tenth ? &fit->first : &fit->last;
    double const late = (double)gone - (double)fit->frames * fit->nominal_ticks;
    if (late < point->late_ticks)
        *point = (struct bench_pace_point){fit->frames, tsc, late};
}

/** Ticks from one frame to the next; 0 where too little came. */
static inline double bench_pace_fit_ticks(struct bench_pace_fit const *fit) {
    if (fit->first.late_ticks == DBL_MAX || fit->last.late_ticks == DBL_MAX || fit->last.frame <= fit->first.frame)
        return 0;
    return (double)(fit->last.tsc - fit->first.tsc) / (double)(fit->last.frame - fit->first.frame);
}

#endif
