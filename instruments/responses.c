// SPDX-License-Identifier: Apache-2.0
#include "responses.h"

#include "base/timebase.h"

static double const MOST = 1e9;

static int32_t round_response(double value) {
    double const kept = value > MOST ? MOST : value < -MOST ? -MOST : value;
    return (int32_t)(kept < 0 ? kept - 0.5 : kept + 0.5);
}

double rm_responses_time(struct rm_responses const *responses, uint64_t index) {
    struct rm_turn_pace const *pace = responses->pace;
    bool const paced = pace != NULL && pace->ticks_per_turn > 0;
    return rm_chains_seconds(responses->chains, paced ? rm_turn_pace_tsc(pace, index) : rm_tsc());
}

void rm_responses_currents(void *state, uint64_t index, double *current) {
    struct rm_responses const *responses = state;
    if (responses->chains != NULL)
        rm_chains_currents(responses->chains, rm_responses_time(responses, index), current);
}

void rm_responses_currents_of(void *state, uint64_t index, uint32_t const *supply, uint32_t count, double *current) {
    struct rm_responses const *responses = state;
    if (responses->chains != NULL)
        rm_chains_currents_of(responses->chains, rm_responses_time(responses, index), supply, count, current);
}

void rm_responses_add_at(struct rm_chains *chains, struct rm_beam *beam, double time, uint32_t first, uint32_t count) {
    struct rm_ring_supplies const *config = chains->config;
    for (uint32_t r = 0; r < config->response_count; ++r) {
        struct rm_ring_response const *response = &config->responses[r];
        if (response->instrument - first >= count)
            continue;
        struct rm_supply *supply = &chains->supply[response->supply];
        rm_supply_advance(supply, time);
        rm_beam_add(beam, response->instrument, response->lane,
                    round_response(response->per_unit * rm_supply_current(supply, time)));
    }
}

void rm_responses_add(struct rm_responses const *responses, struct rm_beam *beam, uint64_t index, uint32_t first,
                      uint32_t count) {
    if (responses->chains->config->response_count != 0)
        rm_responses_add_at(responses->chains, beam, rm_responses_time(responses, index), first, count);
}
