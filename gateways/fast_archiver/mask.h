// SPDX-License-Identifier: Apache-2.0
/** Which ids a client wants: `id[-id][,…]`, or `R` and as many hexadecimal digits as the ids need, the highest first. */
#ifndef FA_MASK_H
#define FA_MASK_H

#include <stdbool.h>
#include <stdint.h>

#include "scan.h"

enum {
    /** No server has more ids. */
    FA_IDS_MAX = 1024,
    /** Digits of a whole mask. */
    FA_MASK_DIGITS = FA_IDS_MAX / 4,
};

struct fa_mask {
    uint64_t word[FA_IDS_MAX / 64];
};

static inline bool fa_mask_has(struct fa_mask const *mask, unsigned id) { return mask->word[id / 64] >> id % 64 & 1; }

static inline void fa_mask_add(struct fa_mask *mask, unsigned id) { mask->word[id / 64] |= 1ull << id % 64; }

/** How many ids it has. */
unsigned fa_mask_count(struct fa_mask const *mask);

/** Reads a mask of ids below `id_count`, which is a power of two of at least 4. False: `scan` says why. */
bool fa_mask_scan(struct fa_scan *scan, unsigned id_count, struct fa_mask *mask);

/** Writes `id_count` / 4 digits and a zero: what `R` and fa_mask_scan take. */
void fa_mask_print(struct fa_mask const *mask, unsigned id_count, char digits[FA_MASK_DIGITS + 1]);

/** Consecutive ids. */
struct fa_ids {
    uint16_t first, count;
};

/** The mask as stretches of consecutive ids, ascending. Returns how many there are. */
unsigned fa_mask_stretches(struct fa_mask const *mask, struct fa_ids stretch[FA_IDS_MAX / 2]);

#endif
