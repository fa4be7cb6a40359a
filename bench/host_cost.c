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

#include "base/options.h"
#include "base/timebase.h"
#include "host/host_state.h"
#include "host/test_server.h"
#include "quantile.h"
#include "rounds.h"

enum { INPUTS_MAX = 256, ACTUATORS_MAX = 1024, PERIOD = 120, WARM_CYCLES = 1000, NAME_BYTES = 24, MARGIN_TURNS = 64 };

static double const TURN_RATE_HZ = 1157000.0;
static double const GAP_SECONDS = 10e-6; /**< before the last record, and after the vector */

struct bench {
    struct test_server server;
    char input_name[INPUTS_MAX][NAME_BYTES], actuator_name[ACTUATORS_MAX][NAME_BYTES];
    char const *input[INPUTS_MAX];
    struct rm_host_actuator actuator[ACTUATORS_MAX];
    char names[ACTUATORS_MAX * NAME_BYTES];
    uint32_t inputs, actuators;
    double tsc_hz;
    struct rm_host *host;
    struct rm_setpoints_place place;
    double sent[ACTUATORS_MAX];
    atomic_bool ending;
};

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
    struct test_shape const shape = {
        .input = bench->input,
        .inputs = bench->inputs,
        .stream = {.capacity = 1024,
                   .period = PERIOD,
                   .instrument_kind = RM_KIND_BPM,
                   .lane_count = 1,
                   .filter = "none",
                   .lane = {{.name = "x1", .unit = "nm", .type = RM_LANE_I32}}},
        .names = bench->names,
        .supplies = bench->actuators,
        .granted = bench->actuators,
        .turn_rate_hz = TURN_RATE_HZ,
    };
    test_server_plan_as(&bench->server, "app", &shape);
    if (!test_server_open(&bench->server))
        bench_fail("the server's segment cannot be opened");
}

static void wait_for_seconds(struct bench const *bench, double seconds) {
    uint64_t const end = rm_tsc() + (uint64_t)(seconds * bench->tsc_hz);
    while (rm_tsc() < end)
        rm_pause();
}

/** One cycle; returns from the last record published to the vector taken. */
static uint64_t host_cost_cycle(struct bench *bench, rm_turn turn) {
    double values[ACTUATORS_MAX];
    struct rm_setpoint_reading reading;
    size_t const vector_bytes = rm_setpoint_vector_bytes(bench->actuators);
    for (uint32_t i = 0; i + 1 < bench->inputs; ++i)
        test_server_record(&bench->server, i, turn, 3);
    wait_for_seconds(bench, GAP_SECONDS);
    uint64_t const begun = rm_tsc();
    test_server_record(&bench->server, bench->inputs - 1, turn, 3);
    while (!rm_setpoints_copy(bench->host->vectors, vector_bytes, &bench->place, &reading, values, bench->actuators))
        rm_pause();
    uint64_t const taken = rm_tsc();
    test_server_send_values(&bench->server, bench->sent, 0);
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

static void host_cost_report(struct bench *bench, double *ticks, size_t cycles, bool full) {
    double const ns = 1e9 / bench->tsc_hz;
    struct bench_figure const taken = bench_figure_of(ticks, cycles, 0);
    printf("%3u inputs %4u actuators, %s step: seen to committed %4.0f median %4.0f p99; published to taken %4.0f "
           "median %4.0f p99 ns\n",
           bench->inputs, bench->actuators, full ? " full" : "empty", bench_quantile(bench->host->latency, 0.5) * ns,
           bench_quantile(bench->host->latency, 0.99) * ns, taken.median * ns, taken.p99 * ns);
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
    test_server_send_values(&bench->server, bench->sent, 0);
    test_server_grant(&bench->server, rm_owner_header(bench->host->owner)->generation, (uint64_t)getpid());
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
    rm_host_close(bench->host);
    test_server_close(&bench->server);
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
