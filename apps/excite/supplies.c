// SPDX-License-Identifier: Apache-2.0
#include "supplies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/s_curve.h>

#include "names.h"

enum { ARRAYS = 10 };

bool excite_supplies_make(struct excite_supplies *supplies, uint32_t count) {
    size_t const sines = excite_sines_bytes(count), each = count * sizeof(double);
    *supplies = (struct excite_supplies){.count = count, .bytes = sines + ARRAYS * each};
    supplies->memory = calloc(1, supplies->bytes + 1);
    if (supplies->memory == NULL)
        return false;
    excite_sines_place(&supplies->sines, count, supplies->memory);
    excite_sines_clear(&supplies->sines, 1.0);
    double *next = (double *)(void *)((char *)supplies->memory + sines);
    double **const array[ARRAYS] = {&supplies->standing, &supplies->asked,     &supplies->value, &supplies->from,
                                    &supplies->to,       &supplies->way_turns, &supplies->begun, &supplies->amplitude,
                                    &supplies->hz,       &supplies->phase};
    for (int a = 0; a < ARRAYS; ++a, next += count)
        *array[a] = next;
    return true;
}

void excite_supplies_free(struct excite_supplies *supplies) { free(supplies->memory); }

void excite_supplies_begin(struct excite_supplies *supplies, double const *sent, double const *position,
                           double step_s) {
    size_t const bytes = supplies->count * sizeof(double);
    memset(supplies->memory, 0, supplies->bytes);
    memcpy(supplies->standing, sent, bytes);
    memcpy(supplies->value, sent, bytes);
    memcpy(supplies->asked, position, bytes);
    supplies->moving = 0;
    supplies->unknown = supplies->count; /* some of them, perhaps */
    excite_sines_clear(&supplies->sines, step_s);
}

/** Sets a supply on its way to what was asked for, or lets it stay. */
static void begin_way(struct excite_supplies *supplies, uint32_t i, double turn, double slew, double step_turns,
                      double least_turns) {
    double const to = supplies->asked[i], from = supplies->standing[i];
    supplies->way_turns[i] = 0.0;
    if (!(fabs(to) < EXCITE_STAY) || !isfinite(from) || to == from)
        return;
    double const turns = rm_s_curve_seconds(to - from, slew / step_turns, least_turns);
    supplies->from[i] = from;
    supplies->to[i] = to;
    supplies->begun[i] = turn;
    supplies->way_turns[i] = turns > step_turns ? turns : step_turns;
}

/** All supplies whose position was put begin their way. */
static void begin_ways(struct excite_supplies *supplies, double turn, double const *position, double const *slew,
                       double step_turns, double least_turns) {
    for (uint32_t i = 0; i < supplies->count; ++i) {
        if (position[i] == supplies->asked[i])
            continue;
        supplies->asked[i] = position[i];
        begin_way(supplies, i, turn, slew[i], step_turns, least_turns);
    }
}

/** Those that were not known stand where they were sent to by now. True: one does. */
static bool find_unknown(struct excite_supplies *supplies, double const *sent) {
    uint32_t unknown = 0, found = 0;
    for (uint32_t i = 0; i < supplies->count; ++i) {
        if (isfinite(supplies->standing[i]))
            continue;
        supplies->standing[i] = sent[i];
        found += isfinite(sent[i]) != 0;
        unknown += isfinite(sent[i]) == 0;
    }
    supplies->unknown = unknown;
    return found != 0;
}

/** One step of all ways, in one form for the vectoriser: a supply that is on none keeps its place. */
static void go_on(struct excite_supplies *supplies, double turn) {
    double *const restrict standing = supplies->standing, *const restrict way_turns = supplies->way_turns;
    double const *const restrict from = supplies->from, *const restrict to = supplies->to;
    double const *const restrict begun = supplies->begun;
    uint64_t moving = 0;
    for (uint32_t i = 0; i < supplies->count; ++i) {
        double const share = (turn - begun[i]) / way_turns[i];
        double const there = from[i] + (to[i] - from[i]) * rm_s_curve_clamped(share);
        double const at = share < 1.0 ? there : to[i];
        standing[i] = way_turns[i] > 0.0 ? at : standing[i];
        way_turns[i] = share < 1.0 ? way_turns[i] : 0.0;
        moving += way_turns[i] > 0.0;
    }
    supplies->moving = (uint32_t)moving;
}

bool excite_supplies_move(struct excite_supplies *supplies, double turn, double const *sent, double const *position,
                          double const *slew, double step_turns, double least_turns) {
    size_t const bytes = supplies->count * sizeof(double);
    bool moves = supplies->unknown != 0 && find_unknown(supplies, sent);
    if (memcmp(position, supplies->asked, bytes) != 0) {
        begin_ways(supplies, turn, position, slew, step_turns, least_turns);
        supplies->moving = supplies->count; /* some of them */
    }
    if (supplies->moving != 0) {
        go_on(supplies, turn);
        moves = true;
    }
    memcpy(supplies->value, supplies->standing, bytes);
    return moves;
}

void excite_supplies_excite(struct excite_supplies *supplies, double const *amplitude, double const *hz,
                            double const *phase) {
    size_t const bytes = supplies->count * sizeof(double);
    memcpy(supplies->amplitude, amplitude, bytes);
    memcpy(supplies->hz, hz, bytes);
    memcpy(supplies->phase, phase, bytes);
    excite_sines_clear(&supplies->sines, supplies->sines.step_s);
    for (uint32_t i = 0; i < supplies->count; ++i)
        if (amplitude[i] != 0.0)
            excite_sines_add(&supplies->sines, i, amplitude[i], hz[i], phase[i]);
}

double excite_supplies_add_sines(struct excite_supplies *supplies, uint64_t step, double envelope) {
    excite_sines_go(&supplies->sines, step);
    return excite_sines_add_up(&supplies->sines, envelope, supplies->value);
}

bool excite_supplies_put(struct excite_supplies const *supplies, double const *low, double const *high,
                         double const *slew, double *restrict setpoint) {
    double const *const restrict value = supplies->value;
    uint64_t cut = 0;
    for (uint32_t i = 0; i < supplies->count; ++i) {
        double const wanted = value[i], last = setpoint[i], least = last - slew[i], most = last + slew[i];
        double const above = wanted < least ? least : wanted, within = above > most ? most : above;
        double const higher = within < low[i] ? low[i] : within, put = higher > high[i] ? high[i] : higher;
        bool const known = wanted == wanted;
        cut += (uint64_t)known & (uint64_t)(put != wanted);
        setpoint[i] = known ? put : last;
    }
    return cut != 0;
}
