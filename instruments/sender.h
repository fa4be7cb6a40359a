// SPDX-License-Identifier: Apache-2.0
/** Sends the datagrams of all instruments turn by turn, at its pace.
 *
 * Every turn goes out when it is due (pace.h), its datagrams side by side in bursts filled across the instruments.
 * After a stall the sender catches up as fast as the link takes it, for turn numbers belong to the clock and not to the
 * sender; it never sends a turn before its time. While a link is down its turns pass unsent, as those of a real
 * instrument would, and the sender goes on with the turn that is due when it is back.
 */
#ifndef RM_INSTRUMENTS_SENDER_H
#define RM_INSTRUMENTS_SENDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "faults.h"
#include "sink.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

/** Where readings come from: RM_LANES lanes per instrument, for the run's turn `index` = 0, 1, 2, … */
struct rm_turn_source {
    union rm_lane const *(*turn)(void *state, uint64_t index);
    void *state;
};

/** One instrument as the sender sees it. */
struct rm_sender_member {
    struct rm_virtual_instrument instrument;
    uint32_t sink;            /**< index of the sink that takes its datagrams */
    rm_counter *counters;     /**< its block, set `sender` */
    struct rm_faults *faults; /**< or NULL */
};

struct rm_sender_setup {
    struct rm_sender_member const *members;
    uint32_t member_count;
    struct rm_sink const *sinks;
    uint32_t sink_count;
    struct rm_flow flow; /**< its source address, and a source MAC of zeros, are replaced by the instrument's own */
    bool udp_checksum;   /**< write UDP checksums */
    struct rm_turn_source source;
    rm_turn first_turn;
    uint64_t turns;      /**< to send, UINT64_MAX for no end */
    double turn_rate_hz; /**< 0: as fast as the link takes them */
};

struct rm_sender_result {
    uint64_t turns;           /**< that were due and handed to the links */
    uint64_t link_down_turns; /**< that passed while a link was down */
    double seconds;           /**< from the first to the last */
};

/** Runs until all turns are sent or `stop` becomes true. Waits for the links to come up first. Arrays of the setup stay
 * in use until it returns. RM_E_NO_SPACE. */
enum rm_code rm_sender_run(struct rm_sender_setup const *setup, double tsc_hz, atomic_bool const *stop,
                           struct rm_sender_result *result, struct rm_error *error);

#endif
