// SPDX-License-Identifier: Apache-2.0
/* Readbacks: what became of the datagrams, and what each supply does. */
#include "engine/transmit_state.h"

#include <math.h>

/** The supply of this chain begins at `value`. */
static void join_at(struct rm_transmit *transmit, struct rm_transmit_link *link, uint32_t index, double value) {
    link->begins = true;
    rm_guard_join(transmit->guard, index, value);
    rm_guard_fault(transmit->guard, index, (transmit->noted[index] & RM_SUPPLY_TRIPPED) != 0);
    transmit->sent[index] = rm_guard_setpoints(transmit->guard)[index];
    transmit->moved[index] = transmit->cycle;
    transmit->sent_vectors = 0;
}

static void set_state(struct rm_transmit *transmit, uint32_t index, uint32_t bit, bool on) {
    uint32_t *const state = &transmit->noted[index];
    uint32_t const now = on ? *state | bit : *state & ~bit;
    transmit->state_changed |= now != *state;
    *state = now;
}

static void set_chain_state(struct rm_transmit *transmit, struct rm_transmit_link const *link, uint32_t bit, bool on) {
    for (uint32_t i = link->first; i < link->first + link->count; ++i)
        set_state(transmit, i, bit, on);
}

void rm_transmit_join_first(struct rm_transmit *transmit) {
    for (uint32_t c = 0; c < transmit->chain_count; ++c) {
        struct rm_transmit_link *const link = &transmit->link[c];
        link->joined = link->parts == 0;
        link->head = RM_TURN_NONE;
        for (uint32_t i = link->first; i < link->first + link->count; ++i) {
            double const safe = transmit->setup.config->supply[i].safe;
            double const last = transmit->sent[i];
            if (link->joined)
                join_at(transmit, link, i, isfinite(last) ? last : safe);
            else
                rm_guard_fault(transmit->guard, i, true);
        }
        set_chain_state(transmit, link, RM_SUPPLY_JOINING, !link->joined);
    }
    transmit->state_changed = true;
}

/** The chain gets no setpoints any more, but queries, until it joins. */
static void part_link(struct rm_transmit *transmit, struct rm_transmit_link *link, uint32_t state) {
    link->joined = false;
    set_chain_state(transmit, link, state, true);
    for (uint32_t i = link->first; i < link->first + link->count; ++i)
        rm_guard_fault(transmit->guard, i, true);
}

/** The chain has not answered for as many cycles as it may. */
static void lose_link(struct rm_transmit *transmit, struct rm_transmit_link *link) {
    rm_counter_add(link->counters, RM_CHAIN_LOST, 1);
    link->lost = true;
    part_link(transmit, link, RM_SUPPLY_LOST | RM_SUPPLY_JOINING);
}

void rm_transmit_count_silence(struct rm_transmit *transmit) {
    /* The place of the cycle that begins, and that of the one which has had its time. */
    uint64_t const place = 1ull << transmit->cycle % RM_TRANSMIT_WINDOW;
    uint64_t const over = 1ull << (transmit->cycle - transmit->window) % RM_TRANSMIT_WINDOW;
    uint32_t const silent = transmit->standby == NULL || rm_transmit_is_answered(transmit);
    for (uint32_t c = 0; c < transmit->answering_count; ++c) {
        struct rm_transmit_link *const link = &transmit->link[transmit->answering[c]];
        uint64_t const given_up = link->pending & (over | place);
        if (given_up != 0)
            rm_counter_add(link->counters, RM_CHAIN_UNANSWERED, (uint64_t)__builtin_popcountll(given_up));
        link->pending &= ~given_up;
        link->wrong &= ~(over | place);
        link->silent += silent;
        if (link->silent > transmit->setup.config->setpoints.lost_cycles && !link->lost)
            lose_link(transmit, link);
    }
}

/** One answer, whole. */
struct chain_answer {
    uint64_t cycle;
    struct rm_record part[RM_CHAIN_ID_PARTS];
};

static double readback_of(struct chain_answer const *answer, uint32_t supply) {
    return answer->part[supply / RM_SUPPLIES_PER_RECORD].lane[RM_SUPPLY_LANE_FIRST + supply % RM_SUPPLIES_PER_RECORD].f;
}

static uint32_t bits_of(struct chain_answer const *answer, uint32_t supply) {
    uint32_t const all = (uint32_t)answer->part[supply / RM_SUPPLIES_PER_RECORD].lane[RM_SUPPLY_LANE_STATE].i;
    return all >> supply % RM_SUPPLIES_PER_RECORD * RM_SUPPLY_BITS & ((1u << RM_SUPPLY_BITS) - 1);
}

/** Where a supply begins, or NaN while it is unknown: at what it was sent last, where its readback agrees with that;
 * else where it stands. Of two setpoints that it may have been sent last, the nearer to the readback counts. */
static double first_setpoint_of(struct rm_transmit const *transmit, uint32_t index, double readback) {
    double const sent = transmit->sent[index], doubtful = transmit->doubtful[index];
    if (!isfinite(readback))
        return sent;
    bool const sent_counts = !isfinite(doubtful) || fabs(readback - sent) <= fabs(readback - doubtful);
    double const last = sent_counts ? sent : doubtful;
    return fabs(readback - last) <= transmit->supply[index].tolerance ? last : readback;
}

/** The chain has told where all its supplies stand: from the next cycle on it gets setpoints. */
static void join_link(struct rm_transmit *transmit, struct rm_transmit_link *link, struct chain_answer const *answer) {
    if (transmit->cycle < link->joins_from)
        return;
    for (uint32_t i = 0; i < link->count; ++i)
        if (!isfinite(first_setpoint_of(transmit, link->first + i, readback_of(answer, i))))
            return;
    for (uint32_t i = 0; i < link->count; ++i) {
        join_at(transmit, link, link->first + i, first_setpoint_of(transmit, link->first + i, readback_of(answer, i)));
        transmit->doubtful[link->first + i] = NAN;
    }
    link->joined = true;
    link->lost = link->behind = false;
    set_chain_state(transmit, link, RM_SUPPLY_LOST | RM_SUPPLY_JOINING, false);
}

/** A supply that has tripped does not obey: what it is sent follows it, so that it begins where it stands when it is
 * reset, and does not leap to where it once was. */
static void note_trip(struct rm_transmit *transmit, struct rm_transmit_link *link, uint32_t index, bool tripped,
                      double readback) {
    bool const before = (transmit->noted[index] & RM_SUPPLY_TRIPPED) != 0;
    if (!tripped && !before)
        return;
    rm_counter_add(link->counters, RM_CHAIN_TRIPS, tripped && !before);
    set_state(transmit, index, RM_SUPPLY_TRIPPED, tripped);
    if (link->joined && isfinite(readback))
        join_at(transmit, link, index, readback);
    else
        rm_guard_fault(transmit->guard, index, true);
}

static void note_saturation(struct rm_transmit *transmit, struct rm_transmit_link *link, uint32_t index,
                            bool saturated) {
    bool const before = (transmit->noted[index] & RM_SUPPLY_SATURATED) != 0;
    rm_counter_add(link->counters, RM_CHAIN_SATURATIONS, saturated && !before);
    set_state(transmit, index, RM_SUPPLY_SATURATED, saturated);
}

/** While the setpoint moves the readback may be anywhere behind it; it must be there when it has stood long enough. */
static void note_deviation(struct rm_transmit *transmit, struct rm_transmit_link *link, uint32_t index, uint64_t cycle,
                           double readback) {
    struct rm_transmit_supply const *const supply = &transmit->supply[index];
    bool const settled = cycle >= transmit->moved[index] + supply->settle_cycles;
    bool const before = (transmit->noted[index] & RM_SUPPLY_DEVIATES) != 0;
    bool const near = fabs(readback - transmit->sent[index]) <= supply->tolerance; /* false for NaN */
    bool const deviates = link->joined && !near && (settled || before);
    rm_counter_add(link->counters, RM_CHAIN_DEVIATIONS, deviates && !before);
    set_state(transmit, index, RM_SUPPLY_DEVIATES, deviates);
}

static void count_what_it_says(struct rm_transmit_link *link, struct chain_answer const *answer) {
    uint16_t says = 0;
    for (uint32_t p = 0; p < link->parts; ++p)
        says |= rm_tag_status(answer->part[p].tag);
    rm_counter *const counters = link->counters;
    rm_counter_add(counters, RM_CHAIN_ANSWERED, 1);
    rm_counter_add(counters, RM_CHAIN_OLD_TERM, (says & RM_CHAIN_SAYS_OLD_TERM) != 0);
    rm_counter_add(counters, RM_CHAIN_MISDIRECTED, (says & RM_CHAIN_SAYS_MISDIRECTED) != 0);
    rm_counter_add(counters, RM_CHAIN_GAPS, (says & RM_CHAIN_SAYS_GAP) != 0);
    rm_counter_add(counters, RM_CHAIN_STOPPED, (says & RM_CHAIN_SAYS_STOPPED) != 0);
}

/** Whether a chain that answers a query is nobody's: it obeyed so long ago that it cannot tell when. In simulated time,
 * which stands while a ring waits for its server, there is no other one. */
static bool is_nobodys(struct rm_transmit const *transmit, int32_t lane) {
    return rm_supply_answer_low(lane) == RM_SUPPLY_LONG_AGO || transmit->setup.config->simulated_time;
}

/** A chain that tells a term that is not below ours, and does not obey us, is won back when it is nobody's: two servers
 * that know nothing of each other would use up all terms within a second. */
static void note_term(struct rm_transmit *transmit, struct rm_transmit_link *link, uint16_t says, int32_t lane) {
    uint16_t const term = rm_supply_answer_term(lane);
    bool const queried = (says & RM_CHAIN_SAYS_QUERIED) != 0, listening = (says & RM_CHAIN_SAYS_LISTENING) != 0;
    if ((says & RM_CHAIN_SAYS_OLD_TERM) != 0)
        link->ours = 0;
    else if (!queried && !listening)
        link->ours = term;
    else if (queried && !listening && term >= transmit->term && term != link->ours && is_nobodys(transmit, lane))
        rm_transmit_raise_term(transmit, term);
    rm_transmit_note_highest(transmit, term);
}

static void judge_answer(struct rm_transmit *transmit, struct rm_transmit_link *link,
                         struct chain_answer const *answer) {
    uint16_t const says = rm_tag_status(answer->part[0].tag);
    count_what_it_says(link, answer);
    note_term(transmit, link, says, answer->part[0].lane[RM_SUPPLY_LANE_SEQUENCE].i);
    link->silent = 0;
    for (uint32_t i = 0; i < link->count; ++i) {
        uint32_t const bits = bits_of(answer, i), index = link->first + i;
        double const readback = readback_of(answer, i);
        note_trip(transmit, link, index, (bits & RM_SUPPLY_BIT_TRIPPED) != 0, readback);
        note_saturation(transmit, link, index, (bits & RM_SUPPLY_BIT_SATURATED) != 0);
        note_deviation(transmit, link, index, answer->cycle, readback);
    }
    bool const obeys = (says & (RM_CHAIN_SAYS_LISTENING | RM_CHAIN_SAYS_OLD_TERM)) == 0;
    if (!obeys && link->joined)
        part_link(transmit, link, RM_SUPPLY_JOINING);
    else if (!link->joined && (says & RM_CHAIN_SAYS_LISTENING) == 0)
        join_link(transmit, link, answer);
}

enum part_verdict { PART_ABSENT, PART_GOOD, PART_WRONG };

/** True when the answer is to another datagram of the same turn: a clock that was stepped back tells turns twice. */
static bool answers_another(struct rm_transmit const *transmit, struct rm_transmit_link const *link, rm_turn turn,
                            uint16_t sequence) {
    for (uint32_t place = 0; place < RM_TRANSMIT_WINDOW; ++place)
        if (transmit->turn_of[place] == turn && (uint16_t)link->said[place] == sequence)
            return true;
    return false;
}

/** True for a sequence number from before those that are remembered. Its answer is late, and was counted as unanswered.
 * A clock that was stepped back that far tells its turn a second time, so the turn does not say how late it is. */
static bool is_forgotten(struct rm_transmit_link const *link, uint16_t sequence) {
    uint64_t oldest = link->sequence + 1;
    for (uint32_t place = 0; place < RM_TRANSMIT_WINDOW; ++place)
        if (link->said[place] != 0 && link->said[place] < oldest)
            oldest = link->said[place];
    return (int16_t)(uint16_t)(sequence - (uint16_t)oldest) < 0;
}

/** What an answer answers: a query, or the datagram of this sequence, of which the low 16 bits come back. */
static uint64_t answered_by(struct rm_record const *record) {
    bool const queried = (rm_tag_status(record->tag) & RM_CHAIN_SAYS_QUERIED) != 0;
    return queried ? RM_TRANSMIT_ASKED : rm_supply_answer_low(record->lane[RM_SUPPLY_LANE_SEQUENCE].i);
}

/** One part of the answer to the datagram at `place`. */
static enum part_verdict read_part(struct rm_transmit const *transmit, struct rm_transmit_link const *link,
                                   uint32_t part, uint32_t place, struct rm_record *record) {
    if (rm_stream_read(&link->place.readback[part], transmit->turn_of[place], record) != RM_READ_OK)
        return PART_ABSENT;
    uint64_t const said = link->said[place], answered = answered_by(record);
    if (answered == (said == RM_TRANSMIT_ASKED ? said : (uint16_t)said))
        return PART_GOOD;
    if (answered == RM_TRANSMIT_ASKED) /* it does not say which query, so it may be late */
        return PART_ABSENT;
    uint16_t const sequence = (uint16_t)answered;
    bool const late =
        answers_another(transmit, link, transmit->turn_of[place], sequence) || is_forgotten(link, sequence);
    return late ? PART_ABSENT : PART_WRONG;
}

static void look_for_answer(struct rm_transmit *transmit, struct rm_transmit_link *link, uint32_t place) {
    struct chain_answer answer;
    uint64_t const bit = 1ull << place;
    uint32_t good = 0;
    bool wrong = false;
    for (uint32_t p = 0; p < link->parts; ++p) {
        enum part_verdict const verdict = read_part(transmit, link, p, place, &answer.part[p]);
        good += verdict == PART_GOOD;
        wrong |= verdict == PART_WRONG;
    }
    /* Of two servers each hears the answers to both. */
    if (wrong && (link->wrong & bit) == 0 && transmit->standby == NULL) {
        rm_counter_add(link->counters, RM_CHAIN_WRONG_ANSWER, 1);
        link->wrong |= bit;
    }
    if (good == 0 || good != link->parts)
        return;
    link->pending &= ~bit;
    answer.cycle = transmit->cycle - (transmit->cycle - place) % RM_TRANSMIT_WINDOW;
    judge_answer(transmit, link, &answer);
}

/** The newest answer, if it is to a cycle in which the chain got no datagram. A stream that is silent has a head that
 * moves on with the clock; then there is no record. */
static void look_for_stray(struct rm_transmit *transmit, struct rm_transmit_link *link, rm_turn head) {
    for (uint64_t back = 0; back < RM_TRANSMIT_WINDOW; ++back) {
        uint32_t const place = (uint32_t)((transmit->cycle - back) % RM_TRANSMIT_WINDOW);
        if (transmit->turn_of[place] == head && link->said[place] != 0)
            return;
    }
    struct rm_record record;
    if (rm_stream_read(&link->place.readback[0], head, &record) == RM_READ_OK &&
        answered_by(&record) != RM_TRANSMIT_ASKED && !is_forgotten(link, (uint16_t)answered_by(&record)))
        rm_counter_add(link->counters, RM_CHAIN_WRONG_ANSWER, 1);
}

/** Fetches what the look at this chain will need. */
static void prefetch_link(struct rm_transmit const *transmit, struct rm_transmit_link const *link) {
    if (link->pending == 0)
        return;
    uint32_t const place = transmit->cycle % RM_TRANSMIT_WINDOW;
    for (uint32_t p = 0; p < link->parts; ++p) {
        struct rm_stream_view const *const view = &link->place.readback[p];
        __builtin_prefetch(&view->header->head);
        __builtin_prefetch(&view->slot[transmit->turn_of[place] / view->period & view->mask]);
    }
}

static void watch_chain(struct rm_transmit *transmit, struct rm_transmit_link *link) {
    rm_turn const head = rm_stream_head(&link->place.readback[0]);
    uint64_t left = link->pending & ~link->wrong;
    /* From the oldest on, so that what is newer has the last word. */
    uint32_t const oldest = (uint32_t)(transmit->cycle + 1) % RM_TRANSMIT_WINDOW;
    while (left != 0 && head != RM_TURN_NONE) {
        uint64_t const turned = left >> oldest | (oldest != 0 ? left << (RM_TRANSMIT_WINDOW - oldest) : 0);
        uint32_t const place = ((uint32_t)__builtin_ctzll(turned) + oldest) % RM_TRANSMIT_WINDOW;
        left &= ~(1ull << place);
        look_for_answer(transmit, link, place);
    }
    bool const moved = head != link->head && head != RM_TURN_NONE && head != transmit->cycle_turn;
    if (moved && transmit->standby == NULL)
        look_for_stray(transmit, link, head);
    link->head = head;
}

void rm_transmit_watch(struct rm_transmit *transmit) {
    if (transmit->answering_count == 0)
        return;
    struct rm_transmit_link *const link = &transmit->link[transmit->answering[transmit->watched]];
    transmit->watched = transmit->watched + 1 < transmit->answering_count ? transmit->watched + 1 : 0;
    prefetch_link(transmit, &transmit->link[transmit->answering[transmit->watched]]);
    watch_chain(transmit, link);
}

/** The whole answer of this turn, whichever datagram it is to. */
static bool read_answer(struct rm_transmit const *transmit, struct rm_transmit_link const *link, rm_turn turn,
                        struct chain_answer *answer) {
    bool whole = link->parts != 0 && turn != RM_TURN_NONE;
    for (uint32_t p = 0; whole && p < link->parts; ++p)
        whole = rm_stream_read(&link->place.readback[p], turn, &answer->part[p]) == RM_READ_OK;
    answer->cycle = transmit->cycle;
    return whole;
}

void rm_transmit_judge_other(struct rm_transmit *transmit, struct rm_transmit_link *link, rm_turn turn) {
    struct chain_answer answer;
    if (!read_answer(transmit, link, turn, &answer))
        return;
    for (uint32_t p = 0; p < link->parts; ++p) /* what it refused was not ours */
        answer.part[p].tag &= ~rm_tag_full_rate(0, RM_CHAIN_SAYS_OLD_TERM);
    judge_answer(transmit, link, &answer);
}

void rm_transmit_join_where_it_stands(struct rm_transmit *transmit, struct rm_transmit_link *link, rm_turn turn) {
    struct chain_answer answer;
    part_link(transmit, link, RM_SUPPLY_JOINING);
    if (read_answer(transmit, link, turn, &answer) &&
        (rm_tag_status(answer.part[0].tag) & RM_CHAIN_SAYS_LISTENING) == 0)
        join_link(transmit, link, &answer);
}
