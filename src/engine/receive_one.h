// SPDX-License-Identifier: Apache-2.0
/** The general path of one packet, inside the receive role. */
#ifndef RM_ENGINE_RECEIVE_ONE_H
#define RM_ENGINE_RECEIVE_ONE_H

#include "engine/receive.h"

/** What a burst has brought so far. */
struct rm_burst_sum {
    uint32_t decoded;
    uint32_t records;
    uint64_t bytes;
    /** One above the newest accepted turn that is not early; 0: there is none. */
    rm_turn due_end;
    /** An accepted turn is early. */
    bool early;
};

/** Takes packet `index` of receive->burst, whatever it is: stores its records, or counts why not. */
void rm_receive_one(struct rm_receive *receive, struct rm_receive_queue *queue, uint32_t index, uint64_t tsc,
                    struct rm_burst_sum *sum);

#endif
