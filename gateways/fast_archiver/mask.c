// SPDX-License-Identifier: Apache-2.0
#include "mask.h"

#include <string.h>

unsigned fa_mask_count(struct fa_mask const *mask) {
    unsigned count = 0;
    for (unsigned i = 0; i < FA_IDS_MAX / 64; ++i)
        count += (unsigned)__builtin_popcountll(mask->word[i]);
    return count;
}

static int digit_value(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static bool mask_scan_digits(struct fa_scan *scan, unsigned id_count, struct fa_mask *mask) {
    for (unsigned left = id_count / 4; left-- > 0; ++scan->at) {
        int const value = digit_value(*scan->at);
        if (value < 0)
            return fa_scan_fail(scan, "Unexpected character in mask");
        mask->word[left / 16] |= (uint64_t)value << 4 * (left % 16);
    }
    return true;
}

static bool mask_scan_stretch(struct fa_scan *scan, unsigned id_count, struct fa_mask *mask) {
    uint64_t first, last;
    if (!fa_scan_number(scan, id_count - 1, &first))
        return false;
    last = first;
    if (fa_scan_take(scan, '-') && !fa_scan_number(scan, id_count - 1, &last))
        return false;
    if (last < first)
        return fa_scan_fail(scan, "Range of ids is empty");
    for (uint64_t id = first; id <= last; ++id)
        fa_mask_add(mask, (unsigned)id);
    return true;
}

bool fa_mask_scan(struct fa_scan *scan, unsigned id_count, struct fa_mask *mask) {
    memset(mask, 0, sizeof *mask);
    if (fa_scan_take(scan, 'R'))
        return mask_scan_digits(scan, id_count, mask) &&
               (fa_mask_count(mask) > 0 || fa_scan_fail(scan, "The mask is empty"));
    do {
        if (!mask_scan_stretch(scan, id_count, mask))
            return false;
    } while (fa_scan_take(scan, ','));
    return true;
}

void fa_mask_print(struct fa_mask const *mask, unsigned id_count, char digits[FA_MASK_DIGITS + 1]) {
    unsigned const count = id_count / 4;
    for (unsigned i = 0; i < count; ++i) {
        unsigned const at = count - 1 - i;
        digits[i] = "0123456789ABCDEF"[mask->word[at / 16] >> 4 * (at % 16) & 15];
    }
    digits[count] = '\0';
}

unsigned fa_mask_stretches(struct fa_mask const *mask, struct fa_ids stretch[FA_IDS_MAX / 2]) {
    unsigned count = 0;
    bool inside = false;
    for (unsigned id = 0; id < FA_IDS_MAX; ++id) {
        bool const has = fa_mask_has(mask, id);
        if (has && !inside)
            stretch[count++] = (struct fa_ids){(uint16_t)id, 0};
        if (has)
            ++stretch[count - 1].count;
        inside = has;
    }
    return count;
}
