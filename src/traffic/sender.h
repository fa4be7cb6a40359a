// SPDX-License-Identifier: Apache-2.0
/** The sending half of a generator's port: takes frames from a source when they are due, and sends them.
 *
 * For the polling core alone, but for `job` before it is taken and after it is given back. What the link does not take
 * stays until it does, or is lost, as the description says (traffic.h).
 */
#ifndef RM_TRAFFIC_SENDER_H
#define RM_TRAFFIC_SENDER_H

#include <ringmaster/counter.h>
#include <ringmaster/histogram.h>

#include "capture/capture_ring.h"
#include "traffic/pace.h"
#include "traffic/source.h"

/** What a port shall send: a description and the source of its frames. */
struct rm_traffic_job {
    struct rm_traffic traffic;
    struct rm_source *source;
};

/** Frees a job and its source. NULL is allowed. */
void rm_traffic_job_free(struct rm_traffic_job *job);

struct rm_traffic_sender {
    struct rm_port *port;
    uint16_t queue;
    /** Set "generator". */
    rm_counter *counters;
    /** Of a paced port: how much longer or shorter the time between two sends was than it should have been, ticks. */
    struct rm_histogram *jitter;
    double tsc_hz;

    /** NULL: none yet. */
    struct rm_traffic_job *job;
    /** Whether it sends: any thread may read it. */
    _Atomic bool sending;
    struct rm_pace pace;
    /** Frames that the link has not taken yet. */
    struct rm_burst out;
    /** TSC at which they were due, of a paced port. */
    uint64_t out_due_tsc;
    /** What the link takes is copied there; NULL: nothing is captured. */
    struct rm_capture_ring *capture;
    /** Of the last send of this start: how late it was; -1 before the first. */
    int64_t lateness_ticks;
    uint64_t late_ticks;
};

/** Makes the sender of an open port. */
void rm_traffic_sender_init(struct rm_traffic_sender *sender, struct rm_port *port, uint16_t queue,
                            rm_counter *counters, struct rm_histogram *jitter, double tsc_hz);

/** Sends by `job` from now on, which may be NULL; returns the one of before, which is the caller's again. A port that
 * sends goes on with the new one, from its first frame. */
struct rm_traffic_job *rm_traffic_sender_take(struct rm_traffic_sender *sender, struct rm_traffic_job *job,
                                              uint64_t tsc);

/** Sends from the first frame; nothing where there is no job. */
void rm_traffic_sender_start(struct rm_traffic_sender *sender, uint64_t tsc);
/** Frames that the link has not taken are lost, and counted as refused. */
void rm_traffic_sender_stop(struct rm_traffic_sender *sender);

/** Sends what is due, at most a burst; returns how many frames the link took. */
uint32_t rm_traffic_sender_turn(struct rm_traffic_sender *sender, uint64_t tsc);

#endif
