// SPDX-License-Identifier: Apache-2.0
/** Random numbers of a place, not of a history: what a particle draws depends on the seed, the turn, the element, the
 * slice and the particle only, so it is the same with any instruction set and any order of work.
 *
 * The place is hashed into the start of a SplitMix64 sequence (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
 */
#ifndef RM_TWIN_PASS_RANDOM_H
#define RM_TWIN_PASS_RANDOM_H

#include <math.h>
#include <stdint.h>

struct rm_random {
    uint64_t state;
};

static inline uint64_t rm_random_mix(uint64_t of) {
    of = (of ^ of >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    of = (of ^ of >> 27) * UINT64_C(0x94D049BB133111EB);
    return of ^ of >> 31;
}

static inline uint64_t rm_random_next(struct rm_random *random) {
    return rm_random_mix(random->state += UINT64_C(0x9E3779B97F4A7C15));
}

static inline struct rm_random rm_random_at(uint64_t seed, uint64_t turn, uint32_t element, uint32_t slice,
                                            uint32_t particle) {
    uint64_t const steps = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = rm_random_mix(seed + steps);
    hash = rm_random_mix((hash ^ turn) + steps);
    hash = rm_random_mix((hash ^ ((uint64_t)element << 32 | slice)) + steps);
    return (struct rm_random){rm_random_mix((hash ^ particle) + steps)};
}

/** A uniform number in (0, 1), never 0 or 1, because logarithms are taken of it. */
static inline double rm_random_uniform(struct rm_random *random) {
    return ((double)(rm_random_next(random) >> 12) + 0.5) * 0x1p-52;
}

/** A Poisson number: arrivals of an exponential clock within `mean`, as products of uniform numbers; means above 16 in
 * parts. */
static inline uint32_t rm_random_poisson(struct rm_random *random, double mean) {
    uint32_t count = 0;
    while (mean > 0) {
        double const limit = exp(-fmin(mean, 16));
        double product = rm_random_uniform(random);
        while (product > limit) {
            product *= rm_random_uniform(random);
            ++count;
        }
        mean -= 16;
    }
    return count;
}

/** Energy of a photon of synchrotron radiation over the critical energy. Their number per energy goes as
 *
 *     ∫_x^∞ K_5/3 = ∫_0^∞ exp(−x cosh s) cosh(5 s/3) / cosh s ds        (V. Kostroun, Nucl. Instrum. Meth. 172, 371)
 *
 * so x is exponential with rate cosh s, for an s of density ∝ cosh(5 s/3) / cosh² s ≤ 2 exp(−s/3), which is drawn by
 * rejection: with exp(−s) = v³ an s is kept with probability (1 + v^10) / (1 + v^6)², 0.87 on average. */
static inline double rm_random_photon(struct rm_random *random) {
    for (;;) {
        double const v = rm_random_uniform(random), v3 = v * v * v, v6 = v3 * v3, bound = 1 + v6;
        if (rm_random_uniform(random) * bound * bound < 1 + v6 * v3 * v)
            return -log(rm_random_uniform(random)) * 2 * v3 / bound;
    }
}

#endif
