// SPDX-License-Identifier: Apache-2.0
#include "host/host_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "base/zeroed.h"
#include "host/host_setup.h"

static double const DELAY_MAX = 0x1p32; /**< turns: an hour of a large ring */
enum { VALUES_MAX = 1 << 22 /**< of all settings, or of all readings: more than that is a mistake */ };

static enum rm_code no_memory(struct rm_host_program const *program, struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", program->setup.name);
}

/* ── what it is told ── */

/** Names, counts and limits: all that `open` may look at. */
static enum rm_code tell_names(struct rm_host_program *program, struct rm_error *error) {
    struct rm_host_setup const *setup = &program->setup;
    size_t const actuators = setup->actuator_count + 1ul;
    program->input = calloc(setup->input_count + 1ul, sizeof *program->input);
    program->actuator = calloc(actuators, sizeof *program->actuator);
    program->low = calloc(actuators, sizeof *program->low);
    program->high = calloc(actuators, sizeof *program->high);
    program->slew = calloc(actuators, sizeof *program->slew);
    program->sent = calloc(actuators, sizeof *program->sent);
    program->wanted = calloc(actuators, sizeof *program->wanted);
    program->unset = calloc(actuators, sizeof *program->unset);
    if (!program->input || !program->actuator || !program->low || !program->high || !program->slew || !program->sent ||
        !program->wanted || !program->unset)
        return no_memory(program, error);
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        program->actuator[i] = setup->actuator[i].name;
        program->low[i] = setup->actuator[i].low;
        program->high[i] = setup->actuator[i].high;
        program->slew[i] = setup->actuator[i].slew_per_s * (double)setup->period_turns / setup->turn_rate_hz;
    }
    program->passed = (struct rm_application_setup){
        .name = setup->name,
        .turn_rate_hz = setup->turn_rate_hz,
        .period_turns = setup->period_turns,
        .input_count = setup->input_count,
        .input = program->input,
        .input_name = setup->input,
        .actuator_count = setup->actuator_count,
        .actuator_name = program->actuator,
        .actuator_low = program->low,
        .actuator_high = program->high,
        .actuator_slew_per_step = program->slew,
        .configuration = setup->configuration,
        .workspace = setup->workspace[0] != '\0' ? setup->workspace : NULL,
    };
    return RM_OK;
}

static enum rm_code open_code(struct rm_host_program *program, struct rm_error *error) {
    if (program->code.it->open == NULL)
        return RM_OK;
    struct rm_error reason = {.code = RM_E_CONFIG, .text = "open failed and does not say why"};
    if (program->code.it->open(&program->passed, &program->memory, &reason) != RM_OK)
        return rm_fail(error, RM_E_CONFIG, "%s", reason.text);
    program->opened = true;
    program->passed.memory = program->memory;
    return RM_OK;
}

/* ── settings and readings ── */

static bool is_array(struct rm_application_code const *code, bool is_reading, uint32_t i) {
    return is_reading ? code->readings[i].is_array : code->settings[i].is_array;
}

/** Where each of a list begins, and how long it is. */
static enum rm_code lay_out_program(struct rm_host_program *program, bool is_reading, struct rm_error *error) {
    struct rm_application_code const *code = program->code.it;
    uint32_t const count = is_reading ? code->reading_count : code->setting_count;
    uint32_t *at = calloc(count + 1ul, sizeof *at), *length = calloc(count + 1ul, sizeof *length);
    uint32_t *all = is_reading ? &program->reading_values : &program->setting_values;
    *(is_reading ? &program->reading_at : &program->setting_at) = at;
    *(is_reading ? &program->reading_length : &program->setting_length) = length;
    if (at == NULL || length == NULL)
        return no_memory(program, error);
    for (uint32_t i = 0; i < count; ++i) {
        at[i] = *all;
        length[i] = is_array(code, is_reading, i) ? code->length(&program->passed, is_reading, i) : 1;
        if (length[i] == 0 || length[i] > VALUES_MAX || *all + length[i] > VALUES_MAX)
            return rm_fail(error, RM_E_CONFIG, "%s \"%s\" has %u elements, expected 1 to %d",
                           is_reading ? "reading" : "setting",
                           is_reading ? code->readings[i].name : code->settings[i].name, length[i], VALUES_MAX);
        *all += length[i];
    }
    return RM_OK;
}

/** How old each stream's records are when they come. */
static enum rm_code ask_delays(struct rm_host_program *program, struct rm_error *error) {
    struct rm_application_code const *code = program->code.it;
    for (uint32_t i = 0; code->delay != NULL && i < code->stream_count; ++i) {
        program->delay[i] = code->delay(&program->passed, i);
        if (!(program->delay[i] >= 0.0 && program->delay[i] <= DELAY_MAX))
            return rm_fail(error, RM_E_CONFIG, "stream \"%s\" has a delay of %g turns, expected 0 to %g",
                           code->streams[i].name, program->delay[i], DELAY_MAX);
    }
    return RM_OK;
}

static enum rm_code host_program_allocate(struct rm_host_program *program, struct rm_error *error) {
    enum rm_code code = lay_out_program(program, false, error);
    if (code == RM_OK)
        code = lay_out_program(program, true, error);
    if (code != RM_OK)
        return code;
    program->setting = calloc(program->setting_values + 1ul, sizeof *program->setting);
    program->reading = calloc(program->reading_values + 1ul, sizeof *program->reading);
    program->stream = calloc(program->code.it->stream_count + 1ul, sizeof *program->stream);
    program->delay = calloc(program->code.it->stream_count + 1ul, sizeof *program->delay);
    program->state = rm_zeroed(1, program->code.it->state_bytes);
    if (!program->setting || !program->reading || !program->stream || !program->delay || !program->state)
        return no_memory(program, error);
    program->passed.setting = program->setting;
    program->passed.setting_at = program->setting_at;
    program->passed.setting_length = program->setting_length;
    program->passed.reading_at = program->reading_at;
    program->passed.reading_length = program->reading_length;
    program->given = (struct rm_step){
        .setting = program->setting, .sent = program->sent, .allowed = {.asked = UINT64_MAX, .adopted = UINT64_MAX}};
    program->command = (struct rm_command){.setpoint = program->wanted, .reading = program->reading};
    program->command.stream = program->stream;
    code = rm_host_rows_make(&program->rows, program->code.it, &program->passed, error);
    program->command.row = program->rows.row;
    return code == RM_OK ? ask_delays(program, error) : code;
}

uint32_t rm_host_program_find(struct rm_host_program const *program, char const *setting) {
    struct rm_application_code const *code = program->code.it;
    uint32_t i = 0;
    while (i < code->setting_count && strcmp(code->settings[i].name, setting) != 0)
        ++i;
    return i;
}

static enum rm_code unknown_setting(struct rm_application_code const *code, char const *name, struct rm_error *error) {
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < code->setting_count; ++i)
        rm_nearest_offer(&nearest, code->settings[i].name);
    if (nearest.name != NULL)
        return rm_fail(error, RM_E_CONFIG, "it has no setting \"%s\"; did you mean \"%s\"?", name, nearest.name);
    return rm_fail(error, RM_E_CONFIG, "it has no setting \"%s\"", name);
}

/** Values of elements `first` and following of a setting: numbers within its limits? */
static enum rm_code check_values(struct rm_host_program const *program, uint32_t number, uint32_t first,
                                 double const *values, uint32_t count, struct rm_error *error) {
    struct rm_limits const *limit = &program->code.limit[number];
    struct rm_setting const *setting = &program->code.it->settings[number];
    for (uint32_t i = 0; i < count; ++i) {
        if (isfinite(values[i]) && !(values[i] < limit->control_low) && !(values[i] > limit->control_high))
            continue;
        if (setting->is_array)
            return rm_fail(error, RM_E_CONFIG, "setting \"%s\": element %u: %g is not within its limits %g … %g",
                           setting->name, first + i, values[i], limit->control_low, limit->control_high);
        return rm_fail(error, RM_E_CONFIG, "setting \"%s\": %g is not within its limits %g … %g", setting->name,
                       values[i], limit->control_low, limit->control_high);
    }
    return RM_OK;
}

/** The code's own first values. */
static enum rm_code values_of_code(struct rm_host_program *program, struct rm_error *error) {
    struct rm_application_code const *code = program->code.it;
    for (uint32_t i = 0; i < code->setting_count; ++i) {
        double *const values = program->setting + program->setting_at[i];
        for (uint32_t k = 0; k < program->setting_length[i]; ++k)
            values[k] = code->settings[i].value;
        if (code->settings[i].is_array && code->first != NULL)
            code->first(&program->passed, i, values);
        enum rm_code const checked = check_values(program, i, 0, values, program->setting_length[i], error);
        if (checked != RM_OK)
            return checked;
    }
    return RM_OK;
}

/** The value of one setting, as the configuration gives it. */
static enum rm_code value_of_configuration(struct rm_host_program *program, struct rm_host_setting const *wanted,
                                           struct rm_error *error) {
    struct rm_application_code const *code = program->code.it;
    uint32_t const number = rm_host_program_find(program, wanted->name);
    if (number == code->setting_count)
        return unknown_setting(code, wanted->name, error);
    if (code->settings[number].is_array)
        return rm_fail(error, RM_E_CONFIG,
                       "setting \"%s\" is an array of %u, which begins as the application's own configuration "
                       "says: expected a setting that is one number",
                       wanted->name, program->setting_length[number]);
    if (code->settings[number].is_permission)
        return rm_fail(error, RM_E_CONFIG,
                       "setting \"%s\" is a permission to act: it begins at 0, and no configuration gives it. Take "
                       "it out of `settings`, and give it with `ringmaster put` once the application runs",
                       wanted->name);
    enum rm_code const checked = check_values(program, number, 0, &wanted->value, 1, error);
    if (checked == RM_OK)
        program->setting[program->setting_at[number]] = wanted->value;
    return checked;
}

static enum rm_code values_of_configuration(struct rm_host_program *program, struct rm_error *error) {
    for (uint32_t i = 0; i < program->setup.setting_count; ++i) {
        enum rm_code const code = value_of_configuration(program, &program->setup.setting[i], error);
        if (code == RM_OK)
            continue;
        if (program->setup.wrong_setting != NULL)
            *program->setup.wrong_setting = i;
        return code;
    }
    return RM_OK;
}

static enum rm_code first_values(struct rm_host_program *program, struct rm_error *error) {
    enum rm_code code = values_of_code(program, error);
    if (code == RM_OK)
        code = values_of_configuration(program, error);
    if (code != RM_OK || program->code.it->accept == NULL)
        return code;
    struct rm_error reason = {.text = "it does not say why"};
    if (program->code.it->accept(&program->passed, program->state, program->setting, &reason))
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "the application does not accept its first settings: %s", reason.text);
}

enum rm_code rm_host_program_set(struct rm_host_program *program, char const *setting, uint32_t first,
                                 double const *values, uint32_t count, struct rm_error *error) {
    uint32_t const number = rm_host_program_find(program, setting);
    if (number == program->code.it->setting_count)
        return unknown_setting(program->code.it, setting, error);
    uint32_t const length = program->setting_length[number];
    if (first > length || count > length - first)
        return rm_fail(error, RM_E_ARGUMENT, "setting \"%s\" has %u elements, and these are %u from %u on", setting,
                       length, count, first);
    enum rm_code const checked = check_values(program, number, first, values, count, error);
    if (checked != RM_OK)
        return checked;
    double *const all = malloc((program->setting_values + 1ul) * sizeof *all);
    if (all == NULL)
        return no_memory(program, error);
    memcpy(all, program->setting, program->setting_values * sizeof *all);
    memcpy(all + program->setting_at[number] + first, values, count * sizeof *all);
    struct rm_error reason = {.text = "the application does not accept it"};
    bool const accepted =
        program->code.it->accept == NULL || program->code.it->accept(&program->passed, program->state, all, &reason);
    if (accepted)
        memcpy(program->setting, all, program->setting_values * sizeof *all);
    free(all);
    return accepted ? RM_OK : rm_fail(error, RM_E_ARGUMENT, "%s", reason.text);
}

/* ── life ── */

static enum rm_code host_program_make(struct rm_host_program *program, struct rm_host_setup const *setup,
                                      struct rm_error *error) {
    enum rm_code code = rm_host_setup_copy(&program->setup, setup, error);
    if (code == RM_OK)
        code = rm_host_code_load(setup->code, &program->code, error);
    if (code == RM_OK)
        code = tell_names(program, error);
    if (code == RM_OK)
        code = open_code(program, error);
    if (code == RM_OK)
        code = host_program_allocate(program, error);
    return code == RM_OK ? first_values(program, error) : code;
}

enum rm_code rm_host_program_open(struct rm_host_setup const *setup, struct rm_host_program **program,
                                  struct rm_error *error) {
    struct rm_host_program *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", setup->name);
    enum rm_code const code = host_program_make(made, setup, error);
    if (code == RM_OK)
        *program = made;
    else
        rm_host_program_close(made);
    return code;
}

enum rm_code rm_host_program_takes(struct rm_host_program const *program, uint32_t input, uint64_t period,
                                   struct rm_error *error) {
    struct rm_host_setup const *const setup = &program->setup;
    bool const takes_runs = program->code.it->takes_runs != 0;
    if (period == setup->period_turns || (takes_runs && period != 0 && setup->period_turns % period == 0))
        return RM_OK;
    return rm_fail(
        error, RM_E_CONFIG,
        "input %s has a record every %llu turns, and the application a step every %llu: expected inputs of %s",
        setup->input[input], (unsigned long long)period, (unsigned long long)setup->period_turns,
        takes_runs ? "a period that divides the steps'" : "the steps' own period");
}

enum rm_code rm_host_program_init(struct rm_host_program *program, struct rm_error *error) {
    program->steps = 0;
    program->has_stepped = false;
    program->command.setpoint = program->wanted;
    memset(program->state, 0, program->code.it->state_bytes);
    memset(program->reading, 0, program->reading_values * sizeof program->reading[0]);
    memset(program->stream, 0, program->code.it->stream_count * sizeof program->stream[0]);
    rm_host_rows_begin(&program->rows);
    if (program->code.it->init == NULL)
        return RM_OK;
    struct rm_error reason = {.code = RM_E_CONFIG, .text = "init failed and does not say why"};
    enum rm_code const code = program->code.it->init(&program->passed, program->state, &reason);
    return code == RM_OK ? RM_OK : rm_fail(error, code, "%s", reason.text);
}

void rm_host_program_expect(struct rm_host_program *program, double *setpoint) {
    double const *const last = program->command.setpoint;
    double *const next = setpoint != NULL ? setpoint : program->wanted;
    program->has_unset = false;
    for (uint32_t i = 0; i < program->setup.actuator_count; ++i) {
        program->unset[i] = !program->has_stepped || !isfinite(last[i]);
        program->has_unset |= program->unset[i];
        next[i] = program->unset[i] ? program->sent[i] : last[i];
    }
    program->command.setpoint = next;
    program->is_expected = true;
}

void rm_host_program_prepare(struct rm_host_program *program) {
    if (program->code.it->prepare != NULL)
        program->code.it->prepare(&program->passed, program->state, &program->given, &program->command);
    ++program->steps;
}

void rm_host_program_close(struct rm_host_program *program) {
    if (program == NULL)
        return;
    if (program->opened && program->code.it->close != NULL)
        program->code.it->close(program->memory);
    free((void *)program->input);
    free((void *)program->actuator);
    free(program->low);
    free(program->high);
    free(program->slew);
    free(program->sent);
    free(program->wanted);
    free(program->unset);
    free(program->setting_at);
    free(program->setting_length);
    free(program->reading_at);
    free(program->reading_length);
    free(program->setting);
    free(program->reading);
    free(program->stream);
    free(program->delay);
    rm_host_rows_free(&program->rows);
    free(program->state);
    rm_host_code_unload(&program->code);
    rm_host_setup_free(&program->setup);
    free(program);
}
