// SPDX-License-Identifier: Apache-2.0
#include "supplies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "law/curve.h"
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
    excite_sines_clear(&supplies->sines, step_s);
}

/** Sets a supply on its way to what was asked for, or lets it stay. */
static void begin_way(struct excite_supplies *supplies, uint32_t i, double turn, double slew, double step_turns,
                      double least_turns) {
    double const to = supplies->asked[i], from = supplies->standing[i];
    supplies->way_turns[i] = 0.0;
    if (!(fabs(to) < EXCITE_STAY) || !isfinite(from) || to == from)
        return;
    double const turns = excite_curve_seconds(to - from, slew / step_turns, least_turns);
    supplies->from[i] = from;
    supplies->to[i] = to;
    supplies->begun[i] = turn;
    supplies->way_turns[i] = turns > step_turns ? turns : step_turns;
}

static void go_on(struct excite_supplies *supplies, uint32_t i, double turn) {
    double const share = (turn - supplies->begun[i]) / supplies->way_turns[i];
    double const distance = supplies->to[i] - supplies->from[i];
    supplies->standing[i] = share < 1.0 ? supplies->from[i] + distance * excite_curve(share) : supplies->to[i];
    if (share >= 1.0)
        supplies->way_turns[i] = 0.0;
}

bool excite_supplies_move(struct excite_supplies *supplies, double turn, double const *sent, double const *position,
                          double const *slew, double step_turns, double least_turns) {
    uint32_t moving = 0;
    bool moved = false;
    for (uint32_t i = 0; i < supplies->count; ++i) {
        if (!isfinite(supplies->standing[i]) && isfinite(sent[i])) {
            supplies->standing[i] = sent[i];
            moved = true;
        }
        if (position[i] != supplies->asked[i]) {
            supplies->asked[i] = position[i];
            begin_way(supplies, i, turn, slew[i], step_turns, least_turns);
        }
        if (supplies->way_turns[i] > 0.0) {
            go_on(supplies, i, turn);
            moved = true;
            moving += supplies->way_turns[i] > 0.0;
        }
    }
    supplies->moving = moving;
    memcpy(supplies->value, supplies->standing, supplies->count * sizeof *supplies->value);
    return moved;
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
    struct excite_sines const *sines = &supplies->sines;
    double largest = 0.0;
    excite_sines_go(&supplies->sines, step);
    excite_sines_add_up(sines, envelope, supplies->value);
    for (uint32_t i = 0; i < sines->count; ++i) {
        double const size = fabs(sines->amplitude[i] * sines->sine[i]);
        largest = size > largest ? size : largest;
    }
    return envelope * largest;
}

bool excite_supplies_put(struct excite_supplies const *supplies, double const *low, double const *high,
                         double const *slew, double *setpoint) {
    uint32_t cut = 0;
    for (uint32_t i = 0; i < supplies->count; ++i) {
        double const wanted = supplies->value[i], last = setpoint[i];
        double const least = last - slew[i] > low[i] ? last - slew[i] : low[i];
        double const most = last + slew[i] < high[i] ? last + slew[i] : high[i];
        double const above = wanted < least ? least : wanted, put = above > most ? most : above;
        cut += put != wanted && wanted == wanted;
        setpoint[i] = wanted == wanted ? put : last;
    }
    return cut != 0;
}
