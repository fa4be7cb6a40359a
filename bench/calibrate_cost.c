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
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibration/compiled.h"

enum { ROUNDS = 15, RECORDS = 2000000, INSTRUMENTS_MAX = 96 };

enum calibrate_work { COPY, FIRST_ORDER, ALL_ORDERS, WORKS };

static char const *const names[WORKS] = {"copy", "first order", "all orders"};

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

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

/** Nanoseconds per record of one round. */
static double round_ns(enum calibrate_work work, struct rm_calibration_compiled const *compiled, uint32_t instruments) {
    struct rm_record const raw = {.lane = {{100}, {-200}, {3000}, {4}, {500}, {-600}, {7000}, {8}}};
    uint32_t const turns = RECORDS / instruments;
    double const start = now_ns();
    for (uint32_t turn = 0; turn < turns; ++turn)
        for (uint32_t i = 0; i < instruments; ++i) {
            struct rm_record record = raw;
            if (work != COPY)
                rm_calibrate_record(&compiled[i], &record);
            __asm__ volatile("" ::"r"(&record) : "memory");
        }
    return (now_ns() - start) / ((double)turns * instruments);
}

static int by_size(void const *a, void const *b) {
    double const left = *(double const *)a, right = *(double const *)b;
    return (left > right) - (left < right);
}

static void calibrate_cost_measure(uint32_t instruments) {
    static struct rm_calibration_compiled compiled[WORKS][INSTRUMENTS_MAX];
    double ns[WORKS][ROUNDS];
    for (uint32_t work = 0; work < WORKS; ++work) {
        for (uint32_t i = 0; i < instruments; ++i)
            calibrate_cost_compile(&compiled[work][i], (enum calibrate_work)work);
        round_ns((enum calibrate_work)work, compiled[work], instruments); /* warm up */
    }
    for (int round = 0; round < ROUNDS; ++round)
        for (uint32_t work = 0; work < WORKS; ++work)
            ns[work][round] = round_ns((enum calibrate_work)work, compiled[work], instruments);
    for (uint32_t work = 0; work < WORKS; ++work)
        qsort(ns[work], ROUNDS, sizeof ns[work][0], by_size);
    for (uint32_t work = FIRST_ORDER; work < WORKS; ++work)
        printf("%-11s %2u instruments: %5.2f ns per record (%.2f to %.2f with the copy's %.2f)\n", names[work],
               instruments, ns[work][ROUNDS / 2] - ns[COPY][ROUNDS / 2], ns[work][0], ns[work][ROUNDS - 1],
               ns[COPY][ROUNDS / 2]);
}

int main(void) {
    calibrate_cost_measure(9);
    calibrate_cost_measure(INSTRUMENTS_MAX);
    return 0;
}
