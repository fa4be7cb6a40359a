// SPDX-License-Identifier: Apache-2.0
/** What people set: how it is asked for, how long arrays are, what they are at first, and what is refused. */
#ifndef FEEDBACK_SETTINGS_H
#define FEEDBACK_SETTINGS_H

#include "../state/feedback.h"

/** Of a setting that is 0 or 1. */
static inline bool feedback_is_on(double setting) { return setting >= 0.5; }

/** The first value of a setting in this step. */
static inline double feedback_setting_of(struct rm_application_setup const *setup, struct rm_step const *given,
                                         enum feedback_setting number) {
    return given->setting[setup->setting_at[number]];
}

/** As struct rm_application_code has them. */
uint32_t feedback_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index);
void feedback_first(struct rm_application_setup const *setup, uint32_t setting, double *values);

/** What is excited must be there, and the lines of a multi-sine below half of the cycles' rate. */
bool feedback_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                     struct rm_error *error);

#endif
