// SPDX-License-Identifier: Apache-2.0
/* Once per cycle: may this one of two servers send, what has changed, and publishing that. */
#include "engine/transmit_standby.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "base/zeroed.h"
#include "fabric/standby_writer.h"
#include "standby/begin.h"

enum {
    ANSWER_CYCLES = 8, /**< an answer that takes longer says nothing of now */
};

/** Instruments are heard while the turn clock was fitted to them so lately. */
static double const HEARS_SECONDS = 0.25;

static void forget_turns(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    standby->known_turn = standby->obeyed_turn = standby->led_from = RM_TURN_NONE;
    for (uint32_t i = 0; i < transmit->answering_count; ++i)
        standby->heard[i] = RM_TURN_NONE;
}

static void forget_targets(struct rm_transmit *transmit) {
    for (uint32_t i = 0; i < transmit->supply_count; ++i)
        transmit->standby->wanted[i] = transmit->standby->published[i] = NAN;
}

/** Cycles of a server that does not send are due later: until then what the other one sent has been answered. */
static void set_role(struct rm_transmit *transmit, enum rm_standby_role role) {
    uint64_t const later = role == RM_STANDBY_ACTIVE ? 0 : transmit->period_turns / 4;
    transmit->phase_turns = transmit->setup.config->setpoints.phase_turns + later;
}

static bool standby_allocate(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const made = transmit->standby = rm_zeroed(1, sizeof *made);
    if (made == NULL)
        return false;
    made->heard = rm_zeroed(transmit->chain_count, sizeof *made->heard);
    made->values = rm_zeroed(transmit->supply_count, sizeof *made->values);
    made->wanted = rm_zeroed(transmit->supply_count, sizeof *made->wanted);
    made->published = rm_zeroed(transmit->supply_count, sizeof *made->published);
    return made->heard && made->values && made->wanted && made->published;
}

enum rm_code rm_transmit_standby_make(struct rm_transmit *transmit, struct rm_error *error) {
    struct rm_transmit_pair const *const pair = transmit->setup.pair;
    struct rm_config const *const config = transmit->setup.config;
    if (transmit->answering_count == 0 || transmit->answering_count > RM_STANDBY_CHAINS_MAX)
        return rm_fail(error, RM_E_CONFIG,
                       "chains: found %u with readback, expected 1 to %d where there are two servers: "
                       "they are who decides which one sends",
                       transmit->answering_count, RM_STANDBY_CHAINS_MAX);
    if (!standby_allocate(transmit))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for one of two servers");
    struct rm_transmit_standby *const standby = transmit->standby;
    struct rm_standby_setup const setup = {
        .server = pair->server,
        .chains = transmit->answering_count,
        .missed_cycles = pair->missed_cycles,
        .begin_cycles = pair->begin_cycles,
        .term = atomic_load_explicit(&transmit->highest_term, memory_order_relaxed),
        .unacknowledged = atomic_load_explicit(&pair->state->unacknowledged, memory_order_relaxed) != 0,
    };
    rm_standby_make(&standby->core, &setup);
    standby->setup = *pair;
    transmit->setup.pair = &standby->setup;
    standby->orders.switch_turn = RM_TURN_NONE;
    standby->period_us = 1e6 * (double)transmit->period_turns / config->turn_rate_hz;
    forget_targets(transmit);
    forget_turns(transmit);
    set_role(transmit, RM_STANDBY_JOINING);
    transmit->act = RM_STANDBY_QUIET;
    return RM_OK;
}

void rm_transmit_standby_free(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    if (standby == NULL)
        return;
    free(standby->heard);
    free(standby->values);
    free(standby->wanted);
    free(standby->published);
    free(standby);
}

struct rm_peer_mailbox *rm_transmit_peer_mailbox(struct rm_transmit *transmit) {
    return transmit->standby != NULL ? &transmit->standby->mailbox : NULL;
}

void rm_transmit_take_peer(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    if (!rm_mailbox_take(&standby->mailbox.mailbox))
        return;
    standby->peer = standby->mailbox.peer;
    standby->sent_place = standby->targets_place = (struct rm_setpoints_place){0};
    /* A hold outlives the process that tells of it, and so does what waits for an operator. */
    standby->orders.synchronised = standby->orders.refused = false;
    standby->orders.peer_role = 0;
    standby->orders.switch_turn = RM_TURN_NONE;
    rm_mailbox_free(&standby->mailbox.mailbox);
}

/** Orders that are just being written are read in the next cycle; the last ones stay. */
static void look_at_orders(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    if (standby->peer.orders == NULL || !rm_standby_orders_look(standby->peer.orders, &standby->orders))
        rm_counter_add(standby->setup.counters, RM_STANDBY_REFUSED_ORDERS, 1);
}

/** One answer, whichever server it is to. */
static void note_answer(struct rm_transmit *transmit, uint32_t voter, struct rm_record const *record) {
    struct rm_transmit_standby *const standby = transmit->standby;
    uint16_t const says = rm_tag_status(record->tag);
    int32_t const lane = record->lane[RM_SUPPLY_LANE_SEQUENCE].i;
    uint64_t const back = (standby->cycle_turn - record->turn) / transmit->period_turns;
    bool const asked = (says & RM_CHAIN_SAYS_QUERIED) != 0, listening = (says & RM_CHAIN_SAYS_LISTENING) != 0;
    bool const obeyed = !asked && !listening && (says & RM_CHAIN_SAYS_OLD_TERM) == 0;
    uint16_t const low = rm_supply_answer_low(lane);
    struct rm_standby_answer const answer = {
        .cycle = back < standby->cycle ? standby->cycle - back : 0,
        .term = rm_supply_answer_term(lane),
        .obeyed = obeyed,
        .asked = asked,
        .silent_cycles = low == RM_SUPPLY_LONG_AGO ? UINT32_MAX : (uint32_t)(low / standby->period_us),
        .listening = listening,
    };
    rm_standby_answer(&standby->core, voter, &answer);
    uint64_t const since = asked && answer.silent_cycles != UINT32_MAX ? answer.silent_cycles : 0;
    rm_turn const turn = record->turn - (since * transmit->period_turns);
    bool const tells = obeyed || (asked && answer.silent_cycles != UINT32_MAX && turn <= record->turn);
    if (tells && (standby->obeyed_turn == RM_TURN_NONE || turn > standby->obeyed_turn))
        standby->obeyed_turn = turn;
}

/** The answers of one chain that have come since, of the cycle at hand and of those before it. */
static void hear_chain(struct rm_transmit *transmit, uint32_t voter) {
    struct rm_transmit_standby *const standby = transmit->standby;
    struct rm_transmit_link *const link = &transmit->link[transmit->answering[voter]];
    uint64_t const period = transmit->period_turns;
    for (uint64_t back = ANSWER_CYCLES; back-- > 0;) {
        struct rm_record record;
        rm_turn const turn = standby->cycle_turn - back * period;
        bool const heard = standby->heard[voter] != RM_TURN_NONE && turn <= standby->heard[voter];
        if (back * period > standby->cycle_turn || heard ||
            rm_stream_read(&link->place.readback[0], turn, &record) != RM_READ_OK)
            continue;
        standby->heard[voter] = turn;
        standby->heard_any = true;
        note_answer(transmit, voter, &record);
        if (transmit->act == RM_STANDBY_QUIET) /* the cycle before this one */
            rm_transmit_judge_other(transmit, link, turn);
    }
}

static void hear_chains(struct rm_transmit *transmit) {
    for (uint32_t voter = 0; voter < transmit->answering_count; ++voter)
        hear_chain(transmit, voter);
}

/** Where turns begin anew: periods that have passed since the last cycle, and one more where the other server, too, would
 * not have this number's parity for its turn: by that they ask in turn. */
static uint64_t number_anew(struct rm_transmit const *transmit, uint64_t plain, uint64_t tsc) {
    uint64_t const last = transmit->standby->cycle, period = transmit->nominal_ticks;
    uint64_t const passed = (tsc - transmit->sent_tsc) / period;
    uint64_t const number = last + (passed > 1 ? passed : 1);
    return number + (number - plain) % 2;
}

/** The number of the cycle at hand: that of its turn, as the other server has it; but where turns begin anew it goes on
 * from the last one. False where cycles were slept through. */
static bool number_cycle(struct rm_transmit *transmit, uint64_t tsc) {
    struct rm_transmit_standby *const standby = transmit->standby;
    uint64_t const last = standby->cycle, plain = transmit->cycle_turn / transmit->period_turns + 1;
    bool const goes_on = standby->cycle_epoch == transmit->cycle_epoch && transmit->cycle_turn > standby->cycle_turn;
    if (!goes_on) {
        hear_chains(transmit); /* the last answers to turns as they were counted */
        forget_turns(transmit);
        if (standby->core.role == RM_STANDBY_ACTIVE)
            standby->led_from = transmit->cycle_turn;
        standby->ahead = (last == 0 ? plain : number_anew(transmit, plain, tsc)) - plain;
    }
    standby->cycle = plain + standby->ahead;
    standby->cycle_turn = transmit->cycle_turn;
    standby->cycle_epoch = transmit->cycle_epoch;
    return standby->cycle - last <= (goes_on ? 1 : 2);
}

/** Chains do not tell it, and the housekeeping of TAI needs no instruments. */
static bool instruments_arrive(struct rm_transmit const *transmit, uint64_t tsc) {
    uint64_t const fitted = transmit->clock.turn_tsc;
    uint64_t const most = (uint64_t)(HEARS_SECONDS * transmit->setup.tsc_hz);
    return transmit->setup.clock == NULL || tsc <= fitted || tsc - fitted <= most;
}

/** What the begin or the end of sending counts as. */
static unsigned change_of(enum rm_standby_reason reason, bool begins) {
    switch (reason) {
    case RM_STANDBY_BEGAN:
        return RM_STANDBY_BEGINS;
    case RM_STANDBY_TOOK_OVER:
        return RM_STANDBY_TAKEOVERS;
    case RM_STANDBY_SWITCHED:
        return RM_STANDBY_SWITCHES;
    case RM_STANDBY_DEPOSED:
        return RM_STANDBY_DEPOSITIONS;
    case RM_STANDBY_UNANSWERED:
        return begins ? RM_STANDBY_COUNTERS : RM_STANDBY_UNCONFIRMED;
    default:
        return RM_STANDBY_COUNTERS;
    }
}

static void count_change(struct rm_transmit *transmit, enum rm_standby_role before, uint32_t term_before) {
    struct rm_transmit_standby *const standby = transmit->standby;
    struct rm_standby const *const core = &standby->core;
    bool const active = core->role == RM_STANDBY_ACTIVE, was = before == RM_STANDBY_ACTIVE;
    unsigned const change = active == was ? RM_STANDBY_COUNTERS : change_of(core->reason, active);
    if (change != RM_STANDBY_COUNTERS)
        rm_counter_add(standby->setup.counters, change, 1);
    if (active && was && core->term != term_before)
        rm_counter_add(standby->setup.counters, RM_STANDBY_RAISED, 1);
    if (core->role != before)
        standby->since_tai_ns = rm_clock_tai_ns(&transmit->clock, rm_tsc());
}

/** Turn of the chain's newest answer, where that tells how it stands now. */
static rm_turn lately_heard(struct rm_transmit const *transmit, uint32_t voter) {
    struct rm_transmit_standby const *const standby = transmit->standby;
    rm_turn const turn = standby->heard[voter];
    uint64_t const most = (standby->setup.missed_cycles + 2u) * transmit->period_turns;
    return turn != RM_TURN_NONE && standby->cycle_turn - turn <= most ? turn : RM_TURN_NONE;
}

/** What was sent so many cycles ago is nearer to what was sent last than a readback need be, as long as so many slews are
 * within the tolerance. Else it is forgotten: the readback alone decides. */
static void forget_old_setpoints(struct rm_transmit *transmit, struct rm_transmit_link const *link, uint64_t behind) {
    for (uint32_t i = link->first; i < link->first + link->count; ++i)
        if (!((double)behind * (double)transmit->supply[i].slew <= transmit->supply[i].tolerance))
            transmit->sent[i] = NAN;
}

/** Cycles since that turn. */
static uint64_t cycles_since_turn(struct rm_transmit const *transmit, rm_turn turn) {
    rm_turn const now = transmit->standby->cycle_turn;
    return turn == RM_TURN_NONE || turn > now ? UINT64_MAX : (now - turn) / transmit->period_turns;
}

static void begin_at_chain(struct rm_transmit *transmit, uint32_t voter, struct rm_standby_begin const *begin) {
    struct rm_transmit_link *const link = &transmit->link[transmit->answering[voter]];
    if (begin->behind <= 1)
        return;
    link->joins_from = transmit->cycle + begin->wait;
    forget_old_setpoints(transmit, link, begin->forgets ? UINT64_MAX : begin->behind);
    rm_transmit_join_where_it_stands(transmit, link, lately_heard(transmit, voter));
}

/** It sends from this cycle on: its setpoints begin where the other server's ended. Only where it knows what was sent in
 * the cycle before this one do they go a step at once: else the other server may have gone a last step that nobody told
 * of, and one the other way would be two slews. */
static void begin_to_send(struct rm_transmit *transmit) {
    struct rm_transmit_standby const *const standby = transmit->standby;
    uint64_t const lag = rm_transmit_lag(transmit), since = cycles_since_turn(transmit, standby->known_turn);
    transmit->moves = since == 1;
    transmit->standby->led_from = transmit->cycle_turn;
    forget_targets(transmit);
    for (uint32_t i = 0; i < transmit->chain_count; ++i) {
        struct rm_transmit_link *const link = &transmit->link[i];
        link->begins = true; /* one that is behind catches up: it goes on from what it was sent */
        link->joins_from = 0;
    }
    for (uint32_t voter = 0; voter < transmit->answering_count; ++voter) {
        struct rm_standby_begin const begin = rm_standby_begin_at(&standby->core, voter, lag, since);
        begin_at_chain(transmit, voter, &begin);
    }
}

static struct rm_standby_seen what_is_seen(struct rm_transmit *transmit, uint64_t tsc, bool ran) {
    struct rm_transmit_standby const *const standby = transmit->standby;
    return (struct rm_standby_seen){
        .cycle = standby->cycle,
        .turn = standby->cycle_turn,
        .ran = ran,
        .hears = instruments_arrive(transmit, tsc),
        .orders = standby->orders,
    };
}

void rm_transmit_decide(struct rm_transmit *transmit, uint64_t tsc) {
    struct rm_transmit_standby *const standby = transmit->standby;
    enum rm_standby_role const before = standby->core.role;
    uint32_t const term = standby->core.term;
    standby->followed = standby->heard_any = false;
    bool const ran = number_cycle(transmit, tsc);
    look_at_orders(transmit);
    hear_chains(transmit);
    if (before != RM_STANDBY_ACTIVE)
        rm_transmit_follow(transmit);
    struct rm_standby_seen const seen = what_is_seen(transmit, tsc, ran);
    transmit->act = rm_standby_cycle(&standby->core, &seen);
    transmit->moves = transmit->act == RM_STANDBY_SENDS;
    set_role(transmit, standby->core.role);
    count_change(transmit, before, term);
    rm_transmit_note_highest(transmit, standby->core.highest_term);
    if (standby->core.term != 0)
        rm_transmit_take_term(transmit, standby->core.term);
    if (standby->core.role == RM_STANDBY_ACTIVE && before != RM_STANDBY_ACTIVE)
        begin_to_send(transmit);
    if (before != RM_STANDBY_ACTIVE && standby->known_turn != RM_TURN_NONE && rm_transmit_lag(transmit) > 1)
        rm_counter_add(standby->setup.counters, RM_STANDBY_LAGGED, 1);
    standby->decided_tsc = tsc;
    if (transmit->act == RM_STANDBY_SENDS && rm_transmit_has_slept(transmit))
        transmit->act = RM_STANDBY_QUIET;
}

bool rm_transmit_has_slept(struct rm_transmit const *transmit) {
    return rm_tsc() - transmit->standby->decided_tsc >= transmit->period_ticks;
}

bool rm_transmit_may_be_led(struct rm_transmit const *transmit, uint64_t tsc) {
    return transmit->standby->core.role == RM_STANDBY_ACTIVE && tsc < transmit->due_tsc + transmit->period_ticks;
}

bool rm_transmit_is_answered(struct rm_transmit const *transmit) {
    return transmit->act != RM_STANDBY_QUIET || transmit->standby->heard_any;
}

static void publish_state(struct rm_transmit *transmit) {
    struct rm_transmit_standby *const standby = transmit->standby;
    struct rm_standby const *const core = &standby->core;
    struct rm_standby_state_reading const reading = {
        .role = core->role,
        .reason = core->reason,
        .term = core->term,
        .highest_term = core->highest_term,
        .turn = standby->cycle_turn,
        .since_turn = core->since_turn,
        .instance = transmit->setup.instance,
        .with_us = core->with_us,
        .unacknowledged = core->unacknowledged,
        .swap_cycles = core->swap_cycles,
        .switch_turn = core->switch_turn,
        .since_tai_ns = standby->since_tai_ns,
    };
    rm_standby_state_publish(standby->setup.state, &reading);
}

/** What was sent is published under the turn in which it was, whichever server sent it. */
void rm_transmit_close_standby(struct rm_transmit *transmit, uint64_t tsc) {
    struct rm_transmit_standby *const standby = transmit->standby;
    if (transmit->act == RM_STANDBY_SENDS) {
        standby->known_turn = transmit->cycle_turn;
        rm_transmit_publish_sent(transmit, transmit->cycle_turn);
        rm_transmit_publish_targets(transmit);
    } else if (transmit->act == RM_STANDBY_ASKS) {
        rm_counter_add(standby->setup.counters, RM_STANDBY_ASKED, transmit->chain_count);
    }
    if (standby->followed) {
        transmit->first_tsc = tsc;
        rm_transmit_publish_sent(transmit, standby->known_turn);
        transmit->first_tsc = 0;
    }
    publish_state(transmit);
    rm_transmit_take_peer(transmit);
}
