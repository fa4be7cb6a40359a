// SPDX-License-Identifier: Apache-2.0
/** A record in the stream is calibrated by first order (gain, offset, roll) or by all orders, over 9 and 96 instruments
 * that take turns; beside a copy of the record, which each of them makes too. */
#include <stdio.h>

#include "calibration/compiled.h"
#include "cost.h"

enum { RECORDS = 200000, INSTRUMENTS_MAX = 96, NAME_BYTES = 32 };

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
    struct rm_calibration_compiled compiled[INSTRUMENTS_MAX];
    enum calibrate_work work;
    uint32_t instruments;
    char name[NAME_BYTES];
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

static size_t calibrate_prepare(struct bench_case *cases) {
    static uint32_t const instruments[] = {9, INSTRUMENTS_MAX};
    static struct subject subjects[WORKS * 2];
    for (uint32_t s = 0; s < WORKS * 2; ++s) {
        struct subject *const subject = &subjects[s];
        subject->work = (enum calibrate_work)(s % WORKS);
        subject->instruments = instruments[s / WORKS];
        for (uint32_t i = 0; i < subject->instruments; ++i)
            calibrate_cost_compile(&subject->compiled[i], subject->work);
        snprintf(subject->name, NAME_BYTES, "%s, %u instruments", names[subject->work], subject->instruments);
        cases[s] = (struct bench_case){subject->name, calibrate_records, subject, NULL, NULL};
        if (subject->work != COPY)
            cases[s].beside = &cases[s / WORKS * WORKS];
    }
    return WORKS * 2;
}

struct bench_cost const calibrate_cost = {.name = "calibrate",
                                          .about = "to calibrate a record in the stream",
                                          .rounds = 31,
                                          .unit = "ns per record",
                                          .unit_ns = 1,
                                          .prepare = calibrate_prepare};
