// SPDX-License-Identifier: Apache-2.0
#include "chain_judge.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/counters.h>
#include <ringmaster/supply.h>

#include "base/fail.h"

enum {
    TERMS = UINT16_MAX + 1,
    DOUBLED_WITHIN = 1000, /**< cycles: what is further behind is of a turn counter that was set back */
};

/** A step may be longer by what rounding to f32 makes of two setpoints, and by so much of the slew. */
static double const SLEW_ROUNDING = 1e-4;

/** What was heard of one chain. */
struct judged_chain {
    rm_counter *counters;
    uint32_t first, supplies;
    /** The highest that it has obeyed; 0: none. */
    uint16_t term;
    uint32_t instance;
    /** Of the newest datagram that it has obeyed; `turn` RM_TURN_NONE: there is none to go on from. */
    rm_turn turn;
    uint64_t sequence;
    uint16_t last_term;
    /** The highest term under which it was counted among those that obey it. */
    uint16_t counted_term;
    uint32_t last_instance;
};

struct rm_chain_judge {
    struct rm_chain_judge_setup setup;
    struct judged_chain *chain;
    struct rm_chain_judge_limits *limits;
    /** [supply] what it was sent last; NaN: unknown. */
    float *last;
    /** [term] who was obeyed under it first; 0: nobody. */
    uint32_t *instance_of;
    /** A bit per term: two were. */
    uint8_t *disputed;
    struct rm_chain_verdict verdict;
    /** The highest term that any chain has obeyed, and when one did so first. */
    uint16_t term;
    double since;
    /** Turn of its first datagram, and of the newest one of any lower term; RM_TURN_NONE: there is none. */
    rm_turn first_turn, before_turn;
    /** Chains that obey it, and whether a majority was noted. */
    uint32_t with_it;
    bool has_majority;
    /** The server that a majority obeyed last; 0: none yet. */
    uint32_t master;
};

static bool chain_judge_allocate(struct rm_chain_judge *judge, uint32_t supplies) {
    judge->chain = calloc(judge->setup.chains + 1ul, sizeof *judge->chain);
    judge->limits = calloc(supplies + 1ul, sizeof *judge->limits);
    judge->last = calloc(supplies + 1ul, sizeof *judge->last);
    judge->instance_of = calloc(TERMS, sizeof *judge->instance_of);
    judge->disputed = calloc(TERMS, sizeof *judge->disputed);
    return judge->chain != NULL && judge->limits != NULL && judge->last != NULL && judge->instance_of != NULL &&
           judge->disputed != NULL;
}

enum rm_code rm_chain_judge_new(struct rm_chain_judge_setup const *setup, struct rm_chain_judge **judge,
                                struct rm_error *error) {
    uint32_t supplies = 0;
    for (uint32_t c = 0; c < setup->chains; ++c)
        supplies += setup->supplies[c];
    struct rm_chain_judge *const made = calloc(1, sizeof *made);
    if (made != NULL)
        *made = (struct rm_chain_judge){.setup = *setup, .first_turn = RM_TURN_NONE, .before_turn = RM_TURN_NONE};
    if (made == NULL || !chain_judge_allocate(made, supplies)) {
        rm_chain_judge_free(made);
        return rm_fail(error, RM_E_NO_SPACE, "no memory to judge %u chains", setup->chains);
    }
    for (uint32_t c = 0, first = 0; c < setup->chains; first += setup->supplies[c++]) {
        made->chain[c] = (struct judged_chain){
            .counters = setup->counters[c], .first = first, .supplies = setup->supplies[c], .turn = RM_TURN_NONE};
        rm_chain_judge_moved(made, c);
    }
    memcpy(made->limits, setup->limits, supplies * sizeof *made->limits);
    *judge = made;
    return RM_OK;
}

void rm_chain_judge_free(struct rm_chain_judge *judge) {
    if (judge == NULL)
        return;
    free(judge->chain);
    free(judge->limits);
    free(judge->last);
    free(judge->instance_of);
    free(judge->disputed);
    free(judge);
}

struct rm_chain_verdict const *rm_chain_judge_verdict(struct rm_chain_judge const *judge) {
    return &judge->verdict;
}

void rm_chain_judge_moved(struct rm_chain_judge *judge, uint32_t chain) {
    struct judged_chain const *const judged = &judge->chain[chain];
    for (uint32_t s = judged->first; s < judged->first + judged->supplies; ++s)
        judge->last[s] = NAN;
}

void rm_chain_judge_was_off(struct rm_chain_judge *judge, uint32_t chain) { judge->chain[chain].turn = RM_TURN_NONE; }

/* ── one chain ── */

/** Whether a chain may obey this one after those before; the highest counts from now on. */
static void judge_master(struct judged_chain *chain, struct rm_chain_obeyed const *obeyed) {
    bool const higher = obeyed->term > chain->term;
    if (!higher && (obeyed->term < chain->term || obeyed->instance != chain->instance))
        rm_counter_add(chain->counters, RM_SUPPLY_TWO_MASTERS, 1);
    if (higher) {
        chain->term = obeyed->term;
        chain->instance = obeyed->instance;
    }
}

/** Cycles since its last datagram; 0: this one is of the same cycle, of an earlier one, or the first. */
static uint64_t cycles_since(struct rm_chain_judge const *judge, struct judged_chain const *chain, rm_turn turn) {
    return chain->turn == RM_TURN_NONE || turn <= chain->turn ? 0 : (turn - chain->turn) / judge->setup.period_turns;
}

static void judge_gap(struct rm_chain_judge const *judge, struct judged_chain *chain,
                      struct rm_chain_obeyed const *obeyed) {
    uint64_t const gap = cycles_since(judge, chain, obeyed->turn);
    if (gap > 1)
        rm_counter_add(chain->counters, RM_SUPPLY_CYCLES_MISSED, gap - 1);
    if (gap > rm_counter_get(chain->counters, RM_SUPPLY_LONGEST_GAP))
        rm_counter_set(chain->counters, RM_SUPPLY_LONGEST_GAP, gap);
    bool const there_already = gap == 0 && chain->turn != RM_TURN_NONE &&
                               chain->turn - obeyed->turn < DOUBLED_WITHIN * judge->setup.period_turns;
    if (there_already && obeyed->instance != chain->last_instance)
        rm_counter_add(chain->counters, RM_SUPPLY_CYCLES_DOUBLED, 1);
}

/** How many slews its setpoints may have gone since its last datagram. */
static double steps_since(struct rm_chain_judge const *judge, struct judged_chain const *chain,
                          struct rm_chain_obeyed const *obeyed) {
    bool const goes_on = chain->turn != RM_TURN_NONE && obeyed->term == chain->last_term;
    if (goes_on && obeyed->sequence > chain->sequence)
        return (double)(obeyed->sequence - chain->sequence);
    uint64_t const cycles = cycles_since(judge, chain, obeyed->turn);
    uint64_t const most = judge->setup.swap_steps;
    return cycles == 0 ? 1 : (double)(cycles < most ? cycles : most);
}

static bool steps_too_far(float last, float value, double most) {
    double const rounding = (double)FLT_EPSILON * (fabs((double)last) + fabs((double)value));
    return fabs((double)value - (double)last) > most * (1 + SLEW_ROUNDING) + rounding; /* false while unknown */
}

static void judge_values(struct rm_chain_judge *judge, struct judged_chain *chain,
                         struct rm_chain_obeyed const *obeyed) {
    double const steps = steps_since(judge, chain, obeyed);
    uint64_t over_limit = 0, over_slew = 0;
    for (uint32_t s = 0; s < chain->supplies; ++s) {
        struct rm_chain_judge_limits const *const limits = &judge->limits[chain->first + s];
        float *const last = &judge->last[chain->first + s];
        float const value = obeyed->values[s];
        bool const tripped = (obeyed->tripped >> s & 1) != 0;
        over_limit += !(value >= (float)limits->low && value <= (float)limits->high);
        over_slew += !tripped && steps_too_far(*last, value, steps * limits->slew);
        *last = tripped ? NAN : value;
    }
    if (over_limit != 0)
        rm_counter_add(chain->counters, RM_SUPPLY_OVER_LIMIT, over_limit);
    if (over_slew != 0)
        rm_counter_add(chain->counters, RM_SUPPLY_OVER_SLEW, over_slew);
}

/* ── all chains ── */

static void judge_instance(struct rm_chain_judge *judge, struct rm_chain_obeyed const *obeyed) {
    uint32_t *const known = &judge->instance_of[obeyed->term];
    uint8_t *const disputed = &judge->disputed[obeyed->term];
    if (*known == 0)
        *known = obeyed->instance;
    if (*known != obeyed->instance && !*disputed) {
        *disputed = 1;
        ++judge->verdict.two_instances;
    }
}

/** A chain obeys a term above all others. */
static void begin_term(struct rm_chain_judge *judge, struct rm_chain_obeyed const *obeyed) {
    judge->before_turn = RM_TURN_NONE;
    for (uint32_t c = 0; c < judge->setup.chains; ++c) {
        struct judged_chain const *const chain = &judge->chain[c];
        bool const newer = judge->before_turn == RM_TURN_NONE || chain->turn > judge->before_turn;
        if (chain->turn != RM_TURN_NONE && chain->last_term != obeyed->term && newer)
            judge->before_turn = chain->turn;
    }
    judge->term = obeyed->term;
    judge->since = obeyed->time;
    judge->first_turn = obeyed->turn;
    judge->with_it = 0;
    judge->has_majority = false;
}

/** A majority has come to obey the highest term. */
static void note_majority(struct rm_chain_judge *judge, uint32_t instance) {
    judge->has_majority = true;
    bool const swapped = judge->master != 0 && judge->master != instance;
    judge->master = instance;
    if (!swapped)
        return;
    struct rm_chain_verdict *const verdict = &judge->verdict;
    bool const later = judge->before_turn != RM_TURN_NONE && judge->first_turn > judge->before_turn;
    ++verdict->swaps;
    verdict->swap_cycles = later ? (judge->first_turn - judge->before_turn) / judge->setup.period_turns : 0;
    if (verdict->swap_cycles > verdict->longest_swap_cycles)
        verdict->longest_swap_cycles = verdict->swap_cycles;
}

static void judge_division(struct rm_chain_judge *judge, struct judged_chain *chain,
                           struct rm_chain_obeyed const *obeyed) {
    if (obeyed->term > judge->term)
        begin_term(judge, obeyed);
    if (obeyed->term < judge->term) {
        double const cycles = (obeyed->time - judge->since) / judge->setup.cycle_s;
        judge->verdict.longest_divided_cycles = fmax(judge->verdict.longest_divided_cycles, cycles);
        judge->verdict.divided += cycles > judge->setup.divided_cycles;
        if (judge->before_turn == RM_TURN_NONE || obeyed->turn > judge->before_turn)
            judge->before_turn = obeyed->turn;
        return;
    }
    judge->with_it += chain->counted_term != judge->term;
    chain->counted_term = judge->term;
    if (!judge->has_majority && judge->with_it > judge->setup.chains / 2)
        note_majority(judge, obeyed->instance);
}

void rm_chain_judge_obeyed(struct rm_chain_judge *judge, uint32_t chain, struct rm_chain_obeyed const *obeyed) {
    struct judged_chain *const judged = &judge->chain[chain];
    judge_master(judged, obeyed);
    judge_gap(judge, judged, obeyed);
    judge_values(judge, judged, obeyed);
    judge_instance(judge, obeyed);
    judge_division(judge, judged, obeyed);
    judged->turn = obeyed->turn;
    judged->sequence = obeyed->sequence;
    judged->last_term = obeyed->term;
    judged->last_instance = obeyed->instance;
}
