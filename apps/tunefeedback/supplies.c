// SPDX-License-Identifier: Apache-2.0
#include "supplies.h"

#include <math.h>

#include <ringmaster/errors.h>
#include <ringmaster/pattern.h>

enum { STEPS_UNDER_WAY = 3 };
/** Of a supply's range: setpoints are f32 where they are sent. */
static double const ROUNDING = 1e-6;

static bool is_in(struct tunefeedback_family const *family, char const *supply) {
    for (uint32_t i = 0; i < family->supplies; ++i)
        if (rm_pattern_matches(family->supply[i], supply))
            return true;
    return false;
}

enum rm_code tunefeedback_supplies_find(struct rm_application_setup const *setup, struct tunefeedback_file const *file,
                                        struct tunefeedback_supplies *supplies, struct rm_error *error) {
    uint32_t found[TUNEFEEDBACK_FAMILIES] = {0};
    if (setup->actuator_count > TUNEFEEDBACK_SUPPLIES_MAX)
        return rm_fail(error, RM_E_CONFIG, "%s: there is room for %d supplies, and it is given %u",
                       setup->configuration, TUNEFEEDBACK_SUPPLIES_MAX, setup->actuator_count);
    supplies->count = setup->actuator_count;
    for (uint32_t i = 0; i < supplies->count; ++i) {
        bool const first = is_in(&file->family[0], setup->actuator_name[i]);
        if (first == is_in(&file->family[1], setup->actuator_name[i]))
            return rm_fail(error, RM_E_CONFIG,
                           "%s: families: %s is in %s, expected each of the application's supplies in "
                           "one",
                           setup->configuration, setup->actuator_name[i], first ? "both" : "none");
        supplies->family[i] = first ? 0 : 1;
        ++found[supplies->family[i]];
    }
    for (int family = 0; family < TUNEFEEDBACK_FAMILIES; ++family)
        if (found[family] == 0)
            return rm_fail(error, RM_E_CONFIG,
                           "%s: families[%d].supplies: none of the application's %u supplies is one of "
                           "them",
                           setup->configuration, family, supplies->count);
    return RM_OK;
}

void tunefeedback_supplies_refer(struct rm_application_setup const *setup, struct tunefeedback_file const *file,
                                 double const *setpoint, struct tunefeedback_supplies *supplies,
                                 struct tunefeedback_integrator *integrator) {
    for (int family = 0; family < TUNEFEEDBACK_FAMILIES; ++family) {
        struct tunefeedback_family const *const it = &file->family[family];
        integrator->low_a[family] = -it->excursion_a;
        integrator->high_a[family] = it->excursion_a;
        integrator->step_a[family] = isfinite(it->step_a) ? it->step_a : INFINITY;
        integrator->offset_a[family] = 0.0;
    }
    for (uint32_t i = 0; i < supplies->count; ++i) {
        uint8_t const family = supplies->family[i];
        double const stands = setpoint[i];
        supplies->reference[i] = stands;
        if (!isfinite(stands))
            continue;
        integrator->low_a[family] = fmax(integrator->low_a[family], fmin(setup->actuator_low[i] - stands, 0.0));
        integrator->high_a[family] = fmin(integrator->high_a[family], fmax(setup->actuator_high[i] - stands, 0.0));
        integrator->step_a[family] = fmin(integrator->step_a[family], setup->actuator_slew_per_step[i]);
    }
}

bool tunefeedback_supplies_follow(struct rm_application_setup const *setup,
                                  struct tunefeedback_supplies const *supplies,
                                  struct tunefeedback_integrator const *integrator, double const *setpoint,
                                  double const *sent) {
    for (uint32_t i = 0; i < supplies->count; ++i) {
        double const room = STEPS_UNDER_WAY * integrator->step_a[supplies->family[i]] +
                            ROUNDING * (setup->actuator_high[i] - setup->actuator_low[i]);
        if (!(fabs(sent[i] - setpoint[i]) <= room)) /* also where it is not known */
            return false;
    }
    return true;
}

void tunefeedback_supplies_put(struct tunefeedback_supplies const *supplies,
                               struct tunefeedback_integrator const *integrator, double *setpoint) {
    for (uint32_t i = 0; i < supplies->count; ++i)
        if (isfinite(supplies->reference[i]))
            setpoint[i] = supplies->reference[i] + integrator->offset_a[supplies->family[i]];
}
