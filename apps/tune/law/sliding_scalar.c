// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stddef.h>

#include "sliding_pass.h"

enum { LANES = TUNE_SLIDING_LANES };

static void group_add(struct tune_sliding_block const *block, uint32_t turn, double const *phasor, double *sum) {
    double const *const step = block->step + (size_t)turn * block->planes;
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        double const base_re = block->base_re[turn][lane], base_im = block->base_im[turn][lane];
        double const re = nearbyint(phasor[0] * base_re - phasor[1] * base_im);
        double const im = nearbyint(phasor[0] * base_im + phasor[1] * base_re);
        for (uint32_t plane = 0; plane < block->planes; ++plane) {
            sum[(2 * plane) * LANES + lane] += step[plane] * re;
            sum[(2 * plane + 1) * LANES + lane] += step[plane] * im;
        }
    }
}

void tune_sliding_scalar(struct tune_sliding_block const *block) {
    for (uint32_t turn = 0; turn < block->turns; ++turn) {
        uint32_t place = block->first[turn];
        for (uint32_t group = 0; group < block->groups; ++group) {
            group_add(block, turn, block->phasor + 2 * place, block->sum + (size_t)group * block->planes * 2 * LANES);
            place = sliding_next_place(place, block->stride[turn], block->window);
        }
    }
}
