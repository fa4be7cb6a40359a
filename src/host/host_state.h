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
#include "host/host_code.h"
#include "host/host_grant.h"
#include "host/host_inputs.h"
#include "host/host_server.h"
#include "host/host_settings.h"

struct rm_host_attendant;

struct rm_host {
    struct rm_host_setup setup; /**< a copy, with all it points to */
    struct rm_host_code code;
    double tsc_hz;

    /* The application's segment. */
    struct rm_owner *owner;
    struct rm_setpoints *rows;
    rm_counter *counters; /**< set "application"; "refused" is the attendant's, the others the stepping thread's */
    struct rm_histogram *latency;
    struct rm_parameter **reading; /**< of each of the code's */
    struct rm_host_settings settings;

    /* What the code sees. */
    struct rm_application_setup told;
    struct rm_stream const **told_input;
    char const **told_actuator;
    double *low, *high, *slew; /**< per actuator */
    double *sent, *wanted;     /**< per actuator */
    double *told_reading, *shown_reading;
    void *state;

    /* The stepping thread's. */
    struct rm_host_server *server; /**< the one in use, or NULL */
    struct rm_host_grant grant;
    struct rm_host_inputs inputs;
    struct rm_clock_reading clock;
    uint64_t clock_tsc;  /**< of the last look at the clock */
    uint64_t clock_wait; /**< ticks from one look to the next, at most */
    uint64_t epoch;      /**< rows carry it; 0: it does not step */
    uint64_t steps;
    uint64_t stepped_tsc; /**< when the last step began */

    /* Between the two threads. The attendant posts a server (or NULL) with release; the stepping thread takes it over,
     * and stores `taken` with release: what was posted before is used no more, and can be unmapped. */
    _Atomic(struct rm_host_server *) posted;
    _Atomic(struct rm_host_server *) taken;
    _Atomic bool failed; /**< `init` refused, and `failure` says why: stored with release */
    struct rm_error failure;
    struct rm_host_attendant *attendant;
};

#endif
