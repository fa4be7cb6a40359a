// SPDX-License-Identifier: Apache-2.0
#include "engine/application_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "config/instrument_rates.h"
#include "engine/application_setup.h"
#include "host/host_code.h"
#include "host/host_program.h"
#include "host/host_stream.h"

/** Turns from one record of this input to the next. */
static uint32_t period_of(struct rm_config const *config, struct rm_config_instrument const *instrument,
                          char const *input) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    char const *const name = input + strcspn(input, "/") + 1;
    uint32_t const count = rm_instrument_rates(config, instrument->period_turns, rate);
    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(rate[i].name, name) == 0)
            return rate[i].period;
    return instrument->period_turns;
}

/** Period and lanes, as the server will publish them. Decimated lanes are floating point. */
static void describe_input(struct rm_config_instrument const *instrument, uint32_t period, char const *input,
                           struct rm_stream *stream) {
    *stream = (struct rm_stream){
        .period = period,
        .instrument_kind = instrument->kind,
        .instrument_id = instrument->id,
        .source_ipv4 = instrument->source_ipv4,
        .lane_count = instrument->lane_count,
        .gain = 1.0,
    };
    memcpy(stream->lane, instrument->lane, sizeof stream->lane);
    char const *const slash = strchr(input, '/');
    bool const own = slash != NULL && strcmp(slash + 1, rm_instrument_own_rate(instrument->period_turns)) == 0;
    for (uint32_t i = 0; i < stream->lane_count && !own; ++i)
        if (stream->lane[i].reduction == RM_REDUCE_FIR)
            stream->lane[i].type = RM_LANE_F32;
}

/** The stream of another application, as its code describes it. */
static enum rm_code describe_application_input(struct rm_config const *config, uint32_t source, char const *input,
                                               struct rm_stream *stream, struct rm_error *error) {
    struct rm_config_application const *const application = &config->application[source];
    struct rm_host_code code = {0};
    enum rm_code loaded = rm_host_code_load(application->code, &code, error);
    if (loaded != RM_OK)
        return loaded;
    char const *const wanted = strchr(input, '/') + 1;
    char names[256] = "none";
    int used = 0;
    loaded = RM_E_CONFIG;
    for (uint32_t i = 0; i < code.it->stream_count && loaded != RM_OK; ++i) {
        struct rm_application_stream const *const it = &code.it->streams[i];
        if (strcmp(it->name, wanted) == 0) {
            *stream = rm_host_stream_describe(it, application->period_turns);
            loaded = RM_OK;
        } else if (used < (int)sizeof names) {
            used += snprintf(names + used, sizeof names - (size_t)used, "%s%s/%s", i == 0 ? "" : ", ",
                             application->name, it->name);
        }
    }
    if (loaded != RM_OK)
        rm_fail(error, loaded, "the application %s has no stream \"%s\", expected one of: %s", application->name, input,
                names);
    rm_host_code_unload(&code);
    return loaded;
}

static enum rm_code describe_any_input(struct rm_config const *config, char const *input, struct rm_stream *stream,
                                       struct rm_error *error) {
    struct rm_config_instrument const *const instrument = rm_config_input_instrument(config, input);
    if (instrument == NULL)
        return describe_application_input(config, rm_config_input_application(config, input), input, stream, error);
    describe_input(instrument, period_of(config, instrument, input), input, stream);
    return RM_OK;
}

static enum rm_code init_program(struct rm_config const *config, struct rm_config_application const *application,
                                 struct rm_host_program *program, struct rm_error *error) {
    struct rm_stream *const stream = rm_zeroed(application->input_count + 1ul, sizeof *stream);
    if (stream == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < application->input_count && code == RM_OK; ++i) {
        code = describe_any_input(config, application->input[i], &stream[i], error);
        program->input[i] = &stream[i];
        if (code == RM_OK)
            code = rm_host_program_takes(program, i, stream[i].period, error);
    }
    for (uint32_t i = 0; i < application->supply_count; ++i)
        program->sent[i] = config->supply[application->supply[i]].safe;
    if (code == RM_OK)
        code = rm_host_program_init(program, error);
    free(stream);
    return code;
}

enum rm_code rm_application_check(struct rm_config const *config, uint32_t index, struct rm_error *error) {
    struct rm_config_application const *const application = &config->application[index];
    struct rm_host_setup setup;
    struct rm_host_program *program = NULL;
    struct rm_error reason = {.text = ""};
    uint32_t wrong_setting = UINT32_MAX;
    enum rm_code code = rm_application_setup_make(config, index, &setup, &reason);
    if (code == RM_OK) {
        setup.wrong_setting = &wrong_setting;
        code = rm_host_program_open(&setup, &program, &reason);
        rm_application_setup_free(&setup);
    }
    /* The units of calibrated streams come from the calibration's table, which this does not read. */
    bool const knows_lanes = config->calibration.apply != RM_CALIBRATED_IN_STREAM;
    if (code == RM_OK && knows_lanes)
        code = init_program(config, application, program, &reason);
    rm_host_program_close(program);
    return code == RM_OK ? RM_OK : rm_application_fail(config, index, wrong_setting, code, &reason, error);
}
