// SPDX-License-Identifier: Apache-2.0
/** What the transmit role keeps where it is one of two servers: transmit.h says what it does with it.
 *
 *     transmit_standby.c   once per cycle: may it send, what has changed, and publishing that
 *     transmit_follow.c    what the other server sent, and wants
 *
 * A cycle of src/standby is a period of the turn clock.
 */
#ifndef RM_ENGINE_TRANSMIT_STANDBY_H
#define RM_ENGINE_TRANSMIT_STANDBY_H

#include "engine/transmit_state.h"

struct rm_transmit_standby {
    struct rm_peer_mailbox mailbox;
    struct rm_transmit_pair setup;
    struct rm_transmit_peer peer;
    struct rm_standby core;
    /** As they were read last. Where there are none any more, a hold stays. */
    struct rm_standby_orders_reading orders;
    /** Microseconds of a period. */
    double period_us;
    /** When the cycle at hand was decided. */
    uint64_t decided_tsc;

    /** Number of the cycle at hand, and by how much it is ahead of its turn's, modulo 2^64. */
    uint64_t cycle, ahead;
    rm_turn cycle_turn;
    uint64_t cycle_epoch;
    /** [answering] Newest turn of the chain's answers that was heard; RM_TURN_NONE: none in this turn-counter epoch. */
    rm_turn *heard;
    /** A chain answered anybody since the cycle before. */
    bool heard_any;

    struct rm_setpoints_place sent_place, targets_place;
    /** Room for a vector of all supplies; the other server's targets, and ours as they were published last. */
    double *values, *wanted, *published;
    /** Turn of the cycle that rm_transmit.sent is of; RM_TURN_NONE: not known. */
    rm_turn known_turn;
    /** It was followed in this cycle. */
    bool followed;
    /** Turn in which it last began to send; RM_TURN_NONE: it has not in this turn-counter epoch. */
    rm_turn led_from;
    /** Newest turn whose setpoints a chain is known to have obeyed; RM_TURN_NONE: none. */
    rm_turn obeyed_turn;
    uint64_t since_tai_ns;
};

/* transmit_follow.c */

/** Takes over what the other server sent, and wants of the operator's supplies. For a role that does not send. */
void rm_transmit_follow(struct rm_transmit *transmit);

/** Cycles by which the chains are known to be ahead of rm_transmit.sent; UINT64_MAX where that is not known. */
uint64_t rm_transmit_lag(struct rm_transmit const *transmit);

/** Publishes where supplies go, where that changed. */
void rm_transmit_publish_targets(struct rm_transmit *transmit);

#endif
