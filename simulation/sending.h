// SPDX-License-Identifier: Apache-2.0
/** From an application's commands to its supplies, as the server's transmit role does it, in simulated time: the real
 * guard judges each vector, the datagrams are real, and what the chains answer says where the supplies stand. Nobody
 * but the one application is there: the supplies of others stay where they are.
 */
#ifndef RM_SIMULATION_SENDING_H
#define RM_SIMULATION_SENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"
#include "engine/guard.h"
#include "plant.h"

/** A chain of the server and what is known of it. */
struct rm_sending_chain {
    /** The ring's. */
    uint32_t plant_chain;

    uint64_t sequence;
    /** Cycles without an answer. */
    uint32_t silent;

    bool joined, lost;
};

struct rm_sending {
    struct rm_config const *config;
    uint32_t application;
    struct rm_plant *plant;
    struct rm_guard *guard;
    /** Of each of the server's. */
    struct rm_sending_chain *chain;
    /** Of each of the ring's, or UINT32_MAX. */
    uint32_t *server_chain;
    /** Of each supply. */
    bool *tripped;
    /** Of each supply; NaN while nobody knows. */
    double *sent;

    uint64_t vectors, refused_vectors;
};

/** Makes the guard, finds the chains in the ring, and asks them where their supplies stand. */
enum rm_code rm_sending_open(struct rm_config const *config, uint32_t application, struct rm_plant *plant,
                             struct rm_sending *sending, struct rm_error *error);
void rm_sending_close(struct rm_sending *sending);

/** A vector of the application for the cycle of `turn`. */
void rm_sending_vector(struct rm_sending *sending, rm_turn turn, double const *values);

/** The cycle of `turn` goes out, and arrives at `time`. */
enum rm_code rm_sending_cycle(struct rm_sending *sending, rm_turn turn, double time, struct rm_error *error);

/** What was sent last to the application's supplies, in their order. */
void rm_sending_sent(struct rm_sending const *sending, double *sent);

/** The ring's supply of a supply of the server. */
uint32_t rm_sending_plant_supply(struct rm_sending const *sending, uint32_t supply);

#endif
