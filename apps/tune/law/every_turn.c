// SPDX-License-Identifier: Apache-2.0
#include "every_turn.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_TURNS = 256 };

static uint32_t bins_of(struct tune_every_turn const *it) { return it->band.last - it->band.first + 1; }

bool tune_every_turn_open(struct tune_every_turn *it, uint32_t turns, enum tune_window_kind kind,
                          struct tune_band band) {
    *it = (struct tune_every_turn){.kind = kind, .band = band};
    if (band.first < 1 || band.last < band.first || band.last + 2 > turns / 2 ||
        bins_of(it) > TUNE_EVERY_TURN_BINS_MAX || turns > TUNE_SLIDING_TURNS_MAX)
        return false;
    it->bin = calloc(bins_of(it) + 2ul, sizeof *it->bin);
    if (it->bin != NULL && tune_sliding_open(&it->sliding, turns, band.first - 1, bins_of(it) + 2, 1,
                                             TUNE_SLIDING_RANGE_MAX_NM, RM_SIMD_BEST))
        return true;
    tune_every_turn_close(it);
    return false;
}

void tune_every_turn_close(struct tune_every_turn *it) {
    tune_sliding_close(&it->sliding);
    free(it->bin);
    *it = (struct tune_every_turn){0};
}

void tune_every_turn_begin(struct tune_every_turn *it) {
    it->count = it->cut_at = 0;
    it->has_offset = false;
    tune_sliding_clear(&it->sliding);
}

static int32_t whole_of(struct tune_every_turn *it, float position) {
    if (!isfinite(position))
        return TUNE_TURN_LOST;
    it->offset = it->has_offset ? it->offset : rint((double)position);
    it->has_offset = true;
    /* What is beyond the range of int32 is beyond that of the transform, which cuts it. */
    return (int32_t)fmax(-0x1p30, fmin(0x1p30, rint((double)position - it->offset)));
}

/** NULL: these turns did not come. */
static void turns_push(struct tune_every_turn *it, float const *position, uint32_t stride, uint32_t count) {
    int32_t whole[BLOCK_TURNS];
    for (uint32_t done = 0; done < count;) {
        uint32_t const turns = count - done < BLOCK_TURNS ? count - done : BLOCK_TURNS;
        uint64_t const cut = it->sliding.cut_turns[0];
        for (uint32_t n = 0; n < turns; ++n)
            whole[n] = position == NULL ? TUNE_TURN_LOST : whole_of(it, position[(size_t)(done + n) * stride]);
        tune_sliding_push(&it->sliding, whole, turns);
        it->count += turns;
        it->cut_at = it->sliding.cut_turns[0] != cut ? it->count : it->cut_at;
        done += turns;
    }
}

void tune_every_turn_push(struct tune_every_turn *it, uint64_t turn, float const *position, uint32_t stride,
                          uint32_t count) {
    bool const goes_on = it->count > 0 && turn > it->turn && turn - it->turn < it->sliding.turns;
    if (!goes_on)
        tune_every_turn_begin(it);
    else
        turns_push(it, NULL, 0, (uint32_t)(turn - it->turn - 1));
    turns_push(it, position, stride, count);
    it->turn = turn + count - 1;
}

bool tune_every_turn_read(struct tune_every_turn *it, float *amplitude) {
    if (it->count < it->sliding.turns)
        return false;
    tune_sliding_bins(&it->sliding, 0, it->bin);
    tune_spectrum_amplitudes(it->bin + 1, it->sliding.turns, it->kind, bins_of(it), amplitude);
    return true;
}

bool tune_every_turn_was_cut(struct tune_every_turn const *it) {
    return it->cut_at > 0 && it->count - it->cut_at < it->sliding.turns;
}
