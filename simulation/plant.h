// SPDX-License-Identifier: Apache-2.0
/** The virtual ring of a file in simulated time: its beam and its living machine, its supplies at the ends of their
 * chains, all as in ringmaster-instruments, but without a network: readings are asked for by turn, setpoint datagrams
 * are handed in with the time at which they arrive.
 *
 * Time is seconds since the ring's first turn, and never goes back.
 */
#ifndef RM_SIMULATION_PLANT_H
#define RM_SIMULATION_PLANT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "instruments/beam.h"
#include "instruments/chains.h"
#include "instruments/event_schedule.h"
#include "instruments/machine_lanes.h"
#include "instruments/ring_config.h"
#include "instruments/ring_turns.h"
#include "wire/setpoint.h"

/** A setpoint datagram on its way. */
struct rm_plant_transfer {
    /** Time of its arrival, in seconds. */
    double time;

    uint32_t chain;
    uint32_t length;
    uint8_t payload[RM_SETPOINT_LONGEST];
};

struct rm_plant {
    struct rm_ring_config config;
    /** What was made so far, for freeing it. */
    bool loaded, beamed;

    struct rm_beam *beam;
    /** Empty for a ring without supplies. */
    struct rm_chains chains;

    rm_counter *counters;
    rm_counter **block;
    /** NULL: there is no machine. */
    struct rm_machine *machine;

    struct rm_machine_lanes lanes;
    struct rm_readouts *readouts;
    struct rm_event_schedule *schedule;
    struct rm_ring_turns turns;
    double refresh_s, refreshed;
    uint64_t refreshes;
    double time;
    /** A ring buffer, in the order of their arrival. */
    struct rm_plant_transfer *transfer;

    uint32_t transfers, first_transfer, transfer_space;
    /** Called with each answer to a datagram, with the ring's chain, at the time of the answer. */
    void (*answer)(void *context, uint32_t chain, struct rm_chain_answer const *answer);
    void *context;
};

/** Opens the plant, which stays where it is until it is closed. `moves` false: its orbit is not needed, and the machine is not made. `refresh_s` < 0: as the file
 * says; 0: the machine's background never runs. */
enum rm_code rm_plant_open(struct rm_ring_files const *files, bool moves, double refresh_s, struct rm_plant *plant,
                           struct rm_error *error);
void rm_plant_close(struct rm_plant *plant);

static inline double rm_plant_seconds(struct rm_plant const *plant, rm_turn turn) {
    return (double)(int64_t)(turn - plant->config.first_turn) / plant->config.beam.turn_rate_hz;
}

/** Hands in a datagram that arrives at `time`, no earlier than those before it. RM_E_NO_SPACE. */
enum rm_code rm_plant_send(struct rm_plant *plant, double time, uint32_t chain, uint8_t const *payload, uint32_t length,
                           struct rm_error *error);

/** Lets time pass: datagrams arrive, faults begin and end, the machine moves. */
enum rm_code rm_plant_advance(struct rm_plant *plant, double time, struct rm_error *error);

/** The reading of an instrument at `turn`: RM_LANES lanes of i32, as its datagram carries them. The plant was advanced
 * to that turn. */
void rm_plant_read(struct rm_plant *plant, rm_turn turn, uint32_t instrument, union rm_lane *lanes);

/** Index of the ring's instrument that sends from this address with this id, or UINT32_MAX. */
uint32_t rm_plant_instrument(struct rm_plant const *plant, uint32_t source_ipv4, uint16_t id);

/** Index of the ring's chain at this address, or UINT32_MAX. */
uint32_t rm_plant_chain(struct rm_plant const *plant, uint32_t ipv4, uint16_t udp_port);

/** The true current now of a supply of the ring. */
double rm_plant_current(struct rm_plant *plant, uint32_t supply);

/** An event happens at the next turn, or at its own, by the words of ring_event.h: "event: kick, x_um: 100". */
enum rm_code rm_plant_event(struct rm_plant *plant, char const *words, struct rm_error *error);

/** Sets a knob of the machine by its name, without "machine/". RM_E_NOT_FOUND says what was expected. */
enum rm_code rm_plant_set(struct rm_plant *plant, char const *knob, double value, struct rm_error *error);

#endif
