// SPDX-License-Identifier: Apache-2.0
#include "tally.h"

#include <stdlib.h>

/* ── lengths ── */

static double const HUNDREDTHS = 100.0;

static bool pair_lengths_add(struct rm_pair_lengths *lengths, double cycles) {
    if (lengths->count == lengths->space) {
        uint32_t const space = lengths->space == 0 ? 64 : 2 * lengths->space;
        uint32_t *const grown = realloc(lengths->value, space * sizeof *grown);
        if (grown == NULL)
            return false;
        lengths->value = grown;
        lengths->space = space;
    }
    lengths->value[lengths->count++] = (uint32_t)(cycles * HUNDREDTHS + 0.5);
    return true;
}

static int compare_lengths(void const *left, void const *right) {
    uint32_t const a = *(uint32_t const *)left, b = *(uint32_t const *)right;
    return (a > b) - (a < b);
}

static double pair_lengths_at(struct rm_pair_lengths *lengths, uint32_t at) {
    if (lengths->count == 0)
        return 0;
    qsort(lengths->value, lengths->count, sizeof *lengths->value, compare_lengths);
    return (double)lengths->value[at] / HUNDREDTHS;
}

double rm_pair_lengths_max(struct rm_pair_lengths *lengths) { return pair_lengths_at(lengths, lengths->count - 1); }

double rm_pair_lengths_median(struct rm_pair_lengths *lengths) { return pair_lengths_at(lengths, lengths->count / 2); }

/* ── swaps ── */

static uint32_t server_of_term(uint32_t term) { return term % 2 == 1 ? 0 : 1; }

/** The chain has had nothing for more than N cycles, or had a gap so long not long ago: a server that was stopped may
 * send once more between the question and the take-over. */
static bool pair_obeyed_saw_gap(struct rm_pair_tally const *tally, struct rm_pair_obeyed const *last, uint64_t now_ns) {
    double const longest_ns = (double)tally->missed_cycles * tally->period_ns;
    bool const before = last->gap_ns != 0 && (double)(now_ns - last->gap_ns) <= longest_ns;
    return before || (double)(now_ns - last->time_ns) > longest_ns;
}

/** A term above all that were obeyed before. */
static void pair_tally_begin_term(struct rm_pair_tally *tally, uint64_t now_ns, uint32_t term) {
    bool const is_swap = tally->good_term != 0 && server_of_term(term) != server_of_term(tally->good_term);
    tally->raised += tally->good_term != 0 && !is_swap;
    tally->is_swap = is_swap;
    tally->term = term;
    tally->first_ns = now_ns;
    tally->before_ns = tally->older_ns;
    tally->with = tally->unsilent = 0;
    tally->confirmed = false;
    for (uint32_t c = 0; c < tally->chains; ++c)
        tally->unsilent += tally->last[c].time_ns != 0 && !pair_obeyed_saw_gap(tally, &tally->last[c], now_ns);
}

/** A majority has obeyed the newest term. */
static bool pair_tally_confirm(struct rm_pair_tally *tally) {
    uint32_t const server = server_of_term(tally->term);
    bool const late = tally->began[server] == RM_PAIR_TAKEN_OVER && tally->fit_ns[server] > tally->before_ns;
    enum rm_pair_swap_kind const kind = late ? RM_PAIR_TAKEN_LATE : tally->began[server];
    tally->confirmed = true;
    tally->good_term = tally->term;
    if (!tally->is_swap)
        return true;
    tally->false_swaps += kind != RM_PAIR_SWITCHED && tally->unsilent > tally->chains / 2;
    double const cycles = (double)(tally->first_ns - tally->before_ns) / tally->period_ns;
    tally->swap_ns = kind == RM_PAIR_BEGUN ? tally->swap_ns : tally->first_ns;
    return pair_lengths_add(&tally->length[kind], cycles) &&
           (kind != RM_PAIR_TAKEN_OVER || pair_lengths_add(&tally->after[tally->befell], cycles));
}

/** A chain's first datagram of a switch: is it of the turn behind its last one? */
static void pair_tally_switched(struct rm_pair_tally *tally, struct rm_pair_obeyed const *last, rm_turn turn) {
    if (!tally->is_swap || tally->began[server_of_term(tally->term)] != RM_PAIR_SWITCHED || last->term == 0)
        return;
    if (turn <= last->turn)
        ++tally->planned_duplicate;
    else
        tally->planned_missing += (turn - last->turn) / tally->period_turns - 1;
}

bool rm_pair_tally_obeyed(struct rm_pair_tally *tally, uint32_t chain, uint64_t now_ns, uint32_t term, rm_turn turn) {
    struct rm_pair_obeyed *const last = &tally->last[chain];
    bool good = true;
    ++tally->obeyed;
    if (term > tally->term)
        pair_tally_begin_term(tally, now_ns, term);
    if (term == tally->term && last->term != term) {
        pair_tally_switched(tally, last, turn);
        ++tally->with;
    }
    bool const gap =
        last->time_ns != 0 && !pair_obeyed_saw_gap(tally, &(struct rm_pair_obeyed){.time_ns = last->time_ns}, now_ns);
    *last = (struct rm_pair_obeyed){now_ns, gap ? last->gap_ns : now_ns, turn, term};
    if (term == tally->term && !tally->confirmed && tally->with > tally->chains / 2)
        good = pair_tally_confirm(tally);
    if (term < tally->term || tally->confirmed)
        tally->older_ns = now_ns;
    return good;
}

void rm_pair_tally_fit(struct rm_pair_tally *tally, uint32_t server, uint64_t now_ns, bool fit) {
    if (!fit)
        tally->fit_ns[server] = UINT64_MAX;
    else if (tally->fit_ns[server] == UINT64_MAX)
        tally->fit_ns[server] = now_ns;
}

void rm_pair_tally_orbit(struct rm_pair_tally *tally, uint64_t now_ns, double orbit_nm) {
    static double const SWAP_CYCLES = 200;
    double *const largest = tally->swap_ns != 0 && (double)(now_ns - tally->swap_ns) < SWAP_CYCLES * tally->period_ns
                                ? &tally->orbit_swap_nm
                                : &tally->orbit_quiet_nm;
    *largest = orbit_nm > *largest ? orbit_nm : *largest;
    tally->orbit_sum_nm += orbit_nm;
    ++tally->orbits;
}

void rm_pair_tally_role(struct rm_pair_tally *tally, uint32_t server, enum rm_standby_role role,
                        struct rm_standby const *standby) {
    if (standby->role == role || standby->role != RM_STANDBY_ACTIVE)
        return;
    tally->began[server] = standby->reason == RM_STANDBY_SWITCHED ? RM_PAIR_SWITCHED
                           : standby->reason == RM_STANDBY_BEGAN  ? RM_PAIR_BEGUN
                                                                  : RM_PAIR_TAKEN_OVER;
}

void rm_pair_tally_free(struct rm_pair_tally *tally) {
    for (uint32_t k = 0; k < RM_PAIR_SWAP_KINDS; ++k)
        free(tally->length[k].value);
    for (uint32_t k = 0; k <= RM_PAIR_FAULT_KINDS; ++k)
        free(tally->after[k].value);
    *tally = (struct rm_pair_tally){0};
}
