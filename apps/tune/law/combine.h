// SPDX-License-Identifier: Apache-2.0
/** One series of many BPMs, aligned by their phase advance, so that noise falls with the root of their number.
 *
 * BPM j sees x_j(n) = √(2J β_j) cos(2π Q n + ψ + φ_j) and noise of its own, σ_j. With
 *
 *     w_j = √β_j e^(−iφ_j) / σ_j²  /  Σ β_k / σ_k²
 *
 *     z(n) = Σ w_j x_j(n) = √(J/2) [ e^(i(2π Q n + ψ)) + r e^(−i(2π Q n + ψ)) ],   r = Σ β_j/σ_j² e^(−2iφ_j) / Σ β_j/σ_j²
 *
 * the oscillations add, with the weights that make noise least (they are those of least squares for √(2J) e^(iψ)):
 * at +Q the amplitude is √(2J) as peak.h counts it, and its noise is that of a single series with σ_z = (Σ β/σ²)^(−1/2).
 * r is the image at −Q: 1 of a single BPM, whose series is real; small where the phases are spread evenly. What the
 * image leaks is taken off by peak.h, which is given r.
 *
 * z has two quadratures, each a real series of real weights. A BPM that is not to be used has weight 0: so it is of one,
 * a pair or all. Of one alone its own real series has the same line for half the work.
 *
 * Phases that are wrong by ε weaken the line by cos ε, and do not move it. β and φ are those of the plane's own mode.
 */
#ifndef TUNE_COMBINE_H
#define TUNE_COMBINE_H

#include <stdint.h>

#include <ringmaster/simd.h>

/** What a BPM is, in one plane. */
struct tune_bpm {
    /** β, m, and its phase advance from any place that is the same for all. */
    double beta_m, phase_rad;
    /** Of its turns, in the unit of its positions; 0: it is not used. */
    double noise;
};

/** w, of the real and of the imaginary quadrature. */
struct tune_weight {
    float re, im;
};

struct tune_combination {
    /** BPMs that are used. */
    uint32_t used;
    /** σ_z, in the unit of positions per √m; σ of √(2J) is σ_z √(2/N) (peak.h). */
    double noise;
    /** r. */
    double image_re, image_im;
};

/** Weights of `count` BPMs. Those without a finite β > 0, phase and noise > 0 have weight 0. `used` is 0 where none is
 * left. */
struct tune_combination tune_weights_make(struct tune_bpm const *bpm, uint32_t count, struct tune_weight *weight);

/** z[n] = Σ w_j x_j[n] of N turns, as series[n][2] (spectrum.h); x[j] are series of N. BPMs of weight 0 are not read, and
 * may be NULL. The same bits from any instruction set. */
void tune_combine(float const *const *x, struct tune_weight const *weight, uint32_t count, uint32_t turns,
                  float *series, enum rm_simd simd);

#endif
