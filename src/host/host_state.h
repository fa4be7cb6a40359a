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

struct rm_host_attendant;
struct rm_host_worker;

struct rm_host {
    struct rm_host_program *program;
    struct rm_host_setup const *setup; /**< the program's copy */
    double tsc_hz;

    /* The application's segment. */
    struct rm_owner *owner;
    struct rm_setpoints *rows;
    rm_counter *counters; /**< set "application"; "refused" is the attendant's, the others the stepping thread's */
    struct rm_histogram *latency;
    struct rm_histogram *age;
    struct rm_host_settings settings;
    struct rm_host_readings readings;
    rm_owner_index *stream; /**< of each of the code's */

    /* The stepping thread's. */
    struct rm_host_server *server; /**< the one in use, or NULL */
    struct rm_host_grant grant;
    struct rm_host_inputs inputs;
    struct rm_clock_reading clock;
    uint64_t clock_tsc;          /**< of the last look at the clock */
    uint64_t clock_wait;         /**< ticks from one look to the next, at most */
    uint64_t epoch;              /**< rows carry it; 0: it does not step */
    uint64_t last_epoch;         /**< of the grant that permissions are given under; 0: none was yet */
    uint64_t sent_sequence;      /**< of the row that the program's `sent` is of */
    struct rm_setpoint_row *row; /**< begun: the next wish is written there */
    uint64_t stepped_tsc;        /**< when the last step began */

    /* Between the two threads. The attendant posts a server (or NULL) with release; the stepping thread takes it over,
     * and stores `taken` with release: what was posted before is used no more, and can be unmapped. */
    _Atomic(struct rm_host_server *) posted;
    _Atomic(struct rm_host_server *) taken;
    _Atomic bool failed; /**< `init` refused, and `failure` says why: stored with release */
    struct rm_error failure;
    struct rm_host_attendant *attendant;
    struct rm_host_worker *worker; /**< or NULL: the code has no `work` */
};

#endif
