// SPDX-License-Identifier: Apache-2.0
/** ramp: brings all its supplies from where they stand to `target`, smoothly and together.
 *
 * Each way is a fifth-order polynomial in time, whose speed and acceleration are zero at both ends; the fastest supply
 * goes at `rate` where it is fastest, and all arrive in the same step. Another target, rate or `enable` in the midst of
 * a way begins a new one from there. Without `enable` everything stays where it is, so starting it moves nothing.
 */
#include <math.h>

#include <ringmaster/application.h>
#include <ringmaster/errors.h>

enum { SUPPLIES_MAX = 2048 };

enum { TARGET, RATE, ENABLE, SETTINGS };
enum { PROGRESS, POSITION, READINGS };

static struct rm_setting const settings[SETTINGS] = {
    [TARGET] = {.name = "target", .unit = "A", .description = "where all supplies shall go"},
    [RATE] = {.name = "rate",
              .unit = "A/s",
              .description = "highest speed of the fastest supply",
              .value = 1.0,
              .limits = {.control_low = 1e-6, .control_high = 1e6}},
    [ENABLE] = {.name = "enable",
                .description = "1: go to the target; 0: stay",
                .limits = {.control_low = 0.0, .control_high = 1.0},
                .is_permission = true},
};

static struct rm_reading const readings[READINGS] = {
    [PROGRESS] = {.name = "progress", .description = "part of the way that is done, 0 to 1"},
    [POSITION] = {.name = "position", .unit = "A", .description = "mean of the setpoints"},
};

struct ramp {
    double target, rate, enable; /**< of the way that is gone */
    uint64_t done, length;       /**< steps */
    double start[SUPPLIES_MAX];
};

/** The way's fastest point is so much faster than its mean. */
static double const PEAK = 1.875;

/** 0 to 1 as `x` goes from 0 to 1; the first two derivatives are zero at both ends. */
static double smooth(double x) { return x * x * x * (10.0 + x * (-15.0 + 6.0 * x)); }

static enum rm_code init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    (void)state;
    if (setup->actuator_count <= SUPPLIES_MAX)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "ramp has room for %d supplies, not %u", SUPPLIES_MAX, setup->actuator_count);
}

/** Steps that the way takes: no supply is asked for more than the rate, nor for more than it may. */
static uint64_t length_of(struct rm_application_setup const *setup, struct ramp const *ramp) {
    double const rate_per_step = ramp->rate * (double)setup->period_turns / setup->turn_rate_hz;
    double longest = 1.0;
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        double const slew = setup->actuator_slew_per_step[i];
        double const fastest = slew < rate_per_step ? slew : rate_per_step;
        double const steps = PEAK * fabs(ramp->target - ramp->start[i]) / fastest;
        if (steps > longest) /* not where the start is NaN */
            longest = steps;
    }
    return (uint64_t)ceil(longest);
}

/** A new way from where the last command was. */
static void begin(struct rm_application_setup const *setup, struct ramp *ramp, double const *setting,
                  double const *from) {
    ramp->target = setting[TARGET];
    ramp->rate = setting[RATE];
    ramp->enable = setting[ENABLE];
    ramp->done = 0;
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        ramp->start[i] = from[i];
    ramp->length = length_of(setup, ramp);
}

static bool has_changed(struct ramp const *ramp, double const *setting) {
    return setting[TARGET] != ramp->target || setting[RATE] != ramp->rate || setting[ENABLE] != ramp->enable;
}

static enum rm_step_result step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                struct rm_command *command) {
    struct ramp *ramp = state;
    if (given->steps == 0 || has_changed(ramp, given->setting))
        begin(setup, ramp, given->setting, command->setpoint);
    bool const going = ramp->enable >= 0.5;
    if (going && ramp->done < ramp->length)
        ++ramp->done;
    double const way = (double)ramp->done / (double)ramp->length;
    double sum = 0.0;
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        double const start = ramp->start[i];
        if (going && isfinite(start)) /* else its place is unknown: it waits for the next way */
            command->setpoint[i] =
                ramp->done == ramp->length ? ramp->target : start + (ramp->target - start) * smooth(way);
        sum += command->setpoint[i];
    }
    command->reading[PROGRESS] = way;
    command->reading[POSITION] = sum / (setup->actuator_count > 0 ? setup->actuator_count : 1);
    return RM_STEP_SEND;
}

/** The target must be within the limits of every supply: the guard would leave out those that it is not. */
static bool accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error) {
    (void)state;
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        if (setting[TARGET] >= setup->actuator_low[i] && setting[TARGET] <= setup->actuator_high[i])
            continue;
        rm_fail(error, RM_E_ARGUMENT, "target %g A is not within the limits %g … %g A of %s", setting[TARGET],
                setup->actuator_low[i], setup->actuator_high[i], setup->actuator_name[i]);
        return false;
    }
    return true;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct ramp),
    .settings = settings,
    .setting_count = SETTINGS,
    .reading_count = READINGS,
    .readings = readings,
    .init = init,
    .step = step,
    .accept = accept,
};
