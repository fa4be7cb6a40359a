// SPDX-License-Identifier: Apache-2.0
/** What a host uses of the server's segment: clock, grant, inputs, and what was sent to its supplies. */
#ifndef RM_HOST_HOST_SERVER_H
#define RM_HOST_HOST_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/error.h>
#include <ringmaster/grant.h>
#include <ringmaster/parameter.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/standby.h>
#include <ringmaster/stream.h>
#include <ringmaster/workspace.h>

#include "host/host_program.h"

/** One life of the server as one application sees it. Constant after attaching. */
struct rm_host_server {
    struct rm_workspace *workspace;
    /** Generation of the server's segment: another one is another server. */
    uint64_t generation;

    struct rm_clock const *clock;
    struct rm_grant const *grant;
    struct rm_setpoints const *sent;
    /** A u32 per supply of the server. */
    struct rm_parameter const *supply_state;

    uint32_t supply_count;
    /** [actuator] its number among the server's supplies. */
    uint32_t *supply;

    /** What the server is of two; NULL: there is one. */
    struct rm_standby_state const *role;

    uint32_t actuator_count;
    struct rm_stream_view *input;
    /** Of an application that takes runs: with room for these streams. */
    struct rm_host_runs runs;
    uint32_t input_count;
};

/** Attaches to the server that lives now, and finds everything in its segment. RM_E_ABSENT, RM_E_HALF_MADE or
 * RM_E_DEAD while the server is away; RM_E_NOT_FOUND when it runs with another configuration. */
enum rm_code rm_host_server_attach(struct rm_host_program const *program, struct rm_host_server **server,
                                   struct rm_error *error);

/** True while the server lives, and is the one that was attached to. It makes some system calls. */
bool rm_host_server_lives(struct rm_host_server const *server);

/** True while all inputs are where they were found. False when an application whose stream is an input was started with
 * another layout: what is mapped is what the one before it left. One that ended, and one that is back as it was, change
 * nothing: its records are missing meanwhile. */
bool rm_host_server_has_inputs(struct rm_host_server const *server);

/** NULL is allowed. */
void rm_host_server_detach(struct rm_host_server *server);

/** Copies what was sent last to each actuator, if its vector is another than `*seen`, and sets `*seen`. False when
 * there is none, and while it changes. It only reads memory, and few lines where nothing is new. Begin with 0. */
bool rm_host_server_sent(struct rm_host_server const *server, uint64_t *seen, double *sent);

/** True when the server knows where all actuators stand, as far as it will. Actuators that have not answered since it
 * started, and are not given up as lost, are joining. False also while the server writes their state. */
bool rm_host_server_joined(struct rm_host_server const *server);

#endif
