// SPDX-License-Identifier: Apache-2.0
/** How many of the last tunes are good: n of m, so that one bad window opens nothing, and many do. */
#ifndef TUNEFEEDBACK_TRUST_H
#define TUNEFEEDBACK_TRUST_H

#include <stdbool.h>
#include <stdint.h>

enum { TUNEFEEDBACK_LAST_MAX = 64 };

/** One bit for each of the last tunes. */
struct tunefeedback_trust {
    uint64_t good;
};

/** Counts one more. Returns how many of the last `last` are good, up to TUNEFEEDBACK_LAST_MAX. */
static inline uint32_t tunefeedback_trust_add(struct tunefeedback_trust *trust, bool is_good, uint32_t last) {
    uint64_t const kept = last >= TUNEFEEDBACK_LAST_MAX ? UINT64_MAX : (UINT64_C(1) << last) - 1;
    trust->good = ((trust->good << 1) | (is_good ? 1u : 0u)) & kept;
    return (uint32_t)__builtin_popcountll(trust->good);
}

#endif
