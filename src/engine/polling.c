// SPDX-License-Identifier: Apache-2.0
#include "engine/polling.h"

enum {
    FULL = 32,           /**< packets in a poll that say that a queue is filling */
    SHORTEST_TICKS = 32, /**< a wait that is worth the name begins with the cost of reading the TSC */
};

/** A round is over: the wait that it should have had. */
static uint64_t polling_adjusted_wait(struct rm_polling const *polling) {
    uint64_t const wanted = (uint64_t)polling->target_packets * polling->polls;
    uint64_t wait = polling->wait_ticks;
    if (polling->packets > wanted) {
        wait = wait * wanted / polling->packets;
    } else if (polling->packets < wanted) {
        wait += wait / 4 * (wanted - polling->packets) / wanted + 1;
        wait = wait < SHORTEST_TICKS ? SHORTEST_TICKS : wait;
    }
    return wait < polling->longest_wait_ticks ? wait : polling->longest_wait_ticks;
}

uint64_t rm_polling_next(struct rm_polling *polling, uint32_t packets) {
    if (polling->target_packets == 0)
        return 0;
    ++polling->polls;
    polling->packets += packets;
    if (packets >= FULL) {
        polling->wait_ticks = 0;
        polling->polls = polling->packets = 0;
    } else if (polling->polls == RM_POLLING_ROUND) {
        polling->wait_ticks = polling_adjusted_wait(polling);
        polling->polls = polling->packets = 0;
    }
    return polling->wait_ticks;
}
