// SPDX-License-Identifier: Apache-2.0
#include "naff_pass.h"

enum { LANES = TUNE_NAFF_LANES };

void tune_naff_scalar(double const *u, uint32_t padded, struct tune_naff_phasors const *phasors,
                      struct tune_naff_moments *moments) {
    struct tune_naff_phasors now = *phasors;
    *moments = (struct tune_naff_moments){.cosine = {0}};
    for (uint32_t n = 0; n < padded; n += LANES)
        for (uint32_t lane = 0; lane < LANES; ++lane) {
            double const re = now.re[lane], im = now.im[lane], t = now.first + (n + lane);
            double const cosine = u[n + lane] * re, sine = u[n + lane] * im;
            moments->cosine[lane] += cosine;
            moments->sine[lane] += sine;
            moments->cosine_t[lane] += cosine * t;
            moments->sine_t[lane] += sine * t;
            now.re[lane] = re * now.step_re - im * now.step_im;
            now.im[lane] = re * now.step_im + im * now.step_re;
        }
}
