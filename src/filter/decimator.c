// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>
#include <string.h>

#include "filter/accumulate.h"
#include "filter/decimator.h"

static void (*accumulate_for(enum rm_simd simd))(struct rm_decimator *) {
    switch (simd) {
    case RM_SIMD_AVX512:
        return rm_accumulate_avx512;
    case RM_SIMD_AVX2:
        return rm_accumulate_avx2;
    case RM_SIMD_SCALAR:
        break;
    }
    return rm_accumulate_scalar;
}

void rm_decimator_init(struct rm_decimator *decimator, struct rm_fir_design const *design, enum rm_simd simd,
                       uint16_t float_lanes) {
    assert(simd <= rm_simd_best());
    assert(design->overlap <= RM_OVERLAP_MAX && design->decimation <= RM_DECIMATION_MAX);
    *decimator = (struct rm_decimator){
        .design = design,
        .accumulate = accumulate_for(simd),
        .float_lanes = float_lanes,
    };
}

/** The status and the missing inputs of the complete group join the tallies of the open outputs, which move down by one
 * row like the sums. The newest output has no tap for phase 0. */
static void accumulate_tally(struct rm_decimator *decimator) {
    uint32_t const newest = decimator->design->overlap - 1;
    uint64_t tags = 0;
    for (uint32_t phase = 1; phase < decimator->design->decimation; ++phase)
        tags |= decimator->group[phase].tag;
    uint32_t const status_of_newest = (uint32_t)rm_tag_status(tags) << 16;
    uint32_t const status = (uint32_t)rm_tag_status(tags | decimator->group[0].tag) << 16;
    uint32_t const missing_of_newest = (uint32_t)__builtin_popcount(decimator->missing_phases >> 1);
    uint32_t const missing = missing_of_newest + (decimator->missing_phases & 1);
    for (uint32_t age = 0; age < newest; ++age)
        decimator->tally[age] = (decimator->tally[age + 1] | status) + missing;
    decimator->tally[newest] = status_of_newest | missing_of_newest;
}

static void complete_group(struct rm_decimator *decimator) {
    decimator->accumulate(decimator);
    accumulate_tally(decimator);
}

void rm_decimator_start(struct rm_decimator *decimator, struct rm_record const *record) {
    uint32_t const decimation = decimator->design->decimation;
    assert(decimation > 0);
    for (uint32_t phase = 0; phase < decimation; ++phase) {
        decimator->group[phase] = *record;
        decimator->group[phase].tag &= RM_TAG_TSC_MASK;
    }
    decimator->missing_phases = (uint16_t)((1u << decimation) - 1);
    for (uint32_t group = 1; group < decimator->design->overlap; ++group)
        complete_group(decimator);

    decimator->next_turn = record->turn;
    decimator->phase = (uint32_t)(record->turn % decimation);
    decimator->missing_phases = (uint16_t)((1u << decimator->phase) - 1);
}

static void take(struct rm_decimator *decimator, struct rm_record const *record) {
    struct rm_record *const place = &decimator->group[decimator->phase];
    if (record) {
        assert(record->turn == decimator->next_turn);
        *place = *record;
        return;
    }
    uint32_t const last_phase = decimator->phase > 0 ? decimator->phase - 1 : decimator->design->decimation - 1;
    *place = decimator->group[last_phase];
    place->tag &= RM_TAG_TSC_MASK;
    decimator->missing_phases |= (uint16_t)(1u << decimator->phase);
}

static void give(struct rm_decimator const *decimator, rm_turn turn, struct rm_record *output) {
    uint64_t const last_tag = decimator->group[decimator->design->decimation - 1].tag;
    output->turn = turn;
    output->tag = rm_tag_decimated(last_tag, (uint16_t)(decimator->tally[0] >> 16), (uint16_t)decimator->tally[0]);
    for (int lane = 0; lane < RM_LANES; ++lane) {
        float const sum = decimator->sum[0][4 + lane];
        output->lane[lane].f = isnan(sum) ? NAN : sum;
    }
}

/** What the last push of a group does; apart, so that the others save no registers (0.7 ns a push). */
__attribute__((noinline)) static bool close_output(struct rm_decimator *decimator, struct rm_record *output) {
    uint32_t const centre = decimator->design->centre;
    rm_turn const last_turn = decimator->next_turn - 1;
    complete_group(decimator);
    decimator->phase = 0;
    decimator->missing_phases = 0;
    if (last_turn < centre)
        return false;
    give(decimator, last_turn - centre, output);
    return true;
}

bool rm_decimator_push(struct rm_decimator *decimator, struct rm_record const *record, struct rm_record *output) {
    take(decimator, record);
    ++decimator->next_turn;
    if (++decimator->phase < decimator->design->decimation)
        return false;
    return close_output(decimator, output);
}
