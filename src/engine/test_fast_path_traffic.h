// SPDX-License-Identifier: Apache-2.0
/** Traffic of a bad day for the fast path: what instruments send, in random order, with everything in a frame that
 * may differ differing now and then, and much that may not. */
#ifndef RM_ENGINE_TEST_FAST_PATH_TRAFFIC_H
#define RM_ENGINE_TEST_FAST_PATH_TRAFFIC_H

#include "engine/test_receive_rig.h"

enum { TRAFFIC_BYTES = 256 };

/** How one instrument's frames are now; each of these changes now and then. */
struct traffic_sender {
    /** Of the machine, that it sends next. */
    rm_turn next;
    /** Of IPv4. */
    uint16_t identification;

    uint16_t source_port;
    /** Of UDP, as it stood in the last frame that had one. */
    uint16_t last_checksum;
    /** Of the destination. */
    uint8_t last_octet;

    uint8_t time_to_live;
    /** enum checksum */
    uint8_t checksum;
    /** Every frame has an identification of its own. */
    bool counting;
    /** Without the don't-fragment bit. */
    bool fragmentable;
    /** With a wrong IPv4 header checksum. */
    bool broken;
    /** The device says that the checksums are right, whatever they are. */
    bool good;
};

struct traffic {
    uint64_t random;
    /** Turns from one record to the next. */
    uint64_t period;

    struct traffic_sender sender[RIG_INSTRUMENTS];
};

struct traffic_frame {
    uint8_t bytes[TRAFFIC_BYTES];
    uint32_t length;
    bool checksum_good;
};

uint64_t traffic_random(struct traffic *traffic);

/** All instruments send `turn` next. */
void traffic_set_turn(struct traffic *traffic, uint32_t instruments, rm_turn turn);

/** The next frame of instrument `index`, or what somebody makes of it. */
void traffic_next(struct traffic *traffic, struct receive_rig const *rig, uint32_t index, struct traffic_frame *frame);

#endif
