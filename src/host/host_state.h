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
#include "host/host_grant.h"
#include "host/host_inputs.h"
#include "host/host_program.h"
#include "host/host_readings.h"
#include "host/host_server.h"
#include "host/host_settings.h"

struct rm_host_control_thread;
struct rm_host_worker;

struct rm_host {
    struct rm_host_program *program;
    /** The program's copy. */
    struct rm_host_setup const *setup;

    double tsc_hz;

    /* The application's segment. */
    struct rm_owner *owner;
    struct rm_setpoints *vectors;
    /** Set "application"; "refused" is the control thread's, the others the stepping thread's. */
    rm_counter *counters;

    struct rm_histogram *latency;
    struct rm_histogram *age;
    struct rm_host_settings settings;
    struct rm_host_readings readings;
    /** Of each of the code's. */
    rm_owner_index *stream;

    /* The stepping thread's. */

    /** The one in use, or NULL. */
    struct rm_host_server *server;

    struct rm_host_grant grant;
    struct rm_host_inputs inputs;
    struct rm_clock_reading clock;
    /** Of the last look at the clock. */
    uint64_t clock_tsc;
    /** Ticks from one look to the next, at most. */
    uint64_t clock_wait;
    /** Vectors carry it; 0: it does not step. */
    uint64_t grant_number;
    /** Of the grant that permissions are given under; 0: none was yet. */
    uint64_t last_grant_number;
    /** Of the vector that the program's `sent` is of. */
    uint64_t sent_sequence;
    /** begun: the next command is written there. */
    struct rm_setpoint_vector *vector;
    /** When the last step began. */
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

#endif
