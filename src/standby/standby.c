// SPDX-License-Identifier: Apache-2.0
#include "standby.h"

#include <assert.h>

#include "votes.h"

uint32_t rm_standby_majority(uint32_t chains) { return chains / 2 + 1; }

uint32_t rm_standby_next_term(uint32_t server, uint32_t above) {
    if (above >= RM_TERM_MAX)
        return 0;
    uint32_t const next = above + 1, own = next % 2 == server % 2 ? next : next + 1;
    return own <= RM_TERM_MAX ? own : 0;
}

void rm_standby_make(struct rm_standby *standby, struct rm_standby_setup const *setup) {
    assert(setup->chains >= 1 && setup->chains <= RM_STANDBY_CHAINS_MAX && setup->missed_cycles >= 2);
    *standby = (struct rm_standby){
        .setup = *setup,
        .role = RM_STANDBY_JOINING,
        .reason = RM_STANDBY_STARTED,
        .highest_term = setup->term,
        .unacknowledged = setup->unacknowledged,
        .swap_cycles = UINT64_MAX,
        .since_turn = RM_TURN_NONE,
        .switch_turn = RM_TURN_NONE,
    };
}

/* ── answers ── */

/** Two servers that cannot take over ask in turn, so that each knows which answers are its own. */
static bool cycle_is_own(struct rm_standby const *standby, uint64_t cycle) {
    return cycle % 2 == standby->setup.server % 2;
}

static void standby_learn_term(struct rm_standby *standby, uint64_t term) {
    if (term > standby->highest_term && term <= RM_TERM_MAX)
        standby->highest_term = (uint32_t)term;
}

static void chain_learn_obeyed(struct rm_standby_chain *chain, uint64_t cycle) {
    if (cycle > chain->obeyed)
        chain->obeyed = cycle;
}

void rm_standby_answer(struct rm_standby *standby, uint32_t c, struct rm_standby_answer const *answer) {
    struct rm_standby_chain *const chain = &standby->chain[c];
    /* The peer's clock may be a cycle before ours, and not more. */
    uint64_t const cycle = answer->cycle <= standby->cycle + 1 ? answer->cycle : standby->cycle + 1;
    standby_learn_term(standby, answer->term);
    if (answer->obeyed)
        chain_learn_obeyed(chain, cycle);
    if (answer->asked && answer->silent_cycles < cycle)
        chain_learn_obeyed(chain, cycle - answer->silent_cycles);
    bool const refused = !answer->obeyed && !answer->asked && !answer->listening;
    if (refused && cycle > chain->refused)
        chain->refused = cycle;
    bool const taken = answer->obeyed || (answer->listening && !answer->asked);
    if (taken && standby->term != 0 && answer->term == standby->term && cycle > chain->ours)
        chain->ours = cycle;
    if (cycle < chain->heard)
        return; /* overtaken: what it says of the chain's term is old */
    chain->heard = cycle;
    chain->term = answer->term;
    chain->listening = answer->listening;
    if (answer->asked) {
        chain->asked = cycle;
        chain->reached = cycle_is_own(standby, cycle) ? cycle : chain->reached;
        chain->silent_cycles = answer->silent_cycles;
    }
}

/* ── what a cycle brings ── */

static bool is_majority(struct rm_standby const *standby, uint32_t chains) {
    return chains >= rm_standby_majority(standby->setup.chains);
}

/** How long a server that stopped leaves it to a peer that can take over: N cycles of silence, of which it may see the
 * first one cycle later; two cycles for the peer to ask and to be answered; N cycles to be confirmed. */
static uint64_t cycles_for_peer(struct rm_standby const *standby) { return 2ULL * standby->setup.missed_cycles + 2; }

/** Orders whose writer hangs or has ended are none, but for a hold and what was acknowledged. */
static struct rm_standby_orders_reading standby_heed_orders(struct rm_standby *standby,
                                                            struct rm_standby_seen const *seen) {
    struct rm_standby_orders_reading orders = seen->orders;
    standby->first_orders = standby->beat == 0;
    if (orders.beat != standby->beat) {
        standby->beat = orders.beat;
        standby->beat_cycle = seen->cycle;
    }
    if (rm_votes_age(seen->cycle, standby->beat_cycle) > standby->setup.begin_cycles) {
        orders.synchronised = false;
        orders.refused = false;
        orders.peer_role = 0;
        orders.switch_turn = RM_TURN_NONE;
    }
    return orders;
}

static void standby_learn_orders(struct rm_standby *standby, struct rm_standby_seen const *seen,
                                 struct rm_standby_orders_reading const *orders) {
    standby_learn_term(standby, orders->peer_term);
    if (orders->peer_role != 0) {
        standby->peer_unacknowledged = orders->peer_unacknowledged;
        standby->planned_only = orders->planned_only;
    }
    if (orders->acknowledged > standby->acknowledged && !standby->first_orders)
        standby->unacknowledged = standby->peer_unacknowledged = false;
    standby->acknowledged = orders->acknowledged;
    bool const to_come = orders->switch_turn != RM_TURN_NONE && orders->switch_turn > seen->turn;
    standby->switch_turn = to_come ? orders->switch_turn : RM_TURN_NONE;
    if (seen->turn < standby->stopped_turn)
        standby->stopped_turn = 0; /* the machine's turn counter was restarted */
    if (orders->synchronised && orders->synchronised_turn >= standby->stopped_turn)
        standby->synchronised = seen->cycle;
}

/** Cycles that it slept through just before this one. */
static uint64_t standby_slept_cycles(struct rm_standby const *standby, struct rm_standby_seen const *seen) {
    return standby->cycle == 0 || seen->cycle <= standby->cycle ? 0 : seen->cycle - standby->cycle - 1;
}

/** The agreed turn of a planned switch came with this cycle. */
static bool standby_switches(struct rm_standby const *standby, struct rm_standby_seen const *seen,
                             struct rm_standby_orders_reading const *orders) {
    return orders->switch_turn != RM_TURN_NONE && standby->cycle != 0 && standby->turn < orders->switch_turn &&
           orders->switch_turn <= seen->turn;
}

static void standby_become(struct rm_standby *standby, struct rm_standby_seen const *seen, enum rm_standby_role role,
                           enum rm_standby_reason reason) {
    if (role != standby->role)
        standby->since_turn = seen->turn;
    standby->role = role;
    standby->reason = reason;
}

/** The term under which it would begin now; 0: there is none. Its own, where nobody has gone beyond: a new one would say
 * nothing, and a server that tries again and again would use them up. */
static uint32_t standby_term_to_take(struct rm_standby const *standby) {
    bool const goes_on = standby->term != 0 && standby->term == standby->highest_term;
    return goes_on ? standby->term : rm_standby_next_term(standby->setup.server, standby->highest_term);
}

/* ── the server that sends ── */

static void standby_stop(struct rm_standby *standby, struct rm_standby_seen const *seen, enum rm_standby_role role,
                         enum rm_standby_reason reason) {
    standby_become(standby, seen, role, reason);
    standby->was_last = role == RM_STANDBY_READY;
    standby->stopped = standby->waits_from = seen->cycle;
    standby->stopped_turn = seen->turn;
    standby->synchronised = 0;
}

static void standby_take_term(struct rm_standby *standby, uint64_t cycle, uint32_t term) {
    if (term != standby->term)
        for (uint32_t c = 0; c < standby->setup.chains; ++c)
            standby->chain[c].ours = standby->chain[c].refused = 0;
    standby->term = term;
    standby->began = cycle;
    standby->disputed = 0;
    standby_learn_term(standby, term);
}

/** RAISE, when it is time to. */
static void standby_raise(struct rm_standby *standby, uint64_t now) {
    uint32_t const next = rm_standby_next_term(standby->setup.server, standby->highest_term);
    if (rm_votes_astray(standby) == 0)
        standby->disputed = 0;
    else if (standby->disputed == 0)
        standby->disputed = now;
    else if (next != 0 && now - standby->disputed >= cycles_for_peer(standby) &&
             rm_votes_above_and_obeying(standby, now) == 0)
        standby_take_term(standby, now, next);
}

static void standby_confirm(struct rm_standby *standby) {
    if (!standby->confirmed && standby->reason == RM_STANDBY_TOOK_OVER)
        standby->unacknowledged = true;
    standby->confirmed = true;
}

static enum rm_standby_act standby_go_on(struct rm_standby *standby, struct rm_standby_seen const *seen,
                                         struct rm_standby_orders_reading const *orders) {
    uint64_t const now = seen->cycle;
    uint32_t const missed = standby->setup.missed_cycles;
    standby->with_us = rm_votes_with_us(standby, now);
    bool const answered = is_majority(standby, standby->with_us);
    if (orders->hold) {
        standby_stop(standby, seen, RM_STANDBY_MAINTENANCE, RM_STANDBY_HELD);
        return RM_STANDBY_QUIET;
    }
    if (standby_switches(standby, seen, orders) && orders->peer_role == RM_STANDBY_READY + 1) {
        standby_stop(standby, seen, RM_STANDBY_READY, RM_STANDBY_SWITCHED);
        return RM_STANDBY_QUIET;
    }
    if (is_majority(standby, rm_votes_above(standby))) {
        standby_stop(standby, seen, RM_STANDBY_JOINING, RM_STANDBY_DEPOSED);
        return RM_STANDBY_QUIET;
    }
    /* One that slept through N cycles has no answers of them. */
    if (now - standby->began >= missed && !answered) {
        standby->was_in_vain = !standby->confirmed;
        standby_stop(standby, seen, RM_STANDBY_READY, RM_STANDBY_UNANSWERED);
        return cycle_is_own(standby, now) ? RM_STANDBY_ASKS : RM_STANDBY_QUIET;
    }
    if (answered) {
        standby_confirm(standby);
        standby_raise(standby, now);
    }
    return RM_STANDBY_SENDS;
}

/* ── the server that does not ── */

/** Its state is a copy of the active server's newest one: as the orders say, or as they said when the chains last
 * obeyed anybody, and not too long ago. With the active server the link may end. */
static bool standby_has_copy(struct rm_standby const *standby, struct rm_standby_seen const *seen,
                             struct rm_standby_orders_reading const *orders) {
    if (standby->synchronised == 0 || standby->synchronised == seen->cycle)
        return standby->synchronised != 0;
    return rm_votes_age(seen->cycle, standby->synchronised) <= standby->setup.begin_cycles &&
           orders->peer_role != RM_STANDBY_ACTIVE + 1 && rm_votes_newest_obeyed(standby) <= standby->synchronised;
}

/** A server was obeyed lately: there is something to go on from. */
static bool standby_is_recent(struct rm_standby const *standby, uint64_t now) {
    return rm_votes_age(now, rm_votes_newest_obeyed(standby)) <= standby->setup.begin_cycles;
}

/** Its own state is the newest: it sent last, as far as it knows, and not too long ago. */
static bool standby_was_last(struct rm_standby *standby, struct rm_standby_seen const *seen,
                             struct rm_standby_orders_reading const *orders) {
    bool const copied = standby->synchronised != 0;
    if (copied || !standby_is_recent(standby, seen->cycle) || is_majority(standby, rm_votes_above(standby)))
        standby->was_last = false;
    return standby->was_last && !(orders->peer_role == RM_STANDBY_ACTIVE + 1 && orders->peer_term > standby->term);
}

/** Why it is JOINING, when it was something else before. */
static enum rm_standby_reason reason_to_join(struct rm_standby const *standby,
                                             struct rm_standby_orders_reading const *orders) {
    if (standby->role == RM_STANDBY_JOINING && standby->reason != RM_STANDBY_DEAF)
        return standby->reason;
    if (standby->role != RM_STANDBY_READY)
        return RM_STANDBY_STARTED;
    if (standby->reason == RM_STANDBY_SWITCHED)
        return RM_STANDBY_SWITCHED;
    if (standby->reason == RM_STANDBY_UNANSWERED)
        return is_majority(standby, rm_votes_above(standby)) ? RM_STANDBY_DEPOSED : RM_STANDBY_UNANSWERED;
    return orders->peer_role == 0 ? RM_STANDBY_LINK_LOST : RM_STANDBY_DIFFERS;
}

static void standby_settle_role(struct rm_standby *standby, struct rm_standby_seen const *seen,
                                struct rm_standby_orders_reading const *orders) {
    bool const has_copy = standby_has_copy(standby, seen, orders);
    bool const was_last = standby_was_last(standby, seen, orders);
    if (!has_copy || orders->hold)
        standby->synchronised = 0;
    if (orders->hold) {
        standby->was_last = false;
        standby->waits_from = seen->cycle;
        standby_become(standby, seen, RM_STANDBY_MAINTENANCE, RM_STANDBY_HELD);
    } else if (orders->refused) {
        standby_become(standby, seen, RM_STANDBY_FAULT, RM_STANDBY_REFUSED);
    } else if (standby_term_to_take(standby) == 0) {
        standby_become(standby, seen, RM_STANDBY_FAULT, RM_STANDBY_NO_TERM);
    } else if (!seen->hears) {
        standby_become(standby, seen, RM_STANDBY_JOINING, RM_STANDBY_DEAF);
    } else if (was_last) {
        bool const switched = standby->reason == RM_STANDBY_SWITCHED;
        standby_become(standby, seen, RM_STANDBY_READY, switched ? RM_STANDBY_SWITCHED : RM_STANDBY_UNANSWERED);
    } else if (has_copy) {
        standby_become(standby, seen, RM_STANDBY_READY, RM_STANDBY_COPIED);
    } else {
        standby_become(standby, seen, RM_STANDBY_JOINING, reason_to_join(standby, orders));
    }
}

static void standby_begin(struct rm_standby *standby, struct rm_standby_seen const *seen,
                          enum rm_standby_reason reason) {
    uint64_t const obeyed = rm_votes_newest_obeyed(standby);
    if (reason == RM_STANDBY_TOOK_OVER || reason == RM_STANDBY_SWITCHED)
        standby->swap_cycles = obeyed == 0 ? UINT64_MAX : rm_votes_age(seen->cycle, obeyed);
    standby_become(standby, seen, RM_STANDBY_ACTIVE, reason);
    standby->confirmed = standby->was_last = false;
    standby->synchronised = standby->served_from = 0;
    standby_take_term(standby, seen->cycle, standby_term_to_take(standby));
}

/** ONCE, of the pair, or two builds: what the peer said last is true when it is dead, too. */
static bool standby_waits_for_operator(struct rm_standby const *standby) {
    return standby->unacknowledged || standby->peer_unacknowledged || standby->planned_only;
}

/** A server that may take over as soon as the chains say that they are silent. */
static bool standby_is_ready_to_take(struct rm_standby const *standby, uint64_t now) {
    return standby->role == RM_STANDBY_READY && !standby->was_last && !standby->was_in_vain &&
           !standby_waits_for_operator(standby) && standby_is_recent(standby, now);
}

static bool standby_may_switch(struct rm_standby const *standby, struct rm_standby_seen const *seen,
                               struct rm_standby_orders_reading const *orders) {
    return !standby->was_last && standby_switches(standby, seen, orders) &&
           standby_slept_cycles(standby, seen) < standby->setup.missed_cycles;
}

static bool standby_may_resume(struct rm_standby const *standby, uint64_t now,
                               struct rm_standby_orders_reading const *orders) {
    bool const peer_may = orders->peer_role == RM_STANDBY_READY + 1 && !standby_waits_for_operator(standby);
    return standby->was_last && is_majority(standby, rm_votes_still_ours(standby, now)) &&
           (!peer_may || now - standby->stopped >= cycles_for_peer(standby));
}

static bool standby_may_take_over(struct rm_standby const *standby, uint64_t now) {
    return standby_is_ready_to_take(standby, now) && now - standby->ran_from >= standby->setup.missed_cycles &&
           is_majority(standby, rm_votes_silent(standby, now));
}

static bool standby_may_begin(struct rm_standby const *standby, uint64_t now) {
    uint64_t const wait = (uint64_t)standby->setup.begin_cycles * standby->setup.server;
    return now - standby->waits_from >= wait && is_majority(standby, rm_votes_missing(standby, now, wait)) &&
           is_majority(standby, rm_votes_silent_and_reached(standby, now));
}

/** Whether it asks: a server that may take over in each cycle without setpoints, all others in their own. */
static bool standby_asks(struct rm_standby const *standby, uint64_t now, bool missing) {
    return (missing && standby_is_ready_to_take(standby, now)) ||
           ((missing || standby->was_last) && cycle_is_own(standby, now));
}

/** Whether it begins to send in this cycle, and why. */
static bool standby_may_send(struct rm_standby const *standby, struct rm_standby_seen const *seen,
                             struct rm_standby_orders_reading const *orders, enum rm_standby_reason *reason) {
    bool const ready = standby->role == RM_STANDBY_READY;
    *reason = RM_STANDBY_SWITCHED;
    if (ready && standby_may_switch(standby, seen, orders))
        return true;
    *reason = RM_STANDBY_UNANSWERED;
    if (ready && standby_may_resume(standby, seen->cycle, orders))
        return true;
    *reason = RM_STANDBY_TOOK_OVER;
    if (standby_may_take_over(standby, seen->cycle))
        return true;
    *reason = RM_STANDBY_BEGAN;
    return standby_may_begin(standby, seen->cycle);
}

/** A try that nobody confirms serves a majority for N cycles, which hears of N more before it misses any. */
static void standby_hear_served(struct rm_standby *standby, uint64_t now, bool missing) {
    if (missing || !standby->was_in_vain)
        standby->served_from = 0;
    else if (standby->served_from == 0)
        standby->served_from = now;
    else if (now - standby->served_from >= cycles_for_peer(standby))
        standby->was_in_vain = false;
}

static enum rm_standby_act standby_wait(struct rm_standby *standby, struct rm_standby_seen const *seen,
                                        struct rm_standby_orders_reading const *orders) {
    enum rm_standby_reason reason;
    standby->with_us = 0;
    standby_settle_role(standby, seen, orders);
    if ((standby->role != RM_STANDBY_READY && standby->role != RM_STANDBY_JOINING) || !seen->hears)
        return RM_STANDBY_QUIET;
    bool const missing = is_majority(standby, rm_votes_missing(standby, seen->cycle, standby->setup.missed_cycles));
    standby_hear_served(standby, seen->cycle, missing);
    if (standby_may_send(standby, seen, orders, &reason)) {
        standby_begin(standby, seen, reason);
        return RM_STANDBY_SENDS;
    }
    return standby_asks(standby, seen->cycle, missing) ? RM_STANDBY_ASKS : RM_STANDBY_QUIET;
}

enum rm_standby_act rm_standby_cycle(struct rm_standby *standby, struct rm_standby_seen const *seen) {
    struct rm_standby_orders_reading const orders = standby_heed_orders(standby, seen);
    standby_learn_orders(standby, seen, &orders);
    if (standby->cycle == 0)
        standby->waits_from = seen->cycle;
    if (standby->cycle == 0 || !seen->ran || !seen->hears || standby_slept_cycles(standby, seen) != 0)
        standby->ran_from = seen->cycle;
    enum rm_standby_act const act = standby->role == RM_STANDBY_ACTIVE ? standby_go_on(standby, seen, &orders)
                                                                       : standby_wait(standby, seen, &orders);
    standby->cycle = seen->cycle;
    standby->turn = seen->turn;
    return act;
}
