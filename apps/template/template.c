// SPDX-License-Identifier: Apache-2.0
/** template: an application to copy. README.md beside it says how; docs/applications.md has the whole story.
 *
 * As it stands it moves its supplies in a sine around where they stood, all alike, and tells the mean of one lane of its
 * inputs, if it has any. Keep the frame and put your own step in.
 *
 * Rules that make it trustworthy:
 *   - what step does depends on what it is given and on its state alone: no clock, no file, no rand(). Then a recording
 *     gives the same setpoints again, bit by bit.
 *   - step allocates nothing and calls no system (no malloc, printf, lock): it must be done within its period.
 *   - no static variables that change: everything that lasts is in the state.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/application.h>
#include <ringmaster/configuration.h>
#include <ringmaster/errors.h>

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
    [INPUT] = {.name = "input", .description = "mean of a lane of the inputs that were there"},
};

/* ── its own file: what stays as it is while it runs ──
 * The server's configuration names it: `configuration: mine.yaml`. Each key has the member that takes its value; what is
 * wrong with the file is told with line, column and what was expected (configuration.h). Without a file every key has
 * its default. Take all of this out if your application has none. */
struct own_file {
    char *lane;
    double phase_rad;
};

static struct rm_key const own_keys[] = {
    RM_KEY_TEXT(struct own_file, lane, "lane", "Lane of the inputs whose mean is told.", .otherwise = "the first"),
    RM_KEY_NUMBER(struct own_file, phase_rad, "phase_deg", "Where the sine begins.", .unit = "°", .fallback = "0",
                  RM_BETWEEN(-180, 180), .scale = 3.14159265358979323846 / 180.0),
    RM_KEYS_END,
};

/* ── state: what it remembers from one step to the next ──
 * Zeroed before init. There is one per process, and no other memory. */
enum { SUPPLIES_MAX = 256 };

enum { INPUTS_MAX = 256 };

struct template {
    uint32_t lane[INPUTS_MAX]; /* of each input */
    double radians_per_step_and_hz;
    double phase;
    double middle[SUPPLIES_MAX]; /* where the supplies stood at the first step */
};

/** Called once, before everything else: reads the file, and allocates. What it leaves in `memory` is setup->memory from
 * then on. When it refuses, nothing is left. */
static enum rm_code read_file(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    struct own_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    *memory = file;
    struct rm_errors errors = {.count = 0};
    if (rm_configuration_load(setup->configuration, own_keys, file, NULL, &errors) == RM_OK)
        return RM_OK;
    free(file);
    *memory = NULL;
    return rm_errors_report(&errors, setup->name, setup->configuration, error);
}

/** Called once, last. */
static void free_file(void *memory) {
    rm_configuration_free(own_keys, memory);
    free(memory);
}

/** The lane of that name, or the first where there is no name; RM_LANES: the input has none. */
static uint32_t find_lane(struct rm_stream const *input, char const *name) {
    uint32_t lane = 0;
    while (name != NULL && lane < RM_LANES && strcmp(input->lane[lane].name, name) != 0)
        ++lane;
    return lane;
}

/** Called when the server has granted it its supplies, and again when the server was restarted (the state is zeroed
 * then, too). Look at the configuration here: how many inputs and supplies there are, what they are called, what they
 * may do. Refuse what does not fit: the text goes to the user that starts it. `ringmaster check` calls it too, so start
 * nothing here. */
static enum rm_code init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct template *it = state;
    struct own_file const *file = setup->memory;
    if (setup->actuator_count > SUPPLIES_MAX || setup->input_count > INPUTS_MAX)
        return rm_fail(error, RM_E_CONFIG, "has room for %d supplies and %d inputs, and is given %u and %u",
                       SUPPLIES_MAX, INPUTS_MAX, setup->actuator_count, setup->input_count);
    for (uint32_t i = 0; i < setup->input_count; ++i) {
        it->lane[i] = find_lane(setup->input[i], file->lane);
        if (it->lane[i] == RM_LANES)
            return rm_fail(error, RM_E_CONFIG, "%s: lane: the input %s has no lane \"%s\"", setup->configuration,
                           setup->input_name[i], file->lane);
    }
    it->phase = file->phase_rad;
    double const seconds_per_step = (double)setup->period_turns / setup->turn_rate_hz;
    it->radians_per_step_and_hz = 2.0 * 3.14159265358979323846 * seconds_per_step;
    return RM_OK;
}

/** Mean of the lane over those inputs that are there. An input that is missing keeps its last record, with its old turn;
 * given->is_missing says which. Lanes are i32 or f32: rm_lane_value looks which; input[i]->lane[…].unit says of what.
 */
static double mean_input(struct rm_application_setup const *setup, struct template const *it,
                         struct rm_step const *given) {
    double sum = 0.0;
    uint32_t good = 0;
    for (uint32_t i = 0; i < setup->input_count; ++i) {
        if (given->is_missing[i])
            continue;
        sum += rm_lane_value(setup->input[i], &given->record[i], it->lane[i]);
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
    command->reading[INPUT] = mean_input(setup, it, given);
    return RM_STEP_SEND; /* or RM_STEP_QUIET: commit nothing. The guard takes that as having stopped, after a while. */
}

/** For a standby server, which goes on from a copy of the state: what else steps would need is written here. `memory` is
 * the file, which the other server has read too, and no step changes it: so there is nothing to write. An application
 * that keeps what it learns in `memory` writes that, and takes it over in `unpack`. Leave both out without `open`. */
static size_t pack(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity) {
    (void)state;
    (void)setup;
    (void)bytes;
    (void)capacity;
    return 0;
}

static enum rm_code unpack(struct rm_application_setup const *setup, void *state, void const *bytes, size_t count,
                           struct rm_error *error) {
    (void)setup;
    (void)state;
    (void)bytes;
    return count == 0 ? RM_OK : rm_fail(error, RM_E_CONFIG, "%zu bytes, expected none", count);
}

/** Called when a request asks for other settings, each of which is within its limits already. Refuse here what does not
 * go together; the reason goes to the requester. May be left out. `error` may be NULL. */
static bool accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                   struct rm_error *error) {
    (void)state;
    double const nyquist = setup->turn_rate_hz / (double)setup->period_turns / 2.0;
    if (setting[FREQUENCY] < nyquist)
        return true;
    rm_fail(error, RM_E_ARGUMENT, "frequency %g Hz is not below half the steps' rate, %g Hz", setting[FREQUENCY],
            nyquist);
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
    .open = read_file,
    .close = free_file,
    .pack = pack,
    .unpack = unpack,
};
