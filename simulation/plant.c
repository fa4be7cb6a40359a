// SPDX-License-Identifier: Apache-2.0
#include "plant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"

static double const ROUNDING_TURNS = 1e-4; /**< a turn's time was reckoned from its number */

/* ── datagrams ── */

static bool make_plant_room(struct rm_plant *plant) {
    uint32_t const before = plant->transfer_space;
    if (plant->transfers < before)
        return true;
    uint32_t const space = before == 0 ? 64 : 2 * before;
    struct rm_plant_transfer *grown = malloc(space * sizeof *grown);
    if (grown == NULL)
        return false;
    for (uint32_t i = 0; before != 0 && i < plant->transfers; ++i)
        grown[i] = plant->transfer[(plant->first_transfer + i) % before];
    free(plant->transfer);
    plant->transfer = grown;
    plant->transfer_space = space;
    plant->first_transfer = 0;
    return true;
}

enum rm_code rm_plant_send(struct rm_plant *plant, double time, uint32_t chain, uint8_t const *payload, uint32_t length,
                           struct rm_error *error) {
    if (!make_plant_room(plant))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u setpoint datagrams that are under way",
                       plant->transfers);
    struct rm_plant_transfer *transfer =
        &plant->transfer[(plant->first_transfer + plant->transfers++) % plant->transfer_space];
    transfer->time = time;
    transfer->chain = chain;
    transfer->length = length;
    memcpy(transfer->payload, payload, length);
    return RM_OK;
}

static void plant_deliver_transfer(struct rm_plant *plant) {
    struct rm_plant_transfer const *transfer = &plant->transfer[plant->first_transfer];
    struct rm_chain_answer answer;
    if (rm_chain_take(&plant->chains.chain[transfer->chain], transfer->payload, transfer->length, transfer->time,
                      &answer) &&
        plant->answer != NULL)
        plant->answer(plant->context, transfer->chain, &answer);
    plant->first_transfer = (plant->first_transfer + 1) % plant->transfer_space;
    --plant->transfers;
}

/** Delivers what arrives until `time`. */
static void deliver_until(struct rm_plant *plant, double time) {
    while (plant->transfers > 0 && plant->transfer[plant->first_transfer].time <= time)
        plant_deliver_transfer(plant);
    if (plant->chains.chain != NULL)
        rm_chains_tick(&plant->chains, time);
}

/* ── making ── */

static enum rm_code make_chains(struct rm_plant *plant, struct rm_error *error) {
    struct rm_ring_supplies const *supplies = &plant->config.supplies;
    if (supplies->chain_count == 0)
        return RM_OK;
    plant->counters = calloc((size_t)supplies->chain_count * RM_SUPPLY_COUNTERS, sizeof *plant->counters);
    plant->block = calloc(supplies->chain_count, sizeof *plant->block);
    if (plant->counters == NULL || plant->block == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u supplies", supplies->supply_count);
    for (uint32_t c = 0; c < supplies->chain_count; ++c)
        plant->block[c] = &plant->counters[(size_t)c * RM_SUPPLY_COUNTERS];
    return rm_chains_make(supplies, plant->config.beam.seed, plant->block, 0, 1e9, &plant->chains, error);
}

static enum rm_code make_machine(struct rm_plant *plant, double refresh_s, struct rm_error *error) {
    struct rm_ring_machine const *config = &plant->config.machine;
    if (!config->present)
        return RM_OK;
    plant->refresh_s = refresh_s < 0 ? config->refresh_s : refresh_s;
    enum rm_code const code = rm_machine_make(config, plant->config.beam.turn_rate_hz, &plant->machine, error);
    if (code == RM_OK)
        rm_machine_lanes_tune(plant->machine, &plant->config.beam);
    return code;
}

/** What has arrived until a turn is obeyed. */
static double reach_turn(void *state, uint64_t index) {
    struct rm_plant *plant = state;
    double const time = (double)index / plant->config.beam.turn_rate_hz;
    deliver_until(plant, time);
    return time;
}

static void currents_at(void *state, uint64_t index, double *current) {
    struct rm_plant *plant = state;
    double const time = reach_turn(plant, index);
    if (plant->chains.chain != NULL)
        rm_chains_currents(&plant->chains, time, current);
}

static void currents_of(void *state, uint64_t index, uint32_t const *supply, uint32_t count, double *current) {
    struct rm_plant *plant = state;
    double const time = (double)index / plant->config.beam.turn_rate_hz;
    deliver_until(plant, time);
    if (plant->chains.chain != NULL)
        rm_chains_currents_of(&plant->chains, time, supply, count, current);
}

static enum rm_code make_beam(struct rm_plant *plant, struct rm_error *error) {
    struct rm_ring_config const *config = &plant->config;
    if (config->instrument_count == 0)
        return RM_OK;
    enum rm_code code = rm_beam_make(&config->beam, config->instruments, config->instrument_count, &plant->beam, error);
    plant->beamed = code == RM_OK;
    if (code == RM_OK)
        code = rm_readouts_make(config->readouts, config->readout_count, &config->beam, plant->beam, &plant->readouts,
                                error);
    if (code != RM_OK || plant->machine == NULL)
        return code;
    struct rm_machine_currents const currents = {currents_at, currents_of, plant};
    return rm_machine_lanes_make(config, plant->machine, &currents, plant->beam, &plant->lanes, error);
}

static enum rm_code make_turns(struct rm_plant *plant, struct rm_error *error) {
    enum rm_code code = rm_event_schedule_make(&plant->config, &plant->schedule, error);
    if (code == RM_OK)
        code = rm_ring_turns_make(&plant->config, plant->schedule, plant->beam, &plant->lanes, &plant->turns, error);
    plant->turns.readouts = plant->readouts;
    if (plant->chains.chain != NULL)
        plant->turns.supplies = (struct rm_ring_turns_supplies){&plant->chains, reach_turn, plant};
    return code;
}

enum rm_code rm_plant_open(struct rm_ring_files const *files, bool moves, double refresh_s, struct rm_plant *plant,
                           struct rm_error *error) {
    *plant = (struct rm_plant){0};
    enum rm_code code = rm_ring_config_load(files, &plant->config, error);
    if (code != RM_OK)
        return code;
    plant->loaded = true;
    code = make_chains(plant, error);
    if (code == RM_OK && moves)
        code = make_machine(plant, refresh_s, error);
    if (code == RM_OK)
        code = make_beam(plant, error);
    if (code == RM_OK)
        code = make_turns(plant, error);
    if (code != RM_OK)
        rm_plant_close(plant);
    return code;
}

void rm_plant_close(struct rm_plant *plant) {
    rm_ring_turns_free(&plant->turns);
    rm_event_schedule_free(plant->schedule);
    rm_machine_lanes_free(&plant->lanes);
    if (plant->machine != NULL)
        rm_machine_free(plant->machine);
    if (plant->beamed)
        rm_beam_free(plant->beam);
    rm_readouts_free(plant->readouts);
    if (plant->chains.chain != NULL)
        rm_chains_free(&plant->chains);
    free(plant->counters);
    free((void *)plant->block);
    free(plant->transfer);
    if (plant->loaded)
        rm_ring_config_free(&plant->config);
    *plant = (struct rm_plant){0};
}

/* ── time ── */

/** A look of the machine's background, where it is due. */
static enum rm_code plant_refresh_machine(struct rm_plant *plant, double time, struct rm_error *error) {
    if (plant->refresh_s <= 0 || time - plant->refreshed < plant->refresh_s)
        return RM_OK;
    plant->refreshed = time;
    ++plant->refreshes;
    return rm_machine_refresh(plant->machine, error);
}

enum rm_code rm_plant_advance(struct rm_plant *plant, double time, struct rm_error *error) {
    double const rate = plant->config.beam.turn_rate_hz;
    enum rm_code code = RM_OK;
    while (plant->lanes.machine != NULL && code == RM_OK && (double)plant->lanes.due <= time * rate + ROUNDING_TURNS) {
        uint64_t const turn = plant->lanes.due;
        rm_ring_turns_reach(&plant->turns, turn);
        code = plant_refresh_machine(plant, (double)turn / rate, error);
    }
    if (time >= 0)
        rm_ring_turns_reach(&plant->turns, (uint64_t)(time * rate + ROUNDING_TURNS));
    deliver_until(plant, time);
    plant->time = time;
    return code;
}

/* ── readings ── */

void rm_plant_read(struct rm_plant *plant, rm_turn turn, uint32_t instrument, union rm_lane *lanes) {
    union rm_lane const *read = rm_ring_turns_read(&plant->turns, turn - plant->config.first_turn, instrument, 1);
    memcpy(lanes, read, RM_LANES * sizeof *lanes);
}

double rm_plant_current(struct rm_plant *plant, uint32_t supply) {
    rm_supply_advance(&plant->chains.supply[supply], plant->time);
    return rm_supply_current(&plant->chains.supply[supply], plant->time);
}

/* ── what is what in the ring ── */

uint32_t rm_plant_instrument(struct rm_plant const *plant, uint32_t source_ipv4, uint16_t id) {
    struct rm_ring_config const *config = &plant->config;
    for (uint32_t i = 0; i < config->instrument_count; ++i)
        if (config->instruments[i].source_ipv4 == source_ipv4 && config->instruments[i].id == id)
            return i;
    return UINT32_MAX;
}

uint32_t rm_plant_chain(struct rm_plant const *plant, uint32_t ipv4, uint16_t udp_port) {
    return plant->chains.chain == NULL ? RM_CHAINS_NOBODY : rm_chains_find(&plant->chains, ipv4, udp_port);
}

static void ignore_report(void *state, struct rm_event_report const *report) {
    (void)state;
    (void)report;
}

enum rm_code rm_plant_event(struct rm_plant *plant, char const *words, struct rm_error *error) {
    double const turns = plant->time * plant->config.beam.turn_rate_hz + ROUNDING_TURNS;
    struct rm_ring_event event;
    enum rm_code const code = rm_ring_event_parse(&plant->config, words, &event, error);
    if (code != RM_OK)
        return code;
    if (event.at_turn == RM_TURN_NONE)
        event.at_turn = plant->config.first_turn + (turns < 0 ? 0 : (rm_turn)turns + 1);
    rm_event_schedule_report(plant->schedule, ignore_report, NULL); /* makes room */
    return rm_event_schedule_post(plant->schedule, &event, words, error);
}

enum rm_code rm_plant_set(struct rm_plant *plant, char const *knob, double value, struct rm_error *error) {
    if (plant->machine == NULL)
        return rm_fail(error, RM_E_NOT_FOUND, "machine/%s: the ring has no key `machine`, so there is nothing to set",
                       knob);
    struct rm_nearest nearest = {.wanted = knob};
    for (uint32_t k = 0; k < rm_machine_knobs(plant->machine); ++k) {
        rm_nearest_offer(&nearest, rm_machine_knob_name(plant->machine, k));
        if (strcmp(rm_machine_knob_name(plant->machine, k), knob) != 0)
            continue;
        rm_machine_set(plant->machine, k, value);
        return RM_OK;
    }
    if (nearest.name != NULL)
        return rm_fail(error, RM_E_NOT_FOUND, "machine/%s: the machine has no such knob; did you mean machine/%s?",
                       knob, nearest.name);
    return rm_fail(error, RM_E_NOT_FOUND,
                   "machine/%s: the machine has no such knob; expected mains, ground, steps, "
                   "insertion, topup, beam, rf_voltage, rf_phase, growth_x, growth_y, or the name of a magnet",
                   knob);
}
