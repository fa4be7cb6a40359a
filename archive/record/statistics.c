// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <math.h>
#include <string.h>

#include "base/per_instruction_set.h"

/** Sums of distances from the first record: exact for integers, and without loss where a lane is far from 0. */
struct statistics_sums {
    double from[RM_LANES], sum[RM_LANES], squares[RM_LANES], min[RM_LANES], max[RM_LANES];
    uint64_t count;
};

/** All lanes as doubles. Both readings are made, and one is chosen, so that it needs no branch. */
static inline void statistics_lanes(struct rm_record const *record, double const is_float[RM_LANES],
                                    double value[RM_LANES]) {
    int32_t whole[RM_LANES];
    float number[RM_LANES];
    memcpy(whole, record->lane, sizeof whole);
    memcpy(number, record->lane, sizeof number);
    for (unsigned lane = 0; lane < RM_LANES; ++lane)
        value[lane] = is_float[lane] != 0 ? (double)number[lane] : (double)whole[lane];
}

/** The inner loop goes over lanes, which do not depend on each other: so vectors change no result. */
RM_PER_INSTRUCTION_SET static void statistics_gather(struct statistics_sums *sums, struct rm_record const *records,
                                                     size_t count, double const is_float[RM_LANES]) {
    for (size_t i = 0; i < count; ++i) {
        double value[RM_LANES];
        if (records[i].turn == RM_TURN_NONE)
            continue;
        statistics_lanes(&records[i], is_float, value);
        if (sums->count++ == 0) {
            memcpy(sums->from, value, sizeof value);
            memcpy(sums->min, value, sizeof value);
            memcpy(sums->max, value, sizeof value);
            continue;
        }
        for (unsigned lane = 0; lane < RM_LANES; ++lane) {
            double const away = value[lane] - sums->from[lane];
            sums->sum[lane] += away;
            sums->squares[lane] += away * away;
            sums->min[lane] = value[lane] < sums->min[lane] ? value[lane] : sums->min[lane];
            sums->max[lane] = value[lane] > sums->max[lane] ? value[lane] : sums->max[lane];
        }
    }
}

void rm_statistics_add(struct rm_statistics *statistics, struct rm_record const *records, size_t count,
                       unsigned floats) {
    struct statistics_sums sums = {.count = 0};
    double is_float[RM_LANES];
    for (unsigned lane = 0; lane < RM_LANES; ++lane)
        is_float[lane] = (floats >> lane & 1) != 0 ? 1 : 0;
    statistics_gather(&sums, records, count, is_float);
    if (sums.count == 0)
        return;
    struct rm_statistics part = {.count = sums.count};
    for (unsigned lane = 0; lane < RM_LANES; ++lane) {
        double const mean = sums.sum[lane] / (double)sums.count;
        double const squares = sums.squares[lane] - sums.sum[lane] * mean;
        part.mean[lane] = sums.from[lane] + mean;
        part.squares[lane] = squares > 0 || isnan(squares) ? squares : 0;
        part.min[lane] = sums.min[lane];
        part.max[lane] = sums.max[lane];
    }
    rm_statistics_merge(statistics, &part);
}

void rm_statistics_merge(struct rm_statistics *statistics, struct rm_statistics const *other) {
    if (other->count == 0)
        return;
    if (statistics->count == 0) {
        *statistics = *other;
        return;
    }
    double const here = (double)statistics->count, there = (double)other->count, all = here + there;
    for (unsigned lane = 0; lane < RM_LANES; ++lane) {
        double const apart = other->mean[lane] - statistics->mean[lane];
        statistics->mean[lane] += apart * there / all;
        statistics->squares[lane] += other->squares[lane] + apart * apart * here * there / all;
        statistics->min[lane] = other->min[lane] < statistics->min[lane] ? other->min[lane] : statistics->min[lane];
        statistics->max[lane] = other->max[lane] > statistics->max[lane] ? other->max[lane] : statistics->max[lane];
    }
    statistics->count += other->count;
}

void rm_statistics_write(struct rm_statistics const *statistics, unsigned lanes, float *values) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
        bool const none = statistics->count == 0;
        values[4 * lane] = none ? NAN : (float)statistics->min[lane];
        values[4 * lane + 1] = none ? NAN : (float)statistics->mean[lane];
        values[4 * lane + 2] = none ? NAN : (float)statistics->max[lane];
        values[4 * lane + 3] = none ? NAN : (float)sqrt(statistics->squares[lane] / (double)statistics->count);
    }
}
