// SPDX-License-Identifier: Apache-2.0
#include "sliding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sliding_pass.h"

enum { LANES = TUNE_SLIDING_LANES, BLOCK = TUNE_SLIDING_BLOCK, LINE_BYTES = 64 };

static double const TWO_PI = 6.28318530717958647692, EXACT = 0x1p53;

static void *sliding_memory(size_t bytes) {
    size_t const whole = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    void *const memory = aligned_alloc(LINE_BYTES, whole);
    return memory == NULL ? NULL : memset(memory, 0, whole);
}

static size_t sums_of(struct tune_sliding const *sliding) {
    return (size_t)sliding->groups * sliding->planes * 2 * LANES;
}

static void phasor_fill(double *phasor, uint32_t turns) {
    for (uint32_t m = 0; m < turns; ++m) {
        phasor[2 * m] = cos(TWO_PI * m / turns);
        phasor[2 * m + 1] = -sin(TWO_PI * m / turns);
    }
}

bool tune_sliding_open(struct tune_sliding *sliding, uint32_t turns, uint32_t first_bin, uint32_t bins, uint32_t planes,
                       int32_t range_nm, enum rm_simd simd) {
    *sliding = (struct tune_sliding){.turns = turns, .first_bin = first_bin, .bins = bins, .planes = planes};
    sliding->groups = (bins + LANES - 1) / LANES;
    sliding->range_nm = range_nm;
    sliding->scale = exp2(floor(log2(EXACT / ((double)turns * range_nm))));
    sliding->simd = rm_simd_choose(simd);
    sliding->sum = sliding_memory(sums_of(sliding) * sizeof(double));
    sliding->phasor = sliding_memory(2 * (size_t)turns * sizeof(double));
    sliding->history_nm = sliding_memory((size_t)turns * planes * sizeof(int32_t));
    sliding->lost = sliding_memory((size_t)turns * planes);
    sliding->lost_turns = sliding_memory(planes * sizeof(uint32_t));
    sliding->cut_turns = sliding_memory(planes * sizeof(uint64_t));
    if (sliding->sum != NULL && sliding->phasor != NULL && sliding->history_nm != NULL && sliding->lost != NULL &&
        sliding->lost_turns != NULL && sliding->cut_turns != NULL) {
        phasor_fill(sliding->phasor, turns);
        return true;
    }
    tune_sliding_close(sliding);
    return false;
}

void tune_sliding_close(struct tune_sliding *sliding) {
    free(sliding->sum);
    free(sliding->phasor);
    free(sliding->history_nm);
    free(sliding->lost);
    free(sliding->lost_turns);
    free(sliding->cut_turns);
    *sliding = (struct tune_sliding){0};
}

void tune_sliding_clear(struct tune_sliding *sliding) {
    size_t const positions = (size_t)sliding->turns * sliding->planes;
    memset(sliding->sum, 0, sums_of(sliding) * sizeof(double));
    memset(sliding->history_nm, 0, positions * sizeof(int32_t));
    memset(sliding->lost, 0, positions);
    memset(sliding->lost_turns, 0, sliding->planes * sizeof(uint32_t));
    memset(sliding->cut_turns, 0, sliding->planes * sizeof(uint64_t));
    sliding->place = 0;
}

/** A plane's position at the turn that is due; `before` is that of the turn before. */
static int32_t position_take(struct tune_sliding *sliding, uint32_t plane, int32_t position_nm, int32_t before) {
    uint8_t *const lost = &sliding->lost[(size_t)sliding->place * sliding->planes + plane];
    uint8_t const is_lost = position_nm == TUNE_TURN_LOST;
    sliding->lost_turns[plane] += (uint32_t)is_lost - *lost;
    *lost = is_lost;
    if (is_lost)
        return before;
    int32_t const above = position_nm > -sliding->range_nm ? position_nm : -sliding->range_nm;
    int32_t const within = above < sliding->range_nm ? above : sliding->range_nm;
    sliding->cut_turns[plane] += within != position_nm;
    return within;
}

/** What the turn adds less what it takes off, of all planes. */
static void turn_take(struct tune_sliding *sliding, int32_t const *position_nm, double *step) {
    uint32_t const last = sliding->place > 0 ? sliding->place - 1 : sliding->turns - 1;
    int32_t *const history = sliding->history_nm + (size_t)sliding->place * sliding->planes;
    int32_t const *const before = sliding->history_nm + (size_t)last * sliding->planes;
    for (uint32_t plane = 0; plane < sliding->planes; ++plane) {
        int32_t const position = position_take(sliding, plane, position_nm[plane], before[plane]);
        step[plane] = (double)position - (double)history[plane];
        history[plane] = position;
    }
}

static void phasors_prepare(struct tune_sliding const *sliding, struct tune_sliding_block *block, uint32_t turn) {
    uint64_t const m = sliding->place;
    block->first[turn] = (uint32_t)(m * sliding->first_bin % sliding->turns);
    block->stride[turn] = (uint32_t)(m * LANES % sliding->turns);
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        double const *const phasor = sliding->phasor + 2 * (m * lane % sliding->turns);
        block->base_re[turn][lane] = sliding->scale * phasor[0];
        block->base_im[turn][lane] = sliding->scale * phasor[1];
    }
}

static void block_push(struct tune_sliding *sliding, int32_t const *position_nm, uint32_t turns) {
    double step[BLOCK * TUNE_SLIDING_PLANES_MAX];
    struct tune_sliding_block block = {.turns = turns, .groups = sliding->groups, .planes = sliding->planes};
    block.sum = sliding->sum;
    block.step = step;
    block.phasor = sliding->phasor;
    block.window = sliding->turns;
    for (uint32_t turn = 0; turn < turns; ++turn) {
        phasors_prepare(sliding, &block, turn);
        turn_take(sliding, position_nm + (size_t)turn * sliding->planes, step + (size_t)turn * sliding->planes);
        sliding->place = sliding->place + 1 < sliding->turns ? sliding->place + 1 : 0;
    }
    if (sliding->simd == RM_SIMD_AVX512)
        tune_sliding_avx512(&block);
    else if (sliding->simd == RM_SIMD_AVX2)
        tune_sliding_avx2(&block);
    else
        tune_sliding_scalar(&block);
}

void tune_sliding_push(struct tune_sliding *sliding, int32_t const *position_nm, uint32_t count) {
    for (uint32_t done = 0; done < count;) {
        uint32_t const turns = count - done < BLOCK ? count - done : BLOCK;
        block_push(sliding, position_nm + (size_t)done * sliding->planes, turns);
        done += turns;
    }
}

void tune_sliding_bins(struct tune_sliding const *sliding, uint32_t plane, struct tune_bin *bin) {
    for (uint32_t i = 0; i < sliding->bins; ++i) {
        double const *const sum =
            sliding->sum + ((size_t)(i / LANES) * sliding->planes + plane) * 2 * LANES + i % LANES;
        uint64_t const turned = (uint64_t)(sliding->first_bin + i) * sliding->place % sliding->turns;
        double const c = sliding->phasor[2 * turned] / sliding->scale;
        double const s = -sliding->phasor[2 * turned + 1] / sliding->scale;
        bin[i].re = (float)(sum[0] * c - sum[LANES] * s);
        bin[i].im = (float)(sum[0] * s + sum[LANES] * c);
    }
}
