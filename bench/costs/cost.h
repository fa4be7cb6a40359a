// SPDX-License-Identifier: Apache-2.0
/** A cost that ringmaster-cost measures. A new one is a file with such an object, a line of the table in main.c, and one
 * in meson.build: set-up in prepare(), what is timed in the act of each case. */
#ifndef RM_BENCH_COSTS_COST_H
#define RM_BENCH_COSTS_COST_H

#include "base/options.h"
#include "bench/rounds.h"
#include "wire/layout.h"

enum { COST_CASES_MAX = 16, COST_WORDS_MAX = 2 };

struct bench_cost {
    char const *name;
    /** What it costs, and of what, for the help: one line. */
    char const *about;
    /** Unless --rounds says otherwise. */
    uint32_t rounds;
    /** Words of the command line behind the name; the first without a name ends them. */
    struct rm_option words[COST_WORDS_MAX];
    /** What the times are of, for people: "ns per push"; and how many nanoseconds its unit has. */
    char const *unit;

    double unit_ns;
    /** Makes the cases, and returns how many. Ends the program where it cannot. */
    size_t (*prepare)(struct bench_case cases[COST_CASES_MAX]);
    /** Looks whether all was done that was timed; NULL: nothing to look at. */
    void (*check)(void);
    /** In place of prepare: measures and prints by itself. */
    void (*run)(uint32_t rounds);
};

/** The native layout of two BPMs, described. */
extern struct rm_layout_description const native_described;

extern struct bench_cost const assembly_cost, beam_cost, calibrate_cost, chain_cost, decision_cost, excite_cost,
    filter_cost, follow_cost, frame_cost, guard_cost, layout_cost, machine_cost, profile_cost, receive_cost, runs_cost,
    sequence_cost, setpoint_frame_cost, solve_cost;

#endif
