// SPDX-License-Identifier: Apache-2.0
/** One server's application in simulated time: it leads, and leaves a decision record of each step; or it follows those
 * of the other server's (host/host_follow.h), and goes on from a copy of that one's state where it cannot. */
#ifndef RM_SIMULATION_PAIR_STEPPING_H
#define RM_SIMULATION_PAIR_STEPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "host/host_follow.h"
#include "host/host_program.h"

struct rm_pair;
struct rm_pair_server;

/** A copy of an application's state on its way to the other server. */
struct rm_pair_copy {
    uint8_t *bytes;
    size_t room, count;
    /** Life of the server that it is of; cycle since which it is on its way; 0: none is. */
    uint64_t life, since;
};

struct rm_pair_stepping {
    /** NULL: there is no application. */
    struct rm_host_program *program;
    struct rm_host_decisions decisions;
    struct rm_host_follow follow;
    /** [input] the last record that came, and whether that of the step is missing. */
    struct rm_record *record;
    bool *missing;
    struct rm_host_replayed told;
    /** [cycle][stream] its decision records while it leads; a turn that is not the cycle's: none. */
    struct rm_record *decision;
    uint32_t streams;
    /** The cycle whose records are put. */
    uint64_t puts;
    /** It has a state, and steps from it; it can follow no further without a copy of the peer's. */
    bool has_begun, needs_copy;
    /** Settings have changed since the last step. */
    bool has_changed;
    /** Number of the next vector, and the last turn stepped. */
    uint64_t vectors;
    rm_turn turn;
    /** Its state, on its way to the peer. */
    struct rm_pair_copy copy;

    /* Over all lives. */
    uint64_t followed, differences, copies, steps, named;
};

/** Whether there is a record of the application's input in a cycle. */
bool rm_pair_hears(struct rm_pair const *pair, uint32_t server, uint64_t cycle, uint32_t input);

/** Loads the application, as a process that begins. Nothing without one. */
enum rm_code rm_pair_stepping_begin(struct rm_pair *pair, struct rm_pair_server *server, struct rm_error *error);
void rm_pair_stepping_end(struct rm_pair_stepping *stepping);
/** Frees what lasts over all lives. */
void rm_pair_stepping_free(struct rm_pair_stepping *stepping);

/** It leads: makes the step of the server's cycle, and gives its vector to the guard. */
enum rm_code rm_pair_stepping_lead(struct rm_pair *pair, struct rm_pair_server *server, struct rm_error *error);

/** It begins anew: nobody was there to go on from. */
enum rm_code rm_pair_stepping_renew(struct rm_pair *pair, struct rm_pair_server *server, struct rm_error *error);

/** Follows as far as it can, up to the cycle before `end`. Returns the first cycle that it did not follow. */
uint64_t rm_pair_stepping_follow(struct rm_pair *pair, struct rm_pair_server *server, uint64_t end);

/** The peer wants a copy: takes one behind its last step, and posts it. */
void rm_pair_stepping_copy(struct rm_pair *pair, struct rm_pair_server *server);

/** The peer's copy has come. Returns the first cycle to be followed, or 0 where it is of no use. */
uint64_t rm_pair_stepping_restore(struct rm_pair *pair, struct rm_pair_server *server, struct rm_pair_copy *copy);

/** An operator sets something on the server that leads. */
void rm_pair_stepping_set(struct rm_pair *pair, struct rm_pair_server *server, char const *setting, double value);

#endif
