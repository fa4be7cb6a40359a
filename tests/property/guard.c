// SPDX-License-Identifier: Apache-2.0
/** The guard behind plain functions, for tests that are not written in C. Applications' supplies come one after the
 * other in one array. */
#include <stdlib.h>

#include "engine/guard.h"
#include "engine/guard_pass.h"

struct property_supply {
    double low, high, slew, safe, safe_slew;
};

struct property_application {
    uint64_t freshness_turns, future_turns;
    uint32_t supply_count, watchdog_cycles, period_cycles, stop;
};

struct property_seen {
    uint64_t state, vectors, stalls, stopped;
    uint64_t refused[RM_REFUSALS];
    uint64_t refusal, actuator, turn, vector;
    double value, limit;
};

struct rm_guard *property_guard_new(struct property_supply const *supply, uint32_t supply_count,
                                    struct property_application const *application, uint32_t application_count,
                                    uint32_t const *owned);
void property_guard_free(struct rm_guard *guard);
void property_guard_join(struct rm_guard *guard, uint32_t supply, double value);
void property_guard_follow(struct rm_guard *guard, uint32_t supply, double value);
void property_guard_fault(struct rm_guard *guard, uint32_t supply, bool faulty);
void property_guard_grant(struct rm_guard *guard, uint32_t application, uint64_t grant_number, bool died);
bool property_guard_vector(struct rm_guard *guard, uint32_t application, uint64_t vector, uint64_t grant_number,
                           uint64_t input, double const *values, uint64_t turn);
int property_guard_put(struct rm_guard *guard, uint32_t supply, double value, uint64_t turn, double *limit);
void property_guard_begin(struct rm_guard *guard, uint64_t turn);
void property_guard_advance(struct rm_guard *guard, uint32_t end);
float const *property_guard_setpoints(struct rm_guard const *guard);
double const *property_guard_exact(struct rm_guard const *guard);
bool property_guard_slewing(struct rm_guard const *guard, uint32_t supply);
void property_guard_see(struct rm_guard const *guard, uint32_t application, struct property_seen *seen);

struct rm_guard *property_guard_new(struct property_supply const *supply, uint32_t supply_count,
                                    struct property_application const *application, uint32_t application_count,
                                    uint32_t const *owned) {
    struct rm_guard_supply *const supplies = calloc(supply_count, sizeof *supplies);
    struct rm_guard_application *const applications = calloc(application_count, sizeof *applications);
    struct rm_guard *guard = NULL;
    for (uint32_t i = 0; i < supply_count && supplies; ++i)
        supplies[i] = (struct rm_guard_supply){supply[i].low, supply[i].high, supply[i].slew, supply[i].safe,
                                               supply[i].safe_slew};
    for (uint32_t i = 0; i < application_count && applications; ++i) {
        applications[i] = (struct rm_guard_application){
            .supply_count = application[i].supply_count,
            .supply = owned,
            .freshness_turns = application[i].freshness_turns,
            .future_turns = application[i].future_turns,
            .watchdog_cycles = application[i].watchdog_cycles,
            .period_cycles = application[i].period_cycles,
            .stop = (enum rm_stop_action)application[i].stop,
        };
        owned += application[i].supply_count;
    }
    if (supplies && applications)
        rm_guard_new(supplies, supply_count, applications, application_count, &guard, NULL);
    free(supplies);
    free(applications);
    return guard;
}

void property_guard_free(struct rm_guard *guard) { rm_guard_free(guard); }

void property_guard_join(struct rm_guard *guard, uint32_t supply, double value) { rm_guard_join(guard, supply, value); }

void property_guard_follow(struct rm_guard *guard, uint32_t supply, double value) {
    rm_guard_follow(guard, supply, value);
}

void property_guard_fault(struct rm_guard *guard, uint32_t supply, bool faulty) {
    rm_guard_fault(guard, supply, faulty);
}

void property_guard_grant(struct rm_guard *guard, uint32_t application, uint64_t grant_number, bool died) {
    rm_guard_grant(guard, application, grant_number, died);
}

bool property_guard_vector(struct rm_guard *guard, uint32_t application, uint64_t vector, uint64_t grant_number,
                           uint64_t input, double const *values, uint64_t turn) {
    struct rm_setpoint_reading const reading = {.number = vector, .grant_number = grant_number, .input_turn = input};
    return rm_guard_vector(guard, application, &reading, values, turn);
}

int property_guard_put(struct rm_guard *guard, uint32_t supply, double value, uint64_t turn, double *limit) {
    return (int)rm_guard_put(guard, supply, value, turn, limit);
}

void property_guard_begin(struct rm_guard *guard, uint64_t turn) { rm_guard_begin(guard, turn); }

void property_guard_advance(struct rm_guard *guard, uint32_t end) { rm_guard_advance(guard, end); }

float const *property_guard_setpoints(struct rm_guard const *guard) { return rm_guard_setpoints(guard); }

double const *property_guard_exact(struct rm_guard const *guard) { return rm_guard_exact(guard); }

bool property_guard_slewing(struct rm_guard const *guard, uint32_t supply) { return rm_guard_slewing(guard, supply); }

void property_guard_see(struct rm_guard const *guard, uint32_t application, struct property_seen *seen) {
    struct rm_application_view const *const view = rm_guard_view(guard, application);
    *seen = (struct property_seen){
        .state = view->state,
        .vectors = view->vectors,
        .stalls = view->stalls,
        .stopped = rm_guard_stopped(guard, application),
        .refusal = view->offence.refusal,
        .actuator = view->offence.actuator,
        .turn = view->offence.turn,
        .vector = view->offence.vector,
        .value = view->offence.value,
        .limit = view->offence.limit,
    };
    for (int i = 0; i < RM_REFUSALS; ++i)
        seen->refused[i] = view->refused[i];
}
