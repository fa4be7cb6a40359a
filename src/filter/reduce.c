// SPDX-License-Identifier: Apache-2.0
#include "filter/reduce.h"

#include <math.h>
#include <string.h>

#include <ringmaster/stream.h>

void rm_reducer_init(struct rm_reducer *reducer, uint8_t const reduction[RM_LANES], uint16_t float_lanes,
                     uint32_t overlap) {
    *reducer = (struct rm_reducer){.float_lanes = float_lanes, .rows = overlap / 2};
    memcpy(reducer->reduction, reduction, sizeof reducer->reduction);
    reducer->active = rm_reducer_lanes(reducer) != 0;
}

uint16_t rm_reducer_lanes(struct rm_reducer const *reducer) {
    uint16_t lanes = 0;
    for (unsigned lane = 0; lane < RM_LANES; ++lane)
        if (reducer->reduction[lane] != RM_REDUCE_FIR)
            lanes |= (uint16_t)(1u << lane);
    return lanes;
}

static bool lane_is_below(union rm_lane a, union rm_lane b, bool is_float) { return is_float ? a.f < b.f : a.i < b.i; }

/** The better of two, `than` first; a NaN is worse than any number. */
static union rm_lane lesser_lane(union rm_lane than, union rm_lane value, bool is_float) {
    return lane_is_below(value, than, is_float) || (is_float && isnan(than.f)) ? value : than;
}

static union rm_lane greater_lane(union rm_lane than, union rm_lane value, bool is_float) {
    return lane_is_below(than, value, is_float) || (is_float && isnan(than.f)) ? value : than;
}

static union rm_lane combine_lanes(enum rm_reduction reduction, union rm_lane so_far, union rm_lane value,
                                   bool is_float) {
    switch (reduction) {
    case RM_REDUCE_OR:
        return (union rm_lane){.i = so_far.i | value.i};
    case RM_REDUCE_AND:
        return (union rm_lane){.i = so_far.i & value.i};
    case RM_REDUCE_MIN:
        return lesser_lane(so_far, value, is_float);
    case RM_REDUCE_MAX:
        return greater_lane(so_far, value, is_float);
    case RM_REDUCE_FIR:
    case RM_REDUCE_LAST:
        break;
    }
    return value;
}

void rm_reducer_start(struct rm_reducer *reducer, struct rm_record const *record) {
    for (uint32_t i = 0; i < reducer->rows; ++i) {
        memcpy(reducer->row[i].lane, record->lane, sizeof reducer->row[i].lane);
        reducer->row[i].absent = true;
    }
}

void rm_reducer_take(struct rm_reducer *reducer, struct rm_record const *group, uint32_t decimation, uint16_t absent) {
    memmove(&reducer->row[0], &reducer->row[1], (reducer->rows - 1) * sizeof reducer->row[0]);
    struct rm_reduced_group *const newest = &reducer->row[reducer->rows - 1];
    memcpy(newest->lane, group[decimation - 1].lane, sizeof newest->lane);
    newest->absent = true;
    for (uint32_t phase = 0; phase < decimation; ++phase) {
        if (absent >> phase & 1)
            continue;
        for (unsigned lane = 0; lane < RM_LANES; ++lane) {
            union rm_lane const value = group[phase].lane[lane];
            bool const is_float = reducer->float_lanes >> lane & 1;
            newest->lane[lane] = newest->absent ? value
                                                : combine_lanes((enum rm_reduction)reducer->reduction[lane],
                                                                newest->lane[lane], value, is_float);
        }
        newest->absent = false;
    }
}

void rm_reducer_give(struct rm_reducer const *reducer, struct rm_record *output) {
    for (unsigned lane = 0; lane < RM_LANES; ++lane)
        if (reducer->reduction[lane] != RM_REDUCE_FIR)
            output->lane[lane] = reducer->row[0].lane[lane];
}
