// SPDX-License-Identifier: Apache-2.0
/** Ways in which an application can go wrong: each writes one row, or worse. */
#ifndef RM_TESTS_ROGUE_WRONGS_H
#define RM_TESTS_ROGUE_WRONGS_H

#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/setpoint.h>

struct rogue {
    struct rm_setpoints *setpoints;
    uint64_t actuators;
    double value; /**< what a good row would ask for */
    uint64_t epoch;
    rm_turn turn;   /**< of the clock, now */
    uint64_t count; /**< rows so far */
    uint64_t seed;
};

struct wrong {
    char const *name;
    char const *what;
    void (*once)(struct rogue *rogue);
};

/** Ends with a name of NULL. */
extern struct wrong const wrongs[];

#endif
