// SPDX-License-Identifier: Apache-2.0
#include "votes.h"

typedef bool rm_vote(struct rm_standby const *standby, struct rm_standby_chain const *chain, uint64_t now);

static inline uint32_t votes_count(struct rm_standby const *standby, rm_vote *vote, uint64_t now) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < standby->setup.chains; ++c)
        count += vote(standby, &standby->chain[c], now);
    return count;
}

static inline bool chain_is_with_us(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                    uint64_t now) {
    return rm_votes_age(now, chain->ours) <= standby->setup.missed_cycles;
}

static inline bool chain_is_above(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                  uint64_t now) {
    (void)now;
    return chain->term > standby->term;
}

static inline bool chain_is_astray(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                   uint64_t now) {
    return chain_is_above(standby, chain, now) || (chain->term == standby->term && chain->refused > chain->ours);
}

static inline bool chain_is_above_and_obeying(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                              uint64_t now) {
    return chain->term > standby->term && rm_votes_age(now, chain->obeyed) <= standby->setup.missed_cycles;
}

/** It was asked lately, and is a voter: what it said is true of now but for the last N cycles. */
static inline bool chain_has_said(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                  uint64_t now) {
    return rm_votes_age(now, chain->asked) <= standby->setup.missed_cycles && !chain->listening;
}

static inline bool chain_is_silent(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                   uint64_t now) {
    uint32_t const missed = standby->setup.missed_cycles;
    return chain_has_said(standby, chain, now) && chain->silent_cycles >= missed &&
           rm_votes_age(chain->asked, chain->obeyed) >= missed;
}

static inline bool chain_is_reached(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                    uint64_t now) {
    return rm_votes_age(now, chain->reached) <= standby->setup.missed_cycles && !chain->listening;
}

static inline bool chain_is_silent_and_reached(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                               uint64_t now) {
    return chain_is_reached(standby, chain, now) && chain_is_silent(standby, chain, now);
}

static inline bool chain_is_still_ours(struct rm_standby const *standby, struct rm_standby_chain const *chain,
                                       uint64_t now) {
    return chain_is_reached(standby, chain, now) && chain->reached >= standby->stopped && chain->term == standby->term;
}

uint32_t rm_votes_with_us(struct rm_standby const *standby, uint64_t now) {
    return votes_count(standby, chain_is_with_us, now);
}

uint32_t rm_votes_above(struct rm_standby const *standby) { return votes_count(standby, chain_is_above, 0); }

uint32_t rm_votes_astray(struct rm_standby const *standby) { return votes_count(standby, chain_is_astray, 0); }

uint32_t rm_votes_above_and_obeying(struct rm_standby const *standby, uint64_t now) {
    return votes_count(standby, chain_is_above_and_obeying, now);
}

uint32_t rm_votes_missing(struct rm_standby const *standby, uint64_t now, uint64_t cycles) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < standby->setup.chains; ++c)
        count += rm_votes_age(now, standby->chain[c].obeyed) >= cycles;
    return count;
}

uint32_t rm_votes_silent(struct rm_standby const *standby, uint64_t now) {
    return votes_count(standby, chain_is_silent, now);
}

uint32_t rm_votes_silent_and_reached(struct rm_standby const *standby, uint64_t now) {
    return votes_count(standby, chain_is_silent_and_reached, now);
}

uint32_t rm_votes_still_ours(struct rm_standby const *standby, uint64_t now) {
    return votes_count(standby, chain_is_still_ours, now);
}

uint64_t rm_votes_newest_obeyed(struct rm_standby const *standby) {
    uint64_t newest = 0;
    for (uint32_t c = 0; c < standby->setup.chains; ++c)
        if (standby->chain[c].obeyed > newest)
            newest = standby->chain[c].obeyed;
    return newest;
}
