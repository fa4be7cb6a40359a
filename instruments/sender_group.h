// SPDX-License-Identifier: Apache-2.0
/** One group at work: its readings become a datagram, which leaves through one network or two, with their faults. */
#ifndef RM_INSTRUMENTS_SENDER_GROUP_H
#define RM_INSTRUMENTS_SENDER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "counter_faults.h"
#include "datagram.h"
#include "faults.h"
#include "payload.h"
#include "sender_link.h"

/** What all groups of a sender share. */
struct rm_sender_desk {
    /** Of the next datagram that is fragmented. */
    uint16_t identification;
    /** A datagram that is about to be cut. */
    uint8_t whole[RM_LONGEST_FRAME_MAX];
};

/** A network as a group sees it. */
struct rm_sender_path {
    struct rm_datagram_template template;
    struct rm_sender_link *link;
    /** A block of the set `sender`. */
    rm_counter *counters;
    /** Faults of the group's datagrams, or NULL. */
    struct rm_faults *faults;
    /** Frames longer than this are fragmented. */
    uint32_t longest;
    /** Bytes of an IPv4 packet. */
    uint32_t mtu;
    /** Number of buffers that a datagram takes. */
    uint32_t buffers;
};

struct rm_sender_group {
    struct rm_payload payload;
    /** Faults of the group's counters, or NULL. */
    struct rm_counter_faults *counter_faults;
    /** Of the datagram in hand. */
    uint64_t counter_error;
    /** Of the datagram in hand, from the beginning of turns. */
    uint64_t number;
    /** Native, and without faults. */
    bool undisturbed_native;
    /** The datagram in hand has its first turn. */
    bool begun;

    uint32_t path_count;
    struct rm_sender_path path[RM_NETWORKS];
    struct rm_sender_desk *desk;
};

/** How a group reaches one network. */
struct rm_sender_way {
    struct rm_sender_link *link;
    /** Complete. */
    struct rm_flow flow;

    uint32_t mtu;
    bool udp_checksum;
    rm_counter *counters;
    /** Only while the group is made. */
    struct rm_fault const *faults;

    uint32_t fault_count;
};

/** `instruments` are all of the ring's. What is wrong with the turn counter is taken from the first way's faults. To be
 * freed even when it fails: RM_E_NO_SPACE. */
enum rm_code rm_sender_group_make(struct rm_virtual_group const *from, struct rm_virtual_instrument const *instruments,
                                  struct rm_sender_way const *ways, uint32_t way_count, struct rm_sender_desk *desk,
                                  struct rm_sender_group *group, struct rm_error *error);
void rm_sender_group_free(struct rm_sender_group *group);

/** The readings of `turn`, the group's `reading`-th since turn 0: RM_LANES lanes of each instrument. Sends the datagram
 * of which this is the last turn. A datagram whose first turn was not seen is not sent. */
void rm_sender_group_turn(struct rm_sender_group *group, uint64_t reading, rm_turn turn, union rm_lane const *lanes);

/** Sends what faults hold back `ahead` ≥ 1 datagrams after the last. */
void rm_sender_group_held(struct rm_sender_group *group, uint64_t ahead);

/** Most datagrams by which one is held back. */
uint64_t rm_sender_group_longest_delay(struct rm_sender_group const *group);

/** Forgets what is held back, and the datagram in hand: for when turns are skipped. */
void rm_sender_group_forget(struct rm_sender_group *group);

#endif
