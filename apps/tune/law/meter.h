// SPDX-License-Identifier: Apache-2.0
/** The tune meter: from turns of some BPMs, as they come, to a reading of both planes whenever one is wanted.
 *
 *     tune_meter_open(&meter, &plan);
 *     tune_meter_push(&meter, turn, position, 1);         // [plane][bpm], each turn
 *     if (tune_meter_read(&meter, beam, reading)) …       // as often as you like: from the newest N turns
 *
 * It keeps the window of each series, and what is wrong with it:
 *
 *     a reading that is no number, a turn that did not come    held at the reading before, and counted
 *     more lost turns than the limit, saturated, frozen        the BPM is left out until that has left the window; its
 *                                                              plane goes on with the others
 *     none is left                                             the plane has no peak, and the reasons of all BPMs
 *     the turn counter goes back, or a window of turns passes  the meter begins anew: there is no reading for N turns
 *
 * What is left out changes the weights (combine.h), and so the noise, not the tune. Each reading says how many BPMs it is
 * of. No allocation after the opening.
 *
 * A push touches the rings of all series: of many BPMs they are in no cache. So give it some turns at once, where many
 * BPMs come at turn rate: docs/tune.md has figures.
 */
#ifndef TUNE_METER_H
#define TUNE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "combine.h"
#include "quality.h"

enum {
    TUNE_PLANES = 2,
    TUNE_BPMS_MAX = 512,
};

struct tune_meter_plan {
    uint32_t turns;
    enum tune_window_kind kind;
    uint32_t bpms;
    /** [plane][bpms] its optics and noise (combine.h). */
    struct tune_bpm const *bpm[TUNE_PLANES];
    /** [plane] where the tune is looked for, oscillations per turn. */
    double low[TUNE_PLANES], high[TUNE_PLANES];

    struct tune_quality_limits limits;
};

/** A reading of one plane. Amplitude is √(2J) where there is more than one BPM, in the unit of positions per √m; of one
 * BPM too. */
struct tune_reading {
    /** Of the window's newest turn; the tune is that of `delay_turns` before. */
    uint64_t turn;
    double delay_turns;
    /** As peak.h has it; NaN and 0 without a peak. */
    struct tune_peak peak;
    /** enum tune_reason; 0: to be trusted. */
    uint32_t reasons;
    /** BPMs that it is of, and the most turns that one of them lost. */
    uint32_t bpms, lost_turns;
};

/** Of one BPM in one plane. */
struct tune_meter_series {
    /** [2N] each reading twice, N apart: the window is always in one piece. */
    float *ring;
    /** [N] 1 where the turn was lost, and how many of these the window has. */
    uint8_t *lost;
    uint32_t lost_turns;
    /** Turns in a row with the same reading, and that reading. */
    uint32_t same;
    float last;
    /** Count of turns when it was last frozen, and last saturated; 0: never. */
    uint64_t frozen_at, saturated_at;
};

struct tune_meter {
    struct tune_meter_plan plan;
    /** Turns since it began, those that did not come included. */
    uint64_t count;
    /** The last turn. */
    uint64_t turn;
    /** [plane * bpms + bpm]. */
    struct tune_meter_series *series;
    struct tune_spectrum spectrum;
    /** [plane] where the next reading puts the amplitude of each bin of the plane's band; NULL: nowhere. NaN where no BPM
     * is in use. */
    float *row[TUNE_PLANES];
    /** Of the plane that is read. */
    struct tune_weight *weight;
    struct tune_bpm *used;
    float const **window;
    void *memory;
};

/** Whether a tune can be looked for from `low` to `high`: a band has more than 2 · TUNE_PEAK_REACH + 1 bins, and at most
 * TUNE_BAND_BINS_MAX. */
bool tune_meter_has_room(uint32_t turns, double low, double high);

/** The bins from `low` to `high`, as a meter looks at them. */
struct tune_band tune_meter_band(uint32_t turns, double low, double high);

/** The plan's optics are looked at as long as the meter is open. False without memory, or without room in a band. Same thread as tune_spectrum_open. */
bool tune_meter_open(struct tune_meter *meter, struct tune_meter_plan const *plan);
void tune_meter_close(struct tune_meter *meter);

/** Takes positions [count][plane][bpms] of `turn` and those that follow it; what is no number is lost. */
void tune_meter_push(struct tune_meter *meter, uint64_t turn, float const *position, uint32_t count);

/** What is wrong with a BPM in one plane: reasons for which it would be left out of a reading now. */
uint32_t tune_meter_bpm_reasons(struct tune_meter const *meter, int plane, uint32_t bpm);

/** Reads both planes. `beam` is the current. False, and nothing is read, before there is a whole window. */
bool tune_meter_read(struct tune_meter *meter, double beam, struct tune_reading reading[TUNE_PLANES]);

#endif
