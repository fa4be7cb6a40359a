// SPDX-License-Identifier: Apache-2.0
/** What does the guard cost: to judge an application's vector, and to end a cycle?
 *
 *     guard_cost [ROUNDS]      default 15
 *
 * 1248 supplies, of which one application owns 144, 264 or all. `vector` is a good one; `beyond slew` one in which
 * every value is too far for a cycle; `refused` one in which every value is NaN. Medians of a call, with the spread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/timebase.h"
#include "engine/guard.h"

enum { SUPPLIES = 1248, CALLS = 5000, ROUNDS_MOST = 1000 };

static uint32_t number[SUPPLIES];
static double zeros[SUPPLIES], small[SUPPLIES], large[SUPPLIES], wrong[SUPPLIES];

static int by_size(void const *a, void const *b) {
    double const left = *(double const *)a, right = *(double const *)b;
    return (left > right) - (left < right);
}

static void guard_cost_report(char const *name, uint32_t supplies, double *ns, int rounds) {
    qsort(ns, (size_t)rounds, sizeof *ns, by_size);
    printf("%-24s %5u supplies %8.1f ns (%.1f to %.1f)\n", name, supplies, ns[rounds / 2], ns[0], ns[rounds - 1]);
}

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
    if (rm_guard_new(supply, SUPPLIES, application, 2, &guard, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        rm_guard_join(guard, i, 0);
    rm_guard_grant(guard, 1, 7, false);
    return guard;
}

static void measure_vector(char const *name, uint32_t owned, double const *values, int rounds, double ns_per_tick) {
    struct rm_guard *const guard = make_owned_guard(owned);
    double ns[ROUNDS_MOST];
    for (int round = 0; round < rounds; ++round) {
        uint64_t const begin = rm_tsc();
        for (uint64_t call = 0; call < CALLS; ++call)
            rm_guard_vector(guard, 1,
                            &(struct rm_setpoint_reading){.number = call, .grant_number = 7, .input_turn = call},
                            values, call);
        ns[round] = (double)(rm_tsc() - begin) * ns_per_tick / CALLS;
    }
    guard_cost_report(name, owned, ns, rounds);
    rm_guard_free(guard);
}

/** Half of the cycles move everything up, the others down. */
static void measure_cycle(int rounds, double ns_per_tick) {
    struct rm_guard *const guard = make_owned_guard(SUPPLIES);
    double ns[ROUNDS_MOST];
    rm_turn turn = 0;
    for (int round = 0; round < rounds; ++round) {
        rm_guard_vector(guard, 1, &(struct rm_setpoint_reading){.grant_number = 7, .input_turn = turn},
                        round % 2 ? large : zeros, turn);
        uint64_t const begin = rm_tsc();
        for (uint64_t call = 0; call < CALLS; ++call)
            rm_guard_cycle(guard, ++turn);
        ns[round] = (double)(rm_tsc() - begin) * ns_per_tick / CALLS;
    }
    guard_cost_report("cycle", SUPPLIES, ns, rounds);
    rm_guard_free(guard);
}

int main(int argc, char **argv) {
    static uint32_t const owned[] = {144, 264, SUPPLIES};
    int const wanted = argc > 1 ? atoi(argv[1]) : 15;
    int const rounds = wanted >= 1 && wanted <= ROUNDS_MOST ? wanted : 15;
    double const ns_per_tick = 1e9 / rm_tsc_hz_measure();

    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
        measure_vector("vector", owned[i], small, rounds, ns_per_tick);
        measure_vector("vector, beyond slew", owned[i], large, rounds, ns_per_tick);
        measure_vector("vector, refused", owned[i], wrong, rounds, ns_per_tick);
    }
    measure_cycle(rounds, ns_per_tick);
    return 0;
}
