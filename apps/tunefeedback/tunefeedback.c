// SPDX-License-Identifier: Apache-2.0
/** tunefeedback: holds the tunes of both planes by two families of quadrupoles. docs/tune-feedback.md says what it does.
 *
 *     open    reads its file and the matrix, and how far the loop is from unstable
 *     init    finds the stream of tunes and the families' supplies
 *     step    judges the tune, moves what is wanted towards the target, and the families by the error (loop.h)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/application.h>
#include <ringmaster/errors.h>
#include <ringmaster/tune.h>

#include "file.h"
#include "law/margins.h"
#include "loop.h"
#include "names.h"
#include "supplies.h"

/** Least gain margin of a gain that is taken. */
static double const LEAST_MARGIN = 2.0;

struct tunefeedback_memory {
    struct tunefeedback_file file;
    struct tunefeedback_plant plant;
    /** At a gain of 1; and at that of the readings, which is looked at where it changes. */
    struct tunefeedback_margins whole, told;
    double told_gain;
};

struct tunefeedback {
    struct rm_tune_input input;
    struct tunefeedback_supplies supplies;
    struct tunefeedback_loop loop;
    double cause_turn;
};

static double setting_of(struct rm_application_setup const *setup, double const *setting,
                         enum tunefeedback_setting which, uint32_t index) {
    return setting[setup->setting_at[which] + index];
}

/* ── before the first step ── */

static void tunefeedback_close(void *memory) {
    struct tunefeedback_memory *it = memory;
    rm_configuration_free(tunefeedback_keys, &it->file);
    free(it);
}

/** A setpoint goes out with the cycle after its step's at the latest. */
static struct tunefeedback_plant plant_of(struct tunefeedback_file const *file,
                                          struct rm_application_setup const *setup) {
    return (struct tunefeedback_plant){
        .turn_rate_hz = setup->turn_rate_hz,
        .window_turns = file->window_turns,
        .window = file->window == 0 ? TUNE_RECTANGULAR : TUNE_HANN,
        .delay_s = (double)setup->period_turns / setup->turn_rate_hz + file->plant.delay_s,
        .bandwidth_hz = file->plant.bandwidth_hz,
    };
}

static enum rm_code refuse_unstable(struct tunefeedback_memory const *made, struct rm_application_setup const *setup,
                                    struct rm_errors *errors) {
    if (made->whole.gain >= LEAST_MARGIN)
        return RM_OK;
    return rm_configuration_refuse(
        errors, setup->configuration, "integral_hz",
        "found %g, with a gain margin of %.3g: the tune comes %.3g ms late. Expected at most "
        "%.3g Hz, with a margin of %g",
        made->file.integral_hz, made->whole.gain, 1e3 * made->whole.delay_s,
        made->file.integral_hz * made->whole.gain / LEAST_MARGIN, LEAST_MARGIN);
}

static enum rm_code tunefeedback_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    struct tunefeedback_memory *made = calloc(1, sizeof *made);
    struct rm_errors errors = {.count = 0};
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    enum rm_code code =
        rm_configuration_load(setup->configuration, tunefeedback_keys, &made->file, tunefeedback_file_check, &errors);
    if (code == RM_OK) {
        made->plant = plant_of(&made->file, setup);
        made->whole = tunefeedback_margins(&made->plant, made->file.integral_hz);
        code = refuse_unstable(made, setup, &errors);
    }
    if (code != RM_OK) {
        code = rm_errors_report(&errors, setup->name, setup->configuration, error);
        tunefeedback_close(made);
        return code;
    }
    *memory = made;
    return RM_OK;
}

static uint32_t tunefeedback_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    (void)setup;
    (void)is_reading;
    (void)index;
    return TUNEFEEDBACK_PLANES;
}

static void tunefeedback_first(struct rm_application_setup const *setup, uint32_t setting, double *values) {
    struct tunefeedback_file const *file = &((struct tunefeedback_memory const *)setup->memory)->file;
    (void)setting;
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane)
        values[plane] = file->targets == TUNEFEEDBACK_PLANES ? file->target[plane] : 0.0;
}

/** A window that is not the file's would make all margins wrong. A stream that does not say how late it is has 0. */
static enum rm_code check_delay(struct rm_application_setup const *setup, struct tunefeedback_file const *file,
                                uint32_t input, struct rm_error *error) {
    double const told = setup->input[input]->group_delay_turns;
    double const expected = 0.5 * (file->window_turns - 1.0);
    if (told == 0.0 || told == expected)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "%s: window_turns: found %u, but %s is %.1f turns late, expected %.0f: the window of its own file",
                   setup->configuration, file->window_turns, setup->input_name[input], told, 2.0 * told + 1.0);
}

static enum rm_code tunefeedback_init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct tunefeedback *it = state;
    struct tunefeedback_memory *memory = setup->memory;
    memory->told = memory->whole;
    memory->told_gain = 1.0;
    enum rm_code code = rm_tune_find(setup, memory->file.tune, &it->input, error);
    if (code == RM_OK)
        code = check_delay(setup, &memory->file, it->input.input, error);
    if (code == RM_OK)
        code = tunefeedback_supplies_find(setup, &memory->file, &it->supplies, error);
    tunefeedback_loop_begin(&it->loop, &memory->file, setup->turn_rate_hz / (double)setup->period_turns);
    return code;
}

/* ── settings ── */

static bool accept_gain(struct tunefeedback_memory const *memory, double gain, struct rm_error *error) {
    if (gain * LEAST_MARGIN <= memory->whole.gain)
        return true;
    rm_fail(error, RM_E_ARGUMENT, "gain %g leaves a gain margin of %.3g, expected at most %.3g, with a margin of %g",
            gain, memory->whole.gain / gain, memory->whole.gain / LEAST_MARGIN, LEAST_MARGIN);
    return false;
}

/** A plane whose target is 0 stays where it is: where that is known, the pair is judged. */
static bool accept_target(struct tunefeedback const *it, struct tunefeedback_memory const *memory,
                          double const target[TUNEFEEDBACK_PLANES], struct rm_error *error) {
    struct tunefeedback_loop const *loop = &it->loop;
    double tune[TUNEFEEDBACK_PLANES];
    char why[256];
    for (int plane = 0; plane < TUNEFEEDBACK_PLANES; ++plane)
        tune[plane] = target[plane] > 0.0 || !loop->has_wanted ? target[plane] : loop->wanted[plane];
    if (!(tune[0] > 0.0) != !(tune[1] > 0.0)) {
        rm_fail(error, RM_E_ARGUMENT, "target: found %g and %g, expected both tunes, or 0 and 0 for what there is",
                target[0], target[1]);
        return false;
    }
    if (!(target[0] > 0.0 || target[1] > 0.0) ||
        tunefeedback_resonances_allow(&memory->file.resonances, tune, loop->has_wanted ? loop->wanted : NULL, why,
                                      sizeof why))
        return true;
    rm_fail(error, RM_E_ARGUMENT, "target: %s", why);
    return false;
}

static bool tunefeedback_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                                struct rm_error *error) {
    struct tunefeedback_memory const *memory = setup->memory;
    return accept_gain(memory, setting_of(setup, setting, TUNEFEEDBACK_GAIN, 0), error) &&
           accept_target(state, memory, setting + setup->setting_at[TUNEFEEDBACK_TARGET], error);
}

/* ── one step ── */

static void tell_margins(struct tunefeedback_memory *memory, double gain, double *told) {
    if (gain != memory->told_gain && gain > 0.0)
        memory->told = tunefeedback_margins(&memory->plant, memory->file.integral_hz * gain);
    memory->told_gain = gain;
    told[TUNEFEEDBACK_GAIN_MARGIN] = memory->told.gain;
    told[TUNEFEEDBACK_PHASE_MARGIN] = memory->told.phase_deg;
    told[TUNEFEEDBACK_SENSITIVITY_PEAK] = memory->told.sensitivity;
    told[TUNEFEEDBACK_SENSITIVITY_HZ] = memory->told.sensitivity_hz;
    told[TUNEFEEDBACK_DELAY] = memory->told.delay_s;
}

static void tell_step(struct tunefeedback *it, rm_turn turn, struct rm_command *command) {
    static enum tunefeedback_reading const lanes[] = {
        TUNEFEEDBACK_STATE,   TUNEFEEDBACK_MISSING,  TUNEFEEDBACK_WANTED_X, TUNEFEEDBACK_WANTED_Y, TUNEFEEDBACK_ERROR_X,
        TUNEFEEDBACK_ERROR_Y, TUNEFEEDBACK_OFFSET_1, TUNEFEEDBACK_OFFSET_2, TUNEFEEDBACK_TRUSTED};
    struct tunefeedback_loop const *loop = &it->loop;
    double *const told = command->reading;
    it->cause_turn = loop->states.is_left ? (double)turn : it->cause_turn;
    told[TUNEFEEDBACK_STATE] = loop->states.state;
    told[TUNEFEEDBACK_MISSING] = loop->missing;
    told[TUNEFEEDBACK_CAUSE] = loop->states.cause;
    told[TUNEFEEDBACK_CAUSE_TURN] = it->cause_turn;
    told[TUNEFEEDBACK_TRUSTED] = loop->trusted;
    for (int i = 0; i < TUNEFEEDBACK_PLANES; ++i) {
        told[TUNEFEEDBACK_WANTED_X + i] = loop->has_wanted ? loop->wanted[i] : 0.0;
        told[TUNEFEEDBACK_ERROR_X + i] = loop->has_wanted ? loop->error[i] : 0.0;
        told[TUNEFEEDBACK_OFFSET_1 + i] = loop->integrator.offset_a[i];
    }
    for (unsigned lane = 0; lane < sizeof lanes / sizeof lanes[0]; ++lane)
        command->stream[0][lane] = (float)told[lanes[lane]];
}

static enum rm_step_result tunefeedback_step(struct rm_application_setup const *setup, void *state,
                                             struct rm_step const *given, struct rm_command *command) {
    struct tunefeedback *it = state;
    struct tunefeedback_memory *memory = setup->memory;
    struct tunefeedback_loop *const loop = &it->loop;
    struct rm_tune tune;
    bool const is_there = rm_tune_read(setup, given, &it->input, &tune);
    bool const closed = setting_of(setup, given->setting, TUNEFEEDBACK_CLOSED, 0) >= 0.5;
    if (given->steps == 0 || (closed && !loop->was_closed))
        tunefeedback_supplies_refer(setup, &memory->file, command->setpoint, &it->supplies, &loop->integrator);
    struct tunefeedback_given const now = {
        .closed = closed,
        .target = {setting_of(setup, given->setting, TUNEFEEDBACK_TARGET, 0),
                   setting_of(setup, given->setting, TUNEFEEDBACK_TARGET, 1)},
        .gain = setting_of(setup, given->setting, TUNEFEEDBACK_GAIN, 0),
        .tune = is_there ? &tune : NULL,
        .supplies_follow =
            tunefeedback_supplies_follow(setup, &it->supplies, &loop->integrator, command->setpoint, given->sent),
    };
    tunefeedback_loop_step(loop, &memory->file, &now);
    if (loop->states.state == TUNEFEEDBACK_ON)
        tunefeedback_supplies_put(&it->supplies, &loop->integrator, command->setpoint);
    tell_margins(memory, now.gain, command->reading);
    tell_step(it, given->turn, command);
    return RM_STEP_SEND;
}

/* ── another server ── */

/** Of memory only the margins change; those of a gain of 0 are the last ones. */
static size_t tunefeedback_pack(struct rm_application_setup const *setup, void const *state, void *bytes,
                                size_t capacity) {
    struct tunefeedback_memory const *memory = setup->memory;
    (void)state;
    if (capacity >= sizeof memory->told + sizeof memory->told_gain) {
        memcpy(bytes, &memory->told, sizeof memory->told);
        memcpy((char *)bytes + sizeof memory->told, &memory->told_gain, sizeof memory->told_gain);
    }
    return sizeof memory->told + sizeof memory->told_gain;
}

static enum rm_code tunefeedback_unpack(struct rm_application_setup const *setup, void *state, void const *bytes,
                                        size_t count, struct rm_error *error) {
    struct tunefeedback_memory *memory = setup->memory;
    size_t const expected = sizeof memory->told + sizeof memory->told_gain;
    (void)state;
    if (count != expected)
        return rm_fail(error, RM_E_CONFIG, "%zu bytes, expected %zu", count, expected);
    memcpy(&memory->told, bytes, sizeof memory->told);
    memcpy(&memory->told_gain, (char const *)bytes + sizeof memory->told, sizeof memory->told_gain);
    return RM_OK;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct tunefeedback),
    .settings = tunefeedback_settings,
    .setting_count = TUNEFEEDBACK_SETTINGS,
    .reading_count = TUNEFEEDBACK_READINGS,
    .readings = tunefeedback_readings,
    .streams = tunefeedback_streams,
    .stream_count = 1,
    .init = tunefeedback_init,
    .step = tunefeedback_step,
    .accept = tunefeedback_accept,
    .open = tunefeedback_open,
    .close = tunefeedback_close,
    .length = tunefeedback_length,
    .first = tunefeedback_first,
    .pack = tunefeedback_pack,
    .unpack = tunefeedback_unpack,
};
