// SPDX-License-Identifier: Apache-2.0
/** The flight of a round-trip measurement: finding the reflector, sending probes on their schedule, and waiting for the
 * last answers.
 *
 * The schedule is open: probe i is due at begin + i / rate, whatever became of the others, and none is skipped. So a
 * stall delays the probes that were due in it and shows in each of them; a sender that waited for its answers would
 * leave them out (coordinated omission). Between two probes the link is polled. A link of wait=block sleeps in the
 * kernel instead, and wakes by an answer, or 40 µs before the next probe is due: sleeping ends late by 17 µs and more,
 * so the rest is polled. Where that rest is long against the period and the answers fall into it, they are found as by
 * a link of wait=spin: keep the period of wait=block above some 150 µs.
 */
#ifndef RM_BENCH_WIRE_TRIP_H
#define RM_BENCH_WIRE_TRIP_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "link_endpoint.h"
#include "polling.h"
#include "probes.h"
#include "stop.h"

/** The caller fills in link, stop, probes, tsc_hz, payload_bytes and flow; the rest begins as zeros. */
struct rm_trip {
    struct rm_link *link;
    struct rm_stop stop;
    struct rm_poll_times polling;
    struct rm_probes probes;
    double tsc_hz;
    uint32_t payload_bytes;
    /** Number of this run. Each run has another one, so that answers to an earlier run are foreign. */
    uint16_t flow;
    /** The reflector has answered. */
    bool found;
    /** TSC at which a silent link is checked. */
    uint64_t look_at;

    uint64_t foreign;
};

/** Asks until the reflector answers. RM_E_ABSENT when it has not for 5 s, RM_E_SYSTEM when that was interrupted. */
enum rm_code rm_trip_find(struct rm_trip *trip, struct rm_error *error);

/** Sends all probes, or until it is told to stop, and takes the answers. RM_E_SYSTEM when the link has ended: it takes
 * no more probes, or it is silent and its interface is gone. */
enum rm_code rm_trip_fly(struct rm_trip *trip, struct rm_error *error);

/** Takes answers until all are there, for `timeout_s` at most. When it is told to stop, it waits at most 1 s more. */
void rm_trip_wait(struct rm_trip *trip, double timeout_s);

#endif
