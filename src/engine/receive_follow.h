// SPDX-License-Identifier: Apache-2.0
/** What the receive role does every 10 ms rather than with every burst. */
#ifndef RM_ENGINE_RECEIVE_FOLLOW_H
#define RM_ENGINE_RECEIVE_FOLLOW_H

#include "engine/receive.h"

/** Streams whose instrument is silent follow the clock at a distance, so that loss shows while it lasts. Each mirrored
 * network's loss is reconciled. Fragments whose datagram was never complete are given up. The clock is published. */
void rm_receive_follow(struct rm_receive *receive, uint64_t tsc);

void rm_receive_publish_clock(struct rm_receive *receive);

#endif
