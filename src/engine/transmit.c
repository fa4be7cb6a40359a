// SPDX-License-Identifier: Apache-2.0
#include "engine/transmit.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "base/zeroed.h"
#include "engine/guard_setup.h"
#include "engine/transmit_state.h"

/* In simulated time, without a leader: supplies are asked and an operator is heard. Time alone does not tell that there
 * is none, for the host may have taken its core away together with this one: so many more looks must find nothing. */
static double const ALONE_SECONDS = 0.02;
enum { ALONE_LOOKS = 1000 };

/* And so many times that long before a ring that stands at a cycle is sent it again: it has lost it, and is not only
 * without a core. */
enum { LOST_FACTOR = 50 };

static double const SANE_LATENCY_SECONDS =
    1.0; /**< a vector's TSC is its application's word: what is older is no time */

static double cycles_per_second(struct rm_config const *config) {
    return config->turn_rate_hz / (double)config->setpoints.period_turns;
}

static uint32_t longest_vector(struct rm_config const *config) {
    uint32_t longest = 1;
    for (uint32_t i = 0; i < config->application_count; ++i)
        if (config->application[i].supply_count > longest)
            longest = config->application[i].supply_count;
    return longest;
}

static bool transmit_allocate(struct rm_transmit *transmit) {
    struct rm_config const *const config = transmit->setup.config;
    transmit->source = rm_zeroed(transmit->application_count, sizeof *transmit->source);
    transmit->mailbox = rm_zeroed(transmit->application_count, sizeof *transmit->mailbox);
    transmit->link = rm_zeroed(transmit->chain_count, sizeof *transmit->link);
    transmit->sender = rm_zeroed(transmit->chain_count, sizeof *transmit->sender);
    transmit->supply = rm_zeroed(transmit->supply_count, sizeof *transmit->supply);
    transmit->sent = rm_zeroed(transmit->supply_count, sizeof *transmit->sent);
    transmit->doubtful = rm_zeroed(transmit->supply_count, sizeof *transmit->doubtful);
    transmit->moved = rm_zeroed(transmit->supply_count, sizeof *transmit->moved);
    transmit->caught = rm_zeroed(transmit->supply_count, sizeof *transmit->caught);
    transmit->noted = rm_zeroed(transmit->supply_count, sizeof *transmit->noted);
    transmit->state = rm_zeroed(transmit->supply_count, sizeof *transmit->state);
    transmit->answering = rm_zeroed(transmit->chain_count, sizeof *transmit->answering);
    transmit->vector = rm_zeroed(longest_vector(config), sizeof *transmit->vector);
    return transmit->source && transmit->mailbox && transmit->link && transmit->sender && transmit->supply &&
           transmit->sent && transmit->doubtful && transmit->moved && transmit->caught && transmit->noted &&
           transmit->state && transmit->answering && transmit->vector;
}

static void make_supplies(struct rm_transmit *transmit) {
    struct rm_config const *const config = transmit->setup.config;
    for (uint32_t i = 0; i < transmit->supply_count; ++i) {
        struct rm_config_supply const *const wanted = &config->supply[i];
        transmit->supply[i] = (struct rm_transmit_supply){
            .application = wanted->application,
            .slew = (float)(wanted->slew_per_s / cycles_per_second(config)),
            .tolerance = wanted->tolerance,
            .settle_cycles = wanted->settle_cycles,
        };
    }
}

static void make_links(struct rm_transmit *transmit) {
    for (uint32_t i = 0; i < transmit->chain_count; ++i) {
        struct rm_transmit_link *const link = &transmit->link[i];
        link->place = transmit->setup.chain[i];
        link->intended = &transmit->setup.intended[i];
        link->counters = link->place.counters;
        link->first = link->place.config->first_supply;
        link->count = link->place.config->supply_count;
        link->parts = link->place.config->readback ? link->place.config->instrument_count : 0;
        if (link->parts != 0)
            transmit->answering[transmit->answering_count++] = i;
    }
    memset(transmit->turn_of, 0xff, sizeof transmit->turn_of); /* RM_TURN_NONE */
    uint32_t const timeout = transmit->setup.config->setpoints.lost_cycles;
    transmit->window = timeout < RM_TRANSMIT_WINDOW ? timeout : RM_TRANSMIT_WINDOW - 1;
}

static enum rm_code engine_transmit_make(struct rm_transmit *transmit, struct rm_error *error) {
    if (!transmit_allocate(transmit))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to drive %u supplies", transmit->supply_count);
    enum rm_code code = rm_guard_of_config(transmit->setup.config, &transmit->guard, error);
    if (code != RM_OK)
        return code;
    make_supplies(transmit);
    make_links(transmit);
    if (!rm_transmit_make_senders(transmit))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to drive %u chains", transmit->chain_count);
    rm_transmit_find_last_life(transmit);
    code = rm_transmit_find_term(transmit, error);
    if (code == RM_OK && transmit->setup.pair != NULL)
        code = rm_transmit_standby_make(transmit, error);
    if (code != RM_OK)
        return code;
    rm_transmit_join_first(transmit);
    rm_transmit_publish_first(transmit);
    return RM_OK;
}

enum rm_code rm_transmit_new(struct rm_transmit_setup const *setup, struct rm_transmit **transmit,
                             struct rm_error *error) {
    struct rm_transmit *const made = rm_zeroed(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the transmit role");
    made->setup = *setup;
    made->act = RM_STANDBY_SENDS;
    made->moves = true;
    made->application_count = setup->config->application_count;
    made->chain_count = setup->config->chain_count;
    made->supply_count = setup->config->supply_count;
    made->period_turns = setup->config->setpoints.period_turns;
    made->phase_turns = setup->config->setpoints.phase_turns;
    made->nominal_ticks = (uint64_t)(setup->tsc_hz / cycles_per_second(setup->config));
    enum rm_code const code = engine_transmit_make(made, error);
    if (code == RM_OK)
        *transmit = made;
    else
        rm_transmit_free(made);
    return code;
}

void rm_transmit_free(struct rm_transmit *transmit) {
    if (transmit == NULL)
        return;
    if (transmit->sender != NULL)
        rm_transmit_release(transmit);
    rm_transmit_standby_free(transmit);
    rm_guard_free(transmit->guard);
    free(transmit->source);
    free(transmit->mailbox);
    free(transmit->link);
    free(transmit->sender);
    free(transmit->sender_chain);
    free(transmit->supply);
    free(transmit->sent);
    free(transmit->doubtful);
    free(transmit->moved);
    free(transmit->caught);
    free(transmit->noted);
    free(transmit->state);
    free(transmit->answering);
    free(transmit->vector);
    free(transmit);
}

struct rm_command_mailbox *rm_transmit_mailbox(struct rm_transmit *transmit, uint32_t application) {
    return &transmit->mailbox[application];
}

struct rm_operator_put *rm_transmit_put(struct rm_transmit *transmit) {
    return &transmit->put;
}

static void note_latency(struct rm_transmit *transmit) {
    uint64_t const sane = (uint64_t)(SANE_LATENCY_SECONDS * transmit->setup.tsc_hz);
    for (uint32_t i = 1; i < transmit->application_count; ++i) {
        struct rm_transmit_source *const source = &transmit->source[i];
        uint64_t const latency = transmit->first_tsc - source->vector_tsc;
        if (source->vector_tsc != 0 && transmit->first_tsc != 0 && latency <= sane)
            rm_histogram_add(transmit->setup.latency, latency, 1);
        source->vector_tsc = 0;
        source->looked = false;
    }
}

/** What can wait until the cycle's datagrams are gone, or its time is over. */
static void close_cycle(struct rm_transmit *transmit, uint64_t tsc) {
    if (!transmit->open)
        return;
    transmit->open = false;
    rm_transmit_close_chains(transmit);
    if (transmit->standby != NULL)
        rm_transmit_close_standby(transmit, tsc);
    else
        rm_transmit_publish_sent(transmit, transmit->cycle_turn);
    note_latency(transmit);
    rm_transmit_take_commands(transmit);
    rm_transmit_take_put(transmit);
    rm_transmit_publish_grants(transmit);
    rm_transmit_publish_states(transmit);
    (void)rm_transmit_look_at_clock(transmit, tsc);
    rm_transmit_reserve(transmit);
}

static void count_cycle(struct rm_transmit *transmit, uint64_t late_ticks, bool led) {
    rm_counter *const counters = transmit->setup.counters;
    rm_counter_add(counters, RM_TRANSMIT_CYCLES, 1);
    rm_counter_add(counters, RM_TRANSMIT_LED, led);
    rm_counter_add(counters, RM_TRANSMIT_LATE, late_ticks > transmit->period_ticks / 10);
    if (late_ticks > rm_counter_get(counters, RM_TRANSMIT_LATEST_TICKS))
        rm_counter_set(counters, RM_TRANSMIT_LATEST_TICKS, late_ticks);
}

/** A supply's slew is per cycle, so a second must not have more cycles than the nominal rate gives it, and 1 % for the
 * clock, whatever the clock says; two may follow each other closely, where one was late or led. */
static void keep_pace(struct rm_transmit *transmit, uint64_t tsc) {
    uint64_t const period = transmit->nominal_ticks;
    uint64_t const earliest = tsc > period ? tsc - period : 0;
    uint64_t const from = transmit->allowed_tsc > earliest ? transmit->allowed_tsc : earliest;
    transmit->allowed_tsc = from + period - period / 100;
}

/** Sends the cycle at hand. Vectors have been taken. */
static uint32_t begin_cycle(struct rm_transmit *transmit, uint64_t tsc, uint64_t late_ticks, bool led) {
    ++transmit->cycle;
    transmit->cycle_turn = transmit->turn;
    transmit->cycle_epoch = transmit->clock.turn_epoch;
    transmit->turn_of[transmit->cycle % RM_TRANSMIT_WINDOW] = transmit->turn;
    if (transmit->standby != NULL)
        rm_transmit_decide(transmit, tsc);
    rm_guard_begin(transmit->guard, transmit->turn);
    rm_transmit_open_chains(transmit);
    uint32_t const sent = rm_transmit_send(transmit);
    transmit->turn += transmit->period_turns;
    transmit->sent_tsc = tsc;
    keep_pace(transmit, tsc);
    transmit->open = true;
    count_cycle(transmit, late_ticks, led);
    rm_transmit_count_silence(transmit);
    /* The clock is looked at when the cycle is closed, which may be only when the next one is due. */
    transmit->due_tsc = rm_clock_tsc(&transmit->clock, transmit->turn + transmit->phase_turns);
    if (!transmit->sending)
        close_cycle(transmit, tsc);
    return sent;
}

/** How long before its time a cycle may be sent by the leader's vector: from a quarter of a period before its turn
 * on. */
static uint64_t longest_lead_ticks(struct rm_transmit const *transmit) {
    uint64_t const period = transmit->period_ticks;
    uint64_t const phase = period * transmit->phase_turns / transmit->period_turns;
    uint64_t const most = period - period / 16;
    return phase + period / 4 < most ? phase + period / 4 : most;
}

/** True when the leader's vector has come, and may send the cycle now. One that comes before that is of the cycle that
 * its time has sent already: it is taken, and goes with the next one. If it led that, each vector after it would find
 * its cycle gone, and wait. */
static bool transmit_is_led(struct rm_transmit *transmit, uint64_t tsc) {
    uint32_t const leader = transmit->setup.config->setpoints.lead;
    if (leader == 0 || (transmit->standby != NULL && !rm_transmit_may_be_led(transmit, tsc)))
        return false;
    if (tsc + longest_lead_ticks(transmit) < transmit->due_tsc) {
        (void)rm_transmit_take_vector(transmit, leader);
        return false;
    }
    return tsc - transmit->sent_tsc >= transmit->period_ticks / 2 && rm_transmit_take_vector(transmit, leader);
}

static uint32_t send_due(struct rm_transmit *transmit, uint64_t tsc) {
    close_cycle(transmit, tsc);
    if (!transmit->anchored || tsc < transmit->due_tsc)
        return 0; /* the clock has been stepped */
    uint64_t const late = rm_transmit_skip(transmit, tsc);
    for (uint32_t i = 1; i < transmit->application_count; ++i)
        (void)rm_transmit_take_vector(transmit, i);
    uint32_t const sent = begin_cycle(transmit, tsc, late, false);
    rm_transmit_watch(transmit); /* also where one cycle follows the other without a rest */
    return sent;
}

/** One small piece of work that can wait, so that the leader's vector is looked for soon again. A command of the
 * operator is taken here too: the next cycle may be far away, where the clock was stepped back or the ring stands
 * still. */
static void transmit_work_while_idle(struct rm_transmit *transmit) {
    transmit->heard = transmit->heard + 1 < transmit->application_count ? transmit->heard + 1 : 0;
    if (transmit->heard == 0)
        rm_transmit_take_put(transmit);
    struct rm_transmit_source *const source = &transmit->source[transmit->heard];
    if (transmit->heard != 0 && transmit->heard != transmit->setup.config->setpoints.lead && !source->looked)
        source->looked = rm_transmit_take_vector(transmit, transmit->heard);
    rm_transmit_watch(transmit);
}

/** A ring waits for nothing before it has had its first setpoints: of what it sent until then no chain has answered.
 * Where the turn-counter epoch is another one, so is the ring, and the turns in between are nobody's. */
static void count_turns_without_cycle(struct rm_transmit *transmit, rm_turn expected) {
    if (transmit->cycle != 0 && transmit->turn > expected && transmit->clock.turn_epoch == transmit->cycle_epoch)
        rm_counter_add(transmit->setup.counters, RM_TRANSMIT_SKIPPED,
                       (transmit->turn - expected) / transmit->period_turns);
}

/** True when there has been no leader's vector for long enough, and the ring stands at a cycle that it has not been
 * sent. One that it was sent waits in its queue, as long as it may only be without a core: sent again, each chain would
 * answer twice of one turn. The cycle's turn is then the next one's. */
static bool cycle_goes_alone(struct rm_transmit *transmit, uint64_t tsc) {
    uint64_t const alone = (uint64_t)(ALONE_SECONDS * transmit->setup.tsc_hz), since = tsc - transmit->sent_tsc;
    transmit->looks = since <= alone ? 0 : transmit->looks + 1;
    if (transmit->looks <= ALONE_LOOKS)
        return false;
    (void)rm_transmit_look_at_clock(transmit, tsc);
    rm_turn const stands = transmit->clock.turn / transmit->period_turns * transmit->period_turns;
    bool const was_sent =
        transmit->cycle != 0 && stands < transmit->turn && transmit->clock.turn_epoch == transmit->cycle_epoch;
    if (was_sent && (since <= LOST_FACTOR * alone || transmit->looks <= LOST_FACTOR * ALONE_LOOKS))
        return false;
    rm_turn const expected = transmit->turn;
    transmit->turn = stands;
    count_turns_without_cycle(transmit, expected);
    return true;
}

/** In simulated time: the cycle of the leader's vector goes out with it. One that was sent alone is not sent again: its
 * vector goes with the next. After a ring that begins again, whose turns are smaller, one cycle goes alone. */
static uint32_t send_with_leader(struct rm_transmit *transmit, uint64_t tsc) {
    uint32_t const leader = transmit->setup.config->setpoints.lead;
    rm_turn const expected = transmit->turn;
    if (leader != 0 && rm_transmit_take_vector(transmit, leader)) {
        rm_turn const turn = transmit->source[leader].vector_turn / transmit->period_turns * transmit->period_turns;
        if (transmit->cycle == 0 || turn >= expected) {
            transmit->turn = turn;
            count_turns_without_cycle(transmit, expected);
            return begin_cycle(transmit, tsc, 0, true);
        }
    }
    if (cycle_goes_alone(transmit, tsc))
        return begin_cycle(transmit, tsc, 0, false);
    transmit_work_while_idle(transmit);
    return 0;
}

static uint32_t without_clock(struct rm_transmit *transmit) {
    rm_counter_add(transmit->setup.counters, RM_TRANSMIT_UNANCHORED, 1);
    if (transmit->standby != NULL)
        rm_transmit_take_peer(transmit);
    rm_transmit_take_commands(transmit);
    rm_transmit_take_put(transmit);
    rm_transmit_publish_grants(transmit);
    return 0;
}

uint32_t rm_transmit_duty(void *role, uint64_t tsc) {
    struct rm_transmit *const transmit = role;
    if (!transmit->anchored && !rm_transmit_look_at_clock(transmit, tsc))
        return without_clock(transmit);
    bool const allowed = tsc >= transmit->allowed_tsc;
    if (transmit->setup.config->simulated_time && allowed && !transmit->sending)
        return send_with_leader(transmit, tsc);
    if (allowed && !transmit->sending && transmit_is_led(transmit, tsc))
        return begin_cycle(transmit, tsc, 0, true);
    if (allowed && tsc >= transmit->due_tsc && !transmit->setup.config->simulated_time)
        return send_due(transmit, tsc);
    if (!transmit->sending) {
        transmit_work_while_idle(transmit);
        return 0;
    }
    uint32_t const sent = rm_transmit_send(transmit);
    if (!transmit->sending)
        close_cycle(transmit, tsc);
    return sent;
}
