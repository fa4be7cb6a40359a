// SPDX-License-Identifier: Apache-2.0
/** What does it cost to calibrate a record in the stream?
 *
 *     build/bench/calibrate_cost
 *
 * For first order (gain, offset, roll) and for all orders, for the scalar version and AVX-512, over 9 and 96
 * instruments that take turns: nanoseconds per record, as median and spread (lowest and highest) over ROUNDS rounds,
 * the versions alternating within a round. A copy of the record, which each round makes too, is measured in the same
 * way and taken off.
 */
#include <stdio.h>

#include "calibration/compiled.h"
#include "rounds.h"

enum { ROUNDS = 15, RECORDS = 2000000, INSTRUMENTS_MAX = 96 };

enum calibrate_work { COPY, FIRST_ORDER, ALL_ORDERS, WORKS };

static char const *const names[WORKS] = {"copy", "first order", "all orders"};

static void calibrate_cost_compile(struct rm_calibration_compiled *compiled, enum calibrate_work work) {
    struct rm_lane_info lanes[RM_LANES] = {{.name = "x1"}, {.name = "y1"}, {.name = "sum1"}, {.name = "q1"},
                                           {.name = "x2"}, {.name = "y2"}, {.name = "sum2"}, {.name = "q2"}};
    struct rm_calibration calibration;
    rm_calibration_identity(&calibration, lanes, RM_LANES);
    calibration.calibrated_lanes = 0x33;
    for (uint32_t i = 0; i < RM_LANES; ++i) {
        lanes[i].type = RM_LANE_I32;
        calibration.lane[i].c[1] = 1e-6;
    }
    for (uint32_t b = 0; b < 2; ++b) {
        calibration.bpm[b].roll_rad = 1e-3;
        calibration.bpm[b].x.k[RM_K30] = work == ALL_ORDERS ? 1e-3 : 0;
    }
    rm_calibration_compile(&calibration, lanes, compiled);
}

/** Instruments that take turns. */
struct subject {
    enum calibrate_work work;
    uint32_t instruments;
    struct rm_calibration_compiled compiled[INSTRUMENTS_MAX];
};

static uint64_t calibrate_records(void *argument) {
    struct subject const *const subject = argument;
    struct rm_record const raw = {.lane = {{100}, {-200}, {3000}, {4}, {500}, {-600}, {7000}, {8}}};
    uint32_t const turns = RECORDS / subject->instruments;
    for (uint32_t turn = 0; turn < turns; ++turn)
        for (uint32_t i = 0; i < subject->instruments; ++i) {
            struct rm_record record = raw;
            if (subject->work != COPY)
                rm_calibrate_record(&subject->compiled[i], &record);
            __asm__ volatile("" ::"r"(&record) : "memory");
        }
    return (uint64_t)turns * subject->instruments;
}

static void calibrate_cost_measure(uint32_t instruments) {
    static struct subject subjects[WORKS];
    struct bench_case cases[WORKS];
    for (uint32_t work = 0; work < WORKS; ++work) {
        subjects[work].work = (enum calibrate_work)work;
        subjects[work].instruments = instruments;
        for (uint32_t i = 0; i < instruments; ++i)
            calibrate_cost_compile(&subjects[work].compiled[i], (enum calibrate_work)work);
        cases[work] = (struct bench_case){names[work], calibrate_records, &subjects[work], NULL};
    }
    bench_rounds(cases, WORKS, ROUNDS);
    struct bench_figure figure[WORKS];
    for (uint32_t work = 0; work < WORKS; ++work)
        figure[work] = bench_figure_of(cases[work].ns, ROUNDS, 0);
    for (uint32_t work = FIRST_ORDER; work < WORKS; ++work)
        printf("%-11s %2u instruments: %5.2f ns per record (%.2f to %.2f with the copy's %.2f)\n", names[work],
               instruments, figure[work].median - figure[COPY].median, figure[work].low, figure[work].high,
               figure[COPY].median);
}

int main(void) {
    calibrate_cost_measure(9);
    calibrate_cost_measure(INSTRUMENTS_MAX);
    return 0;
}
