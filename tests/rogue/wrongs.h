// SPDX-License-Identifier: Apache-2.0
/** Ways in which an application can go wrong: each writes one vector, or worse. */
#ifndef RM_TESTS_ROGUE_WRONGS_H
#define RM_TESTS_ROGUE_WRONGS_H

#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/setpoint.h>

struct rogue {
    struct rm_setpoints *setpoints;
    uint64_t actuators;
    /** What a good vector would ask for. */
    double value;

    uint64_t grant_number;
    /** Of the clock, now. */
    rm_turn turn;
    /** Vectors so far. */
    uint64_t count;

    uint64_t seed;
};

struct rogue_wrong {
    char const *name;
    char const *what;
    void (*once)(struct rogue *rogue);
};

/** Ends with a name of NULL. */
extern struct rogue_wrong const wrongs[];

#endif
