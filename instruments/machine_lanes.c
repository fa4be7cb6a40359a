// SPDX-License-Identifier: Apache-2.0
#include "machine_lanes.h"

#include <math.h>
#include <stdlib.h>

#include <ringmaster/stream.h>

#include "base/fail.h"
#include "machine_checkpoint.h"

enum {
    SUM_LANE = 2,        /**< of a BPM, after its x */
    STEPS_AT_ONCE = 100, /**< more than any filter of a BPM remembers */
    GAP_TURNS = 1 << 17, /**< so many are made; after more the motion is entered anew, which takes as long */
};

static double const NM = 1e9;

static double const READS_NM = 2e9; /**< what an i32 holds */

static void find_lanes_bpms(struct rm_machine_lanes *lanes) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    for (uint32_t i = 0, b = 0; i <= lanes->ring->instrument_count; ++i) {
        while (b < config->bpm_count && config->bpm_instrument[b] < i)
            ++b;
        lanes->first_bpm[i] = b;
    }
}

/** What each BPM reads of the motion, by the look that is in use. */
static void place_bpms(struct rm_machine_lanes *lanes) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    for (uint32_t b = 0; b < config->bpm_count; ++b) {
        double weight[2][RM_OSCILLATION_PHASE];
        rm_machine_bpm_weights(lanes->machine, b, weight);
        for (int plane = 0; plane < 2; ++plane)
            for (int p = 0; p < RM_OSCILLATION_PHASE; ++p)
                weight[plane][p] *= NM;
        rm_beam_place(lanes->shown, config->bpm_instrument[b], config->bpm_lane[b], weight);
    }
    lanes->look = rm_machine_looks_taken(lanes->machine);
}

static enum rm_code follow_motion(struct rm_machine_lanes *lanes, struct rm_error *error) {
    struct rm_beam_scales scales;
    double dispersion_m;
    enum rm_code const code = rm_machine_excite(lanes->machine, &lanes->ring->beam, error);
    rm_machine_scales(lanes->machine, scales.mode, &dispersion_m);
    for (int u = 0; u < 2; ++u)
        scales.mode[u] *= NM;
    rm_beam_follow(lanes->shown, rm_machine_oscillation(lanes->machine), &scales);
    place_bpms(lanes);
    return code;
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

static int32_t round_to_nm(double nm) { return (int32_t)lrint(fmax(-READS_NM, fmin(READS_NM, nm))); }

static void machine_lanes_read(struct rm_machine_lanes *lanes) {
    lanes->beam = rm_machine_beam(lanes->machine);
    for (uint32_t b = 0; b < lanes->ring->machine.bpm_count; ++b) {
        double x, y;
        rm_machine_read(lanes->machine, b, &x, &y);
        lanes->reading[b][0] = round_to_nm(x);
        lanes->reading[b][1] = round_to_nm(y);
    }
}

/** Where all instruments average over a step of the orbit or more, none sees what its magnets do within one. */
static uint32_t strength_turns_of(struct rm_ring_config const *ring) {
    uint32_t const step = ring->machine.step_turns;
    bool seen = step % RM_MACHINE_STRENGTH_TURNS != 0;
    for (uint32_t g = 0; g < ring->group_count; ++g)
        seen |= ring->groups[g].period_turns < step;
    return seen ? RM_MACHINE_STRENGTH_TURNS : step;
}

enum rm_code rm_machine_lanes_make(struct rm_ring_config const *ring, struct rm_machine *machine,
                                   struct rm_machine_currents const *currents, struct rm_beam *beam,
                                   struct rm_machine_lanes *lanes, struct rm_error *error) {
    *lanes = (struct rm_machine_lanes){.ring = ring, .machine = machine, .currents = *currents};
    lanes->current = calloc(ring->supplies.supply_count + 1, sizeof *lanes->current);
    lanes->reading = calloc(ring->machine.bpm_count + 1, sizeof *lanes->reading);
    lanes->first_bpm = calloc(ring->instrument_count + 1, sizeof *lanes->first_bpm);
    lanes->strength_count = rm_machine_strengths(machine);
    lanes->strength = calloc(lanes->strength_count + 1ul, sizeof *lanes->strength);
    lanes->strength_supply = calloc(lanes->strength_count + 1ul, sizeof *lanes->strength_supply);
    lanes->strength_turns = strength_turns_of(ring);
    lanes->shown = beam;
    if (lanes->current == NULL || lanes->reading == NULL || lanes->first_bpm == NULL || lanes->strength == NULL ||
        lanes->strength_supply == NULL) {
        rm_machine_lanes_free(lanes);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u BPMs", ring->machine.bpm_count);
    }
    for (uint32_t s = 0; s < lanes->strength_count; ++s)
        lanes->strength_supply[s] = rm_machine_strength_supply(machine, s);
    find_lanes_bpms(lanes);
    enum rm_code const code = follow_motion(lanes, error);
    average_orbit(ring, beam);
    rm_machine_lanes_begin(lanes);
    return code == RM_OK ? rm_loss_lanes_make(ring, machine, beam, &lanes->loss, error) : code;
}

void rm_machine_lanes_begin(struct rm_machine_lanes *lanes) {
    rm_machine_set_strengths(lanes->machine, lanes->strength);
    rm_oscillation_enter(rm_machine_oscillation(lanes->machine), lanes->ring->first_turn - 1);
    lanes->origin = lanes->ring->first_turn;
}

enum rm_code rm_machine_lanes_save(struct rm_machine_lanes const *lanes, char const *path, struct rm_error *error) {
    rm_turn const turn = rm_machine_oscillation(lanes->machine)->state.turn;
    return rm_machine_save(lanes->machine, &(struct rm_machine_moment){lanes->origin, turn}, path, error);
}

enum rm_code rm_machine_lanes_load(struct rm_machine_lanes *lanes, char const *path, rm_turn *first_turn,
                                   struct rm_error *error) {
    struct rm_machine_moment moment;
    uint64_t const every = lanes->ring->machine.step_turns;
    enum rm_code const code = rm_machine_load(lanes->machine, path, &moment, error);
    if (code != RM_OK)
        return code;
    *first_turn = moment.turn + 1;
    lanes->origin = moment.origin;
    lanes->due = (every - *first_turn % every) % every;
    place_bpms(lanes);
    machine_lanes_read(lanes);
    return RM_OK;
}

void rm_machine_lanes_free(struct rm_machine_lanes *lanes) {
    free(lanes->current);
    free(lanes->reading);
    free(lanes->first_bpm);
    free(lanes->strength);
    free(lanes->strength_supply);
    rm_loss_lanes_free(&lanes->loss);
    *lanes = (struct rm_machine_lanes){0};
}

/** The machine's time is the turns'. */
static double machine_lanes_time(struct rm_machine_lanes const *lanes, rm_turn turn) {
    return (double)(turn - lanes->origin) / lanes->ring->beam.turn_rate_hz;
}

static uint64_t looks_due_at(struct rm_machine_lanes const *lanes, double time) {
    return lanes->look_s > 0 ? (uint64_t)(time / lanes->look_s) : 0;
}

void rm_machine_lanes_look_by_turns(struct rm_machine_lanes *lanes, double look_s) {
    rm_turn const turn = rm_machine_oscillation(lanes->machine)->state.turn;
    lanes->look_s = look_s;
    lanes->looks_due =
        (int64_t)(turn - lanes->origin) > 0 ? looks_due_at(lanes, machine_lanes_time(lanes, turn)) : 0; /* it goes on */
}

/** What changed since the last look is looked at when one is due. A lattice without an orbit is counted, and said by the
 * beam that is lost. */
static void look_when_due(struct rm_machine_lanes *lanes, double time) {
    struct rm_error error;
    uint64_t const due = looks_due_at(lanes, time);
    if (due == lanes->looks_due)
        return;
    lanes->looks_due = due;
    rm_machine_refresh(lanes->machine, &error);
}

static void machine_lanes_step(struct rm_machine_lanes *lanes, uint64_t index) {
    if (lanes->currents.at != NULL)
        lanes->currents.at(lanes->currents.state, index, lanes->current);
    rm_turn const turn = lanes->ring->first_turn + index;
    double const time = machine_lanes_time(lanes, turn);
    look_when_due(lanes, time);
    rm_machine_step(lanes->machine, time, lanes->current);
    if (lanes->loss.machine != NULL)
        rm_loss_lanes_step(&lanes->loss, turn, time);
    machine_lanes_read(lanes);
}

/** The magnets as they are at turn `index`. */
static void machine_lanes_set_strengths(struct rm_machine_lanes *lanes, uint64_t index) {
    if (lanes->currents.of != NULL && lanes->strength_count != 0)
        lanes->currents.of(lanes->currents.state, index, lanes->strength_supply, lanes->strength_count,
                           lanes->strength);
    rm_machine_set_strengths(lanes->machine, lanes->strength);
}

static void tell_tune(struct rm_machine_lanes const *lanes, rm_turn turn) {
    if (turn % RM_MACHINE_TUNE_TURNS != 0 || lanes->listener.put == NULL)
        return;
    struct rm_oscillation const *oscillation = rm_machine_oscillation(lanes->machine);
    double const delta = oscillation->state.orbit_delta;
    double const tune[2] = {rm_oscillation_orbit_tune(oscillation, 0, delta) + oscillation->shift[0],
                            rm_oscillation_orbit_tune(oscillation, 1, delta) + oscillation->shift[1]};
    lanes->listener.put(lanes->listener.state, turn, tune);
}

static void step_when_due(struct rm_machine_lanes *lanes, uint64_t index) {
    uint64_t const every = lanes->ring->machine.step_turns, first = lanes->ring->first_turn;
    if (lanes->due > index)
        return;
    machine_lanes_step(lanes, lanes->due);
    lanes->due += every - (first + lanes->due) % every;
    if (rm_machine_looks_taken(lanes->machine) != lanes->look)
        place_bpms(lanes);
}

/** After a gap, or before the first turn: the steps that a filter remembers, and the motion anew. */
static void machine_lanes_enter(struct rm_machine_lanes *lanes, uint64_t index) {
    while (lanes->due <= index)
        step_when_due(lanes, index);
    machine_lanes_set_strengths(lanes, index);
    rm_oscillation_enter(rm_machine_oscillation(lanes->machine), lanes->ring->first_turn + index);
}

void rm_machine_lanes_advance(struct rm_machine_lanes *lanes, uint64_t index) {
    struct rm_oscillation *oscillation = rm_machine_oscillation(lanes->machine);
    uint64_t const every = lanes->ring->machine.step_turns, first = lanes->ring->first_turn;
    int64_t const behind = (int64_t)(first + index - oscillation->state.turn);
    if (behind <= 0) /* groups of several turns come back to earlier ones */
        return;
    if (index > lanes->due && index - lanes->due > STEPS_AT_ONCE * every)
        lanes->due = index - STEPS_AT_ONCE * every;
    if (behind > GAP_TURNS) {
        machine_lanes_enter(lanes, index);
        return;
    }
    for (uint64_t next = oscillation->state.turn + 1 - first; next <= index; ++next) {
        step_when_due(lanes, next);
        if ((first + next) % lanes->strength_turns == 0)
            machine_lanes_set_strengths(lanes, next);
        tell_tune(lanes, first + next);
        rm_oscillation_step(oscillation);
        if (lanes->loss.machine != NULL)
            rm_loss_lanes_turn(&lanes->loss, first + next);
    }
    if (rm_machine_beam(lanes->machine) != lanes->beam) /* it was lost, or is back, between two steps */
        machine_lanes_read(lanes);
}

static void add_position(struct rm_machine_lanes *lanes, struct rm_beam *beam, uint32_t bpm, rm_turn turn) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    int32_t reading[2] = {lanes->reading[bpm][0], lanes->reading[bpm][1]};
    if (!(lanes->beam > 0)) {
        double x, y;
        rm_machine_read_nothing(lanes->machine, bpm, turn, &x, &y);
        reading[0] = round_to_nm(x);
        reading[1] = round_to_nm(y);
    }
    for (uint32_t plane = 0; plane < 2; ++plane)
        rm_beam_add(beam, config->bpm_instrument[bpm], config->bpm_lane[bpm] + plane, reading[plane]);
}

void rm_machine_lanes_add(struct rm_machine_lanes *lanes, struct rm_beam *beam, union rm_lane const *values,
                          uint32_t first, uint32_t count) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    rm_turn const turn = rm_machine_oscillation(lanes->machine)->state.turn;
    for (uint32_t b = lanes->first_bpm[first]; b < lanes->first_bpm[first + count]; ++b) {
        uint32_t const instrument = config->bpm_instrument[b], lane = config->bpm_lane[b];
        union rm_lane const *sum = &values[(instrument - first) * RM_LANES + lane + SUM_LANE];
        add_position(lanes, beam, b, turn);
        if (lanes->beam != 1)
            rm_beam_add(beam, instrument, lane + SUM_LANE, round_to_nm((lanes->beam - 1) * sum->i));
    }
    if (lanes->loss.machine != NULL)
        rm_loss_lanes_add(&lanes->loss, beam, values, turn, first, count);
}
