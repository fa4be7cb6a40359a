// SPDX-License-Identifier: Apache-2.0
/** Traffic of a bad day for the fast path: what instruments send, in random order, with everything in a frame that
 * may differ differing now and then, and much that may not. */
#ifndef RM_ENGINE_TEST_FAST_PATH_TRAFFIC_H
#define RM_ENGINE_TEST_FAST_PATH_TRAFFIC_H

#include "engine/test_receive_rig.h"

enum { TRAFFIC_BYTES = 256 };

/** How one instrument's frames are now; each of these changes now and then. */
struct traffic_sender {
    /** Turn of the machine that it sends next. */
    rm_turn next;
    /** IPv4 identification. */
    uint16_t identification;

    uint16_t source_port;
    /** UDP checksum, as it stood in the last frame that had one. */
    uint16_t last_checksum;
    /** Last octet of the destination. */
    uint8_t last_octet;

    uint8_t time_to_live;
    /** enum checksum. */
    uint8_t checksum;
    /** Every frame has an identification of its own. */
    bool counting;
    /** Frames lack the don't-fragment bit. */
    bool fragmentable;
    /** Frames have a wrong IPv4 header checksum. */
    bool broken;
    /** The device reports that the checksums are right, whatever they are. */
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

/** Sets `turn` as the next one of all instruments. */
void traffic_set_turn(struct traffic *traffic, uint32_t instruments, rm_turn turn);

/** Makes the next frame of instrument `index`, or a changed one. */
void traffic_next(struct traffic *traffic, struct receive_rig const *rig, uint32_t index, struct traffic_frame *frame);

#endif
