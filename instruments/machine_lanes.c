// SPDX-License-Identifier: Apache-2.0
#include "machine_lanes.h"

#include <math.h>
#include <stdlib.h>

#include <ringmaster/stream.h>

#include "base/fail.h"

enum {
    SUM_LANE = 2,        /**< of a BPM, after its x */
    STEPS_AT_ONCE = 100, /**< more than any filter of a BPM remembers */
};

static double const READS_NM = 2e9; /**< what an i32 holds */

static void find_lanes_bpms(struct rm_machine_lanes *lanes) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    for (uint32_t i = 0, b = 0; i <= lanes->ring->instrument_count; ++i) {
        while (b < config->bpm_count && config->bpm_instrument[b] < i)
            ++b;
        lanes->first_bpm[i] = b;
    }
}

/** The amplitude of an oscillation follows √β; keys of the beam speak of its mean over the BPMs. */
static void place_bpms(struct rm_machine_lanes const *lanes, struct rm_beam *beam) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    double root[2] = {0, 0}, dispersion = 0;
    for (uint32_t b = 0; b < config->bpm_count; ++b) {
        struct rm_machine_bpm_optics const optics = rm_machine_optics(lanes->machine, b);
        root[0] += sqrt(optics.beta_m[0]) / config->bpm_count;
        root[1] += sqrt(optics.beta_m[1]) / config->bpm_count;
        dispersion += fabs(optics.dispersion_m) / config->bpm_count;
    }
    for (uint32_t b = 0; b < config->bpm_count; ++b) {
        struct rm_machine_bpm_optics const optics = rm_machine_optics(lanes->machine, b);
        struct rm_beam_bpm const place = {
            .root = {sqrt(optics.beta_m[0]) / root[0], sqrt(optics.beta_m[1]) / root[1]},
            .phase = {optics.phase_rad[0], optics.phase_rad[1]},
            .dispersion = dispersion > 0 ? optics.dispersion_m / dispersion : 0,
        };
        rm_beam_place(beam, config->bpm_instrument[b], config->bpm_lane[b], &place);
    }
}

static void average_orbit(struct rm_ring_config const *ring, struct rm_beam *beam) {
    for (uint32_t g = 0; g < ring->group_count; ++g) {
        struct rm_virtual_group const *group = &ring->groups[g];
        for (uint32_t i = group->first; group->period_turns > 1 && i < group->first + group->count; ++i)
            rm_beam_average(beam, i, group->period_turns);
    }
}

void rm_machine_lanes_tune(struct rm_machine const *machine, struct rm_beam_config *beam) {
    struct rm_machine_report const says = rm_machine_says(machine);
    beam->tune_x = says.tune[0];
    beam->tune_y = says.tune[1];
}

enum rm_code rm_machine_lanes_make(struct rm_ring_config const *ring, struct rm_machine *machine,
                                   struct rm_machine_currents const *currents, struct rm_beam *beam,
                                   struct rm_machine_lanes *lanes, struct rm_error *error) {
    *lanes = (struct rm_machine_lanes){.ring = ring, .machine = machine, .currents = *currents};
    lanes->current = calloc(ring->supplies.supply_count + 1, sizeof *lanes->current);
    lanes->reading = calloc(ring->machine.bpm_count + 1, sizeof *lanes->reading);
    lanes->first_bpm = calloc(ring->instrument_count + 1, sizeof *lanes->first_bpm);
    if (lanes->current == NULL || lanes->reading == NULL || lanes->first_bpm == NULL) {
        rm_machine_lanes_free(lanes);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u BPMs", ring->machine.bpm_count);
    }
    find_lanes_bpms(lanes);
    place_bpms(lanes, beam);
    average_orbit(ring, beam);
    return RM_OK;
}

void rm_machine_lanes_free(struct rm_machine_lanes *lanes) {
    free(lanes->current);
    free(lanes->reading);
    free(lanes->first_bpm);
    *lanes = (struct rm_machine_lanes){0};
}

static int32_t round_to_nm(double nm) { return (int32_t)lrint(fmax(-READS_NM, fmin(READS_NM, nm))); }

/** The machine's time is the turns'. */
static void machine_lanes_step(struct rm_machine_lanes *lanes, uint64_t index) {
    if (lanes->currents.at != NULL)
        lanes->currents.at(lanes->currents.state, index, lanes->current);
    rm_machine_step(lanes->machine, (double)index / lanes->ring->beam.turn_rate_hz, lanes->current);
    lanes->beam = rm_machine_beam(lanes->machine);
    for (uint32_t b = 0; b < lanes->ring->machine.bpm_count; ++b) {
        double x, y;
        rm_machine_read(lanes->machine, b, &x, &y);
        lanes->reading[b][0] = round_to_nm(x);
        lanes->reading[b][1] = round_to_nm(y);
    }
}

void rm_machine_lanes_advance(struct rm_machine_lanes *lanes, uint64_t index) {
    uint64_t const every = lanes->ring->machine.step_turns, first = lanes->ring->first_turn;
    if (index < lanes->due) /* groups of several turns come back to earlier ones */
        return;
    if (index - lanes->due > STEPS_AT_ONCE * every)
        lanes->due = index - STEPS_AT_ONCE * every;
    while (lanes->due <= index) {
        machine_lanes_step(lanes, lanes->due);
        lanes->due += every - (first + lanes->due) % every;
    }
}

void rm_machine_lanes_add(struct rm_machine_lanes *lanes, struct rm_beam *beam, union rm_lane const *values,
                          uint64_t index, uint32_t first, uint32_t count) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    rm_machine_lanes_advance(lanes, index);
    for (uint32_t b = lanes->first_bpm[first]; b < lanes->first_bpm[first + count]; ++b) {
        uint32_t const instrument = config->bpm_instrument[b], lane = config->bpm_lane[b];
        union rm_lane const *sum = &values[(instrument - first) * RM_LANES + lane + SUM_LANE];
        rm_beam_add(beam, instrument, lane, lanes->reading[b][0]);
        rm_beam_add(beam, instrument, lane + 1, lanes->reading[b][1]);
        if (lanes->beam != 1)
            rm_beam_add(beam, instrument, lane + SUM_LANE, round_to_nm((lanes->beam - 1) * sum->i));
    }
}
