// SPDX-License-Identifier: Apache-2.0
/** What people set: how it is asked for, how long arrays are, what they are at first, and what is refused. */
#ifndef FEEDBACK_SETTINGS_H
#define FEEDBACK_SETTINGS_H

#include "../state/feedback.h"

/** True when a setting of the values 0 and 1 is 1. */
static inline bool feedback_is_on(double setting) { return setting >= 0.5; }

/** The first value of a setting in this step. */
static inline double feedback_setting_of(struct rm_application_setup const *setup, struct rm_step const *given,
                                         enum feedback_setting number) {
    return given->setting[setup->setting_at[number]];
}

/** Length of an array, as struct rm_application_code has it. */
uint32_t feedback_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index);
void feedback_first(struct rm_application_setup const *setup, uint32_t setting, double *values);

/** Refuses an excitation of what is not there, and a multi-sine with lines above half of the cycle rate. */
bool feedback_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                     struct rm_error *error);

#endif
