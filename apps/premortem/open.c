// SPDX-License-Identifier: Apache-2.0
#include "open.h"

#include <math.h>
#include <stdlib.h>

#include <ringmaster/errors.h>

#include "names.h"

static enum rm_code load_golden(struct premortem_memory *memory, char const *path, uint32_t d, struct rm_error *error) {
    char const *name = memory->file.detector[d].golden_file;
    if (name == NULL)
        return RM_OK;
    char *beside = rm_configuration_beside(path, name);
    if (beside == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    enum rm_code const code = rm_table_load(beside, &memory->golden[d], error);
    free(beside);
    return code;
}

static enum rm_code check_bands(struct premortem_file const *file, struct rm_application_setup const *setup,
                                struct rm_error *error) {
    double const most_hz = 0.5 * setup->turn_rate_hz / (double)setup->period_turns;
    for (uint32_t d = 0; d < file->detectors; ++d)
        if (file->detector[d].band_high_hz >= most_hz)
            return rm_fail(error, RM_E_CONFIG,
                           "%s: detectors[%u].band_high_hz: found %g, expected less than half of the steps' rate, %g",
                           setup->configuration, d, file->detector[d].band_high_hz, most_hz);
    return RM_OK;
}

enum rm_code premortem_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    struct premortem_memory *made = calloc(1, sizeof *made);
    struct rm_errors errors = {.count = 0};
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    enum rm_code code =
        rm_configuration_load(setup->configuration, premortem_keys, &made->file, premortem_file_check, &errors);
    if (code != RM_OK)
        code = rm_errors_report(&errors, setup->name, setup->configuration, error);
    if (code == RM_OK)
        code = check_bands(&made->file, setup, error);
    for (uint32_t d = 0; code == RM_OK && d < made->file.detectors; ++d)
        code = load_golden(made, setup->configuration, d, error);
    if (code != RM_OK) {
        premortem_close(made);
        return code;
    }
    *memory = made;
    return RM_OK;
}

void premortem_close(void *memory) {
    struct premortem_memory *it = memory;
    for (uint32_t d = 0; d < PREMORTEM_DETECTORS_MAX; ++d)
        if (it->golden[d].rows > 0)
            rm_table_free(&it->golden[d]);
    rm_configuration_free(premortem_keys, &it->file);
    free(it);
}

uint32_t premortem_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    (void)is_reading;
    (void)index;
    return ((struct premortem_memory const *)setup->memory)->file.detectors;
}

void premortem_first(struct rm_application_setup const *setup, uint32_t setting, double *values) {
    struct premortem_file const *file = &((struct premortem_memory const *)setup->memory)->file;
    for (uint32_t d = 0; d < file->detectors; ++d)
        values[d] = setting == PREMORTEM_THRESHOLD ? file->detector[d].threshold : 0.0;
}

enum rm_code premortem_init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct premortem *it = state;
    struct premortem_memory const *memory = setup->memory;
    struct premortem_file const *file = &memory->file;
    it->steps_per_second = setup->turn_rate_hz / (double)setup->period_turns;
    it->mask_most_turns = file->mask_most_s * setup->turn_rate_hz;
    it->alarm_detector = it->alarm_turn = -1.0;
    it->reset = setup->setting[setup->setting_at[PREMORTEM_RESET]];
    it->learn = setup->setting[setup->setting_at[PREMORTEM_LEARN]];
    enum rm_code code = premortem_outputs_find(&it->outputs, file, setup, error);
    for (uint32_t d = 0; code == RM_OK && d < file->detectors; ++d) {
        struct premortem_detector *detector = &it->detector[d];
        struct rm_table const *golden = memory->golden[d].rows > 0 ? &memory->golden[d] : NULL;
        detector->plan = &file->detector[d];
        detector->latch.crossed = RM_TURN_NONE;
        code = premortem_signals_find(&it->signals, setup, detector, golden, error);
        if (code == RM_OK)
            premortem_detector_begin(detector, it->steps_per_second, golden != NULL);
    }
    return code;
}

/** Before the first step there is no turn to compare with, and a mask that is beyond the longest is none. */
static bool accept_masks(struct premortem const *it, struct rm_application_setup const *setup, double const *masks,
                         struct rm_error *error) {
    uint32_t const count = setup->setting_length[PREMORTEM_MASKED_UNTIL];
    for (uint32_t d = 0; it->has_begun && d < count; ++d) {
        double const most = (double)it->turn + it->mask_most_turns;
        if (masks[d] <= most || masks[d] == setup->setting[setup->setting_at[PREMORTEM_MASKED_UNTIL] + d])
            continue;
        rm_fail(error, RM_E_ARGUMENT, "masked_until[%u]: %.0f is more than mask_most_s ahead, expected up to %.0f", d,
                masks[d], most);
        return false;
    }
    return true;
}

bool premortem_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                      struct rm_error *error) {
    struct premortem const *it = state;
    struct premortem_memory const *memory = setup->memory;
    bool const arms = setting[setup->setting_at[PREMORTEM_ARM]] >= 0.5 && !it->was_armed;
    if (arms && premortem_latched(it, &memory->file) > 0) {
        rm_fail(error, RM_E_ARGUMENT, "%u alarms of before are latched: put reset first, then arm",
                premortem_latched(it, &memory->file));
        return false;
    }
    return accept_masks(it, setup, setting + setup->setting_at[PREMORTEM_MASKED_UNTIL], error);
}
