// SPDX-License-Identifier: Apache-2.0
/** template: an application to copy. README.md beside it says how; docs/applications.md has the whole story.
 *
 * As it stands it moves its supplies in a sine around where they stood, all alike, and tells the mean of lane 0 of its
 * inputs, if it has any. Keep the frame and put your own step in.
 *
 * Rules that make it trustworthy:
 *   - what step does depends on what it is given and on its state alone: no clock, no file, no rand(). Then a recording
 *     gives the same setpoints again, bit by bit.
 *   - step allocates nothing and calls no system (no malloc, printf, lock): it must be done within its period.
 *   - no static variables that change: everything that lasts is in the state.
 */
#include <math.h>
#include <stdio.h>

#include <ringmaster/application.h>

/* ── settings: numbers that people may change while it runs ──
 * Each becomes a parameter template/NAME that `ringmaster put` can set. The enum gives each its place in
 * given->setting. */
enum { ENABLE, AMPLITUDE, FREQUENCY, SETTINGS };

static struct rm_setting const settings[SETTINGS] = {
    [ENABLE] =
        {
            .name = "enable",
            .description = "1: move the supplies; 0: back to where they stood",
            .limits = {.control_low = 0.0, .control_high = 1.0},
            /* Settings survive a crash, a permission to act does not: it is 0 after each end of this process or of the
             * server, until a person gives it again. Nothing moves before that. */
            .is_permission = true,
        },
    [AMPLITUDE] =
        {
            .name = "amplitude",
            .unit = "A",
            .description = "of the sine",
            .value = 0.1,
            .limits = {.control_low = 0.0, .control_high = 1.0},
        },
    [FREQUENCY] =
        {
            .name = "frequency",
            .unit = "Hz",
            .description = "of the sine",
            .value = 1.0,
            .limits = {.control_low = 0.001, .control_high = 1000.0},
        },
};

/* ── readings: numbers that it tells ──
 * Each becomes a parameter template/NAME that every process can read. */
enum { WAVE, INPUT, READINGS };

static struct rm_reading const readings[READINGS] = {
    [WAVE] = {.name = "wave", .unit = "A", .description = "what is added to where the supplies stood"},
    [INPUT] = {.name = "input", .description = "mean of lane 0 of the inputs that were there"},
};

/* ── state: what it remembers from one step to the next ──
 * Zeroed before init. There is one per process, and no other memory. */
enum { SUPPLIES_MAX = 256 };

struct template {
    double radians_per_step_and_hz;
    double phase;
    double middle[SUPPLIES_MAX]; /* where the supplies stood at the first step */
};

/** Called when the server has granted it its supplies, and again when the server was restarted (the state is zeroed
 * then, too). Look at the configuration here: how many inputs and supplies there are, what they are called, what they
 * may do. Refuse what does not fit: the text goes to the user that starts it. `ringmaster check` calls it too, so start
 * nothing here. */
static enum rm_code init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct template *it = state;
    if (setup->actuator_count > SUPPLIES_MAX) {
        snprintf(error->text, sizeof error->text, "has room for %d supplies, and is given %u", SUPPLIES_MAX,
                 setup->actuator_count);
        return RM_E_CONFIG;
    }
    double const seconds_per_step = (double)setup->period_turns / setup->turn_rate_hz;
    it->radians_per_step_and_hz = 2.0 * 3.14159265358979323846 * seconds_per_step;
    return RM_OK;
}

/** Mean of lane 0 of those inputs that are there. An input that is missing keeps its last record, with its old turn;
 * given->is_missing says which. Lanes are i32 or f32: rm_lane_value looks which; input[i]->lane[0].unit says of what.
 */
static double mean_input(struct rm_application_setup const *setup, struct rm_step const *given) {
    double sum = 0.0;
    uint32_t good = 0;
    for (uint32_t i = 0; i < setup->input_count; ++i) {
        if (given->is_missing[i])
            continue;
        sum += rm_lane_value(setup->input[i], &given->record[i], 0);
        ++good;
    }
    return good > 0 ? sum / good : 0.0;
}

/** Called once per period. command->setpoint comes with the last command, at the first step with what was sent last:
 * an application that starts from there moves nothing by starting. */
static enum rm_step_result step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                struct rm_command *command) {
    struct template *it = state;
    if (given->steps == 0)
        for (uint32_t i = 0; i < setup->actuator_count; ++i)
            it->middle[i] = given->sent[i];
    it->phase += given->setting[FREQUENCY] * it->radians_per_step_and_hz;
    bool const may_act = given->setting[ENABLE] >= 0.5;
    double const wave = may_act ? given->setting[AMPLITUDE] * sin(it->phase) : 0.0;
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        command->setpoint[i] = it->middle[i] + wave;
    command->reading[WAVE] = wave;
    command->reading[INPUT] = mean_input(setup, given);
    return RM_STEP_SEND; /* or RM_STEP_QUIET: commit nothing. The guard takes that as having stopped, after a while. */
}

/** Called when a request asks for other settings, each of which is within its limits already. Refuse here what does not
 * go together; the reason goes to the requester. May be left out. `error` may be NULL. */
static bool accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error) {
    (void)state;
    double const nyquist = setup->turn_rate_hz / (double)setup->period_turns / 2.0;
    if (setting[FREQUENCY] < nyquist)
        return true;
    if (error != NULL)
        snprintf(error->text, sizeof error->text, "frequency %g Hz is not below half the steps' rate, %g Hz",
                 setting[FREQUENCY], nyquist);
    return false;
}

/** What the host looks for. */
struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct template),
    .settings = settings,
    .setting_count = SETTINGS,
    .reading_count = READINGS,
    .readings = readings,
    .init = init,
    .step = step,
    .accept = accept,
};
