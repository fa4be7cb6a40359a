// SPDX-License-Identifier: Apache-2.0
/** What the host of an application adds between its last input and its vector.
 *
 *     host_cost APPLICATION.so [CYCLES]
 *
 * One thread is the server: it publishes records of all inputs one after the other, the last one some microseconds
 * later, takes the vector as the guard does, and says what it sent. The other one is the host, spinning, with an
 * application that does next to nothing (host_cost_application.c). Printed are, in nanoseconds of 2 or 3 quantiles:
 * from the last record seen by the host to the vector committed; and from the last record published to the vector
 * taken, on the server's side. Needs two cores that no other program uses.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <ringmaster/grant.h>
#include <ringmaster/setpoint.h>

#include "base/options.h"
#include "base/timebase.h"
#include "fabric/clock_writer.h"
#include "fabric/sequence_lock.h"
#include "fabric/stream_writer.h"
#include "fabric/test_workspace.h"
#include "host/host_state.h"
#include "rounds.h"

enum { INPUTS_MAX = 256, ACTUATORS_MAX = 1024, PERIOD = 120, WARM_CYCLES = 1000, NAME_BYTES = 24, MARGIN_TURNS = 64 };

static double const TURN_RATE_HZ = 1157000.0;
static double const GAP_SECONDS = 10e-6; /**< before the last record, and after the vector */

struct bench {
    struct rm_stream_writer writer[INPUTS_MAX];
    char input_name[INPUTS_MAX][NAME_BYTES], actuator_name[ACTUATORS_MAX][NAME_BYTES];
    char const *input[INPUTS_MAX];
    struct rm_host_actuator actuator[ACTUATORS_MAX];
    char names[ACTUATORS_MAX * NAME_BYTES];
    uint32_t inputs, actuators;
    double tsc_hz;
    struct rm_segment_plan plan;
    struct rm_segment segment;
    rm_planned_index clock, grant, sent, state, stream[INPUTS_MAX];
    struct rm_host *host;
    struct rm_setpoints_place place;
    atomic_bool ending;
};

static void *host_cost_object(struct bench *bench, rm_planned_index index) {
    return rm_segment_memory(&bench->segment, &bench->plan, index);
}

/* ── the server ── */

static void name_all(struct bench *bench) {
    size_t used = 0;
    for (uint32_t i = 0; i < bench->inputs; ++i) {
        snprintf(bench->input_name[i], NAME_BYTES, "bpm%03u/raw", i);
        bench->input[i] = bench->input_name[i];
    }
    for (uint32_t i = 0; i < bench->actuators; ++i) {
        snprintf(bench->actuator_name[i], NAME_BYTES, "ps/c%04u", i);
        used += (size_t)snprintf(bench->names + used, sizeof bench->names - used, "%s\n", bench->actuator_name[i]);
        bench->actuator[i] = (struct rm_host_actuator){
            .name = bench->actuator_name[i], .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0};
    }
}

static void open_server(struct bench *bench) {
    struct rm_stream const stream = {
        .capacity = 1024,
        .period = PERIOD,
        .instrument_kind = RM_KIND_BPM,
        .lane_count = 1,
        .filter = "none",
        .lane = {{.name = "x1", .unit = "nm", .type = RM_LANE_I32}},
    };
    struct rm_grant const grant = {.actuator_count = bench->actuators, .period_turns = PERIOD};
    struct rm_error error;
    rm_plan_init(&bench->plan);
    bench->clock = rm_plan_clock(&bench->plan, "clock", "the clock");
    bench->grant = rm_plan_grant(&bench->plan, "grant/app", "a grant", &grant);
    bench->sent = rm_plan_setpoints(&bench->plan, "setpoints/sent", "what was sent", bench->actuators);
    rm_plan_text(&bench->plan, "supply/names", "supplies", bench->names);
    bench->state =
        rm_plan_parameter(&bench->plan, "supply/state", "", "supplies", RM_ELEMENT_U32, bench->actuators, NULL);
    for (uint32_t i = 0; i < bench->inputs; ++i)
        bench->stream[i] = rm_plan_stream(&bench->plan, bench->input[i], "a position monitor", &stream);
    bench_must(rm_segment_open("demo", "server", &bench->plan, &bench->segment, &error), &error);
    for (uint32_t i = 0; i < bench->inputs; ++i)
        if (!rm_stream_writer_open(&bench->writer[i], host_cost_object(bench, bench->stream[i]), MARGIN_TURNS))
            bench_fail("no memory for a stream");
    rm_segment_finish(&bench->segment);
}

static void send_vector(struct bench *bench) {
    struct rm_setpoint_vector *vector = rm_setpoints_begin(host_cost_object(bench, bench->sent));
    for (uint32_t i = 0; i < bench->actuators; ++i)
        rm_setpoints_put(vector, i, 0.5);
    rm_setpoints_commit(vector, 1, 0, rm_tsc());
}

static void give_grant(struct bench *bench) {
    struct rm_grant *grant = host_cost_object(bench, bench->grant);
    rm_sequence_begin(&grant->sequence);
    atomic_store(&grant->grant_number, 7);
    atomic_store(&grant->instance, rm_owner_header(bench->host->owner)->generation);
    atomic_store(&grant->pid, (uint64_t)getpid());
    rm_sequence_end(&grant->sequence);
}

static void wait_for_seconds(struct bench const *bench, double seconds) {
    uint64_t const end = rm_tsc() + (uint64_t)(seconds * bench->tsc_hz);
    while (rm_tsc() < end)
        rm_pause();
}

static void host_cost_put_input(struct bench *bench, uint32_t input, rm_turn turn) {
    struct rm_record const record = {.turn = turn, .lane = {{.i = 3}}};
    rm_stream_writer_put(&bench->writer[input], &record);
    rm_stream_writer_publish(&bench->writer[input], rm_tsc());
}

/** One cycle; returns from the last record published to the vector taken. */
static uint64_t host_cost_cycle(struct bench *bench, rm_turn turn) {
    double values[ACTUATORS_MAX];
    struct rm_setpoint_reading reading;
    size_t const vector_bytes = rm_setpoint_vector_bytes(bench->actuators);
    for (uint32_t i = 0; i + 1 < bench->inputs; ++i)
        host_cost_put_input(bench, i, turn);
    wait_for_seconds(bench, GAP_SECONDS);
    uint64_t const begun = rm_tsc();
    host_cost_put_input(bench, bench->inputs - 1, turn);
    while (!rm_setpoints_copy(bench->host->vectors, vector_bytes, &bench->place, &reading, values, bench->actuators))
        rm_pause();
    uint64_t const taken = rm_tsc();
    send_vector(bench);
    wait_for_seconds(bench, GAP_SECONDS);
    return taken - begun;
}

/* ── the host ── */

static void *turn_over(void *argument) {
    struct bench *bench = argument;
    while (!atomic_load_explicit(&bench->ending, memory_order_relaxed))
        rm_host_duty(bench->host, rm_tsc());
    return NULL;
}

static void open_host(struct bench *bench, char const *code, bool full) {
    struct rm_host_setting const setting = {"full", full ? 1.0 : 0.0};
    struct rm_host_setup const setup = {
        .workspace = "demo",
        .name = "app",
        .code = code,
        .turn_rate_hz = TURN_RATE_HZ,
        .period_turns = PERIOD,
        .deadline_turns = 2 * PERIOD,
        .input_count = bench->inputs,
        .input = bench->input,
        .actuator_count = bench->actuators,
        .actuator = bench->actuator,
        .setting_count = 1,
        .setting = &setting,
    };
    struct rm_error error;
    bench_must(rm_host_open(&setup, &bench->host, &error), &error);
}

/* ── figures ── */

/** The value below which `share` of the histogram lies, in nanoseconds; within 6 %. */
static double host_cost_quantile(struct rm_histogram const *histogram, double share, double tsc_hz) {
    double const wanted = share * (double)atomic_load(&histogram->total);
    double seen = 0.0;
    unsigned i = 0;
    for (; i < RM_HISTOGRAM_BUCKETS - 1 && seen <= wanted; ++i)
        seen += (double)atomic_load(&histogram->bucket[i]);
    return (double)rm_histogram_floor(i) * 1e9 / tsc_hz;
}

static void host_cost_report(struct bench *bench, double *ticks, size_t cycles, bool full) {
    double const ns = 1e9 / bench->tsc_hz;
    struct bench_figure const taken = bench_figure_of(ticks, cycles, 0);
    printf("%3u inputs %4u actuators, %s step: seen to committed %4.0f median %4.0f p99; published to taken %4.0f "
           "median %4.0f p99 ns\n",
           bench->inputs, bench->actuators, full ? " full" : "empty",
           host_cost_quantile(bench->host->latency, 0.5, bench->tsc_hz),
           host_cost_quantile(bench->host->latency, 0.99, bench->tsc_hz), taken.median * ns, taken.p99 * ns);
}

static void close_all(struct bench *bench) {
    rm_host_close(bench->host);
    for (uint32_t i = 0; i < bench->inputs; ++i)
        rm_stream_writer_close(&bench->writer[i]);
    rm_segment_close(&bench->segment);
    rm_plan_free(&bench->plan);
}

static void host_cost_measure(char const *code, uint32_t inputs, uint32_t actuators, bool full, size_t cycles) {
    struct bench *bench = bench_allocate(sizeof *bench);
    double *ticks = bench_allocate(cycles * sizeof *ticks);
    bench->inputs = inputs;
    bench->actuators = actuators;
    bench->tsc_hz = rm_tsc_hz_measure();
    name_all(bench);
    open_server(bench);
    open_host(bench, code, full);
    send_vector(bench);
    give_grant(bench);
    pthread_t thread;
    pthread_create(&thread, NULL, turn_over, bench);
    while (rm_counter_get(bench->host->counters, RM_APPLICATION_GRANTS) == 0)
        usleep(1000);
    rm_turn turn = (rm_turn)PERIOD * 1000;
    for (size_t i = 0; i < WARM_CYCLES; ++i)
        host_cost_cycle(bench, turn += PERIOD);
    for (size_t i = 0; i < cycles; ++i)
        ticks[i] = (double)host_cost_cycle(bench, turn += PERIOD);
    host_cost_report(bench, ticks, cycles, full);
    atomic_store(&bench->ending, true);
    pthread_join(thread, NULL);
    close_all(bench);
    free(ticks);
    free(bench);
}

int main(int argc, char **argv) {
    char workspaces[PATH_MAX / 2], folder[PATH_MAX];
    char const *code = NULL;
    uint64_t cycles = 20000;
    struct rm_option options[] = {
        {"APPLICATION.so", &code, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CYCLES", &cycles, 1, 1e9, .kind = RM_OPTION_WHOLE, .place = RM_OPTIONAL_WORD},
    };
    rm_options_or_exit(argc, argv, "Usage: host_cost APPLICATION.so [CYCLES]\n", options,
                       sizeof options / sizeof *options);
    if (!test_workspaces_make(workspaces, sizeof workspaces))
        return 1;
    static uint32_t const sizes[][2] = {{84, 168}, {84, 528}, {168, 168}, {168, 528}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        for (int full = 0; full < 2; ++full) {
            host_cost_measure(code, sizes[i][0], sizes[i][1], full != 0, cycles);
            test_workspaces_remove(workspaces);
            snprintf(folder, sizeof folder, "%s", workspaces);
            mkdir(folder, 0755);
        }
    test_workspaces_remove(workspaces);
    return 0;
}
