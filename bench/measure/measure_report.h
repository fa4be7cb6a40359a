// SPDX-License-Identifier: Apache-2.0
/** The figures of a measurement, and how they are printed. */
#ifndef RM_BENCH_MEASURE_REPORT_H
#define RM_BENCH_MEASURE_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "config/config.h"

/** The rounds of one size of fill; both arrays by round, nanoseconds per packet. */
struct rm_measure_figure {
    /** "hot", "cold" or "given". */
    char const *name;
    /** Datagrams of a fill. */
    uint32_t datagrams;

    uint32_t rounds;
    double *poll_ns;
    double *full_ns;
};

struct rm_measure_conditions {
    enum rm_simd simd;
    /** Packet buffers are on huge pages. */
    bool huge_pages;

    bool by_turn;
};

/** Prints one line of JSON. Sorts the figures' rounds. False when there is no memory. */
bool rm_measure_print(struct rm_config const *config, struct rm_measure_conditions const *conditions,
                      struct rm_measure_figure *figure, uint32_t figures, FILE *out);

#endif
