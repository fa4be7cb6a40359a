// SPDX-License-Identifier: Apache-2.0
/** The guard judges an application's vector, and ends a cycle. 1248 supplies, of which one application owns 144, 264 or
 * all. `vector` is a good one; `beyond slew` one in which every value is too far for a cycle; `refused` one in which
 * every value is NaN. */
#include <math.h>

#include "cost.h"
#include "engine/guard.h"

enum { SUPPLIES = 1248, CALLS = 5000 };

static uint32_t number[SUPPLIES];
static double zeros[SUPPLIES], small[SUPPLIES], large[SUPPLIES], wrong[SUPPLIES];

/** A guard, and the vector that it is given. */
struct subject {
    struct rm_guard *guard;
    double const *values;
    rm_turn turn;
};

static struct rm_guard *make_owned_guard(uint32_t owned) {
    static struct rm_guard_supply supply[SUPPLIES];
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        supply[i] = (struct rm_guard_supply){.low = -10, .high = 10, .slew = 0.02, .safe = 0, .safe_slew = 0.01};
        number[i] = i;
        small[i] = 1e-3;
        large[i] = 5;
        wrong[i] = NAN;
    }
    struct rm_guard_application const application[2] = {
        {.supply_count = SUPPLIES - owned, .supply = number + owned},
        {.supply_count = owned, .supply = number, .freshness_turns = 1000, .watchdog_cycles = 2, .period_cycles = 1},
    };
    struct rm_guard *guard;
    struct rm_error error;
    bench_must(rm_guard_new(supply, SUPPLIES, application, 2, &guard, &error), &error);
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        rm_guard_join(guard, i, 0);
    rm_guard_grant(guard, 1, 7, false);
    return guard;
}

static uint64_t judge_vectors(void *argument) {
    struct subject *const subject = argument;
    for (uint64_t call = 0; call < CALLS; ++call)
        rm_guard_vector(subject->guard, 1,
                        &(struct rm_setpoint_reading){.number = call, .grant_number = 7, .input_turn = call},
                        subject->values, call);
    return CALLS;
}

/** Half of the calls move everything up, the others down. */
static uint64_t end_cycles(void *argument) {
    struct subject *const subject = argument;
    subject->values = subject->values == large ? zeros : large;
    rm_guard_vector(subject->guard, 1, &(struct rm_setpoint_reading){.grant_number = 7, .input_turn = subject->turn},
                    subject->values, subject->turn);
    for (uint64_t call = 0; call < CALLS; ++call)
        rm_guard_cycle(subject->guard, ++subject->turn);
    return CALLS;
}

static size_t guard_prepare(struct bench_case *cases) {
    static struct {
        char const *name;
        uint32_t owned;
        double const *values;
        uint64_t (*act)(void *);
    } const kinds[] = {
        {"vector, 144 supplies", 144, small, judge_vectors},
        {"vector, beyond slew, 144 supplies", 144, large, judge_vectors},
        {"vector, refused, 144 supplies", 144, wrong, judge_vectors},
        {"vector, 264 supplies", 264, small, judge_vectors},
        {"vector, beyond slew, 264 supplies", 264, large, judge_vectors},
        {"vector, refused, 264 supplies", 264, wrong, judge_vectors},
        {"vector, 1248 supplies", SUPPLIES, small, judge_vectors},
        {"vector, beyond slew, 1248 supplies", SUPPLIES, large, judge_vectors},
        {"vector, refused, 1248 supplies", SUPPLIES, wrong, judge_vectors},
        {"cycle, 1248 supplies", SUPPLIES, zeros, end_cycles},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static struct subject subjects[KINDS];
    for (size_t i = 0; i < KINDS; ++i) {
        subjects[i] = (struct subject){make_owned_guard(kinds[i].owned), kinds[i].values, 0};
        cases[i] = (struct bench_case){kinds[i].name, kinds[i].act, &subjects[i], NULL, NULL};
    }
    return KINDS;
}

struct bench_cost const guard_cost = {.name = "guard",
                                      .about = "to judge a setpoint vector, and to end a cycle of setpoints",
                                      .rounds = 15,
                                      .unit = "ns",
                                      .unit_ns = 1,
                                      .prepare = guard_prepare};
