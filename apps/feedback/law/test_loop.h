// SPDX-License-Identifier: Apache-2.0
/** A loop of the controllers and a true plant in time, for tests: disturbance − plant → error → law → plant. The plant
 * is not the law's model: it follows its first order exactly from step to step, at whatever point of a cycle. */
#ifndef FEEDBACK_TEST_LOOP_H
#define FEEDBACK_TEST_LOOP_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers.h"

enum { LOOP_CHANNELS = 64, LOOP_PAST = 128 };

static double const lines_hz[] = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900};
enum { LINES = sizeof lines_hz / sizeof lines_hz[0] };

struct simulated_loop {
    struct feedback_controllers controllers;
    uint32_t channels;
    uint64_t cycle;
    /** pole_per_cycle: time constants in a cycle, 0: no pole. delay: in cycles. */
    double gain, pole_per_cycle, delay;
    /** Largest size of what is sent. */
    double limit;
    /** Rings of past cycles: what was sent, and the plant's output when the cycle began. */
    double sent[LOOP_PAST][LOOP_CHANNELS], level[LOOP_PAST][LOOP_CHANNELS];

    double error[LOOP_CHANNELS], command[LOOP_CHANNELS];
};

/** True plant: `gain` and `delay` times what the law believes. */
static inline void loop_make(struct simulated_loop *loop, struct feedback_law const *law, uint32_t channels,
                             double gain, double delay) {
    *loop = (struct simulated_loop){.channels = channels,
                                    .gain = gain,
                                    .pole_per_cycle = 6.283185307179586 * law->plant.bandwidth_hz / law->plant.rate_hz,
                                    .delay = delay * law->plant.delay_s * law->plant.rate_hz,
                                    .limit = INFINITY};
    assert_true(feedback_controllers_make(&loop->controllers, channels, law));
}

/** The plant's output in the present cycle. */
static inline double loop_plant(struct simulated_loop const *loop, uint32_t channel) {
    double const time = (double)loop->cycle - loop->delay;
    if (time <= 0)
        return 0;
    // The cycle in which that point of time lies; the end of one, not the begin of the next.
    uint64_t const begin = (uint64_t)ceil(time) - 1;
    double const held = loop->sent[begin % LOOP_PAST][channel], level = loop->level[begin % LOOP_PAST][channel];
    double const decay = loop->pole_per_cycle > 0 ? exp(-loop->pole_per_cycle * (time - (double)begin)) : 0;
    return loop->gain * (decay * level + (1 - decay) * held);
}

/** Runs a cycle with these disturbances. Errors and commands stay for the caller to look at. */
static inline void loop_step(struct simulated_loop *loop, double const *disturbance) {
    uint64_t const now = loop->cycle % LOOP_PAST, next = (loop->cycle + 1) % LOOP_PAST;
    double const decay = loop->pole_per_cycle > 0 ? exp(-loop->pole_per_cycle) : 0;
    for (uint32_t i = 0; i < loop->channels; ++i) {
        loop->error[i] = disturbance[i] - loop_plant(loop, i);
        loop->command[i] =
            loop->controllers.law.direct * loop->controllers.gain[i] * loop->error[i] + loop->controllers.ahead[i];
        loop->sent[now][i] = fmin(fmax(loop->command[i], -loop->limit), loop->limit);
        loop->level[next][i] = decay * loop->level[now][i] + (1 - decay) * loop->sent[now][i];
    }
    feedback_controllers_update(&loop->controllers, loop->error, loop->command, loop->sent[now]);
    ++loop->cycle;
}

#endif
