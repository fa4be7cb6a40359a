// SPDX-License-Identifier: Apache-2.0
/** Many sines, each amplitude · sin(2π hz t + phase), of the time since they began.
 *
 * Time is a whole number of steps. From one step to the next a sine is turned by its angle, four products instead of a
 * sine; at each step that is made some of them are computed anew, all of them in EXCITE_SINES_ROUND, so rounding does not
 * add up. A few steps that were left out are as many turns, and after more of them all are computed anew. So the values
 * at a step are those of its definition to 1e-12, whatever came before.
 */
#ifndef EXCITE_SINES_H
#define EXCITE_SINES_H

#include <stddef.h>
#include <stdint.h>

enum {
    EXCITE_SINES_ROUND = 64,
    /** Most steps by which sines are turned. */
    EXCITE_SINES_TURNS = 8,
};

/** Arrays lie in memory of the caller's, one after the other: copied whole they are another one's. */
struct excite_sines {
    uint32_t capacity, count;
    /** Those computed anew next, of EXCITE_SINES_ROUND. */
    uint32_t next;
    /** Steps since they began, of the values; UINT64_MAX: none yet. */
    uint64_t step;
    double step_s;
    /** [count] what turns from step to step, and by what. */
    double *sine, *cosine, *turn_sine, *turn_cosine;
    /** [count] */
    double *amplitude, *hz, *phase;
    /** [count] where the value goes. */
    uint32_t *target;
};

/** Bytes of the arrays of so many sines; a multiple of 64. */
size_t excite_sines_bytes(uint32_t capacity);

/** Sets the pointers into `memory`, which begins at a multiple of 8; nothing else. */
void excite_sines_place(struct excite_sines *sines, uint32_t capacity, void *memory);

/** Takes all sines out, and begins anew with steps of `step_s`. */
void excite_sines_clear(struct excite_sines *sines, double step_s);

/** Adds one; there is room for `capacity`. */
void excite_sines_add(struct excite_sines *sines, uint32_t target, double amplitude, double hz, double phase);

/** Goes to a step since they began, which is later than the last one or the same. */
void excite_sines_go(struct excite_sines *sines, uint64_t step);

/** Adds `envelope` times each sine to value[target]. Returns the largest size of what it adds. */
double excite_sines_add_up(struct excite_sines const *sines, double envelope, double *value);

/** The largest change of a sine from one step to the next. */
double excite_sines_steepest(double amplitude, double hz, double step_s);

#endif
