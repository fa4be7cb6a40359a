// SPDX-License-Identifier: Apache-2.0
#include "wrongs.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static uint64_t rogue_draw(struct rogue *rogue) {
    rogue->seed ^= rogue->seed << 13;
    rogue->seed ^= rogue->seed >> 7;
    rogue->seed ^= rogue->seed << 17;
    return rogue->seed;
}

static void vector_of(struct rogue *rogue, double value, uint64_t grant_number, rm_turn turn) {
    struct rm_setpoint_vector *vector = rm_setpoints_begin(rogue->setpoints);
    for (uint64_t i = 0; i < rogue->actuators; ++i)
        rm_setpoints_put(vector, i, value);
    rm_setpoints_commit(vector, grant_number, turn, 0);
}

static void write_good_vector(struct rogue *rogue) { vector_of(rogue, rogue->value, rogue->grant_number, rogue->turn); }

static void no_number(struct rogue *rogue) {
    double const bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -(double)NAN};
    vector_of(rogue, bad[rogue->count % 4], rogue->grant_number, rogue->turn);
}

static void write_beyond_limits(struct rogue *rogue) {
    double const bad[] = {DBL_MAX, -DBL_MAX, 1e9, -1e9, 10.0001, -10.0001};
    vector_of(rogue, bad[rogue->count % 6], rogue->grant_number, rogue->turn);
}

/* Within the limits, and as far apart as they are: the slew has to hold. */
static void to_and_fro(struct rogue *rogue) {
    vector_of(rogue, rogue->count % 2 ? 10.0 : -10.0, rogue->grant_number, rogue->turn);
}

static void old_generation(struct rogue *rogue) {
    uint64_t const bad[] = {0, rogue->grant_number - 1, rogue->grant_number + 1, UINT64_MAX};
    vector_of(rogue, 5.0, bad[rogue->count % 4], rogue->turn);
}

static void write_stale_vector(struct rogue *rogue) {
    rm_turn const bad[] = {0, rogue->turn / 2, rogue->turn > 1000000 ? rogue->turn - 1000000 : 0, 1};
    vector_of(rogue, 5.0, rogue->grant_number, bad[rogue->count % 4]);
}

static void write_future_vector(struct rogue *rogue) {
    rm_turn const bad[] = {RM_TURN_NONE, RM_TURN_NONE - 1, rogue->turn + 100000000, 1ull << 63};
    vector_of(rogue, 5.0, rogue->grant_number, bad[rogue->count % 4]);
}

/* No protocol at all: words of any kind anywhere in the vectors, their sequences too. */
static void write_garbage(struct rogue *rogue) {
    uint64_t const words = RM_SETPOINT_BUFFERS * rogue->setpoints->vector_bytes / 8;
    _Atomic uint64_t *word = (_Atomic uint64_t *)((uint8_t *)rogue->setpoints + sizeof *rogue->setpoints);
    atomic_store_explicit(&word[rogue_draw(rogue) % words], rogue_draw(rogue), memory_order_relaxed);
}

/* Vectors that look right, of numbers of any kind. */
static void any_number(struct rogue *rogue) {
    struct rm_setpoint_vector *vector = rm_setpoints_begin(rogue->setpoints);
    for (uint64_t i = 0; i < rogue->actuators; ++i)
        atomic_store_explicit(&vector->value[i], rogue_draw(rogue), memory_order_relaxed);
    rm_setpoints_commit(vector, rogue->grant_number, rogue->turn, rogue_draw(rogue));
}

/* The object's own description, which the server has checked when it attached. */
static void write_wrong_layout(struct rogue *rogue) {
    rogue->setpoints->vector_bytes = rogue_draw(rogue);
    rogue->setpoints->vectors_offset = rogue_draw(rogue);
    rogue->setpoints->actuator_count = rogue_draw(rogue);
}

struct rogue_wrong const wrongs[] = {
    {"good", "asks for --value, for comparison", write_good_vector},
    {"no-number", "NaN and infinities", no_number},
    {"beyond", "values beyond the limits of 10", write_beyond_limits},
    {"to-and-fro", "from one limit to the other, vector by vector", to_and_fro},
    {"old-grant_number", "grant numbers that were not granted", old_generation},
    {"stale", "input turns long past", write_stale_vector},
    {"future", "input turns that have not been", write_future_vector},
    {"any-number", "whole vectors of random bits", any_number},
    {"garbage", "random words anywhere in the vectors", write_garbage},
    {"layout", "random offsets and sizes in the object's own head", write_wrong_layout},
    {NULL, NULL, NULL},
};
