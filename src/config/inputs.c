// SPDX-License-Identifier: Apache-2.0
/* Which streams an application is fed with: by name, or by a pattern of instruments' streams in which * stands for
 * anything. They exist, and all have its period, or one that divides it. A stream of another application, "tune/tune",
 * is given by name. That application stands before this one, so no two wait for each other. Which streams it has, its
 * code says (application_check.h). */
#include "base/fail.h"
#include "base/nearest.h"
#include "config/instrument_rates.h"
#include "config/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

/* One entry of an application's list. */
struct taking_input {
    struct rm_config *config;
    struct rm_config_application *application;
    uint32_t written; /* of the application in the file */
    uint32_t entry;
    char const *stream;
    struct rm_error *error;
};

static enum rm_code fail_input(struct taking_input const *taking, char const *problem) {
    char member[32];
    snprintf(member, sizeof member, "inputs[%u]", taking->entry);
    return rm_config_fail_entry(taking->config, taking->error, "applications", taking->written, member, "%s", problem);
}

static enum rm_code fail_instrument(struct taking_input const *taking, size_t bytes) {
    struct rm_config const *const config = taking->config;
    char name[RM_CONFIG_INPUT_BYTES];
    char problem[RM_ERROR_TEXT_BYTES];
    char guess[64];
    snprintf(name, sizeof name, "%.*s", (int)bytes, taking->stream);
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < config->instrument_count; i++)
        rm_nearest_offer(&nearest, config->instrument[i].name);
    for (struct rm_config_application const *it = config->application + 1; it < taking->application; it++)
        rm_nearest_offer(&nearest, it->name);
    snprintf(problem, sizeof problem,
             "found \"%s\", expected a stream of a configured instrument, such as \"%s/%s\", or of an application "
             "that stands before this one%s",
             taking->stream, config->instrument[0].name, rm_instrument_own_rate(config->instrument[0].period_turns),
             strcmp(name, taking->stream) == 0 ? "" : rm_config_guess(&nearest, guess, sizeof guess));
    return fail_input(taking, problem);
}

static enum rm_code fail_rate(struct taking_input const *taking, struct rm_config_instrument const *instrument) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    char problem[RM_ERROR_TEXT_BYTES];
    uint32_t const count = rm_instrument_rates(taking->config, instrument->period_turns, rate);
    int used = snprintf(problem, sizeof problem, "found \"%s\", expected %s/ and one of: %s", taking->stream,
                        instrument->name, rm_instrument_own_rate(instrument->period_turns));
    for (uint32_t i = 0; i < count; i++)
        used += snprintf(problem + used, sizeof problem - (size_t)used, ", %s", rate[i].name);
    return fail_input(taking, problem);
}

/* Whether the stream is one of the owner of this name: "bpm01/turn" of bpm01. */
static bool is_stream_of(char const *stream, char const *owner) {
    size_t const bytes = strlen(owner);
    return strncmp(stream, owner, bytes) == 0 && stream[bytes] == '/';
}

struct rm_config_instrument const *rm_config_input_instrument(struct rm_config const *config, char const *stream) {
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (is_stream_of(stream, config->instrument[i].name))
            return &config->instrument[i];
    return NULL;
}

uint32_t rm_config_input_application(struct rm_config const *config, char const *stream) {
    if (rm_config_input_instrument(config, stream) != NULL)
        return 0;
    for (uint32_t i = 1; i < config->application_count; i++)
        if (is_stream_of(stream, config->application[i].name))
            return i;
    return 0;
}

/* Turns from one record to the next; 0 where the instrument has no such rate. */
static uint32_t find_period(struct rm_config const *config, struct rm_config_instrument const *instrument,
                            char const *name) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    if (strcmp(name, rm_instrument_own_rate(instrument->period_turns)) == 0)
        return instrument->period_turns;
    uint32_t const count = rm_instrument_rates(config, instrument->period_turns, rate);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(rate[i].name, name) == 0)
            return rate[i].period;
    return 0;
}

static enum rm_code check_period(struct taking_input const *taking, uint32_t period) {
    uint32_t const own = taking->application->period_turns;
    uint32_t const cycle = taking->config->setpoints.period_turns;
    char problem[RM_ERROR_TEXT_BYTES];
    if (own % period == 0) /* several in a step: its code says whether it takes them (application_check.h) */
        return RM_OK;
    snprintf(problem, sizeof problem,
             "%s has a record every %u turns, but \"%s\" is stepped every %u; expected inputs of %u turns%s",
             taking->stream, period, taking->application->name, own, own,
             period % cycle == 0 ? ", or another period_turns" : "");
    return fail_input(taking, problem);
}

static enum rm_code check_once(struct taking_input const *taking) {
    char problem[RM_ERROR_TEXT_BYTES];
    for (uint32_t i = 0; i < taking->application->input_count; i++) {
        if (strcmp(taking->application->input[i], taking->stream) != 0)
            continue;
        snprintf(problem, sizeof problem, "\"%s\" is inputs[%u] already, expected it once", taking->stream, i);
        return fail_input(taking, problem);
    }
    return RM_OK;
}

static enum rm_code add_input(struct taking_input const *taking, uint32_t period) {
    struct rm_config_application *const application = taking->application;
    enum rm_code code = check_period(taking, period);
    if (code == RM_OK)
        code = check_once(taking);
    if (code != RM_OK)
        return code;
    void *const more = realloc(application->input, (application->input_count + 1ul) * sizeof *application->input);
    if (more == NULL)
        return rm_fail(taking->error, RM_E_NO_SPACE, "%s: no memory to hold it", taking->config->source_path);
    application->input = more;
    strcpy(application->input[application->input_count++], taking->stream);
    return RM_OK;
}

static enum rm_code take_name(struct taking_input const *taking) {
    struct rm_config const *const config = taking->config;
    size_t const bytes = strcspn(taking->stream, "/");
    struct rm_config_instrument const *const instrument = rm_config_input_instrument(config, taking->stream);
    struct rm_config_application const *const source =
        &config->application[rm_config_input_application(config, taking->stream)];
    if (instrument == NULL && source > config->application && source < taking->application)
        return source->period_turns == 0 ? RM_OK /* its own error is told */ : add_input(taking, source->period_turns);
    if (instrument == NULL)
        return fail_instrument(taking, bytes);
    uint32_t const period = find_period(config, instrument, taking->stream + bytes + 1);
    return period == 0 ? fail_rate(taking, instrument) : add_input(taking, period);
}

/* Those streams of one instrument that fit the pattern, whose part behind the slash is of the rate. */
static enum rm_code take_fitting(struct taking_input const *taking, struct rm_config_instrument const *instrument) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    char const *const wanted = strchr(taking->stream, '/') + 1;
    uint32_t const count = rm_instrument_rates(taking->config, instrument->period_turns, rate);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i <= count && code == RM_OK; i++) {
        char const *const name = i == 0 ? rm_instrument_own_rate(instrument->period_turns) : rate[i - 1].name;
        if (!rm_pattern_matches(wanted, name))
            continue;
        char stream[RM_CONFIG_INPUT_BYTES];
        snprintf(stream, sizeof stream, "%s/%s", instrument->name, name);
        struct taking_input one = *taking;
        one.stream = stream;
        code = add_input(&one, i == 0 ? instrument->period_turns : rate[i - 1].period);
    }
    return code;
}

static enum rm_code fail_nothing(struct taking_input const *taking) {
    struct rm_config_instrument const *const first = &taking->config->instrument[0];
    char problem[RM_ERROR_TEXT_BYTES];
    snprintf(problem, sizeof problem,
             "no stream matches \"%s\", expected streams of configured instruments, with * for any characters, such as "
             "\"%s/%s\"",
             taking->stream, first->name, rm_instrument_own_rate(first->period_turns));
    return fail_input(taking, problem);
}

static enum rm_code take_pattern(struct taking_input const *taking) {
    struct rm_config const *const config = taking->config;
    uint32_t const before = taking->application->input_count;
    char front[RM_CONFIG_INPUT_BYTES];
    snprintf(front, sizeof front, "%.*s", (int)strcspn(taking->stream, "/"), taking->stream);
    if (strcmp(front, taking->stream) == 0)
        return fail_nothing(taking);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < config->instrument_count && code == RM_OK; i++)
        if (rm_pattern_matches(front, config->instrument[i].name))
            code = take_fitting(taking, &config->instrument[i]);
    return code == RM_OK && taking->application->input_count == before ? fail_nothing(taking) : code;
}

enum rm_code rm_config_take_inputs(struct rm_config *config, uint32_t application, uint32_t written,
                                   struct rm_file_application const *file, struct rm_error *error) {
    struct rm_config_application *const own = &config->application[application];
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < file->inputs_count && code == RM_OK; i++) {
        struct taking_input const taking = {config, own, written, i, file->inputs[i], error};
        code = rm_is_pattern(taking.stream) ? take_pattern(&taking) : take_name(&taking);
    }
    return code;
}
