// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "base/zeroed.h"
#include "engine/application_setup.h"
#include "happen.h"
#include "instruments/noise.h"
#include "instruments/truth.h"

static double const EARLY = 1e-9; /**< of a second: an event at 0.5 s belongs to the cycle that is rounded to it */

/* ── making ── */

static enum rm_code open_program(struct rm_simulation *simulation, struct rm_error *error) {
    struct rm_host_setup setup;
    struct rm_error reason;
    enum rm_code code = rm_application_setup_make(simulation->config, simulation->application, &setup, &reason);
    if (code == RM_OK) {
        setup.workspace = NULL; // of a server of this file that may run, nothing is asked
        code = rm_host_program_open(&setup, &simulation->program, &reason);
        rm_application_setup_free(&setup);
    }
    if (code == RM_OK)
        return RM_OK;
    return rm_fail(error, code, "application \"%s\": %s", simulation->options->application, reason.text);
}

static enum rm_code take_inputs(struct rm_simulation *simulation, struct rm_error *error) {
    struct rm_host_program *const program = simulation->program;
    bool const takes_runs = program->code.it->takes_runs != 0;
    enum rm_code code = RM_OK;
    if (takes_runs && !rm_host_runs_open(&simulation->runs, simulation->feed.count, program->setup.period_turns))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for runs");
    for (uint32_t i = 0; code == RM_OK && i < simulation->feed.count; ++i) {
        struct rm_stream const *const stream = &simulation->feed.input[i].stream;
        program->input[i] = stream;
        code = rm_host_program_takes(program, i, stream->period, error);
        if (code == RM_OK && takes_runs && !rm_host_runs_make_room(&simulation->runs, i, stream))
            code = rm_fail(error, RM_E_NO_SPACE, "no memory for the runs of %s", program->setup.input[i]);
    }
    return code;
}

/** The ring, and what is between it and the application. */
static enum rm_code open_ring(struct rm_simulation *simulation, struct rm_error *error) {
    struct rm_simulate_options const *options = simulation->options;
    struct rm_plant *plant = &simulation->plant;
    uint64_t const period = simulation->program->setup.period_turns;
    enum rm_code code = rm_plant_open(&options->files, true, options->refresh_s, plant, error);
    if (code == RM_OK && options->truth != NULL)
        code = rm_truth_write(&plant->config, plant->machine, options->truth, error);
    if (code != RM_OK)
        return code;
    simulation->first_turn = (plant->config.first_turn + period - 1) / period * period;
    code = rm_feed_open(simulation->config, simulation->application, plant, &simulation->feed, error);
    if (code == RM_OK)
        code = rm_sending_open(simulation->config, simulation->application, plant, &simulation->sending, error);
    if (code == RM_OK)
        code = take_inputs(simulation, error);
    if (code == RM_OK)
        rm_sending_sent(&simulation->sending, simulation->program->sent);
    return code;
}

/** A replay needs the ring for nothing but the streams' description. */
static enum rm_code open_replay(struct rm_simulation *simulation, struct rm_error *error) {
    struct rm_simulate_options *options = simulation->options;
    struct rm_host_setup const *setup = &simulation->program->setup;
    if (simulation->program->code.it->takes_runs != 0)
        return rm_fail(
            error, RM_E_CONFIG,
            "application \"%s\" takes runs, and a simulation's folder has one record of each input in a step: "
            "replay its recorded streams, with `--archive %s/recorded` of a run with `--record all,decisions`",
            setup->name, options->replay);
    enum rm_code code = rm_replay_open(options->replay, setup->input_count, setup->actuator_count, &options->events,
                                       &simulation->replay, error);
    if (code != RM_OK)
        return code;
    simulation->replays = true;
    simulation->first_turn = simulation->replay.first_turn;
    code = rm_plant_open(&options->files, false, 0, &simulation->plant, error);
    if (code == RM_OK)
        code = rm_feed_open(simulation->config, simulation->application, &simulation->plant, &simulation->feed, error);
    if (code == RM_OK)
        code = take_inputs(simulation, error);
    return code;
}

static enum rm_code simulation_allocate(struct rm_simulation *simulation, struct rm_error *error) {
    struct rm_host_program const *program = simulation->program;
    size_t const inputs = program->setup.input_count + 1ul;
    size_t const widest = program->setup.actuator_count + program->reading_values + 1ul;
    simulation->record = rm_zeroed(inputs, sizeof *simulation->record);
    simulation->missing = calloc(inputs, sizeof *simulation->missing);
    simulation->order = calloc(inputs, sizeof *simulation->order);
    simulation->row = calloc(widest, sizeof *simulation->row);
    if (!simulation->record || !simulation->missing || !simulation->order || !simulation->row)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %zu inputs", inputs - 1);
    for (uint32_t i = 0; i < program->setup.input_count; ++i)
        simulation->record[i].turn = RM_TURN_NONE;
    return RM_OK;
}

static void count_cycles(struct rm_simulation *simulation) {
    struct rm_simulate_options const *options = simulation->options;
    simulation->cycles = options->cycles;
    if (options->seconds > 0)
        simulation->cycles = (uint64_t)ceil(options->seconds * rm_simulation_rate_hz(simulation) - EARLY);
    if (simulation->replays && (simulation->cycles == 0 || simulation->cycles > simulation->replay.cycles))
        simulation->cycles = simulation->replay.cycles;
}

enum rm_code rm_simulation_open(struct rm_simulate_options *options, struct rm_simulation *simulation,
                                struct rm_error *error) {
    *simulation = (struct rm_simulation){.options = options};
    enum rm_code code = rm_config_load(options->files.config, &simulation->config, error);
    if (code == RM_OK)
        code = rm_application_find(simulation->config, options->application, &simulation->application, error);
    if (code == RM_OK)
        code = open_program(simulation, error);
    if (code == RM_OK)
        code = options->replay != NULL ? open_replay(simulation, error) : open_ring(simulation, error);
    if (code == RM_OK)
        code = simulation_allocate(simulation, error);
    if (code != RM_OK)
        return code;
    rm_events_sort(&options->events);
    count_cycles(simulation);
    code = rm_simulation_until_open(&simulation->until, options->until, simulation->program,
                                    rm_simulation_rate_hz(simulation), error);
    if (code != RM_OK)
        return code;
    code = rm_recording_open(options->out, options->record, &simulation->recording, error);
    if (code == RM_OK && (options->record & RM_RECORD_STREAMS) != 0)
        code = rm_simulation_rows_open(&simulation->rows, options->out, simulation->program, error);
    if (code == RM_OK && (options->record & RM_RECORD_DECISIONS) != 0)
        code = rm_simulation_decisions_open(&simulation->decisions, options->out, simulation->program, error);
    return code;
}

void rm_simulation_close(struct rm_simulation *simulation) {
    struct rm_error ignored;
    (void)rm_recording_close(&simulation->recording, &ignored);
    (void)rm_simulation_decisions_close(&simulation->decisions, &ignored);
    (void)rm_simulation_rows_close(&simulation->rows, &ignored);
    rm_host_program_close(simulation->program);
    rm_sending_close(&simulation->sending);
    rm_feed_close(&simulation->feed);
    rm_host_runs_close(&simulation->runs);
    rm_plant_close(&simulation->plant);
    rm_replay_close(&simulation->replay);
    rm_config_free(simulation->config);
    free(simulation->record);
    free(simulation->missing);
    free(simulation->order);
    free(simulation->row);
    *simulation = (struct rm_simulation){0};
}

/* ── one cycle ── */

static enum rm_code simulation_apply_events(struct rm_simulation *simulation, double time, struct rm_error *error) {
    struct rm_events const *events = &simulation->options->events;
    enum rm_code code = RM_OK;
    while (code == RM_OK && simulation->next_event < events->count &&
           events->event[simulation->next_event].at <= time + EARLY)
        code = rm_simulation_happen(simulation, &events->event[simulation->next_event++], error);
    return code;
}

static enum rm_code simulation_gather_inputs(struct rm_simulation *simulation, rm_turn turn, struct rm_error *error) {
    if (simulation->replays)
        return rm_replay_next(&simulation->replay, turn, simulation->record, simulation->missing,
                              simulation->program->sent, error);
    enum rm_code const code =
        rm_feed_gather(&simulation->feed, &simulation->plant, turn, simulation->record, simulation->missing, error);
    rm_sending_sent(&simulation->sending, simulation->program->sent);
    if (code == RM_OK && simulation->runs.count > 0) {
        rm_feed_run(&simulation->feed, turn, &simulation->runs);
        rm_host_program_give_runs(simulation->program, &simulation->runs);
    }
    return code;
}

/** The order of arrivals: that of the inputs, or another in each cycle. */
static void simulation_shuffle_inputs(struct rm_simulation *simulation) {
    uint32_t const count = simulation->program->setup.input_count;
    uint32_t *order = simulation->order;
    for (uint32_t i = 0; i < count; ++i)
        order[i] = i;
    if (simulation->options->shuffle == 0)
        return;
    uint64_t key = rm_noise_u64(simulation->options->shuffle ^ rm_noise_u64(simulation->done + 1));
    for (uint32_t i = count; i > 1; --i) {
        key = rm_noise_u64(key);
        uint32_t const other = (uint32_t)(key % i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static uint32_t simulation_deliver_inputs(struct rm_simulation *simulation) {
    uint32_t missing = 0;
    simulation_shuffle_inputs(simulation);
    for (uint32_t i = 0; i < simulation->program->setup.input_count; ++i) {
        uint32_t const input = simulation->order[i];
        if (simulation->missing[input])
            ++missing;
        else
            rm_host_program_arrive(simulation->program, input, &simulation->record[input]);
    }
    return missing;
}

/** The cycles of setpoints until the application's next step. */
static enum rm_code simulation_send_setpoints(struct rm_simulation *simulation, rm_turn turn, struct rm_error *error) {
    struct rm_config_setpoints const *setpoints = &simulation->config->setpoints;
    if (simulation->replays || setpoints->period_turns == 0)
        return RM_OK;
    bool const leads = setpoints->lead == simulation->application;
    uint32_t const closing = simulation->feed.closing_turns;
    rm_turn cycle = turn;
    while (!leads && cycle + setpoints->phase_turns < turn + closing)
        cycle += setpoints->period_turns;
    rm_turn const end = cycle + simulation->program->setup.period_turns;
    enum rm_code code = RM_OK;
    for (; cycle < end && code == RM_OK; cycle += setpoints->period_turns) {
        uint32_t const wait = leads ? closing : setpoints->phase_turns;
        double const time = rm_plant_seconds(&simulation->plant, cycle + wait) + simulation->options->latency_s;
        code = rm_sending_cycle(&simulation->sending, cycle, time, error);
    }
    return code;
}

static void record_inputs(struct rm_simulation *simulation) {
    struct rm_recording *recording = &simulation->recording;
    struct rm_host_program const *program = simulation->program;
    for (uint32_t i = 0; i < program->setup.input_count; ++i) {
        uint64_t const tag = simulation->missing[i] ? RM_TAG_OF_MISSING : simulation->record[i].tag;
        rm_recording_put(recording, RM_RECORDED_READINGS, simulation->record[i].lane,
                         sizeof simulation->record[i].lane);
        rm_recording_put(recording, RM_RECORDED_TAGS, &tag, sizeof tag);
    }
    rm_recording_put(recording, RM_RECORDED_SENT, program->sent, program->setup.actuator_count * sizeof(double));
    if (simulation->replays || recording->file[RM_RECORDED_CURRENTS] == NULL)
        return;
    struct rm_config_application const *own = &simulation->config->application[simulation->application];
    for (uint32_t i = 0; i < own->supply_count; ++i)
        simulation->row[i] =
            rm_plant_current(&simulation->plant, rm_sending_plant_supply(&simulation->sending, own->supply[i]));
    rm_recording_put(recording, RM_RECORDED_CURRENTS, simulation->row, own->supply_count * sizeof(double));
}

static void record_reported(struct rm_simulation *simulation) {
    struct rm_recording *recording = &simulation->recording;
    struct rm_host_program const *program = simulation->program;
    struct rm_application_code const *code = program->code.it;
    uint32_t scalars = 0;
    for (uint32_t i = 0; i < code->reading_count; ++i)
        if (!code->readings[i].is_array)
            simulation->row[scalars++] = program->reading[program->reading_at[i]];
    rm_recording_put(recording, RM_RECORDED_REPORTED, simulation->row, scalars * sizeof(double));
    rm_recording_put(recording, RM_RECORDED_STREAMS, program->stream, code->stream_count * sizeof *program->stream);
}

static enum rm_code simulation_step_turn(struct rm_simulation *simulation, rm_turn turn, struct rm_error *error) {
    struct rm_host_program *program = simulation->program;
    enum rm_code code = simulation_gather_inputs(simulation, turn, error);
    if (code == RM_OK && simulation->done == 0)
        code = rm_host_program_init(program, error);
    if (code == RM_OK)
        code = rm_simulation_decisions_adopt(&simulation->decisions, simulation->done == 0, error);
    if (code != RM_OK)
        return code;
    record_inputs(simulation);
    rm_host_program_expect(program, NULL);
    uint32_t const missing = simulation_deliver_inputs(simulation);
    bool const sends =
        rm_host_program_step(program, turn, simulation->record, simulation->missing, missing) == RM_STEP_SEND;
    rm_recording_put(&simulation->recording, RM_RECORDED_SETPOINTS, program->command.setpoint,
                     program->setup.actuator_count * sizeof(double));
    simulation->missed += missing;
    simulation->quiet += !sends;
    if (sends && !simulation->replays)
        rm_sending_vector(&simulation->sending, turn, program->command.setpoint);
    uint32_t const setpoints = rm_simulation_decisions_setpoints(&simulation->decisions, sends);
    code = simulation_send_setpoints(simulation, turn, error);
    rm_host_program_prepare(program);
    rm_simulation_decisions_record(&simulation->decisions, sends, setpoints);
    rm_host_program_work(program);
    record_reported(simulation);
    rm_simulation_rows_put(&simulation->rows, turn);
    ++simulation->done;
    return code;
}

/* ── all cycles ── */

/** A bar on a terminal, where it takes longer than two seconds. */
static void show_progress(struct rm_simulation const *simulation, double wall_s, bool last) {
    enum { WIDTH = 40 };
    static char const BAR[] = "########################################";
    double const share = (double)simulation->done / (double)simulation->cycles;
    if (wall_s < 2 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r[%-*.*s] %3.0f %%, %.3g s of %.3g s, %.2g × real time %s", WIDTH, (int)(share * WIDTH), BAR,
            100 * share, (double)simulation->done / rm_simulation_rate_hz(simulation),
            (double)simulation->cycles / rm_simulation_rate_hz(simulation),
            (double)simulation->done / rm_simulation_rate_hz(simulation) / wall_s, last ? "\n" : "");
}

enum rm_code rm_simulation_run(struct rm_simulation *simulation, volatile sig_atomic_t const *stop,
                               struct rm_error *error) {
    uint64_t const begun = rm_monotonic_ns();
    uint64_t shown = begun;
    double const period_s = 1 / rm_simulation_rate_hz(simulation);
    enum rm_code code = RM_OK;
    bool over = false;
    while (code == RM_OK && simulation->done < simulation->cycles && !over && !*stop) {
        rm_turn const turn = simulation->first_turn + simulation->done * simulation->program->setup.period_turns;
        code = simulation_apply_events(simulation, (double)simulation->done * period_s, error);
        if (code == RM_OK)
            code = simulation_step_turn(simulation, turn, error);
        over = code == RM_OK && rm_simulation_until_over(&simulation->until, simulation->program);
        uint64_t const now = simulation->done % 64 == 0 ? rm_monotonic_ns() : shown;
        if (now - shown > 200000000) {
            show_progress(simulation, (double)(now - begun) * 1e-9, false);
            shown = now;
        }
    }
    simulation->wall_s = (double)(rm_monotonic_ns() - begun) * 1e-9;
    show_progress(simulation, simulation->wall_s, true);
    return code;
}
