// SPDX-License-Identifier: Apache-2.0
/** The states of the controllers in another basis: controllers.h. Eight kinds of states at a time, channel by channel
 * beside each other, so that each element of the map is read once for eight of them, and sums keep one order whatever
 * the instruction set.
 */
#include "controllers_pass.h"

enum {
    WIDE = FEEDBACK_CHANNEL_BLOCK,
    RING = FEEDBACK_DELAY_MOST + 1,
    KINDS_MAX = 5 + 2 * FEEDBACK_RESONATORS_MAX + RING,
};

/** The kinds of states that both have: where they are, and where they go. */
struct state_kinds {
    uint32_t count;
    double const *from[KINDS_MAX];
    double *to[KINDS_MAX];
};

static void map_kind(struct state_kinds *kinds, double *to, double const *from) {
    kinds->to[kinds->count] = to;
    kinds->from[kinds->count++] = from;
}

static bool same_line(struct feedback_law const *a, struct feedback_law const *b, uint32_t line) {
    return a->resonates && b->resonates && line < a->tuning.resonator_count && line < b->tuning.resonator_count &&
           a->tuning.resonator[line].hz == b->tuning.resonator[line].hz;
}

static void collect_kinds(struct state_kinds *kinds, struct feedback_controllers *to,
                          struct feedback_controllers const *from) {
    *kinds = (struct state_kinds){0};
    map_kind(kinds, to->ahead, from->ahead);
    map_kind(kinds, to->integral, from->integral);
    map_kind(kinds, to->held, from->held);
    for (int i = 0; i < 2; ++i)
        map_kind(kinds, to->model[i], from->model[i]);
    for (uint32_t age = 0; age <= to->law.delay; ++age)
        map_kind(kinds, to->past[(to->newest + RING - age) % RING], from->past[(from->newest + RING - age) % RING]);
    for (uint32_t j = 0; j < FEEDBACK_RESONATORS_MAX; ++j) {
        if (!same_line(&to->law, &from->law, j))
            continue;
        map_kind(kinds, to->real[j], from->real[j]);
        map_kind(kinds, to->imaginary[j], from->imaginary[j]);
    }
}

static void map_eight(struct feedback_controllers *to, struct feedback_controllers const *from,
                      struct state_kinds const *kinds, uint32_t first, double const *map) {
    uint32_t const count = kinds->count - first < WIDE ? kinds->count - first : WIDE;
    for (uint32_t channel = 0; channel < from->channels; ++channel)
        for (uint32_t i = 0; i < WIDE; ++i)
            from->scratch[channel * WIDE + i] = i < count ? kinds->from[first + i][channel] : 0;
    if (to->simd == RM_SIMD_AVX512)
        feedback_map_avx512(to->scratch, to->channels, from->scratch, from->channels, map);
    else if (to->simd == RM_SIMD_AVX2)
        feedback_map_avx2(to->scratch, to->channels, from->scratch, from->channels, map);
    else
        feedback_map_scalar(to->scratch, to->channels, from->scratch, from->channels, map);
    for (uint32_t channel = 0; channel < to->channels; ++channel)
        for (uint32_t i = 0; i < count; ++i)
            kinds->to[first + i][channel] = to->scratch[channel * WIDE + i];
}

void feedback_controllers_map(struct feedback_controllers *to, struct feedback_controllers const *from,
                              double const *map) {
    struct state_kinds kinds;
    feedback_controllers_clear(to);
    collect_kinds(&kinds, to, from);
    for (uint32_t first = 0; first < kinds.count; first += WIDE)
        map_eight(to, from, &kinds, first, map);
    feedback_controllers_reconcile(to);
}
