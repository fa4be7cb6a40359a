// SPDX-License-Identifier: Apache-2.0
/** One host: what its files share. */
#ifndef RM_HOST_HOST_STATE_H
#define RM_HOST_HOST_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/counter.h>
#include <ringmaster/histogram.h>
#include <ringmaster/owner.h>

#include "host/host.h"
#include "host/host_decision.h"
#include "host/host_grant.h"
#include "host/host_inputs.h"
#include "host/host_program.h"
#include "host/host_readings.h"
#include "host/host_server.h"
#include "host/host_settings.h"
#include "host/host_standby.h"

struct rm_host_control_thread;
struct rm_host_worker;

struct rm_host {
    struct rm_host_program *program;
    /** The setup: the program's copy. */
    struct rm_host_setup const *setup;

    /** What it does while another server leads. NULL: there is one server. */
    struct rm_host_standby *standby;

    double tsc_hz;

    /* The application's segment. */
    struct rm_owner *owner;
    struct rm_setpoints *vectors;
    /** Counters of the set "application"; the control thread writes "refused", the stepping thread all others. */
    rm_counter *counters;

    struct rm_histogram *latency;
    struct rm_histogram *age;
    struct rm_host_settings settings;
    struct rm_host_readings readings;
    /** [stream of the code]. */
    rm_owner_index *stream;
    /** [rows of the code]. */
    rm_owner_index *rows;
    /** [stream of the decision record]. */
    rm_owner_index *decision_stream;

    /* The stepping thread's. */

    /** The server in use, or NULL. */
    struct rm_host_server *server;

    struct rm_host_grant grant;
    struct rm_host_inputs inputs;
    struct rm_host_decisions decisions;
    struct rm_clock_reading clock;
    /** TSC of the last look at the clock. */
    uint64_t clock_tsc;
    /** Most TSC ticks from one look to the next. */
    uint64_t clock_wait;
    /** Looks at the clock that found its writer inside, one after the other. */
    uint32_t clock_misses;
    /** Grant number that vectors carry; 0: it makes no steps. */
    uint64_t grant_number;
    /** Number of the grant under which permissions are given; 0: there was none yet. */
    uint64_t last_grant_number;
    /** Sequence of the vector that the program's `sent` comes from. */
    uint64_t sent_sequence;
    /** The vector that was begun: the next command is written there. */
    struct rm_setpoint_vector *vector;
    /** TSC when the last step began. */
    uint64_t stepped_tsc;

    /* Between the two threads. The control thread posts a server (or NULL) with release; the stepping thread takes it
     * over, and stores `taken` with release: what was posted before is used no more, and can be unmapped. */
    _Atomic(struct rm_host_server *) posted;
    _Atomic(struct rm_host_server *) taken;
    /** `init` refused, and `failure` says why: stored with release. */
    _Atomic bool failed;

    struct rm_error failure;
    struct rm_host_control_thread *control_thread;
    /** The thread that runs `work`. NULL: the code has none. */
    struct rm_host_worker *worker;
};

/** For the stepping thread: begins the vector of the next step. */
void rm_host_begin_vector(struct rm_host *host);

/** For the stepping thread: makes the step that is due, whose records are in `host->inputs`, and all that follows. */
void rm_host_make_step(struct rm_host *host, struct rm_host_due const *due);

#endif
