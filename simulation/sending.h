// SPDX-License-Identifier: Apache-2.0
/** From an application's commands to its supplies, as the server's transmit role does it, in simulated time: the real
 * guard judges each vector, the datagrams are real, and the chains' answers say where the supplies stand. There is no
 * other application: supplies that this one does not have stay where they are.
 */
#ifndef RM_SIMULATION_SENDING_H
#define RM_SIMULATION_SENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"
#include "engine/guard.h"
#include "plant.h"

/** A chain of the server, and what is known of it. */
struct rm_sending_chain {
    /** Index of the ring's chain. */
    uint32_t plant_chain;

    uint64_t sequence;
    /** Consecutive cycles without an answer. */
    uint32_t silent;

    bool joined, lost;
};

struct rm_sending {
    struct rm_config const *config;
    uint32_t application;
    struct rm_plant *plant;
    struct rm_guard *guard;
    /** [chain of the server]. */
    struct rm_sending_chain *chain;
    /** [chain of the ring] index of the server's chain, or UINT32_MAX. */
    uint32_t *server_chain;
    /** [supply]. */
    bool *tripped;
    /** [supply] what was sent last; NaN while that is unknown. */
    double *sent;

    uint64_t vectors, refused_vectors;
};

/** Makes the guard, finds the chains in the ring, and asks them where their supplies stand. */
enum rm_code rm_sending_open(struct rm_config const *config, uint32_t application, struct rm_plant *plant,
                             struct rm_sending *sending, struct rm_error *error);
void rm_sending_close(struct rm_sending *sending);

/** Takes a vector of the application for the cycle of `turn`. */
void rm_sending_vector(struct rm_sending *sending, rm_turn turn, double const *values);

/** Sends the cycle of `turn`, which arrives at `time`. */
enum rm_code rm_sending_cycle(struct rm_sending *sending, rm_turn turn, double time, struct rm_error *error);

/** What was sent last to the application's supplies, in their order. */
void rm_sending_sent(struct rm_sending const *sending, double *sent);

/** Index of the ring's supply that a supply of the server is. */
uint32_t rm_sending_plant_supply(struct rm_sending const *sending, uint32_t supply);

#endif
