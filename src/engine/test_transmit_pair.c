// SPDX-License-Identifier: Apache-2.0
#include "engine/test_transmit_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"
#include "fabric/standby_writer.h"
#include "wire/frame.h"

enum { TURNS_LATE = 20 * RIG_PERIOD }; /**< an answer that is later than that is of turns that are counted anew */

static void require(bool held) {
    if (!held)
        abort();
}

static void *zeroed(size_t bytes) {
    void *const memory = rm_zeroed(1, bytes);
    require(memory != NULL);
    return memory;
}

static void post_peer(struct pair *pair, uint32_t s) {
    struct rm_peer_mailbox *const box = rm_transmit_peer_mailbox(pair->server[s]->transmit);
    require(box != NULL && rm_mailbox_is_free(&box->mailbox));
    box->peer =
        (struct rm_transmit_peer){.orders = pair->orders[s], .sent = pair->sent[s], .targets = pair->targets[s]};
    rm_mailbox_post(&box->mailbox);
}

static struct pair *make_servers(bool by_hand, bool alone, uint32_t term) {
    struct pair *const pair = zeroed(sizeof *pair);
    for (uint32_t s = 0; s < 2; ++s) {
        pair->server[s] = rig_make(&(struct transmit_rig_options){.chains = PAIR_CHAINS,
                                                                  .supplies = PAIR_SUPPLIES,
                                                                  .applications = !by_hand,
                                                                  .term = alone ? term + 2 * s : term,
                                                                  .server = alone ? 0 : s + 1,
                                                                  .missed_cycles = PAIR_MISSED,
                                                                  .begin_cycles = PAIR_BEGIN});
        pair->orders[s] = zeroed(sizeof *pair->orders[s]);
        pair->sent[s] = rig_make_vectors(PAIR_CHAINS * PAIR_SUPPLIES);
        pair->targets[s] = rig_make_vectors(PAIR_CHAINS * PAIR_SUPPLIES);
        pair->told[s] = (struct rm_standby_orders_reading){.switch_turn = RM_TURN_NONE};
        if (!alone)
            post_peer(pair, s);
        if (!by_hand)
            rig_grant(pair->server[s], 1, PAIR_GRANT, 1);
    }
    return pair;
}

void pair_lose_process(struct pair *pair, uint32_t server) {
    struct rm_peer_mailbox *const box = rm_transmit_peer_mailbox(pair->server[server]->transmit);
    require(rm_mailbox_is_free(&box->mailbox));
    box->peer = (struct rm_transmit_peer){.orders = NULL};
    rm_mailbox_post(&box->mailbox);
}

struct pair *pair_make(bool by_hand) {
    return make_servers(by_hand, false, 0);
}

struct pair *pair_make_alone(uint32_t term) {
    struct pair *const pair = make_servers(false, true, term);
    pair->dead[1] = pair->link_cut = pair->unmirrored = true;
    return pair;
}

void pair_free(struct pair *pair) {
    for (uint32_t s = 0; s < 2; ++s) {
        rig_free(pair->server[s]);
        free(pair->orders[s]);
        free(pair->sent[s]);
        free(pair->targets[s]);
    }
    free(pair);
}

/* ── chains ── */

static void pair_answer(struct pair *pair, uint32_t c, struct rm_setpoint_datagram const *datagram, uint16_t says,
                        uint16_t low) {
    struct pair_chain const *const chain = &pair->chain[c];
    for (uint32_t s = 0; s < 2; ++s) {
        struct transmit_rig *const rig = pair->server[s];
        bool const hears = !pair->deaf[s] && !pair->mute_chain[s][c] && (s == pair->sender || !pair->unmirrored);
        for (uint32_t p = 0; hears && p < rig->chain_config[c].instrument_count; ++p) {
            struct stream_ring *const ring = &rig->chain[c].ring[p];
            struct rm_record record;
            rm_turn const head = rm_stream_head(&ring->view);
            if (head != RM_TURN_NONE && datagram->turn + TURNS_LATE < head)
                rm_stream_writer_restart(&ring->writer);
            else if (rm_stream_read(&ring->view, datagram->turn, &record) == RM_READ_OK)
                continue; /* there is an answer of this turn: the server's receive role drops this one */
            record = (struct rm_record){.turn = datagram->turn, .tag = rm_tag_full_rate(rig->tsc, says)};
            record.lane[RM_SUPPLY_LANE_SEQUENCE].i = rm_supply_answer_lane((uint16_t)chain->term, low);
            uint32_t const first = p * RM_SUPPLIES_PER_RECORD;
            for (uint32_t i = 0; i < RM_SUPPLIES_PER_RECORD && first + i < PAIR_SUPPLIES; ++i)
                record.lane[RM_SUPPLY_LANE_FIRST + i].f = chain->stands[first + i];
            rm_stream_writer_put(&ring->writer, &record);
            rm_stream_writer_publish(&ring->writer, rig->tsc);
        }
    }
}

static void judge_gap(struct pair_chain *chain, rm_turn turn) {
    uint32_t const gap = (uint32_t)((turn - chain->obeyed_turn) / RIG_PERIOD);
    if (chain->obeyed_tsc == 0)
        return;
    chain->doubled += gap == 0;
    chain->missed += gap > 1 ? gap - 1 : 0;
    chain->longest_gap = gap > chain->longest_gap ? gap : chain->longest_gap;
}

static void chain_obey(struct pair *pair, uint32_t c, uint32_t s, struct rm_setpoint_datagram const *datagram) {
    struct pair_chain *const chain = &pair->chain[c];
    uint64_t const tsc = pair->server[s]->tsc;
    double const passed = (double)(datagram->turn - chain->obeyed_turn) / RIG_PERIOD;
    judge_gap(chain, datagram->turn);
    for (uint32_t i = 0; i < PAIR_SUPPLIES; ++i) {
        float const value = rm_setpoint_value(datagram, i);
        float const slews = (float)(fabs((double)value - (double)chain->stands[i]) / RIG_SLEW / fmax(passed, 1));
        if (chain->obeyed_tsc != 0 && slews > chain->steepest)
            chain->steepest = slews;
        chain->beyond |= !(value >= -10.0f && value <= 10.0f);
        chain->stands[i] = value;
    }
    chain->obeyed_tsc = tsc;
    chain->is_silent = false;
    chain->obeyed_turn = datagram->turn;
    ++chain->obeyed[s];
}

static uint16_t silent_us(struct pair_chain const *chain, uint64_t tsc) {
    uint64_t const us = (tsc - chain->obeyed_tsc) / 1000; /* a tick is a nanosecond */
    return chain->obeyed_tsc == 0 || chain->is_silent || us > RM_SUPPLY_LONG_AGO ? RM_SUPPLY_LONG_AGO : (uint16_t)us;
}

static void chain_take(struct pair *pair, uint32_t c, uint32_t s, struct rm_setpoint_datagram const *datagram) {
    struct pair_chain *const chain = &pair->chain[c];
    uint64_t const tsc = pair->server[s]->tsc;
    uint16_t const listening = tsc < chain->listens_until ? RM_CHAIN_SAYS_LISTENING : 0;
    bool const query = (datagram->flags & RM_SETPOINT_QUERY) != 0;
    pair->queries[s] += query;
    pair->datagrams[s] += !query;
    if (query) {
        pair->query_ticks[s] = tsc - rig_due(pair->server[s], datagram->turn);
        pair_answer(pair, c, datagram, RM_CHAIN_SAYS_QUERIED | listening, silent_us(chain, tsc));
        return;
    }
    bool const old =
        datagram->term < chain->term || (datagram->term == chain->term && datagram->instance != chain->instance);
    if (!old) {
        chain->term = datagram->term;
        chain->instance = datagram->instance;
        if (listening == 0)
            chain_obey(pair, c, s, datagram);
    }
    pair_answer(pair, c, datagram, (old ? RM_CHAIN_SAYS_OLD_TERM : 0) | listening, (uint16_t)datagram->sequence);
}

static void pair_deliver(struct pair *pair, uint32_t s) {
    struct rm_port *const port = pair->server[s]->port;
    pair->sender = s;
    for (uint32_t i = 0; i < port->sent_count; ++i) {
        struct rm_datagram udp = {0};
        struct rm_setpoint_datagram datagram;
        require(rm_frame_parse(port->sent[i].byte, port->sent[i].length, false, &udp) == RM_PORT_DECODED);
        require(rm_setpoint_parse(udp.payload, udp.length, &datagram) == RM_SETPOINT_GOOD);
        require(datagram.chain >= 1 && datagram.chain <= PAIR_CHAINS && datagram.count == PAIR_SUPPLIES);
        if (!pair->deaf_chain[s][datagram.chain - 1u])
            chain_take(pair, datagram.chain - 1u, s, &datagram);
    }
    port->sent_count = 0;
}

/* ── the link ── */

static void bring_vectors(struct rm_setpoints const *from, struct rm_setpoints *to, struct rm_setpoints_place *place) {
    double values[PAIR_CHAINS * PAIR_SUPPLIES];
    struct rm_setpoint_reading reading;
    if (!rm_setpoints_copy(from, from->vector_bytes, place, &reading, values, from->actuator_count))
        return;
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(to);
    for (size_t i = 0; i < from->actuator_count; ++i)
        rm_setpoints_put(vector, i, values[i]);
    rm_setpoints_commit(vector, reading.grant_number, reading.input_turn, reading.tsc);
}

/** What the other server sent, as long as it takes to come here. */
static void bring_sent(struct pair *pair, uint32_t s) {
    struct rm_setpoints const *const from = pair->server[1 - s]->sent;
    struct pair_vector fresh;
    if (rm_setpoints_copy(from, from->vector_bytes, &pair->sent_place[s], &fresh.reading, fresh.values,
                          from->actuator_count)) {
        fresh.due_tsc = pair->server[s]->tsc + pair->link_ticks;
        memmove(&pair->way[s][1], &pair->way[s][0], sizeof fresh * (PAIR_LINK_VECTORS - 1));
        pair->way[s][0] = fresh;
    }
    for (uint32_t i = PAIR_LINK_VECTORS; i-- > 0;) {
        struct pair_vector *const one = &pair->way[s][i];
        if (one->due_tsc == 0 || one->due_tsc > pair->server[s]->tsc)
            continue;
        struct rm_setpoint_vector *const vector = rm_setpoints_begin(pair->sent[s]);
        for (size_t v = 0; v < from->actuator_count; ++v)
            rm_setpoints_put(vector, v, one->values[v]);
        rm_setpoints_commit(vector, one->reading.grant_number, one->reading.input_turn, one->reading.tsc);
        one->due_tsc = 0;
    }
}

/** What the process beside server `s` tells it. The other server's process may live longer than that, and a cut is not
 * noticed before a take-over is over. */
static void pair_tell(struct pair *pair, uint32_t s) {
    uint32_t const other = 1 - s;
    struct rm_standby_orders_reading *const told = &pair->told[s];
    struct rm_standby_state_reading state;
    ++told->beat;
    if (!pair->link_cut && rm_standby_state_look(pair->server[other]->pair.state, &state)) {
        told->peer_role = state.role + 1;
        told->peer_term = state.term;
        told->peer_turn = state.turn;
        told->peer_unacknowledged = state.unacknowledged;
        told->synchronised = state.role == RM_STANDBY_ACTIVE;
        told->synchronised_turn = state.turn;
    }
    if (!pair->link_cut) {
        bring_sent(pair, s);
        bring_vectors(pair->server[other]->pair.targets, pair->targets[s], &pair->targets_place[s]);
    }
    rm_standby_orders_publish(pair->orders[s], told);
}

/* ── time ── */

static void pair_step(struct pair *pair) {
    for (uint32_t s = 0; s < 2; ++s)
        pair->server[s]->tsc += RIG_STEP;
    for (uint32_t s = 0; s < 2; ++s) {
        if (!pair->asleep[s] && !pair->dead[s])
            rm_transmit_duty(pair->server[s]->transmit, pair->server[s]->tsc);
        pair_deliver(pair, s);
    }
    for (uint32_t s = 0; s < 2; ++s)
        pair_tell(pair, s);
}

static void pair_commit(struct pair *pair) {
    pair->wanted += pair->step;
    if (fabs(pair->wanted) > 9)
        pair->step = -pair->step;
    for (uint32_t s = 0; s < 2; ++s)
        if (pair->server[s]->config.application_count > 1 && !pair->asleep[s] && !pair->dead[s])
            rig_commit(pair->server[s], 1, PAIR_GRANT, pair->wanted);
}

void pair_pass_cycles(struct pair *pair, uint32_t cycles) {
    for (uint32_t c = 0; c < cycles; ++c) {
        pair_commit(pair);
        for (uint32_t step = 0; step < RIG_CYCLE / RIG_STEP; ++step)
            pair_step(pair);
    }
}

enum rm_standby_role pair_role(struct pair const *pair, uint32_t server) { return pair_state(pair, server).role; }

struct rm_standby_state_reading pair_state(struct pair const *pair, uint32_t server) {
    struct rm_standby_state_reading state = {.role = RM_STANDBY_FAULT};
    (void)rm_standby_state_look(pair->server[server]->pair.state, &state);
    return state;
}

uint64_t pair_count(struct pair const *pair, uint32_t server, unsigned counter) {
    return rm_counter_get(pair->server[server]->standby_counters, counter);
}

bool pair_is_smooth(struct pair const *pair) {
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        if (pair->chain[c].beyond || !(pair->chain[c].steepest <= PAIR_MOST_SLEWS))
            return false;
    return true;
}

void pair_judge_anew(struct pair *pair) {
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c) {
        struct pair_chain *const chain = &pair->chain[c];
        chain->missed = chain->doubled = chain->longest_gap = 0;
        chain->steepest = 0;
        chain->obeyed[0] = chain->obeyed[1] = 0;
    }
    memset(pair->datagrams, 0, sizeof pair->datagrams);
    memset(pair->queries, 0, sizeof pair->queries);
}

void pair_settle(struct pair *pair) {
    for (uint32_t c = 0; c < 4 * PAIR_BEGIN && pair_role(pair, 0) != RM_STANDBY_ACTIVE; ++c)
        pair_pass_cycles(pair, 1);
    pair_pass_cycles(pair, 10);
    require(pair_role(pair, 0) == RM_STANDBY_ACTIVE && pair_role(pair, 1) == RM_STANDBY_READY);
    for (uint32_t c = 0; c < PAIR_CHAINS; ++c)
        require(pair->chain[c].obeyed[0] > 0 && pair->chain[c].obeyed[1] == 0);
    pair_judge_anew(pair);
}

struct pair *pair_make_moving(double step) {
    struct pair *const pair = pair_make(false);
    pair_settle(pair);
    pair->step = step;
    pair_pass_cycles(pair, 20);
    pair_judge_anew(pair);
    return pair;
}
