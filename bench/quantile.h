// SPDX-License-Identifier: Apache-2.0
/** Quantiles of a histogram of shared memory. */
#ifndef RM_BENCH_QUANTILE_H
#define RM_BENCH_QUANTILE_H

#include <ringmaster/histogram.h>

/** The value below which `share` of all lies, within 6 %, in the histogram's unit. */
static inline double bench_quantile(struct rm_histogram const *histogram, double share) {
    double const wanted = share * (double)atomic_load(&histogram->total);
    double seen = 0.0;
    unsigned i = 0;
    for (; i < RM_HISTOGRAM_BUCKETS - 1 && seen <= wanted; ++i)
        seen += (double)atomic_load(&histogram->bucket[i]);
    return (double)rm_histogram_floor(i);
}

#endif
