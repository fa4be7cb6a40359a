// SPDX-License-Identifier: Apache-2.0
#include "detail.h"

#include <math.h>

static double const TWO_PI = 6.283185307179586;

void tune_detail_tell(struct tune_reading const reading[TUNE_PLANES], uint32_t turns, float lane[RM_LANES]) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        struct tune_peak const *const peak = &reading[plane].peak;
        double const whole = isnan(peak->tune) ? NAN : 1.0;
        double const middle = peak->phase_rad + TWO_PI * peak->tune * 0.5 * (turns - 1.0);
        lane[TUNE_DETAIL_PHASE_X + plane] = (float)remainder(middle, TWO_PI);
        lane[TUNE_DETAIL_PHASE_SIGMA_X + plane] = (float)(whole / peak->signal_to_noise);
        lane[TUNE_DETAIL_AMPLITUDE_SIGMA_X + plane] = (float)(whole * peak->amplitude_sigma);
        lane[TUNE_DETAIL_OTHER_TUNE_X + plane] = (float)(whole * peak->other_bin / turns);
        lane[TUNE_DETAIL_OTHER_RATIO_X + plane] = (float)(whole * peak->other_ratio);
    }
}
