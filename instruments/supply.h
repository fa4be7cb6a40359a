// SPDX-License-Identifier: Apache-2.0
/** The physics of one virtual power supply: what its current is, at any moment, after the setpoints that it was given.
 *
 *     setpoint ─▶ delay ─▶ next tick of its own regulation ─▶ range and resolution ─▶ slew ─▶ first order ─▶ current
 *
 * The current between two changes is a closed form of time, and nothing is integrated: it is the same however often
 * somebody looks. Its ripple is in the current; its noise is only in what it says of it. All randomness (where its
 * regulation's ticks lie, by how much their rate is off, the phases of the ripple, the noise) comes from a key.
 *
 * Time is seconds from any beginning, and never goes back from one call that changes something to the next; a look at
 * an earlier time than the last change shows the current at that change.
 */
#ifndef RM_INSTRUMENTS_SUPPLY_H
#define RM_INSTRUMENTS_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RM_SUPPLY_RIPPLES_MAX = 4,
    RM_SUPPLY_UNDER_WAY = 32, /**< setpoints between their arrival and their taking over; of more the last ones merge */
};

/** Amplitudes, limits and steps are in the setpoint's unit. */
struct rm_supply_config {
    double bandwidth_hz;  /**< of the first order; 0: follows at once */
    double delay_s;       /**< from a setpoint's arrival to when it may be taken over */
    double resolution;    /**< setpoints are rounded to multiples of it; 0: not rounded */
    double low, high;     /**< low ≤ 0 ≤ high: off is 0 */
    double slew;          /**< per second; INFINITY: as fast as the bandwidth is */
    double noise;         /**< RMS of what it says of its current */
    double regulation_hz; /**< setpoints are taken over at its ticks; 0: at once */
    double drift_ppm;     /**< by so much its regulation's rate is off, at most, either way */
    double initial;       /**< current at time 0 */
    double safe;          /**< where rm_supply_go_safe leads */
    double safe_slew;     /**< per second, on the way there */
    uint32_t ripple_count;
    struct {
        double hz, amplitude;
    } ripple[RM_SUPPLY_RIPPLES_MAX];
};

/** A setpoint on its way to the regulation. */
struct rm_supply_wish {
    double time; /**< when it is taken over */
    double value;
};

struct rm_supply {
    double since, start; /**< the current was `start` then … */
    double target;       /**< … and goes to this since */
    double slew;         /**< at most so fast, per second */
    double knee;         /**< within this of the target the bandwidth rules, beyond it the slew */
    double rate;         /**< of the first order, 1/s */
    double settled;      /**< seconds after which nothing is left of a step */
    double low, high;    /**< what it can, now */
    double tick_first, tick_s;
    bool off;       /**< tripped */
    bool safe;      /**< goes to its safe value, or is there */
    bool saturated; /**< the wish that it follows lies beyond what it can */
    uint64_t key, draws;
    double phase[RM_SUPPLY_RIPPLES_MAX]; /**< of the ripple, radians */
    struct rm_supply_config const *config;
    uint32_t first, count; /**< of `wish`, which stands last: what is needed most lies together */
    struct rm_supply_wish wish[RM_SUPPLY_UNDER_WAY];
};

/** What a supply says of itself. */
struct rm_supply_reading {
    double current; /**< with its noise */
    unsigned bits;  /**< enum rm_supply_bits */
};

/** `config` stays in use. */
void rm_supply_make(struct rm_supply *supply, struct rm_supply_config const *config, uint64_t key);

/** A setpoint arrives. What is not a number is ignored, and so is all while it is tripped. */
void rm_supply_set(struct rm_supply *supply, double time, double value);

/** It leaves what it was doing and goes to its safe value, until a setpoint is taken over. */
void rm_supply_go_safe(struct rm_supply *supply, double time);

/** Off, and on again: the current falls to 0, and stays there until a setpoint comes after the reset. */
void rm_supply_trip(struct rm_supply *supply, double time);
void rm_supply_reset(struct rm_supply *supply);

/** From now on it can no more than ±`limit`, nor more than its range; INFINITY: its range. */
void rm_supply_limit(struct rm_supply *supply, double time, double limit);

/** Takes over the setpoints whose time has come. */
void rm_supply_advance(struct rm_supply *supply, double time);

/** The true current, ripple included: as of the last rm_supply_advance. Never beyond the configured range. */
double rm_supply_current(struct rm_supply const *supply, double time);

/** Advances, and says how things stand. */
struct rm_supply_reading rm_supply_read(struct rm_supply *supply, double time);

#endif
