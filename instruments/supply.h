// SPDX-License-Identifier: Apache-2.0
/** The physics of one virtual power supply: what its current is, at any moment, after the setpoints that it was given.
 *
 *     setpoint ─▶ delay ─▶ next tick of its own regulation ─▶ range and resolution ─▶ slew ─▶ first order ─▶ current
 *
 * The current between two changes is a closed form of time, and nothing is integrated: it is the same however often it
 * is read. Its ripple is in the current; its noise is only in what it reports. All randomness (where its regulation's
 * ticks lie, by how much their rate is off, the phases of the ripple, the noise) comes from a key.
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
    /** Most setpoints between their arrival and when they are taken over; when there are more, the last ones merge. */
    RM_SUPPLY_UNDER_WAY = 32,
};

/** Amplitudes, limits and steps are in the setpoint's unit. */
struct rm_supply_config {
    /** Bandwidth of the first order; 0: the current follows at once. */
    double bandwidth_hz;
    /** Seconds from a setpoint's arrival until it may be taken over. */
    double delay_s;
    /** Setpoints are rounded to multiples of it; 0: not rounded. */
    double resolution;
    /** low ≤ 0 ≤ high: a supply that is off has 0. */
    double low, high;
    /** Largest slope, per second; INFINITY: only the bandwidth limits it. */
    double slew;
    /** RMS of the noise of its readings. */
    double noise;
    /** Setpoints are taken over at its ticks; 0: at once. */
    double regulation_hz;
    /** Largest error of the regulation's rate, to either side. */
    double drift_ppm;
    /** Current at time 0. */
    double initial;
    /** Setpoint of rm_supply_go_safe. */
    double safe;
    /** Slope on the way there, per second. */
    double safe_slew;

    uint32_t ripple_count;
    struct {
        double hz, amplitude;
    } ripple[RM_SUPPLY_RIPPLES_MAX];
};

/** A setpoint on its way to the regulation. */
struct rm_supply_command {
    /** When it is taken over, in seconds. */
    double time;

    double value;
};

struct rm_supply {
    /** The time at which the current was `start` … */
    double since, start;
    /** … since when it goes towards this. */
    double target;
    /** Largest slope, per second. */
    double slew;
    /** Within this distance of the target the bandwidth rules, beyond it the slew. */
    double knee;
    /** Rate of the first order, 1/s. */
    double rate;
    /** Seconds after which nothing is left of a step. */
    double settled;
    /** Limits of what it can give now. */
    double low, high;

    double tick_first, tick_s;
    /** It has tripped. */
    bool off;
    /** It goes to its safe value, or is there. */
    bool safe;
    /** The command that it follows lies beyond its limits. */
    bool saturated;

    /** One ripple more than it is configured to have, from one time to another; amplitude 0: none. */
    struct {
        double hz, amplitude, from_s, to_s;
    } added;

    uint64_t key, draws;
    /** [ripple] phase in radians. */
    double phase[RM_SUPPLY_RIPPLES_MAX];

    struct rm_supply_config const *config;
    /** First entry and number of entries of `command`, which is the last member: what is needed most lies together. */
    uint32_t first, count;

    struct rm_supply_command command[RM_SUPPLY_UNDER_WAY];
};

/** What a supply reports. */
struct rm_supply_reading {
    /** The current with noise. */
    double current;
    /** Bits of enum rm_supply_bits. */
    unsigned bits;
};

/** Makes a supply. `config` stays in use. */
void rm_supply_make(struct rm_supply *supply, struct rm_supply_config const *config, uint64_t key);

/** A setpoint arrives. A value that is not a number is ignored, and while it is tripped every value is. */
void rm_supply_set(struct rm_supply *supply, double time, double value);

/** It leaves what it was doing and goes to its safe value, until a setpoint is taken over. */
void rm_supply_go_safe(struct rm_supply *supply, double time);

/** Trip: the supply goes off, and the current falls to 0. Reset: it is on again; the current stays at 0 until a
 * setpoint comes. */
void rm_supply_trip(struct rm_supply *supply, double time);
void rm_supply_reset(struct rm_supply *supply);

/** Limits the supply to ±`limit` from now on, within its range; INFINITY: to its range. */
void rm_supply_limit(struct rm_supply *supply, double time, double limit);

/** Adds a ripple from `time` on, amplitude · sin(2π hz (t − time)), which replaces one that was added before. The other
 * call ends it. */
void rm_supply_add_ripple(struct rm_supply *supply, double time, double hz, double amplitude);
void rm_supply_end_ripple(struct rm_supply *supply, double time);

/** Takes over the setpoints whose time has come. */
void rm_supply_advance(struct rm_supply *supply, double time);

/** The true current, ripple included: as of the last rm_supply_advance. Never beyond the configured range. */
double rm_supply_current(struct rm_supply const *supply, double time);

/** Advances, and returns what the supply reports. */
struct rm_supply_reading rm_supply_read(struct rm_supply *supply, double time);

#endif
