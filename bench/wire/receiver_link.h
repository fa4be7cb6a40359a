// SPDX-License-Identifier: Apache-2.0
/** One link's arrivals at the receiver: which instrument each datagram is of, whether its cycle counts, and when it
 * came. Each datagram is stamped on its own, when the receiver takes it up. */
#ifndef RM_BENCH_WIRE_RECEIVER_LINK_H
#define RM_BENCH_WIRE_RECEIVER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/histogram.h>

#include "cycles.h"
#include "link_endpoint.h"
#include "tally.h"
#include "window.h"

struct rm_receiver_link {
    struct rm_link *link;
    uint32_t core;
    uint32_t instruments;
    /** [instrument] its arrivals. */
    struct rm_tally *tally;
    /** [instrument] its intervals. */
    struct rm_histogram *histogram;

    struct rm_cycles cycles;
    struct rm_window window;
    /** Bytes of payload in the datagrams that count. */
    uint64_t bytes;
    /** Datagrams of no instrument of ours, or of no cycle. */
    uint64_t unknown;
    /** TSC of the first and of the last datagram that counts; 0: none. */
    uint64_t first_tsc, last_tsc;
    /** A sender has reported its end. */
    bool ended;
    /** The link's counts when the window began and when it closed. */
    struct rm_link_statistics before, after;
};

/** Makes room for so many instruments and cycles. RM_E_NO_SPACE. */
enum rm_code rm_receiver_link_new(struct rm_receiver_link *received, struct rm_link *link, uint32_t instruments,
                                  uint64_t cycles, struct rm_error *error);
void rm_receiver_link_free(struct rm_receiver_link *received);

/** Begins to wait for datagrams. */
void rm_receiver_link_start(struct rm_receiver_link *received, struct rm_window_plan const *plan);

/** Takes up what rm_link_receive has given, and gives it back. */
void rm_receiver_link_take(struct rm_receiver_link *received, struct rm_link_burst *burst);

/** Looks whether the window begins or ends; true while it is not closed. `tsc` is of before the link was last asked, so
 * that what waits there is not taken for silence. */
bool rm_receiver_link_look(struct rm_receiver_link *received, bool stop, uint64_t tsc);

/** Sums over the instruments. */
struct rm_receiver_sums {
    uint64_t received, lost, duplicate, reordered;
};

struct rm_receiver_sums rm_receiver_link_sums(struct rm_receiver_link const *received);

#endif
