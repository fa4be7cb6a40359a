// SPDX-License-Identifier: Apache-2.0
/** Smallest, mean, largest value and standard deviation of the lanes of records: gathered record by record, and put
 * together from parts (Chan, Golub, LeVeque: "Algorithms for computing the sample variance", 1983). Pure functions. */
#ifndef RM_RECORD_STATISTICS_H
#define RM_RECORD_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/record.h>

/** Of the records so far; all zero: of none. */
struct rm_statistics {
    uint64_t count;
    double min[RM_LANES], max[RM_LANES], mean[RM_LANES];
    /** Sum of the squares of distances from the mean. */
    double squares[RM_LANES];
};

/** Adds records; those of RM_TURN_NONE are left out. Bit `lane` of `floats` says that the lane is f32, else it is i32.
 * The result is the same, to the bit, whatever instructions the processor has. */
void rm_statistics_add(struct rm_statistics *statistics, struct rm_record const *records, size_t count,
                       unsigned floats);

/** Adds what another one has gathered. */
void rm_statistics_merge(struct rm_statistics *statistics, struct rm_statistics const *other);

/** Writes min, mean, max and standard deviation of the lanes, four f32 each; NaN where there are no records. */
void rm_statistics_write(struct rm_statistics const *statistics, unsigned lanes, float *values);

#endif
