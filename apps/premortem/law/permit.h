// SPDX-License-Identifier: Apache-2.0
/** A permit: a setpoint of 1 that is repeated in every cycle, or 0.
 *
 *     WITHDRAWN   0. A person gives it: RISING
 *     RISING      1, until the guard has sent it: GIVEN; after RISE_STEPS without that: WITHDRAWN
 *     GIVEN       1. An alarm, or a guard that has sent anything else or knows nothing: WITHDRAWN
 *
 * So nothing gives it back by itself: not a restart, which begins with what was sent last, and not a process that was
 * stopped and goes on. Its first step then sees what the guard sent meanwhile. What it had computed before it was stopped
 * is too old for the guard, if `freshness_turns` is shorter than the watchdog (docs/premortem.md).
 */
#ifndef PREMORTEM_PERMIT_H
#define PREMORTEM_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /** Steps that the guard may take to send what was given. */
    PREMORTEM_RISE_STEPS = 16,
};

enum premortem_permit_state { PREMORTEM_WITHDRAWN, PREMORTEM_RISING, PREMORTEM_GIVEN };

struct premortem_permit {
    enum premortem_permit_state state;
    uint32_t waited;
    /** How often it was withdrawn because the guard had not sent it. */
    uint64_t lost;
};

/** The first step: it is given where it was sent last. */
static inline void premortem_permit_begin(struct premortem_permit *permit, double sent) {
    *permit = (struct premortem_permit){.state = sent >= 0.5 ? PREMORTEM_GIVEN : PREMORTEM_WITHDRAWN};
}

/** One step: `sent` is what the guard sent last, NaN where that is not known; `gives`: a person gives it now;
 * `must_go`: an alarm withdraws it. Returns the setpoint. */
double premortem_permit_step(struct premortem_permit *permit, double sent, bool gives, bool must_go);

#endif
