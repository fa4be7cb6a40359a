// SPDX-License-Identifier: Apache-2.0
#include "quality.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct tune_quality_limits tune_quality_limits(uint32_t turns) {
    return (struct tune_quality_limits){
        .signal_to_noise = 5.0,
        .other_share = 1.0 / 3.0,
        .near_bins = 2.0,
        .full_scale = INFINITY,
        .frozen_turns = 64,
        .lost_turns = turns / 100,
    };
}

static float first_reading(float const *series, uint32_t turns) {
    for (uint32_t n = 0; n < turns; ++n)
        if (isfinite(series[n]))
            return series[n];
    return 0.0f;
}

struct tune_series_look tune_series_look(float *series, uint32_t turns, double full_scale) {
    struct tune_series_look look = {.lost_turns = 0};
    float before = first_reading(series, turns);
    uint32_t same = 0;
    for (uint32_t n = 0; n < turns; ++n) {
        if (!isfinite(series[n])) {
            ++look.lost_turns;
            series[n] = before;
            continue;
        }
        same = same > 0 && series[n] == before ? same + 1 : 1;
        look.frozen_turns = same > look.frozen_turns ? same : look.frozen_turns;
        look.saturated_turns += fabs((double)series[n]) >= full_scale;
        before = series[n];
    }
    return look;
}

double tune_folded(double hertz, double revolution_hz) { return fabs(remainder(hertz / revolution_hz, 1.0)); }

static bool is_near_known_line(struct tune_quality_limits const *limits, uint32_t turns, double tune) {
    for (uint32_t i = 0; i < limits->known_lines; ++i)
        if (fabs(limits->known_line[i] - tune) * turns <= limits->near_bins)
            return true;
    return false;
}

static uint32_t peak_reasons(struct tune_quality_limits const *limits, uint32_t turns, struct tune_band band,
                             struct tune_peak const *peak, struct tune_peak const *other_plane) {
    bool const is_second =
        peak->other_ratio >= limits->other_share && peak->other_signal_to_noise >= limits->signal_to_noise;
    bool const is_alike = other_plane != NULL && other_plane->signal_to_noise >= limits->signal_to_noise &&
                          fabs(other_plane->tune - peak->tune) * turns <= 1.0;
    uint32_t reasons = 0;
    reasons |= is_second ? TUNE_TWO_PEAKS : 0;
    reasons |= is_near_known_line(limits, turns, peak->tune) ? TUNE_KNOWN_LINE : 0;
    reasons |= peak->bin == band.first || peak->bin == band.last ? TUNE_AT_EDGE : 0;
    reasons |= is_alike ? TUNE_COUPLED : 0;
    return reasons;
}

uint32_t tune_quality(struct tune_quality_limits const *limits, struct tune_series_look const *look, double beam,
                      uint32_t turns, struct tune_band band, struct tune_peak const *peak,
                      struct tune_peak const *other_plane) {
    uint32_t reasons = 0;
    reasons |= beam >= limits->beam ? 0 : TUNE_NO_BEAM;
    reasons |= look->saturated_turns > 0 ? TUNE_SATURATED : 0;
    reasons |= look->frozen_turns > limits->frozen_turns ? TUNE_FROZEN : 0;
    reasons |= look->lost_turns > limits->lost_turns ? TUNE_LOST_TURNS : 0;
    if (peak == NULL || !(peak->signal_to_noise >= limits->signal_to_noise))
        return reasons | TUNE_NO_PEAK;
    return reasons | peak_reasons(limits, turns, band, peak, other_plane);
}

char const *tune_reason_word(enum tune_reason reason) {
    switch (reason) {
    case TUNE_NO_BEAM:
        return "no beam";
    case TUNE_NO_PEAK:
        return "no peak above noise";
    case TUNE_TWO_PEAKS:
        return "two peaks";
    case TUNE_KNOWN_LINE:
        return "a known line is near";
    case TUNE_AT_EDGE:
        return "at the edge of the band";
    case TUNE_SATURATED:
        return "saturated";
    case TUNE_FROZEN:
        return "frozen";
    case TUNE_LOST_TURNS:
        return "lost turns";
    case TUNE_COUPLED:
        return "same line in both planes";
    }
    return "unknown";
}
