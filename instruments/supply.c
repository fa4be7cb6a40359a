// SPDX-License-Identifier: Apache-2.0
#include "supply.h"

#include <math.h>

#include <ringmaster/supply.h>

#include "noise.h"

/** Of a step e^-30 is left after so many time constants: less than a double tells from nothing beside a current. */
static double const SETTLED_TIME_CONSTANTS = 30;

static double const TWO_PI = 6.283185307179586;

/** Salts of what is drawn once. */
enum { SALT_TICK = 1, SALT_RATE = 2, SALT_RIPPLE = 3 };

static double supply_draw(struct rm_supply const *supply, uint64_t salt) {
    return rm_noise_uniform(supply->key ^ rm_noise_u64(salt));
}

static double supply_clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

/** Where the slew stops to matter. */
static double knee_of(struct rm_supply const *supply, double slew) {
    if (isinf(slew))
        return INFINITY;
    return isinf(supply->rate) ? 0 : slew / supply->rate;
}

void rm_supply_make(struct rm_supply *supply, struct rm_supply_config const *config, uint64_t key) {
    bool const at_once = config->bandwidth_hz == 0;
    *supply = (struct rm_supply){
        .start = config->initial,
        .target = config->initial,
        .slew = config->slew,
        .rate = at_once ? INFINITY : TWO_PI * config->bandwidth_hz,
        .settled = at_once ? 0 : SETTLED_TIME_CONSTANTS / (TWO_PI * config->bandwidth_hz),
        .low = config->low,
        .high = config->high,
        .key = rm_noise_u64(key),
        .config = config,
    };
    supply->knee = knee_of(supply, config->slew);
    if (config->regulation_hz > 0) {
        double const off = config->drift_ppm * 1e-6 * (2 * supply_draw(supply, SALT_RATE) - 1);
        supply->tick_s = 1 / (config->regulation_hz * (1 + off));
        supply->tick_first = supply->tick_s * supply_draw(supply, SALT_TICK);
    }
    for (uint32_t r = 0; r < config->ripple_count; ++r)
        supply->phase[r] = TWO_PI * supply_draw(supply, SALT_RIPPLE + r);
}

/** The current without its ripple. In single precision the exponential is half as dear, and exact to 10^-7 of the way
 * that is left; a chain needs it for each supply at every datagram. */
static double smooth_current(struct rm_supply const *supply, double time, bool *slewing) {
    double seconds = time - supply->since, way = supply->target - supply->start;
    *slewing = false;
    if (seconds <= 0)
        return supply->start;
    if (fabs(way) > supply->knee) {
        double const slewed = (fabs(way) - supply->knee) / supply->slew;
        if (seconds < slewed) {
            *slewing = true;
            return supply->start + copysign(supply->slew * seconds, way);
        }
        seconds -= slewed;
        way = copysign(supply->knee, way);
    }
    if (way == 0 || seconds >= supply->settled)
        return supply->target;
    return supply->target - way * (double)expf((float)(-supply->rate * seconds));
}

/** From `time` on it goes to `target`. */
static void supply_go_to(struct rm_supply *supply, double time, double target, double slew) {
    bool slewing;
    double const current = smooth_current(supply, time, &slewing);
    supply->since = time > supply->since ? time : supply->since;
    supply->target = target;
    supply->slew = slew;
    supply->knee = knee_of(supply, slew);
    supply->start = isinf(supply->rate) && isinf(slew) ? target : current;
}

static void take_over(struct rm_supply *supply, struct rm_supply_command const *command) {
    double target = command->value;
    double const resolution = supply->config->resolution;
    if (resolution > 0)
        target = resolution * nearbyint(target / resolution);
    target = supply_clamp(target, supply->low, supply->high);
    supply->saturated = command->value < supply->low || command->value > supply->high;
    if (target == supply->target && !supply->safe)
        return;
    supply->safe = false;
    supply_go_to(supply, command->time, target, supply->config->slew);
}

/** When a setpoint that arrives at `time` is taken over. */
static double taken_over_at(struct rm_supply const *supply, double time) {
    double const ready = time + supply->config->delay_s;
    if (supply->tick_s == 0)
        return ready;
    double const tick = ceil((ready - supply->tick_first) / supply->tick_s);
    double const at = supply->tick_first + tick * supply->tick_s;
    return at < ready ? ready : at; /* by a rounding */
}

void rm_supply_set(struct rm_supply *supply, double time, double value) {
    if (supply->off || isnan(value))
        return;
    rm_supply_advance(supply, time);
    struct rm_supply_command const command = {taken_over_at(supply, time), value};
    if (command.time <= time && supply->count == 0) {
        take_over(supply, &command);
        return;
    }
    struct rm_supply_command *last = &supply->command[(supply->first + supply->count - 1) % RM_SUPPLY_UNDER_WAY];
    if (supply->count != 0 && (last->time >= command.time || supply->count == RM_SUPPLY_UNDER_WAY))
        last->value = value; /* of two for the same tick the later one counts */
    else
        supply->command[(supply->first + supply->count++) % RM_SUPPLY_UNDER_WAY] = command;
}

void rm_supply_advance(struct rm_supply *supply, double time) {
    while (supply->count != 0 && supply->command[supply->first].time <= time) {
        take_over(supply, &supply->command[supply->first]);
        supply->first = (supply->first + 1) % RM_SUPPLY_UNDER_WAY;
        --supply->count;
    }
}

/** Leaves all setpoints that are under way. */
static void supply_drop_setpoints(struct rm_supply *supply, double time) {
    rm_supply_advance(supply, time);
    supply->count = 0;
    supply->saturated = false;
}

void rm_supply_go_safe(struct rm_supply *supply, double time) {
    if (supply->off)
        return;
    supply_drop_setpoints(supply, time);
    supply->safe = true;
    supply_go_to(supply, time, supply_clamp(supply->config->safe, supply->low, supply->high),
                 supply->config->safe_slew);
}

void rm_supply_trip(struct rm_supply *supply, double time) {
    supply_drop_setpoints(supply, time);
    supply->off = true;
    supply->safe = false;
    supply_go_to(supply, time, 0, supply->config->slew);
}

void rm_supply_reset(struct rm_supply *supply) { supply->off = false; }

void rm_supply_limit(struct rm_supply *supply, double time, double limit) {
    rm_supply_advance(supply, time);
    supply->low = fmax(supply->config->low, -limit);
    supply->high = fmin(supply->config->high, limit);
    double const target = supply_clamp(supply->target, supply->low, supply->high);
    if (target == supply->target)
        return;
    supply->saturated = true;
    supply_go_to(supply, time, target, supply->slew);
}

void rm_supply_add_ripple(struct rm_supply *supply, double time, double hz, double amplitude) {
    supply->added.hz = hz;
    supply->added.amplitude = amplitude;
    supply->added.from_s = time;
    supply->added.to_s = INFINITY;
}

void rm_supply_end_ripple(struct rm_supply *supply, double time) { supply->added.to_s = time; }

static double with_ripple(struct rm_supply const *supply, double time, double current) {
    bool const added = supply->added.amplitude != 0 && time >= supply->added.from_s && time < supply->added.to_s;
    if ((supply->config->ripple_count == 0 && !added) || supply->off)
        return current;
    if (added)
        current += supply->added.amplitude * sin(TWO_PI * supply->added.hz * (time - supply->added.from_s));
    for (uint32_t r = 0; r < supply->config->ripple_count; ++r)
        current +=
            supply->config->ripple[r].amplitude * sin(TWO_PI * supply->config->ripple[r].hz * time + supply->phase[r]);
    return supply_clamp(current, supply->config->low, supply->config->high);
}

double rm_supply_current(struct rm_supply const *supply, double time) {
    bool slewing;
    return with_ripple(supply, time, smooth_current(supply, time, &slewing));
}

struct rm_supply_reading rm_supply_read(struct rm_supply *supply, double time) {
    bool slewing;
    rm_supply_advance(supply, time);
    struct rm_supply_reading reading = {.current = with_ripple(supply, time, smooth_current(supply, time, &slewing))};
    if (supply->config->noise > 0)
        reading.current += supply->config->noise * rm_noise_normal(supply->key + ++supply->draws);
    if (supply->off)
        reading.bits |= RM_SUPPLY_BIT_TRIPPED;
    if (supply->safe)
        reading.bits |= RM_SUPPLY_BIT_SAFE;
    if (supply->saturated || (slewing && !supply->safe && !supply->off))
        reading.bits |= RM_SUPPLY_BIT_SATURATED;
    return reading;
}
