// SPDX-License-Identifier: Apache-2.0
#include "begin.h"

#include "votes.h"

/** As far as slews allow, after so many silent cycles. */
static struct rm_standby_begin begin_behind(uint64_t behind, uint64_t silent, uint64_t most) {
    uint64_t const wait = behind > silent ? behind - silent : 0;
    bool const forgets = wait > most;
    return (struct rm_standby_begin){.behind = behind, .wait = forgets ? 0 : wait, .forgets = forgets};
}

struct rm_standby_begin rm_standby_begin_at(struct rm_standby const *standby, uint32_t c, uint64_t lag,
                                            uint64_t since) {
    struct rm_standby_chain const *const chain = &standby->chain[c];
    uint32_t const missed = standby->setup.missed_cycles;
    if (standby->reason == RM_STANDBY_BEGAN)
        return (struct rm_standby_begin){.behind = UINT64_MAX, .forgets = true};
    if (standby->reason == RM_STANDBY_SWITCHED)
        return (struct rm_standby_begin){.behind = lag};
    if (rm_votes_age(standby->cycle, chain->asked) <= missed)
        return begin_behind(lag, rm_votes_age(standby->cycle, chain->obeyed), missed - 1);
    return begin_behind(lag == UINT64_MAX ? lag : since, 0, RM_STANDBY_WAITS_MOST);
}
