// SPDX-License-Identifier: Apache-2.0
/** A step of excite, of 528 supplies: all of them stand, are on their way, or have a sine; and a step behind one that was
 * left out, which computes all sines anew. What the host adds is in `decision` and `guard`. */
#include <string.h>

#include "apps/excite/supplies.h"
#include "cost.h"

enum { SUPPLIES = 528, STEPS = 128, PERIOD_TURNS = 120 };

static double const EXCITE_RATE_HZ = 1157000;

enum excite_work { EXCITE_STANDS, EXCITE_MOVES, EXCITE_SINES, EXCITE_SKIPS };

struct excite_cost {
    struct excite_supplies supplies;
    double sent[SUPPLIES], position[SUPPLIES], amplitude[SUPPLIES], hz[SUPPLIES], phase[SUPPLIES];
    double low[SUPPLIES], high[SUPPLIES], slew[SUPPLIES], setpoint[SUPPLIES];
    enum excite_work work;
    uint64_t step;
};

static void excite_cost_step(struct excite_cost *cost) {
    struct excite_supplies *supplies = &cost->supplies;
    cost->step += cost->work == EXCITE_SKIPS ? 2 : 1;
    excite_supplies_move(supplies, (double)(cost->step * PERIOD_TURNS), cost->setpoint, cost->position, cost->slew,
                         PERIOD_TURNS, 1e12);
    if (cost->work >= EXCITE_SINES)
        excite_supplies_add_sines(supplies, cost->step, 0.5);
    excite_supplies_put(supplies, cost->low, cost->high, cost->slew, cost->setpoint);
}

static uint64_t excite_cost_steps(void *subject) {
    for (uint32_t s = 0; s < STEPS; ++s)
        excite_cost_step(subject);
    return STEPS;
}

static void excite_cost_make(struct excite_cost *cost, enum excite_work work) {
    cost->work = work;
    if (!excite_supplies_make(&cost->supplies, SUPPLIES))
        bench_fail("no memory for the supplies");
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        cost->low[i] = -10;
        cost->high[i] = 10;
        cost->slew[i] = 1;
        cost->amplitude[i] = 0.1;
        cost->hz[i] = 10 + 0.37 * i;
        cost->phase[i] = i;
        cost->position[i] = 1e30;
    }
    excite_supplies_begin(&cost->supplies, cost->sent, cost->position, PERIOD_TURNS / EXCITE_RATE_HZ);
    excite_supplies_excite(&cost->supplies, cost->amplitude, cost->hz, cost->phase);
    for (uint32_t i = 0; work == EXCITE_MOVES && i < SUPPLIES; ++i)
        cost->position[i] = 1;
}

static size_t excite_cost_prepare(struct bench_case *cases) {
    static char const *const names[] = {"528 supplies that stand", "528 on their way", "528 sines",
                                        "528 sines behind a step that was left out"};
    enum { COUNT = sizeof names / sizeof *names };
    static struct excite_cost costs[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        excite_cost_make(&costs[i], (enum excite_work)i);
        cases[i] = (struct bench_case){names[i], excite_cost_steps, &costs[i], NULL, NULL};
    }
    return COUNT;
}

struct bench_cost const excite_cost = {.name = "excite",
                                       .about = "a step of excite: supplies on their way, and their sines",
                                       .rounds = 51,
                                       .unit = "ns per step",
                                       .unit_ns = 1,
                                       .prepare = excite_cost_prepare};
