// SPDX-License-Identifier: Apache-2.0
#include "plan_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"

enum { CHUNK = 1 << 16 };

/** A piece of memory; what is in it never moves. */
struct rm_plan_memory {
    struct rm_plan_memory *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *rm_planner_room(struct rm_planner *planner, size_t bytes) {
    struct rm_plan_memory *memory = planner->plan->memory;
    size_t const aligned = (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (memory == NULL || memory->size - memory->used < aligned) {
        size_t const size = aligned > CHUNK ? aligned : CHUNK;
        memory = malloc(sizeof *memory + size);
        if (memory == NULL) {
            planner->no_memory = true;
            return NULL;
        }
        *memory = (struct rm_plan_memory){.next = planner->plan->memory, .size = size};
        planner->plan->memory = memory;
    }
    void *const room = memory->bytes + memory->used;
    memory->used += aligned;
    return room;
}

void *rm_planner_copy(struct rm_planner *planner, void const *from, size_t bytes) {
    void *const copy = rm_planner_room(planner, bytes);
    if (copy != NULL)
        memcpy(copy, from, bytes);
    return copy;
}

struct rm_track_step *rm_planner_add(struct rm_planner *planner, enum rm_step_kind kind, void const *data,
                                     size_t bytes) {
    struct rm_plan *const plan = planner->plan;
    if (plan->count == planner->room) {
        uint32_t const room = planner->room * 2 + 64;
        struct rm_track_step *const steps = realloc(plan->steps, room * sizeof *steps);
        if (steps == NULL) {
            planner->no_memory = true;
            return NULL;
        }
        plan->steps = steps;
        planner->room = room;
    }
    void const *const copy = data == NULL ? NULL : rm_planner_copy(planner, data, bytes);
    if (data != NULL && copy == NULL)
        return NULL;
    plan->steps[plan->count] = (struct rm_track_step){.kind = (uint8_t)kind, .element = planner->element, .data = copy};
    return &plan->steps[plan->count++];
}

static struct rm_pass_steer *plan_steering(struct rm_planner *planner, struct rm_track_step *step) {
    if (step == NULL || planner->kick_count == 0)
        return NULL;
    struct rm_pass_steer *const made = rm_planner_room(planner, planner->kick_count * sizeof *made);
    step->steers = made;
    step->steer_count = made != NULL ? planner->kick_count : 0;
    return made;
}

void rm_planner_steer(struct rm_planner *planner, struct rm_track_step *step, double const scale[2]) {
    struct rm_pass_steer *const made = plan_steering(planner, step);
    for (uint32_t i = 0; made != NULL && i < planner->kick_count; ++i) {
        struct rm_particle_kick const *const kick = &planner->kicks[i];
        made[i] = (struct rm_pass_steer){kick->particle, {scale[0] * kick->kick_rad[0], scale[1] * kick->kick_rad[1]}};
    }
}

void rm_planner_steer_sine(struct rm_planner *planner, struct rm_track_step *step, double const kick_rad[2],
                           double length_m) {
    struct rm_pass_steer *const made = plan_steering(planner, step);
    for (uint32_t i = 0; made != NULL && i < planner->kick_count; ++i) {
        struct rm_particle_kick const *const kick = &planner->kicks[i];
        double const change[2] = {sin(kick_rad[0] + kick->kick_rad[0]) - sin(kick_rad[0]),
                                  sin(kick_rad[1] + kick->kick_rad[1]) - sin(kick_rad[1])};
        made[i] = (struct rm_pass_steer){kick->particle, {-change[0] / length_m, change[1] / length_m}};
    }
}

bool rm_pass_has_kick(struct rm_element const *element) {
    bool const has_field = element->polynom_a != NULL && element->polynom_b != NULL;
    switch (element->pass) {
    case RM_PASS_CORRECTOR:
        return true;
    case RM_PASS_THIN_MPOLE:
        return has_field;
    case RM_PASS_STR_MPOLE:
    case RM_PASS_BND_MPOLE:
    case RM_PASS_BND_MPOLE_E2:
    case RM_PASS_BND_STR_MPOLE:
        return has_field && element->length_m > 0;
    default:
        return false;
    }
}

bool rm_plan_takes_kicks(struct rm_element const *element) {
    return rm_pass_has_kick(element) && element->pass != RM_PASS_BND_MPOLE_E2 && element->pass != RM_PASS_BND_STR_MPOLE;
}

static void plan_drift(struct rm_planner *planner, enum rm_step_kind kind, double length_m) {
    if (length_m != 0)
        rm_planner_add(planner, kind, &length_m, sizeof length_m);
}

static void plan_corrector(struct rm_planner *planner, struct rm_element const *element) {
    struct rm_corrector const data = {element->length_m, {element->kick_angle_rad[0], element->kick_angle_rad[1]}};
    if (data.kick[0] == 0 && data.kick[1] == 0 && planner->kick_count == 0) {
        plan_drift(planner, RM_STEP_DRIFT, data.length_m);
        return;
    }
    struct rm_track_step *const step = rm_planner_add(planner, RM_STEP_CORRECTOR, &data, sizeof data);
    rm_planner_steer(planner, step, (double[2]){1, 1});
}

static void plan_thin_magnet(struct rm_planner *planner, struct rm_element const *element) {
    size_t const bytes = (element->max_order + 1) * sizeof(double);
    double *const a = rm_planner_copy(planner, element->polynom_a, bytes);
    double *const b = rm_planner_copy(planner, element->polynom_b, bytes);
    if (a == NULL || b == NULL)
        return;
    b[0] -= element->kick_angle_rad[0];
    a[0] += element->kick_angle_rad[1];
    uint32_t order = element->max_order;
    while (order > 0 && a[order] == 0 && b[order] == 0)
        --order;
    struct rm_thin const data = {.order = order, .a = a, .b = b, .bend = element->bending_angle_rad};
    if (order == 0 && a[0] == 0 && b[0] == 0 && data.bend == 0 && planner->kick_count == 0)
        return;
    struct rm_track_step *const step = rm_planner_add(planner, RM_STEP_THIN, &data, sizeof data);
    rm_planner_steer(planner, step, (double[2]){-1, 1});
}

static void plan_cavity(struct rm_planner *planner, struct rm_element const *element) {
    if (element->voltage_v == 0) {
        plan_drift(planner, RM_STEP_DRIFT, element->length_m);
        return;
    }
    double const harmonic = round(element->frequency_hz * planner->turn_s);
    struct rm_cavity const data = {
        .half_m = element->length_m / 2,
        .voltage = element->voltage_v / planner->twin->lattice->info.energy_ev,
        .omega = 2 * M_PI * element->frequency_hz,
        .lag_m = element->time_lag_m,
        .phase_rad = element->phase_lag_rad,
        .slip_s = harmonic / element->frequency_hz - planner->turn_s,
    };
    rm_planner_add(planner, RM_STEP_CAVITY, &data, sizeof data);
}

static void plan_solenoid(struct rm_planner *planner, struct rm_element const *element) {
    struct rm_solenoid const data = {element->length_m, element->solenoid_strength};
    rm_planner_add(planner, RM_STEP_SOLENOID, &data, sizeof data);
}

static void plan_body(struct rm_planner *planner, struct rm_element const *element) {
    switch (element->pass) {
    case RM_PASS_DRIFT:
        plan_drift(planner, RM_STEP_DRIFT, element->length_m);
        break;
    case RM_PASS_EXACT_DRIFT:
        plan_drift(planner, RM_STEP_EXACT_DRIFT, element->length_m);
        break;
    case RM_PASS_STR_MPOLE:
    case RM_PASS_BND_MPOLE:
        rm_plan_magnet(planner, element);
        break;
    case RM_PASS_BND_MPOLE_E2:
        rm_plan_e2(planner, element);
        break;
    case RM_PASS_BND_STR_MPOLE:
        rm_plan_straight_bend(planner, element);
        break;
    case RM_PASS_QUAD_LINEAR:
        rm_plan_quad_linear(planner, element);
        break;
    case RM_PASS_BEND_LINEAR:
        rm_plan_bend_linear(planner, element);
        break;
    case RM_PASS_CORRECTOR:
        plan_corrector(planner, element);
        break;
    case RM_PASS_THIN_MPOLE:
        plan_thin_magnet(planner, element);
        break;
    case RM_PASS_RF_CAVITY:
        plan_cavity(planner, element);
        break;
    case RM_PASS_MATRIX66:
        rm_planner_add(planner, RM_STEP_MATRIX, element->matrix, 36 * sizeof(double));
        break;
    case RM_PASS_SOLENOID_LINEAR:
        plan_solenoid(planner, element);
        break;
    case RM_PASS_GWIG:
        rm_plan_wiggler(planner, element);
        break;
    case RM_PASS_IDENTITY:
    case RM_PASS_APERTURE:
    case RM_PASSES:
        break;
    }
}

static bool is_all(double const *numbers, uint32_t count, uint32_t stride_of_ones) {
    for (uint32_t i = 0; numbers != NULL && i < count; ++i)
        if (numbers[i] != (stride_of_ones != 0 && i % stride_of_ones == 0 ? 1 : 0))
            return false;
    return true;
}

static void plan_shift(struct rm_planner *planner, double const *by) {
    if (!is_all(by, 6, 0))
        rm_planner_add(planner, RM_STEP_SHIFT, by, 6 * sizeof *by);
}

static void plan_rotation(struct rm_planner *planner, double const *by) {
    if (!is_all(by, 36, 7))
        rm_planner_add(planner, RM_STEP_MATRIX, by, 36 * sizeof *by);
}

static void plan_apertures(struct rm_planner *planner, struct rm_element const *element) {
    if (element->rectangle_aperture != NULL)
        rm_planner_add(planner, RM_STEP_RECTANGLE, element->rectangle_aperture, 4 * sizeof(double));
    if (element->elliptic_aperture != NULL)
        rm_planner_add(planner, RM_STEP_ELLIPSE, element->elliptic_aperture, 2 * sizeof(double));
}

/** Where AT's pass looks at what every element may carry. */
struct rm_surroundings {
    bool misaligned, aperture_before, aperture_behind;
};

static struct rm_surroundings surroundings_of(struct rm_element const *element) {
    switch (element->pass) {
    case RM_PASS_QUAD_LINEAR:
    case RM_PASS_BEND_LINEAR:
    case RM_PASS_MATRIX66:
    case RM_PASS_GWIG:
        return (struct rm_surroundings){true, false, false};
    case RM_PASS_SOLENOID_LINEAR:
        return (struct rm_surroundings){element->solenoid_strength != 0, false, false};
    case RM_PASS_IDENTITY:
    case RM_PASS_THIN_MPOLE:
        return (struct rm_surroundings){true, true, false};
    case RM_PASS_CORRECTOR:
        return (struct rm_surroundings){true, true, element->length_m != 0};
    case RM_PASS_RF_CAVITY:
        return (struct rm_surroundings){false, false, false};
    case RM_PASS_APERTURE:
        return (struct rm_surroundings){false, true, false};
    default:
        return (struct rm_surroundings){true, true, true};
    }
}

static void plan_element(struct rm_planner *planner, struct rm_element const *element) {
    struct rm_surroundings const around = surroundings_of(element);
    uint32_t const before = planner->plan->count;
    if (around.misaligned) {
        plan_shift(planner, element->t1);
        plan_rotation(planner, element->r1);
    }
    if (around.aperture_before)
        plan_apertures(planner, element);
    plan_body(planner, element);
    if (around.aperture_behind)
        plan_apertures(planner, element);
    if (around.misaligned) {
        plan_rotation(planner, element->r2);
        plan_shift(planner, element->t2);
    }
    if (planner->element == 0 && planner->plan->count == before)
        rm_planner_add(planner, RM_STEP_NOTHING, NULL, 0); /* so that a particle lost before is lost in element 0 */
    if (planner->plan->count > before)
        planner->plan->steps[planner->plan->count - 1].last = true;
}

static enum rm_code check_points(uint32_t const *refpts, uint32_t refpt_count, uint32_t count, struct rm_error *error) {
    for (uint32_t i = 0; i < refpt_count; ++i)
        if (refpts[i] > count || (i > 0 && refpts[i] <= refpts[i - 1]))
            return rm_fail(error, RM_E_ARGUMENT, "point %u is element %u: points ascend, and are at most %u", i,
                           refpts[i], count);
    return RM_OK;
}

static enum rm_code check_kicks(struct rm_twin const *twin, struct rm_particle_kick const *kicks, uint32_t count,
                                struct rm_error *error) {
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const element = kicks[i].element;
        if (element >= twin->count)
            return rm_fail(error, RM_E_ARGUMENT, "kick %u is of element %u, but there are %u", i, element, twin->count);
        if (!rm_plan_takes_kicks(&twin->elements[element]))
            return rm_fail(error, RM_E_ARGUMENT, "element %u '%s' takes no kick: %s has none", element,
                           twin->elements[element].name, rm_pass_name(twin->elements[element].pass, RM_RADIATION_NONE));
        if (i > 0 && (kicks[i - 1].element > element ||
                      (kicks[i - 1].element == element && kicks[i - 1].particle >= kicks[i].particle)))
            return rm_fail(error, RM_E_ARGUMENT, "kick %u is out of order: sort by element, then by particle", i);
    }
    return RM_OK;
}

/** The observation of point `i`. */
static void plan_observation(struct rm_planner *planner, uint32_t i) {
    struct rm_track_step *const step = rm_planner_add(planner, RM_STEP_OBSERVE, NULL, 0);
    if (step != NULL)
        step->element = i;
}

static void plan_all(struct rm_planner *planner, uint32_t const *refpts, uint32_t refpt_count,
                     struct rm_particle_kick const *kicks, uint32_t kick_count) {
    struct rm_twin const *const twin = planner->twin;
    uint32_t point = 0;
    for (uint32_t i = 0; i < twin->count && !planner->no_memory; ++i) {
        planner->element = i;
        if (point < refpt_count && refpts[point] == i)
            plan_observation(planner, point++);
        planner->kicks = kicks;
        for (planner->kick_count = 0; kick_count > 0 && kicks->element == i; ++kicks, --kick_count)
            ++planner->kick_count;
        plan_element(planner, &twin->elements[i]);
    }
    if (point < refpt_count)
        plan_observation(planner, point);
}

enum rm_code rm_track_plan_make(struct rm_twin const *twin, uint32_t const *refpts, uint32_t refpt_count,
                                struct rm_particle_kick const *kicks, uint32_t kick_count, struct rm_plan *plan,
                                struct rm_error *error) {
    struct rm_lattice_facts const *const info = &twin->lattice->info;
    enum rm_code code = check_points(refpts, refpt_count, twin->count, error);
    if (code == RM_OK)
        code = check_kicks(twin, kicks, kick_count, error);
    if (code != RM_OK)
        return code;
    *plan = (struct rm_plan){.refpt_count = refpt_count};
    struct rm_planner planner = {
        .twin = twin,
        .plan = plan,
        .gamma = info->energy_ev / (info->rest_energy_ev != 0 ? info->rest_energy_ev : RM_ELECTRON_REST_EV),
        .turn_s = rm_lattice_length_m(twin->lattice) / 299792458.0,
    };
    plan_all(&planner, refpts, refpt_count, kicks, kick_count);
    if (planner.no_memory) {
        rm_track_plan_free(plan);
        return rm_fail(error, RM_E_NO_SPACE, "no memory to track through %u elements; free some memory", twin->count);
    }
    return RM_OK;
}

void rm_track_plan_free(struct rm_plan *plan) {
    while (plan->memory != NULL) {
        struct rm_plan_memory *const next = plan->memory->next;
        free(plan->memory);
        plan->memory = next;
    }
    free(plan->steps);
    *plan = (struct rm_plan){0};
}
