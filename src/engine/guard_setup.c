// SPDX-License-Identifier: Apache-2.0
#include "engine/guard_setup.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

static double const FIRST_VECTOR_SECONDS = 2.0;

static void describe_supplies(struct rm_config const *config, struct rm_guard_supply *supply) {
    double const cycles_per_second = config->turn_rate_hz / (double)config->setpoints.period_turns;
    for (uint32_t i = 0; i < config->supply_count; ++i) {
        struct rm_config_supply const *const wanted = &config->supply[i];
        supply[i] = (struct rm_guard_supply){
            .low = wanted->low,
            .high = wanted->high,
            .slew = wanted->slew_per_s / cycles_per_second,
            .safe = wanted->safe,
            .safe_slew = wanted->safe_slew_per_s / cycles_per_second,
        };
    }
}

/** The supplies that are left to the operator. */
static uint32_t collect_operators(struct rm_config const *config, uint32_t *supply) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < config->supply_count; ++i)
        if (config->supply[i].application == 0)
            supply[count++] = i;
    return count;
}

/** Waiting for the first inputs, and for the clock, takes its time; the watchdog's alone may be some microseconds. */
static uint64_t first_vector_cycles(struct rm_config const *config, uint64_t watchdog) {
    double const cycles = ceil(FIRST_VECTOR_SECONDS * config->turn_rate_hz / (double)config->setpoints.period_turns);
    return cycles > (double)watchdog ? (uint64_t)cycles : watchdog;
}

static void describe_applications(struct rm_config const *config, uint32_t *operators,
                                  struct rm_guard_application *application) {
    application[0].supply = operators;
    application[0].supply_count = collect_operators(config, operators);
    for (uint32_t i = 1; i < config->application_count; ++i) {
        struct rm_config_application const *const wanted = &config->application[i];
        uint32_t const period = config->setpoints.period_turns;
        uint32_t const own = wanted->period_turns > period ? wanted->period_turns / period : 1;
        application[i] = (struct rm_guard_application){
            .supply_count = wanted->supply_count,
            .supply = wanted->supply,
            .freshness_turns = wanted->freshness_turns,
            .future_turns = config->turn_window.ahead_turns,
            .watchdog_cycles = wanted->watchdog_cycles,
            .period_cycles = own,
            .first_vector_cycles = first_vector_cycles(config, (uint64_t)wanted->watchdog_cycles * own),
            .stop = wanted->stop,
        };
    }
}

enum rm_code rm_guard_of_config(struct rm_config const *config, struct rm_guard **guard, struct rm_error *error) {
    struct rm_guard_supply *const supply = calloc(config->supply_count + 1ul, sizeof *supply);
    struct rm_guard_application *const application = calloc(config->application_count + 1ul, sizeof *application);
    uint32_t *const operators = calloc(config->supply_count + 1ul, sizeof *operators);
    enum rm_code code = RM_E_NO_SPACE;
    if (supply != NULL && application != NULL && operators != NULL) {
        describe_supplies(config, supply);
        describe_applications(config, operators, application);
        code = rm_guard_new(supply, config->supply_count, application, config->application_count, guard, error);
    } else {
        rm_fail(error, code, "no memory for the guard of %u supplies", config->supply_count);
    }
    free(supply);
    free(application);
    free(operators);
    return code;
}
