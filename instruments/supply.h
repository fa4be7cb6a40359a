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
    /** Setpoints between their arrival and their taking over; of more the last ones merge. */
    RM_SUPPLY_UNDER_WAY = 32,
};

/** Amplitudes, limits and steps are in the setpoint's unit. */
struct rm_supply_config {
    /** Of the first order; 0: follows at once. */
    double bandwidth_hz;
    /** From a setpoint's arrival to when it may be taken over. */
    double delay_s;
    /** Setpoints are rounded to multiples of it; 0: not rounded. */
    double resolution;
    /** low ≤ 0 ≤ high: off is 0. */
    double low, high;
    /** Per second; INFINITY: as fast as the bandwidth is. */
    double slew;
    /** RMS of what it says of its current. */
    double noise;
    /** Setpoints are taken over at its ticks; 0: at once. */
    double regulation_hz;
    /** By so much its regulation's rate is off, at most, either way. */
    double drift_ppm;
    /** Current at time 0. */
    double initial;
    /** Where rm_supply_go_safe leads. */
    double safe;
    /** Per second, on the way there. */
    double safe_slew;

    uint32_t ripple_count;
    struct {
        double hz, amplitude;
    } ripple[RM_SUPPLY_RIPPLES_MAX];
};

/** A setpoint on its way to the regulation. */
struct rm_supply_command {
    /** When it is taken over. */
    double time;

    double value;
};

struct rm_supply {
    /** The current was `start` then … */
    double since, start;
    /** … and goes to this since. */
    double target;
    /** At most so fast, per second. */
    double slew;
    /** Within this of the target the bandwidth rules, beyond it the slew. */
    double knee;
    /** Of the first order, 1/s. */
    double rate;
    /** Seconds after which nothing is left of a step. */
    double settled;
    /** What it can, now. */
    double low, high;

    double tick_first, tick_s;
    /** Tripped. */
    bool off;
    /** Whether it goes to its safe value, or is there. */
    bool safe;
    /** The command that it follows lies beyond what it can. */
    bool saturated;

    uint64_t key, draws;
    /** Of the ripple, radians. */
    double phase[RM_SUPPLY_RIPPLES_MAX];

    struct rm_supply_config const *config;
    /** Of `command`, which stands last: what is needed most lies together. */
    uint32_t first, count;

    struct rm_supply_command command[RM_SUPPLY_UNDER_WAY];
};

/** What a supply says of itself. */
struct rm_supply_reading {
    /** With its noise. */
    double current;
    /** enum rm_supply_bits */
    unsigned bits;
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
