// SPDX-License-Identifier: Apache-2.0
/* Which turn it is, and when the next cycle is due. */
#include "engine/transmit_state.h"

#include <math.h>

#include "base/timebase.h"
#include "fabric/clock_writer.h"

static double const TAI_LOOK_SECONDS = 0.01;
static double const RATE_TOLERANCE = 0.02; /**< of the nominal turn rate: a clock beyond it is still learning */

/** Turns by TAI, counted from 1970, at the nominal rate: right modulo any short counter, and growing from one life of
 * the server to the next. Asked a hundred times a second, because the TSC's rate is known to some 1e-5 only. */
static void look_at_tai(struct rm_transmit *transmit, uint64_t tsc) {
    struct rm_transmit_setup const *setup = &transmit->setup;
    struct rm_clock_reading *const clock = &transmit->clock;
    if (clock->anchored && tsc - transmit->tai_look_tsc < (uint64_t)(TAI_LOOK_SECONDS * setup->tsc_hz))
        return;
    transmit->tai_look_tsc = tsc;
    double const rate = setup->config->turn_rate_hz;
    clock->anchored = true;
    clock->tsc_hz = setup->tsc_hz;
    clock->ticks_per_turn = clock->measured_ticks_per_turn = setup->tsc_hz / rate;
    clock->supported = true;
    clock->tai_tsc = rm_tsc();
    clock->tai_ns = rm_tai_ns();
    uint64_t const seconds = clock->tai_ns / 1000000000u;
    uint64_t const rest = clock->tai_ns % 1000000000u;
    /* In two parts: a double holds turns since 1970 to no better than a fraction of one. */
    double const whole = (double)seconds * rate;
    double const turns = whole - (double)(uint64_t)whole + (double)rest * 1e-9 * rate;
    clock->turn = (uint64_t)whole + (uint64_t)turns;
    clock->turn_tsc = clock->tai_tsc - (uint64_t)((turns - (double)(uint64_t)turns) * clock->ticks_per_turn);
    if (setup->publish != NULL)
        rm_clock_publish(setup->publish, clock);
}

/** A clock that is just being written is looked at the next time: its writer may have lost its core, and this role has
 * the last reading to go by. */
static void look_at_published(struct rm_transmit *transmit) {
    struct rm_clock const *const clock = transmit->setup.clock;
    if ((atomic_load_explicit(&clock->sequence, memory_order_relaxed) & 1) == 0)
        (void)rm_clock_look(clock, &transmit->clock);
}

/** A turn clock that has just been anchored may take a queue of old turns for a fast machine, and be far ahead of it
 * for a while: setpoints wait until it has learned better. */
static bool transmit_clock_is_usable(struct rm_transmit const *transmit) {
    double const nominal = transmit->setup.tsc_hz / transmit->setup.config->turn_rate_hz;
    struct rm_clock_reading const *const clock = &transmit->clock;
    if (transmit->setup.config->simulated_time)
        return clock->anchored;
    return clock->anchored && fabs(clock->ticks_per_turn - nominal) <= RATE_TOLERANCE * nominal;
}

/** True when `now` tells another time than `before` did, by a period or more. */
static bool transmit_clock_has_stepped(struct rm_transmit const *transmit, struct rm_clock_reading const *before,
                                       uint64_t tsc) {
    struct rm_clock_reading const *const now = &transmit->clock;
    if (transmit->setup.config->simulated_time)
        return false; /* the leader's vectors say which cycle it is */
    if (before->turn_epoch != now->turn_epoch)
        return true;
    int64_t const step = (int64_t)(rm_clock_turn(now, tsc) - rm_clock_turn(before, tsc));
    return step >= (int64_t)transmit->period_turns || -step >= (int64_t)transmit->period_turns;
}

void rm_transmit_synchronise(struct rm_transmit *transmit, rm_turn now) {
    uint64_t const period = transmit->period_turns;
    uint64_t const from = now >= transmit->phase_turns ? now - transmit->phase_turns : 0;
    transmit->turn = (from / period + 1) * period;
}

bool rm_transmit_look_at_clock(struct rm_transmit *transmit, uint64_t tsc) {
    struct rm_clock_reading const before = transmit->clock;
    if (transmit->setup.clock != NULL)
        look_at_published(transmit);
    else
        look_at_tai(transmit, tsc);
    if (!transmit_clock_is_usable(transmit))
        return transmit->anchored = false;
    transmit->period_ticks = (uint64_t)((double)transmit->period_turns * transmit->clock.ticks_per_turn);
    bool const jumped = transmit->anchored && transmit_clock_has_stepped(transmit, &before, tsc);
    if (jumped)
        rm_counter_add(transmit->setup.counters, RM_TRANSMIT_SKIPPED, 1);
    if (jumped || !transmit->anchored)
        rm_transmit_synchronise(transmit, rm_clock_turn(&transmit->clock, tsc));
    transmit->anchored = true;
    transmit->due_tsc = rm_clock_tsc(&transmit->clock, transmit->turn + transmit->phase_turns);
    return true;
}

uint64_t rm_transmit_skip(struct rm_transmit *transmit, uint64_t tsc) {
    uint64_t const behind = tsc > transmit->due_tsc ? tsc - transmit->due_tsc : 0;
    if (behind < transmit->period_ticks || transmit->period_ticks == 0)
        return behind;
    uint64_t const skipped = behind / transmit->period_ticks;
    transmit->turn += skipped * transmit->period_turns;
    transmit->due_tsc = rm_clock_tsc(&transmit->clock, transmit->turn + transmit->phase_turns);
    rm_counter_add(transmit->setup.counters, RM_TRANSMIT_SKIPPED, skipped);
    return tsc > transmit->due_tsc ? tsc - transmit->due_tsc : 0;
}
