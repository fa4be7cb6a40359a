// SPDX-License-Identifier: Apache-2.0
#include "machine_knobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static double const GRADIENT_MOST = 0.5;

enum { FACTOR_MOST = 10 };

static struct {
    char const *name, *unit, *description;
} const readings[RM_MACHINE_READINGS] = {
    {"machine/orbit_rms_x", "µm", "true horizontal orbit at the BPMs, RMS"},
    {"machine/orbit_rms_y", "µm", "true vertical orbit at the BPMs, RMS"},
    {"machine/tune_x", "1/turn", "horizontal tune of the lattice as it stands"},
    {"machine/tune_y", "1/turn", "vertical tune of the lattice as it stands"},
    {"machine/refresh_ms", "ms", "what the background's last look at the lattice took"},
    {"machine/failures", "", "looks that found no closed orbit: the beam was lost"},
    {"machine/current_ma", "mA", "stored beam"},
};

/** What is known of a knob by its name; all others are magnets'. */
struct knob_description {
    char const *name, *description;
    double low, high;
};

static struct knob_description const known_knobs[] = {
    {"mains", "factor of the configured mains lines; 0: none", 0, FACTOR_MOST},
    {"ground", "factor of the configured motion of the magnets; 0: none", 0, FACTOR_MOST},
    {"steps", "factor of the configured steps; 0: none", 0, FACTOR_MOST},
    {"insertion", "factor of the configured insertion device's kick; 0: none", 0, FACTOR_MOST},
    {"topup", "factor of the configured injections' kick; 0: none", 0, FACTOR_MOST},
    {"beam", "intensity of the beam; 0: lost", 0, 1},
    {"rf_voltage", "factor of the cavities' voltage; 0: tripped", 0, 2},
    {"rf_phase", "phase of the cavities in degrees, against what is configured", -180, 180},
    {"growth_x", "growth of the horizontal motion per turn; the beam is unstable where it beats the damping", 0, 0.1},
    {"growth_y", "growth of the vertical motion per turn; the beam is unstable where it beats the damping", 0, 0.1},
};

static struct knob_description describe_knob(char const *name) {
    for (size_t k = 0; k < sizeof known_knobs / sizeof known_knobs[0]; ++k)
        if (strcmp(known_knobs[k].name, name) == 0)
            return known_knobs[k];
    return (struct knob_description){name, "relative change of this magnet's gradient", -GRADIENT_MOST, GRADIENT_MOST};
}

static rm_planned_index plan_knob(struct rm_machine const *machine, uint32_t knob, struct rm_segment_plan *plan) {
    char name[RM_NAME_BYTES];
    struct knob_description const of = describe_knob(rm_machine_knob_name(machine, knob));
    struct rm_limits const limits = {of.low, of.high, of.low, of.high, NAN, NAN, NAN, NAN, 0};
    snprintf(name, sizeof name, "machine/%s", of.name);
    return rm_plan_full_parameter(plan, &(struct rm_parameter_plan){.name = name,
                                                                    .description = of.description,
                                                                    .type = RM_ELEMENT_F64,
                                                                    .rows = 1,
                                                                    .limits = &limits,
                                                                    .flags = RM_PARAMETER_WRITABLE});
}

enum rm_code rm_machine_knobs_plan(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                   struct rm_segment_plan *plan, struct rm_error *error) {
    uint32_t const count = machine == NULL ? 0 : rm_machine_knobs(machine);
    *knobs = (struct rm_knob_parameters){.machine = machine};
    if (machine == NULL)
        return RM_OK;
    knobs->planned = calloc(count, sizeof *knobs->planned);
    knobs->parameter = calloc(count, sizeof *knobs->parameter);
    if (knobs->planned == NULL || knobs->parameter == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u knobs of the machine", count);
    for (uint32_t k = 0; k < count; ++k)
        knobs->planned[k] = plan_knob(machine, k, plan);
    for (uint32_t r = 0; r < RM_MACHINE_READINGS; ++r)
        knobs->reported[r] = rm_plan_parameter(plan, readings[r].name, readings[r].unit, readings[r].description,
                                               RM_ELEMENT_F64, 1, NULL);
    return RM_OK;
}

void rm_machine_knobs_publish(struct rm_knob_parameters *knobs) {
    if (knobs->parameter == NULL)
        return;
    struct rm_machine_report const says = rm_machine_says(knobs->machine);
    double const values[RM_MACHINE_READINGS] = {
        1e6 * says.orbit_rms_m[0], 1e6 * says.orbit_rms_m[1], says.tune[0],   says.tune[1],
        1e3 * says.refresh_s,      (double)says.failures,     says.current_ma};
    for (uint32_t r = 0; r < RM_MACHINE_READINGS; ++r)
        rm_parameter_write_f64(knobs->reading[r], values[r], rm_stamp_now());
}

void rm_machine_knobs_turn(struct rm_knob_parameters *knobs, char const *parameter) {
    for (uint32_t k = 0; knobs->parameter != NULL && k < rm_machine_knobs(knobs->machine); ++k) {
        char full[RM_NAME_BYTES];
        snprintf(full, sizeof full, "machine/%s", rm_machine_knob_name(knobs->machine, k));
        if (strcmp(full, parameter) == 0)
            rm_machine_set(knobs->machine, k, rm_parameter_read_f64(knobs->parameter[k]));
    }
}

void rm_machine_knobs_place(struct rm_knob_parameters *knobs, struct rm_segment_plan const *plan,
                            struct rm_segment const *segment) {
    if (knobs->machine == NULL)
        return;
    for (uint32_t k = 0; k < rm_machine_knobs(knobs->machine); ++k) {
        knobs->parameter[k] = rm_segment_memory(segment, plan, knobs->planned[k]);
        rm_parameter_write_f64(knobs->parameter[k], rm_machine_knob(knobs->machine, k), rm_stamp_now());
    }
    for (uint32_t r = 0; r < RM_MACHINE_READINGS; ++r)
        knobs->reading[r] = rm_segment_memory(segment, plan, knobs->reported[r]);
    rm_machine_knobs_publish(knobs);
}

enum rm_code rm_machine_knobs_follow(struct rm_knob_parameters *knobs, struct rm_machine *machine,
                                     struct rm_fellows const *of, struct rm_error *error) {
    uint32_t const count = rm_machine_knobs(machine);
    *knobs = (struct rm_knob_parameters){.machine = machine,
                                         .followed = calloc(count, sizeof *knobs->followed),
                                         .taken = calloc(count, sizeof *knobs->taken)};
    if (knobs->followed == NULL || knobs->taken == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u knobs of the machine", count);
    for (uint32_t k = 0; k < count; ++k) {
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "machine/%s", rm_machine_knob_name(machine, k));
        knobs->followed[k] = rm_fellows_parameter(of, name);
    }
    return RM_OK;
}

void rm_machine_knobs_take(struct rm_knob_parameters *knobs) {
    for (uint32_t k = 0; knobs->followed != NULL && k < rm_machine_knobs(knobs->machine); ++k) {
        struct rm_parameter_reading reading;
        double value;
        if (knobs->followed[k] == NULL ||
            rm_parameter_read(knobs->followed[k], &value, sizeof value, &reading) != sizeof value ||
            reading.sequence == knobs->taken[k])
            continue;
        knobs->taken[k] = reading.sequence;
        rm_machine_set(knobs->machine, k, value);
    }
}

void rm_machine_knobs_free(struct rm_knob_parameters *knobs) {
    free(knobs->planned);
    free((void *)knobs->parameter);
    free((void *)knobs->followed);
    free(knobs->taken);
    *knobs = (struct rm_knob_parameters){0};
}
