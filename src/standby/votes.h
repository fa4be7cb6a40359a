// SPDX-License-Identifier: Apache-2.0
/** What the chains told, counted: the questions that the rules of standby.h ask of them. Each answer is how many chains
 * say so in the cycle `now`. */
#ifndef RM_STANDBY_VOTES_H
#define RM_STANDBY_VOTES_H

#include "standby.h"

/** Cycles from `then` to `now`; UINT64_MAX where `then` is 0, never. */
static inline uint64_t rm_votes_age(uint64_t now, uint64_t then) {
    if (then == 0)
        return UINT64_MAX;
    return then < now ? now - then : 0;
}

/** They answered our term within N cycles. */
uint32_t rm_votes_with_us(struct rm_standby const *standby, uint64_t now);

/** They tell a higher term than ours. */
uint32_t rm_votes_above(struct rm_standby const *standby);

/** They tell a higher term than ours, or refuse ours: it is that of another life of this server. */
uint32_t rm_votes_astray(struct rm_standby const *standby);

/** Of those that tell a higher term: they obeyed a server within N cycles. */
uint32_t rm_votes_above_and_obeying(struct rm_standby const *standby, uint64_t now);

/** They are not known to have obeyed anybody for so many cycles or more. */
uint32_t rm_votes_missing(struct rm_standby const *standby, uint64_t now, uint64_t cycles);

/** Asked within N cycles, they say that they have obeyed nobody for N cycles or more; those that listen do not count. */
uint32_t rm_votes_silent(struct rm_standby const *standby, uint64_t now);

/** So do these, and answered our own query, not the peer's. */
uint32_t rm_votes_silent_and_reached(struct rm_standby const *standby, uint64_t now);

/** They answered our own query within N cycles, and since we stopped, and have our term as the highest; those that
 * listen do not count. */
uint32_t rm_votes_still_ours(struct rm_standby const *standby, uint64_t now);

/** Newest cycle in which any chain is known to have obeyed anybody; 0: none. */
uint64_t rm_votes_newest_obeyed(struct rm_standby const *standby);

#endif
