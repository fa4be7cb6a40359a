// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "engine/version.h"

static void print_member(FILE *out, char const *key, char const *text) {
    fprintf(out, "  \"%s\": ", key);
    rm_json_text(out, text);
    fputs(",\n", out);
}

static void print_actuators(struct rm_host_setup const *setup, FILE *out) {
    fputs("  \"actuators\": [", out);
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        fputs(i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ", out);
        rm_json_text(out, setup->actuator[i].name);
        fputs(", \"unit\": ", out);
        rm_json_text(out, setup->actuator[i].unit);
        fputc('}', out);
    }
    fputs("],\n", out);
}

static void print_inputs(struct rm_simulation const *simulation, FILE *out) {
    struct rm_host_program const *program = simulation->program;
    fputs("  \"inputs\": [", out);
    for (uint32_t i = 0; i < program->setup.input_count; ++i) {
        struct rm_stream const *stream = program->input[i];
        fputs(i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ", out);
        rm_json_text(out, program->setup.input[i]);
        fputs(", \"lanes\": [", out);
        for (uint32_t l = 0; l < stream->lane_count; ++l) {
            fputs(l == 0 ? "" : ", ", out);
            rm_json_text(out, stream->lane[l].name);
        }
        fputs("], \"types\": [", out);
        for (uint32_t l = 0; l < stream->lane_count; ++l)
            fprintf(out, "%s\"%s\"", l == 0 ? "" : ", ", stream->lane[l].type == RM_LANE_F32 ? "f32" : "i32");
        fputs("]}", out);
    }
    fputs("],\n", out);
}

static void print_streams(struct rm_host_program const *program, FILE *out) {
    struct rm_application_code const *code = program->code.it;
    fputs("  \"streams\": [", out);
    for (uint32_t i = 0; i < code->stream_count; ++i) {
        fputs(i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ", out);
        rm_json_text(out, code->streams[i].name);
        fputs(", \"lanes\": [", out);
        for (uint32_t l = 0; l < RM_LANES && code->streams[i].lane[l].name != NULL; ++l) {
            fputs(l == 0 ? "{\"name\": " : ", {\"name\": ", out);
            rm_json_text(out, code->streams[i].lane[l].name);
            fputs(", \"unit\": ", out);
            rm_json_text(out, code->streams[i].lane[l].unit);
            fputc('}', out);
        }
        fputs("]}", out);
    }
    fputs("],\n", out);
}

/** Settings, or readings; `at` is where each begins in arrays.f64, `column` where a scalar is in reported.f64. */
static void print_numbers(struct rm_host_program const *program, bool readings, FILE *out) {
    struct rm_application_code const *code = program->code.it;
    uint32_t const count = readings ? code->reading_count : code->setting_count;
    uint32_t column = 0;
    fprintf(out, "  \"%s\": [", readings ? "readings" : "settings");
    for (uint32_t i = 0; i < count; ++i) {
        bool const array = readings ? code->readings[i].is_array : code->settings[i].is_array;
        fputs(i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ", out);
        rm_json_text(out, readings ? code->readings[i].name : code->settings[i].name);
        fputs(", \"unit\": ", out);
        rm_json_text(out, readings ? code->readings[i].unit : code->settings[i].unit);
        fprintf(out, ", \"at\": %u, \"length\": %u", readings ? program->reading_at[i] : program->setting_at[i],
                readings ? program->reading_length[i] : program->setting_length[i]);
        if (readings && !array)
            fprintf(out, ", \"column\": %u", column++);
        fprintf(out, ", \"array\": %s}", array ? "true" : "false");
    }
    fputs("],\n", out);
}

static uint32_t scalars_of(struct rm_application_code const *code) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < code->reading_count; ++i)
        count += !code->readings[i].is_array;
    return count;
}

static void print_files(struct rm_simulation const *simulation, FILE *out) {
    static char const *const TYPES[RM_RECORDED_FILES] = {"<i4", "<u8", "<f8", "<f8", "<f8", "<f4", "<f8"};
    struct rm_host_program const *program = simulation->program;
    uint32_t const width[RM_RECORDED_FILES] = {
        program->setup.input_count,    program->setup.input_count,    program->setup.actuator_count,
        program->setup.actuator_count, program->setup.actuator_count, program->code.it->stream_count,
        scalars_of(program->code.it),
    };
    bool first = true;
    fputs("  \"files\": {", out);
    for (unsigned f = 0; f < RM_RECORDED_FILES; ++f) {
        bool const lanes = f == RM_RECORDED_READINGS || f == RM_RECORDED_STREAMS;
        bool const wanted = (simulation->options->record >> (f <= RM_RECORDED_TAGS ? 0 : f - 1) & 1) != 0;
        if (!wanted || (f == RM_RECORDED_CURRENTS && simulation->replays))
            continue;
        fprintf(out, "%s\n    \"%s\": {\"dtype\": \"%s\", \"shape\": [%llu, %u%s]}", first ? "" : ",",
                rm_recorded_name[f], TYPES[f], (unsigned long long)simulation->done, width[f], lanes ? ", 12" : "");
        first = false;
    }
    fputs("},\n", out);
}

static void print_time(struct rm_simulation const *simulation, FILE *out) {
    double const rate = rm_simulation_rate_hz(simulation);
    double const seconds = (double)simulation->done / rate;
    fprintf(out, "  \"turn_rate_hz\": %.17g,\n  \"period_turns\": %llu,\n  \"rate_hz\": %.17g,\n",
            simulation->config->turn_rate_hz, (unsigned long long)simulation->program->setup.period_turns, rate);
    fprintf(out, "  \"first_turn\": %llu,\n  \"cycles\": %llu,\n  \"seconds\": %.9g,\n",
            (unsigned long long)simulation->first_turn, (unsigned long long)simulation->done, seconds);
    fprintf(out, "  \"wall_s\": %.6g,\n  \"times_real_time\": %.6g,\n", simulation->wall_s,
            simulation->wall_s > 0 ? seconds / simulation->wall_s : 0);
}

/* ── the machine's response ── */

/** The application's input that comes from an instrument of the ring, or UINT32_MAX. */
static uint32_t input_of(struct rm_simulation const *simulation, uint32_t instrument) {
    for (uint32_t i = 0; i < simulation->feed.count; ++i)
        if (simulation->feed.input[i].instrument == instrument)
            return i;
    return UINT32_MAX;
}

/** The name of its lane that a BPM's x (0) or y (1) is in. */
static void print_row(struct rm_simulation const *simulation, uint32_t bpm, uint32_t plane, FILE *out) {
    struct rm_ring_machine const *machine = &simulation->plant.config.machine;
    uint32_t const input = input_of(simulation, machine->bpm_instrument[bpm]);
    uint32_t lane = machine->bpm_lane[bpm] + plane;
    if (input == UINT32_MAX) {
        fputs("\"\"", out);
        return;
    }
    struct rm_feed_input const *own = &simulation->feed.input[input];
    for (uint32_t l = 0; own->described && l < own->lane_count; ++l)
        if (own->source[l].lane == machine->bpm_lane[bpm] + plane)
            lane = l;
    fprintf(out, "\"%s/%s\"", own->name, own->stream.lane[lane].name);
}

/** What the machine truly answers, as it stands at the end: floors are reckoned from it, and no controller sees it. */
static void print_response(struct rm_simulation const *simulation, FILE *out) {
    if (simulation->plant.machine == NULL)
        return;
    struct rm_ring_machine const *machine = &simulation->plant.config.machine;
    fputs("  \"response\": {\"rows\": [", out);
    for (uint32_t row = 0; row < 2 * machine->bpm_count; ++row) {
        fputs(row == 0 ? "" : ", ", out);
        print_row(simulation, row % machine->bpm_count, row / machine->bpm_count, out);
    }
    fputs("]},\n", out);
}

static bool write_response(struct rm_simulation const *simulation, FILE *out) {
    struct rm_ring_machine const *machine = &simulation->plant.config.machine;
    struct rm_config_application const *own = &simulation->config->application[simulation->application];
    uint32_t const supplies = simulation->plant.config.supplies.supply_count;
    double *all = calloc(2ul * machine->bpm_count * supplies + 1, sizeof *all);
    bool good = all != NULL;
    if (good)
        rm_machine_response(simulation->plant.machine, all);
    for (uint32_t row = 0; good && row < 2 * machine->bpm_count; ++row)
        for (uint32_t i = 0; good && i < own->supply_count; ++i) {
            uint32_t const supply = rm_sending_plant_supply(&simulation->sending, own->supply[i]);
            good = fwrite(&all[(size_t)row * supplies + supply], sizeof *all, 1, out) == 1;
        }
    free(all);
    return good;
}

static enum rm_code save_response(struct rm_simulation const *simulation, struct rm_error *error) {
    char const *folder = simulation->options->out;
    if (simulation->plant.machine == NULL)
        return RM_OK;
    FILE *out = rm_recording_file(folder, "response.f64", error);
    if (out == NULL)
        return RM_E_SYSTEM;
    bool const good = write_response(simulation, out);
    if (fclose(out) == 0 && good)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM, "%s/response.f64: %s", folder, strerror(errno));
}

/* ── the summary ── */

static void print_counts(struct rm_simulation const *simulation, FILE *out) {
    fprintf(out, "  \"missing\": %llu,\n  \"quiet\": %llu,\n", (unsigned long long)simulation->missed,
            (unsigned long long)simulation->quiet);
    if (simulation->sending.guard == NULL)
        return;
    static char const *const NAMES[RM_REFUSALS] = {
        "nothing", "grant", "stale", "future", "number", "low", "high", "slew", "ownership", "fault",
    };
    struct rm_application_view const *view = rm_guard_view(simulation->sending.guard, simulation->application);
    fprintf(out, "  \"guard\": {\"vectors\": %llu, \"refused_vectors\": %llu", (unsigned long long)view->vectors,
            (unsigned long long)simulation->sending.refused_vectors);
    for (unsigned r = 1; r < RM_REFUSALS; ++r)
        if (view->refused[r] != 0)
            fprintf(out, ", \"%s\": %llu", NAMES[r], (unsigned long long)view->refused[r]);
    fputs("},\n", out);
}

void rm_summary_print(struct rm_simulation const *simulation, FILE *out) {
    struct rm_host_program const *program = simulation->program;
    struct rm_simulate_options const *options = simulation->options;
    fputs("{\n", out);
    print_member(out, "version", RM_VERSION);
    print_member(out, "application", program->setup.name);
    print_member(out, "config", options->files.config);
    print_member(out, "overlay", options->files.overlay == NULL ? "" : options->files.overlay);
    print_member(out, "replay", options->replay != NULL ? options->replay : "");
    print_time(simulation, out);
    fprintf(out, "  \"seed\": %llu,\n  \"shuffle\": %llu,\n  \"latency_us\": %.9g,\n  \"refreshes\": %llu,\n",
            (unsigned long long)simulation->plant.config.beam.seed, (unsigned long long)options->shuffle,
            options->latency_s * 1e6, (unsigned long long)simulation->plant.refreshes);
    fprintf(out, "  \"input_count\": %u,\n  \"actuator_count\": %u,\n", program->setup.input_count,
            program->setup.actuator_count);
    print_inputs(simulation, out);
    print_actuators(&program->setup, out);
    print_streams(program, out);
    rm_simulation_rows_print(&simulation->rows, out);
    print_numbers(program, false, out);
    print_numbers(program, true, out);
    print_counts(simulation, out);
    print_files(simulation, out);
    print_response(simulation, out);
    fprintf(out, "  \"value_count\": %u\n}\n", program->reading_values);
}

/** "0.5:feedback/loop=1" as an entry of a file. */
static void print_events(struct rm_events const *events, FILE *out) {
    fputs(events->count == 0 ? "events: []\n" : "events:\n", out);
    for (uint32_t i = 0; i < events->count; ++i)
        fprintf(out, "  - {at: %.17g, set: \"%s=%s\"}\n", events->event[i].at, events->event[i].name,
                events->event[i].value);
}

enum rm_code rm_summary_write(struct rm_simulation const *simulation, struct rm_error *error) {
    char const *folder = simulation->options->out;
    struct rm_host_program const *program = simulation->program;
    FILE *summary = rm_recording_file(folder, "simulation.json", error);
    FILE *events = summary == NULL ? NULL : rm_recording_file(folder, "events.yaml", error);
    FILE *arrays = events == NULL ? NULL : rm_recording_file(folder, "arrays.f64", error);
    bool failed = arrays == NULL;
    if (!failed) {
        rm_summary_print(simulation, summary);
        print_events(&simulation->options->events, events);
        failed = fwrite(program->reading, sizeof *program->reading, program->reading_values, arrays) !=
                 program->reading_values;
        if (failed)
            rm_fail(error, RM_E_SYSTEM, "%s/arrays.f64: %s", folder, strerror(errno));
    }
    FILE *const files[] = {summary, events, arrays};
    for (unsigned f = 0; f < 3; ++f)
        if (files[f] != NULL && fclose(files[f]) != 0 && !failed) {
            failed = true;
            rm_fail(error, RM_E_SYSTEM, "%s: %s", folder, strerror(errno));
        }
    return failed ? RM_E_SYSTEM : save_response(simulation, error);
}
