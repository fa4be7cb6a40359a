// SPDX-License-Identifier: Apache-2.0
/** What does the orbit feedback take as it runs: from the host's seeing the last BPM to the commit of all setpoints?
 *
 *     ringmaster-feedback-latency SIZE CYCLES FEEDBACK.so CPU WRITER_CPU      prints a JSON object, nanoseconds
 *
 * The application itself in its host (src/host), in a workspace of this program's own, beside a server's segment that
 * is written by hand: streams, clock, grant, and what was sent. A thread on WRITER_CPU writes each cycle's records into
 * their streams, 120 turns after the last cycle's and not before its step is done: all but one in some order, and the
 * last one when the others have long been taken. CPU turns the host's duty over. SIZE is 264x168 (168 BPMs, one plane,
 * a record each) or 528x336 (both planes, and two BPMs in a record), with thirteen resonators in each mode.
 *
 * Time is from the host's own stamp of seeing the last record, before it is read out of the other core's cache, to the
 * stamp that the vector is committed with. After each step a loop looks at the clock for as long as the step took; by
 * how much that is late is the machine's doing.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ringmaster/counters.h>

#include "apps/feedback/state/names.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "bench/rounds.h"
#include "host/host.h"
#include "host/host_state.h"
#include "host/test_server.h"

enum {
    PERIOD = 120,
    INPUTS_MAX = 168,
    ACTUATORS_MAX = 528,
    BPMS = 168,
    CORRECTORS = 264, /**< of a plane */
    ORDERS = 61,
    LINES = 13,
    SETTLE_CYCLES = 12000,
    CAPACITY = 1024,
    FIRST_TURN = 1200000,
    NEVER = 1 << 30, /**< turns */
};

static double const TURN_RATE_HZ = 1157000, LAST_AFTER_S = 40e-6, TIMEOUT_S = 90, STEP_TIMEOUT_S = 0.1;

struct bench {
    bool both;
    uint32_t inputs, bpms_of_input, actuators;
    char workspaces[PATH_MAX / 2], folder[PATH_MAX], file[PATH_MAX + 32];
    char input_name[INPUTS_MAX][16], actuator_name[ACTUATORS_MAX][16], *names;
    char const *input[INPUTS_MAX];
    struct rm_host_actuator actuator[ACTUATORS_MAX];
    struct test_server server;
    double tsc_hz, ticks_per_turn, values[ACTUATORS_MAX];
    uint64_t begin_tsc; /**< of FIRST_TURN */
    int writer_cpu;
    _Atomic bool ending;
    _Atomic rm_turn stepped; /**< turn of the last step */
    struct rm_host *host;
    struct bench_times answer, floor;
};

static struct bench bench;

static void feedback_latency_die(char const *text) {
    if (bench.workspaces[0] != '\0')
        test_workspaces_remove(bench.workspaces);
    bench_fail(text);
}

static void pin_bench_thread(int cpu) {
    struct rm_error error;
    if (rm_pin((uint32_t)cpu, &error) != RM_OK)
        feedback_latency_die(error.text);
}

/* A ring: names, and a response as a storage ring has it. */

static void name_all(void) {
    bench.inputs = bench.both ? BPMS / 2 : BPMS;
    bench.bpms_of_input = bench.both ? 2 : 1;
    bench.actuators = bench.both ? 2 * CORRECTORS : CORRECTORS;
    bench.names = calloc(bench.actuators, sizeof bench.actuator_name[0]);
    if (bench.names == NULL)
        feedback_latency_die("no memory");
    for (uint32_t i = 0; i < bench.inputs; ++i) {
        snprintf(bench.input_name[i], sizeof bench.input_name[i], "bpm%03u/raw", i + 1);
        bench.input[i] = bench.input_name[i];
    }
    for (uint32_t i = 0; i < bench.actuators; ++i) {
        snprintf(bench.actuator_name[i], sizeof bench.actuator_name[i], "ps/%c%03u", i < CORRECTORS ? 'x' : 'y',
                 i % CORRECTORS + 1);
        bench.actuator[i] = (struct rm_host_actuator){
            .name = bench.actuator_name[i], .unit = "A", .low = -1e6, .high = 1e6, .slew_per_s = 1e12};
        strcat(strcat(bench.names, bench.actuator_name[i]), "\n");
    }
}

/** nm per A: √β everywhere the same, and the phase advance even. */
static double response_of_actuator(uint32_t bpm, char plane, uint32_t actuator) {
    double const pi = acos(-1), tune = plane == 'x' ? 33.25 : 9.2;
    if ((plane == 'x') != (actuator < CORRECTORS))
        return 0;
    double const distance = fabs((bpm + 0.3) / BPMS - (actuator % CORRECTORS + 0.1) / (double)CORRECTORS);
    return 1e5 / (2 * sin(pi * tune)) * cos(2 * pi * tune * distance - pi * tune);
}

static FILE *create_bench_file(char const *name) {
    snprintf(bench.file, sizeof bench.file, "%s/%s", bench.workspaces, name);
    FILE *const file = fopen(bench.file, "w");
    if (file == NULL)
        feedback_latency_die("cannot write a file");
    return file;
}

static void write_response_row(FILE *file, uint32_t input, uint32_t which, char plane) {
    uint32_t const bpm = input * bench.bpms_of_input + which;
    fprintf(file, "bpm%03u/%c%u", input + 1, plane, which + 1);
    for (uint32_t i = 0; i < bench.actuators; ++i)
        fprintf(file, ",%.6g", response_of_actuator(bpm, plane, i));
    fputs("\n", file);
}

static void write_files(void) {
    FILE *file = create_bench_file("response.csv");
    for (uint32_t i = 0; i < bench.actuators; ++i)
        fprintf(file, ",%s", bench.actuator_name[i]);
    fputs("\n", file);
    for (uint32_t input = 0; input < bench.inputs; ++input)
        for (uint32_t which = 0; which < bench.bpms_of_input; ++which) {
            write_response_row(file, input, which, 'x');
            if (bench.both)
                write_response_row(file, input, which, 'y');
        }
    if (fclose(file) != 0)
        feedback_latency_die("cannot write the matrix");
    static double const hz[LINES] = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900};
    file = create_bench_file("feedback.yaml");
    fputs("matrix: response.csv\ncoupled: false\nper: mode\ntikhonov: 0.1\nsoft_start_s: 0.1\nfamilies:\n"
          "  - name: fast\n    actuators: [ps/*]\n    plant: {bandwidth_hz: 5000, delay_us: 150}\n"
          "    integral_hz: 100\n    proportional: 0.0\n    predictor: true\n"
          "    resonators: [50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900]\nresonators:\n",
          file);
    for (int i = 0; i < LINES; ++i)
        fprintf(file, "  - {hz: %g, width_hz: %g, leak_hz: %g}\n", hz[i], 0.0125 * hz[i], 5e-5 * hz[i]);
    fputs("enable_conditions:\n  beam: {lanes: [sum1], least: 1000.0, drop: 0.5}\n  initial_error_um: 1000000.0\n"
          "watch: {jump_um: 4000.0}\n",
          file);
    if (fclose(file) != 0)
        feedback_latency_die("cannot write the configuration");
}

/* A server's segment. */

static void open_server(void) {
    struct test_shape const shape = {
        .input = bench.input,
        .inputs = bench.inputs,
        .stream = {.capacity = CAPACITY,
                   .period = PERIOD,
                   .instrument_kind = RM_KIND_BPM,
                   .lane_count = 8,
                   .filter = "none",
                   .closing_delay_turns = 6.0,
                   .lane = {{.name = "x1", .unit = "nm", .type = RM_LANE_I32},
                            {.name = "y1", .unit = "nm", .type = RM_LANE_I32},
                            {.name = "sum1", .unit = "", .type = RM_LANE_I32},
                            {.name = "q1", .unit = "", .type = RM_LANE_I32},
                            {.name = "x2", .unit = "nm", .type = RM_LANE_I32},
                            {.name = "y2", .unit = "nm", .type = RM_LANE_I32},
                            {.name = "sum2", .unit = "", .type = RM_LANE_I32},
                            {.name = "q2", .unit = "", .type = RM_LANE_I32}}},
        .names = bench.names,
        .supplies = bench.actuators,
        .granted = bench.actuators,
        .turn_rate_hz = TURN_RATE_HZ,
    };
    test_server_plan_as(&bench.server, "feedback", &shape);
    if (!test_server_open(&bench.server))
        feedback_latency_die("the server's segment cannot be opened");
    snprintf(bench.folder, sizeof bench.folder, "%s/demo/feedback", bench.workspaces);
    if (mkdir(bench.folder, 0755) != 0)
        feedback_latency_die("cannot make the application's folder");
    bench.begin_tsc = rm_tsc() + (uint64_t)(0.2 * bench.tsc_hz);
    test_server_clock(&bench.server, FIRST_TURN, bench.begin_tsc, bench.tsc_hz);
    test_server_send_values(&bench.server, bench.values, 0);
}

/* The machine: a thread that writes records. */

static void put_bench_input(uint32_t input, rm_turn turn) {
    struct rm_record record = {.turn = turn};
    for (int lane = 0; lane < 8; ++lane)
        record.lane[lane].i = lane % 4 < 2 ? (int32_t)(2000 * bench_draw()) : 1000000;
    rm_stream_writer_put(&bench.server.writer[input], &record);
    rm_stream_writer_publish(&bench.server.writer[input], rm_tsc());
}

static void wait_for_ticks(uint64_t tsc) {
    while (rm_tsc() < tsc)
        rm_pause();
}

/** A cycle's time is over, and the last step is done: a machine that takes the core away for a while makes a cycle
 * late, and none incomplete. No step comes before the grant, which is not waited for for long. */
static uint64_t wait_for_step(uint64_t begin, rm_turn turn) {
    uint64_t const timeout = (uint64_t)(STEP_TIMEOUT_S * bench.tsc_hz);
    wait_for_ticks(begin);
    while (atomic_load_explicit(&bench.stepped, memory_order_acquire) < turn && rm_tsc() - begin < timeout)
        rm_pause();
    return rm_tsc();
}

static void *write_records(void *argument) {
    (void)argument;
    static uint32_t order[INPUTS_MAX];
    pin_bench_thread(bench.writer_cpu);
    for (uint32_t i = 0; i < bench.inputs; ++i)
        order[i] = i;
    uint64_t begin = bench.begin_tsc;
    for (rm_turn turn = FIRST_TURN; !atomic_load_explicit(&bench.ending, memory_order_relaxed); turn += PERIOD) {
        for (uint32_t i = bench.inputs - 1; i > 0; --i) {
            uint32_t const other = (uint32_t)(fabs(bench_draw()) * i), kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        begin = wait_for_step(begin + (uint64_t)(PERIOD * bench.ticks_per_turn), turn - PERIOD);
        for (uint32_t i = 0; i + 1 < bench.inputs; ++i)
            put_bench_input(order[i], turn);
        wait_for_ticks(begin + (uint64_t)(LAST_AFTER_S * bench.tsc_hz));
        put_bench_input(order[bench.inputs - 1], turn);
    }
    return NULL;
}

/* The feedback. */

static void open_host(char const *code) {
    struct rm_host_setting const setting[] = {{"resonators", 1}};
    struct rm_host_setup const setup = {
        .workspace = "demo",
        .name = "feedback",
        .code = code,
        .turn_rate_hz = TURN_RATE_HZ,
        .period_turns = PERIOD,
        .deadline_turns = NEVER,
        .input_count = bench.inputs,
        .input = bench.input,
        .actuator_count = bench.actuators,
        .actuator = bench.actuator,
        .setting_count = sizeof setting / sizeof setting[0],
        .setting = setting,
        .configuration = bench.file,
    };
    struct rm_error error;
    if (rm_host_open(&setup, &bench.host, &error) != RM_OK)
        feedback_latency_die(error.text);
}

static double reading_of(enum feedback_reading reading) {
    return bench.host->program->reading[bench.host->program->reading_at[reading]];
}

static unsigned long long bench_application_counter(enum rm_application_counter which) {
    return rm_counter_get(bench.host->counters, which);
}

/** What the vector says becomes what was sent; returns when it was committed. */
static uint64_t take_vector(struct rm_setpoints_place *place) {
    struct rm_setpoint_reading reading;
    if (!rm_setpoints_copy(bench.host->vectors, rm_setpoint_vector_bytes(bench.actuators), place, &reading,
                           bench.values, bench.actuators))
        return 0;
    test_server_send_values(&bench.server, bench.values, reading.input_turn);
    atomic_store_explicit(&bench.stepped, reading.input_turn, memory_order_release);
    return reading.tsc;
}

static void feedback_latency_stand(uint64_t ticks) {
    uint64_t const begin = rm_tsc();
    uint64_t passed;
    do
        passed = rm_tsc() - begin;
    while (passed < ticks);
    bench_times_take(&bench.floor, passed - ticks);
}

/** What a person gives an application that runs under a grant. It is taken over at once: this is the stepping thread. */
static void permit_loop(void) {
    struct rm_host_settings *const settings = &bench.host->settings;
    double const on = 1;
    rm_host_settings_begin(settings);
    rm_host_settings_ask(settings, FEEDBACK_LOOP, 0, &on, sizeof on);
    rm_mailbox_post(&settings->mailbox);
    if (rm_host_settings_take(settings, bench.host->program, rm_stamp_now()) == 0)
        feedback_latency_die("the loop may not act");
    rm_mailbox_close(&settings->mailbox);
}

static void wait_until_on(struct rm_setpoints_place *place) {
    bool permitted = false;
    uint64_t const end = rm_tsc() + (uint64_t)(TIMEOUT_S * bench.tsc_hz);
    for (uint32_t cycles = 0; cycles < SETTLE_CYCLES;) {
        if (rm_host_duty(bench.host, rm_tsc()) > 0) {
            take_vector(place);
            if (!permitted)
                permit_loop();
            permitted = true;
            cycles += reading_of(FEEDBACK_STATE) == FEEDBACK_ON;
        }
        if (rm_tsc() > end) {
            char text[200];
            snprintf(text, sizeof text,
                     "not on: state %g, enable conditions %g missing, %g BPMs used, %llu steps, %llu late",
                     reading_of(FEEDBACK_STATE), reading_of(FEEDBACK_ENABLE_CONDITIONS), reading_of(FEEDBACK_USED),
                     bench_application_counter(RM_APPLICATION_STEPS), bench_application_counter(RM_APPLICATION_LATE));
            feedback_latency_die(rm_host_failure(bench.host) != NULL ? rm_host_failure(bench.host)->text : text);
        }
    }
}

static void feedback_latency_measure(uint64_t cycles, struct rm_setpoints_place *place) {
    while (bench.answer.total < cycles) {
        if (rm_host_duty(bench.host, rm_tsc()) == 0)
            continue;
        uint64_t const committed = take_vector(place);
        if (committed == 0)
            continue;
        uint64_t const ticks = committed - bench.host->stepped_tsc;
        bench_times_take(&bench.answer, ticks);
        feedback_latency_stand(ticks);
    }
}

static void feedback_latency_run(uint64_t cycles, char const *code, int cpu) {
    pthread_t thread;
    struct rm_setpoints_place place = {.next = 0};
    open_host(code);
    test_server_grant(&bench.server, rm_owner_header(bench.host->owner)->generation, (uint64_t)getpid());
    if (pthread_create(&thread, NULL, write_records, NULL) != 0)
        feedback_latency_die("no thread");
    // The host's own threads are free to run elsewhere.
    pin_bench_thread(cpu);
    wait_until_on(&place);
    unsigned long long const skipped = bench_application_counter(RM_APPLICATION_SKIPPED),
                             late = bench_application_counter(RM_APPLICATION_LATE);
    feedback_latency_measure(cycles, &place);
    printf("{");
    bench_times_json("last_bpm_to_setpoint_ns", &bench.answer, 1e9 / bench.tsc_hz, ", ");
    bench_times_json("stall_floor_ns", &bench.floor, 1e9 / bench.tsc_hz, ", ");
    printf("\"on\": %s, \"skipped\": %llu, \"late\": %llu}\n",
           reading_of(FEEDBACK_STATE) == FEEDBACK_ON ? "true" : "false",
           bench_application_counter(RM_APPLICATION_SKIPPED) - skipped,
           bench_application_counter(RM_APPLICATION_LATE) - late);
    atomic_store(&bench.ending, true);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    static char const *const sizes[] = {"264x168", "528x336", NULL};
    uint64_t size = 0, cycles = 0, cpu = 0, writer_cpu = 0;
    char const *code = NULL;
    struct rm_option options[] = {
        {"SIZE", &size, .kind = RM_OPTION_CHOICE, .choices = sizes, .place = RM_WORD},
        {"CYCLES", &cycles, 1, 1e12, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"FEEDBACK.so", &code, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"WRITER_CPU", &writer_cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
    };
    rm_options_or_exit(argc, argv,
                       "Usage: ringmaster-feedback-latency 264x168|528x336 CYCLES FEEDBACK.so CPU WRITER_CPU\n",
                       options, sizeof options / sizeof *options);
    bench.both = size == 1;
    bench.writer_cpu = (int)writer_cpu;
    bench.tsc_hz = rm_tsc_hz_measure();
    bench.ticks_per_turn = bench.tsc_hz / TURN_RATE_HZ;
    if (!test_workspaces_make(bench.workspaces, sizeof bench.workspaces))
        feedback_latency_die("cannot make a place for a workspace");
    bench_times_clear(&bench.answer);
    bench_times_clear(&bench.floor);
    name_all();
    open_server();
    write_files();
    feedback_latency_run(cycles, code, (int)cpu);
    rm_host_close(bench.host);
    test_server_close(&bench.server);
    test_workspaces_remove(bench.workspaces);
    return 0;
}
