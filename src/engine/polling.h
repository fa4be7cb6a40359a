// SPDX-License-Identifier: Apache-2.0
/** How long a core waits between two polls.
 *
 * A poll that finds one packet costs nearly what a poll costs that finds four: the queue's memory goes back and forth
 * between the cores once. So a core waits after each poll, and a feedback loop sets the wait such that about
 * `target_packets` come with one, or to `longest_wait` where too few come for that: a little latency for memory
 * pressure, and no packet lost for it, because a burst that comes full ends the waiting at once.
 *
 * The loop is an integrator over rounds of RM_POLLING_ROUND polls: a round that brought fewer packets than wanted makes
 * the wait longer by up to a quarter, one that brought more makes it shorter by as much as it takes.
 */
#ifndef RM_ENGINE_POLLING_H
#define RM_ENGINE_POLLING_H

#include <stdint.h>

enum { RM_POLLING_ROUND = 64 };

struct rm_polling {
    /** Packets per poll that are aimed at; 0: never wait. */
    uint32_t target_packets;
    /** In TSC ticks. */
    uint64_t longest_wait_ticks;
    /** Present wait after each poll. */
    uint64_t wait_ticks;
    /** Polls of this round … */
    uint32_t polls;
    /** … and what they brought. */
    uint32_t packets;
};

/** Notes what a poll brought. Returns how many ticks to wait before the next. */
uint64_t rm_polling_next(struct rm_polling *polling, uint32_t packets);

#endif
