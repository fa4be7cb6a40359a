// SPDX-License-Identifier: Apache-2.0
/** One group at work: its readings become a datagram, which leaves through one network or two, with the faults of
 * each. */
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
    /** IPv4 identification of the next datagram that is fragmented. */
    uint16_t identification;
    /** A datagram that is about to be cut. */
    uint8_t whole[RM_LONGEST_FRAME_MAX];
};

/** A network as a group sees it. */
struct rm_sender_path {
    struct rm_datagram_template template;
    struct rm_sender_link *link;
    /** Counters of the set `sender`. */
    rm_counter *counters;
    /** Faults of the group's datagrams on this network, or NULL. */
    struct rm_faults *faults;
    /** Frames longer than this are fragmented. */
    uint32_t longest;
    /** MTU: bytes of an IPv4 packet. */
    uint32_t mtu;
    /** Number of buffers that a datagram takes. */
    uint32_t buffers;
};

struct rm_sender_group {
    struct rm_payload payload;
    /** Faults of the group's turn counter, or NULL. */
    struct rm_counter_faults *counter_faults;
    /** Turns by which the counter is ahead in the datagram in hand. */
    uint64_t counter_error;
    /** Number of the datagram in hand, from turn 0 on. */
    uint64_t number;
    /** The group is native, and has no faults. */
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
    /** The flow with all addresses and ports. */
    struct rm_flow flow;

    uint32_t mtu;
    bool udp_checksum;
    rm_counter *counters;
    /** Used only while the group is made. */
    struct rm_fault const *faults;

    uint32_t fault_count;
};

/** Makes a group. `instruments` are all instruments of the ring. Faults of the turn counter are taken from the first
 * way's faults. It must be freed even when it fails: RM_E_NO_SPACE. */
enum rm_code rm_sender_group_make(struct rm_virtual_group const *from, struct rm_virtual_instrument const *instruments,
                                  struct rm_sender_way const *ways, uint32_t way_count, struct rm_sender_desk *desk,
                                  struct rm_sender_group *group, struct rm_error *error);
void rm_sender_group_free(struct rm_sender_group *group);

/** Takes the readings of `turn`, the group's `reading`-th since turn 0: RM_LANES lanes of each instrument. Sends the
 * datagram of which this is the last turn. A datagram whose first turn was not seen is not sent. */
void rm_sender_group_turn(struct rm_sender_group *group, uint64_t reading, rm_turn turn, union rm_lane const *lanes);

/** Sends the datagrams that faults hold back until `ahead` ≥ 1 datagrams after the last. */
void rm_sender_group_held(struct rm_sender_group *group, uint64_t ahead);

/** The most datagrams by which one can be held back. */
uint64_t rm_sender_group_longest_delay(struct rm_sender_group const *group);

/** Forgets the datagrams that are held back, and the one in hand. Call it when turns are skipped. */
void rm_sender_group_forget(struct rm_sender_group *group);

#endif
