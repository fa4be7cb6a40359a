// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <math.h>

#include <ringmaster/errors.h>

uint32_t feedback_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    struct feedback_layout const *layout = &((struct feedback const *)setup->memory)->layout;
    if (is_reading && index == FEEDBACK_SINGULAR)
        return layout->channels > 0 ? layout->channels : 1;
    if (is_reading)
        return index == FEEDBACK_ROW_STATE ? layout->rows : layout->actuators;
    if (index == FEEDBACK_GOLDEN || index == FEEDBACK_BPM_MASK)
        return layout->rows;
    return index == FEEDBACK_ACTUATOR_MASK ? layout->actuators : 1;
}

void feedback_first(struct rm_application_setup const *setup, uint32_t setting, double *values) {
    struct feedback const *feedback = setup->memory;
    uint32_t const count = feedback_length(setup, false, setting);
    for (uint32_t i = 0; i < count; ++i)
        values[i] =
            setting == FEEDBACK_GOLDEN ? feedback->configuration.golden_nm[i] : feedback_settings[setting].value;
    if (setting == FEEDBACK_MODES)
        values[0] = feedback->configuration.modes;
    if (setting == FEEDBACK_TIKHONOV)
        values[0] = feedback->configuration.tikhonov;
}

static bool refuse_setting(struct rm_error *error, char const *what) {
    rm_fail(error, RM_E_ARGUMENT, "%s", what);
    return false;
}

bool feedback_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                     struct rm_error *error) {
    (void)state;
    struct feedback const *feedback = setup->memory;
    double const *const value = setting;
    uint32_t const *at = setup->setting_at;
    uint32_t const kind = (uint32_t)lrint(value[at[FEEDBACK_EXCITE]]);
    double const number = value[at[FEEDBACK_EXCITE_NUMBER]];
    double const count =
        feedback_is_on(value[at[FEEDBACK_EXCITE_AT]]) ? feedback->layout.actuators : feedback->layout.channels;
    if (kind == FEEDBACK_QUIET)
        return true;
    if (!(number >= 0.0 && number < count))
        return refuse_setting(error, "excite_number is no mode, or no actuator, that there is");
    if (value[at[FEEDBACK_EXCITE_LOW]] >= 0.5 * feedback->rate_hz)
        return refuse_setting(error, "excite_low is above half of the rate of cycles");
    if (kind == FEEDBACK_MULTI_SINE && (value[at[FEEDBACK_EXCITE_HIGH]] <= value[at[FEEDBACK_EXCITE_LOW]] ||
                                        value[at[FEEDBACK_EXCITE_HIGH]] >= 0.5 * feedback->rate_hz))
        return refuse_setting(error, "excite_high must be above excite_low, and below half of the rate of cycles");
    return true;
}
