// SPDX-License-Identifier: Apache-2.0
/** The feedback as it is loaded by a host, around a small linear machine: ten electronics of two BPMs each, and twelve
 * correctors whose response has nothing to do with a ring, but is as good as one. Argument: feedback.so.
 *
 * Every cycle the machine makes readings of where its correctors really are (a pole and a delay behind what they were
 * sent), of what disturbs it, and of noise; what the feedback then sends, a guard of sorts brings within limits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/feedback/names.h"
#include "host/host_program.h"

static char const *module_path;

enum {
    INPUTS = 10, /**< electronics */
    TIMING = INPUTS,
    OTHER = INPUTS + 1, /**< readbacks of another system, two datagrams */
    ALL = INPUTS + 3,
    ROWS = 4 * INPUTS,
    CORRECTORS = 12,
    PERIOD = 120,
    X = 0,
    Y = 1,
};

static double const TURN_RATE = 1157000.0;
static double const LIMIT = 10.0;  /**< of a corrector */
static double const NOISE_NM = 50; /**< peak */

/** What the machine does wrong, for a test to say. */
struct wrongs {
    bool silent[INPUTS];
    bool invalid[INPUTS];
    bool frozen[INPUTS];
    double leap_nm[INPUTS];   /**< added to all four readings */
    bool lost[CORRECTORS];    /**< its chain does not answer */
    double beam;              /**< relative */
    double disturbance[ROWS]; /**< nm */
    double sine_nm, sine_hz;  /**< along the first corrector's response */
    double mains_nm;          /**< thirteen lines of 50 to 900 Hz, the same way */
    bool backwards;           /**< inputs arrive in the other order */
};

struct machine {
    struct rm_record last[ALL];
    double response[ROWS][CORRECTORS];
    double effective[CORRECTORS], sent[CORRECTORS], before[CORRECTORS];
    double pole[CORRECTORS];
    double orbit[ROWS];       /**< nm, without noise and what instruments do to it */
    double other[CORRECTORS]; /**< of another system, which has the machine if it is `ruled` */
    int32_t flags;            /**< of the timing */
    float gap;                /**< of an insertion device */
    struct wrongs wrongs;
    uint64_t cycle;
    uint32_t dice;
    bool ruled;
};

struct test {
    struct machine machine;
    struct rm_stream stream[ALL];
    char folder[64];
    struct rm_host_setup setup;
    struct rm_host_actuator actuator[CORRECTORS];
    char actuator_name[CORRECTORS][32], input_name[ALL][32];
    char const *input[ALL];
    struct rm_host_program *program;
    enum rm_step_result result;
    double setpoint[CORRECTORS];
};

/* The machine */

static double dice(struct machine *machine) {
    machine->dice = machine->dice * 1664525u + 1013904223u;
    return (double)(machine->dice >> 8) / (double)(1u << 23) - 1.0;
}

static char const lane_name[8][4] = {"x1", "y1", "s1", "q1", "x2", "y2", "s2", "q2"};
static uint32_t const lane_row[4] = {0, 1, 4, 5}; /* lanes of the rows of an electronics */

static uint32_t plane_of(uint32_t row) { return row % 2; }
static uint32_t plane_of_corrector(uint32_t corrector) { return corrector >= CORRECTORS / 2 ? Y : X; }

static void make_machine(struct machine *machine) {
    *machine = (struct machine){.dice = 12345, .wrongs = {.beam = 1.0}};
    for (uint32_t row = 0; row < ROWS; ++row)
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            machine->response[row][c] = plane_of(row) == plane_of_corrector(c) ? 20000.0 * dice(machine) : 0.0;
}

/** The two fast correctors of a plane do what the four slow ones can do as well, as in a ring with many slow ones. */
static void span_fast_by_slow(struct machine *machine) {
    for (uint32_t fast = 0; fast < CORRECTORS; fast += fast % 6 == 0 ? 1 : 5) {
        uint32_t const slow = fast / 6 * 6 + 2;
        double const mix[4] = {dice(machine), dice(machine), dice(machine), dice(machine)};
        for (uint32_t row = 0; row < ROWS; ++row) {
            machine->response[row][fast] = 0.0;
            for (uint32_t i = 0; i < 4; ++i)
                machine->response[row][fast] += mix[i] * machine->response[row][slow + i];
        }
    }
}

static bool is_fast(uint32_t corrector) { return corrector % 6 < 2; }

/** Lines of an amplitude that falls with their frequency. */
static double mains(uint64_t cycle) {
    static double const hz[] = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900};
    double sum = 0.0;
    for (size_t i = 0; i < sizeof hz / sizeof hz[0]; ++i)
        sum += 50.0 / hz[i] * sin(2.0 * M_PI * hz[i] * (double)cycle * PERIOD / TURN_RATE + (double)(i * i));
    return sum;
}

static void move(struct machine *machine) {
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        machine->effective[c] += (1.0 - machine->pole[c]) * (machine->before[c] - machine->effective[c]);
        machine->before[c] = machine->sent[c];
    }
    double const phase = 2.0 * M_PI * machine->wrongs.sine_hz * (double)machine->cycle * PERIOD / TURN_RATE;
    double const along = machine->wrongs.sine_nm * sin(phase) + machine->wrongs.mains_nm * mains(machine->cycle);
    for (uint32_t row = 0; row < ROWS; ++row) {
        double orbit = machine->wrongs.disturbance[row] + along * machine->response[row][2] / 20000.0;
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            orbit += machine->response[row][c] * machine->effective[c];
        machine->orbit[row] = orbit;
    }
    ++machine->cycle;
}

static struct rm_record read_extra(struct machine const *machine, uint32_t input, rm_turn turn) {
    struct rm_record record = {.turn = turn};
    if (input == TIMING) {
        record.lane[0].i = machine->flags;
        record.lane[1].f = machine->gap;
        return record;
    }
    for (uint32_t at = 2, c = input == OTHER ? 0 : 10; at < RM_LANES && c < CORRECTORS; ++at, ++c)
        record.lane[at].f = (float)machine->other[c];
    return record;
}

static struct rm_record read_input(struct machine *machine, uint32_t input, rm_turn turn) {
    if (input >= INPUTS)
        return read_extra(machine, input, turn);
    struct wrongs const *wrongs = &machine->wrongs;
    struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(0, wrongs->invalid[input] ? 1 : 0)};
    for (uint32_t k = 0; k < 4; ++k)
        record.lane[lane_row[k]].i =
            (int32_t)lrint(machine->orbit[4 * input + k] + NOISE_NM * dice(machine) + wrongs->leap_nm[input]);
    record.lane[2].i = record.lane[6].i = (int32_t)(1e6 * wrongs->beam);
    if (wrongs->frozen[input])
        memcpy(record.lane, machine->last[input].lane, sizeof record.lane);
    machine->last[input] = record;
    return record;
}

/* Around the feedback */

static double rms_nm(struct test const *test, uint32_t plane) {
    double squares = 0.0;
    for (uint32_t row = plane; row < ROWS; row += 2)
        squares += test->machine.orbit[row] * test->machine.orbit[row];
    return sqrt(squares / (ROWS / 2.0));
}

static double reading(struct test const *test, enum feedback_reading number, uint32_t element) {
    return test->program->reading[test->program->reading_at[number] + element];
}

static enum feedback_state state_of(struct test const *test) {
    return (enum feedback_state)reading(test, FEEDBACK_STATE, 0);
}

static void guard(struct test *test) {
    struct machine *machine = &test->machine;
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        double const wish = test->setpoint[c];
        if (test->result == RM_STEP_SEND && isfinite(wish) && !machine->wrongs.lost[c])
            machine->sent[c] = fmin(fmax(wish, -LIMIT), LIMIT);
        if (machine->ruled)
            machine->sent[c] = machine->other[c];
        test->program->sent[c] = machine->wrongs.lost[c] ? NAN : machine->sent[c];
    }
}

static void cycle(struct test *test) {
    struct rm_host_program *program = test->program;
    struct machine *machine = &test->machine;
    struct rm_record record[ALL];
    bool is_missing[ALL];
    uint32_t missing = 0;
    rm_turn const turn = 1000 * PERIOD + machine->cycle * PERIOD;
    move(machine);
    rm_host_program_expect(program, NULL);
    for (uint32_t i = 0; i < ALL; ++i) {
        is_missing[i] = i < INPUTS && machine->wrongs.silent[i];
        missing += is_missing[i];
        record[i] = is_missing[i] ? machine->last[i] : read_input(machine, i, turn);
    }
    for (uint32_t k = 0; k < ALL; ++k) {
        uint32_t const i = machine->wrongs.backwards ? ALL - 1 - k : k;
        if (!is_missing[i])
            rm_host_program_arrive(program, i, &record[i]);
    }
    test->result = rm_host_program_step(program, turn, record, is_missing, missing);
    memcpy(test->setpoint, program->wish.setpoint, sizeof test->setpoint);
    rm_host_program_prepare(program);
    guard(test);
}

static void cycles(struct test *test, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        cycle(test);
}

/** Lets the thread beside do what there is to do, and the stepping thread take it. */
static void solve(struct test *test) {
    for (uint32_t i = 0; i < 4; ++i) {
        rm_host_program_work(test->program);
        cycle(test);
    }
}

static void put(struct test *test, enum feedback_setting setting, uint32_t first, double const *values,
                uint32_t count) {
    struct rm_error error;
    if (rm_host_program_set(test->program, feedback_settings[setting].name, first, values, count, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static void set(struct test *test, enum feedback_setting setting, double value) { put(test, setting, 0, &value, 1); }

/* Files and beginnings */

static void write_matrix(struct test const *test) {
    char path[128];
    snprintf(path, sizeof path, "%s/response.csv", test->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        fprintf(file, ",%s", test->actuator_name[c]);
    fputc('\n', file);
    for (uint32_t row = 0; row < ROWS; ++row) {
        fprintf(file, "bpm%02u/%s", row / 4 + 1, lane_name[lane_row[row % 4]]);
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            fprintf(file, ",%.9g", test->machine.response[row][c]);
        fputc('\n', file);
    }
    fclose(file);
}

static char const *const permits = "permits: {beam: {lanes: [s1, s2], least: 1e5, drop: 0.5}, bpms: 0.5, "
                                   "actuators: 0.5, saturated: 3, saturated_s: 0.02, initial_error_um: 500, "
                                   "missing: 0.4}\n"
                                   "watch: {missing_cycles: 3, frozen_cycles: 5, jump_um: 300, invalid_status: 1, "
                                   "return_s: 0.05}\n"
                                   "golden_speed: 5000\nsoft_start_s: 0.05\nresonators:\n"
                                   "  - {hz: 50, width_hz: 1.0, leak_hz: 0.005}\n"
                                   "  - {hz: 100, width_hz: 1.25, leak_hz: 0.005}\n"
                                   "  - {hz: 150, width_hz: 1.875, leak_hz: 0.0075}\n"
                                   "  - {hz: 200, width_hz: 2.5, leak_hz: 0.01}\n"
                                   "  - {hz: 250, width_hz: 3.125, leak_hz: 0.0125}\n"
                                   "  - {hz: 300, width_hz: 3.75, leak_hz: 0.015}\n"
                                   "  - {hz: 350, width_hz: 4.375, leak_hz: 0.0175}\n"
                                   "  - {hz: 400, width_hz: 5, leak_hz: 0.02}\n"
                                   "  - {hz: 500, width_hz: 6.25, leak_hz: 0.025}\n"
                                   "  - {hz: 600, width_hz: 7.5, leak_hz: 0.03}\n"
                                   "  - {hz: 700, width_hz: 8.75, leak_hz: 0.035}\n"
                                   "  - {hz: 800, width_hz: 10, leak_hz: 0.04}\n"
                                   "  - {hz: 900, width_hz: 11.25, leak_hz: 0.045}\n";

static char const *const one_family =
    "matrix: response.csv\nper: mode\ntikhonov: 0\nfamilies:\n"
    "  - {name: all, actuators: [\"ps/*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, resonators: [50]}\n";

static char const *const all_lines =
    "matrix: response.csv\nper: mode\ntikhonov: 0\nfamilies:\n"
    "  - {name: all, actuators: [\"ps/*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, resonators: [50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900]}\n";

static char const *const all_kinds =
    "matrix: response.csv\nper: corrector\ntikhonov: 0.01\nfamilies:\n"
    "  - {name: all, actuators: [\"ps/*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, resonators: [50]}\n"
    "rf: {actuator: ps/sx5, hz: 10, gain: 0.5, slew: 20}\n"
    "gate: {input: extra11/raw, lane: l0, bit: 3, cycles: 30}\n"
    "feed_forward:\n  - {input: extra11/raw, lane: l1, table: table.csv}\n"
    "shadow: {inputs: [extra12/raw, extra13/raw]}\n";

static char const *const two_families =
    "matrix: response.csv\nper: mode\ntikhonov: 0\nfamilies:\n"
    "  - {name: fast, actuators: [\"ps/f*\"], plant: {bandwidth_hz: 1000, delay_us: 103.7}, integral_hz: 80, "
    "predictor: true, unload_to: slow, crossover_hz: 1}\n"
    "  - {name: slow, actuators: [\"ps/s*\"], plant: {bandwidth_hz: 100, delay_us: 103.7}}\n";

static void write_configuration(struct test const *test, char const *families) {
    char path[128];
    snprintf(path, sizeof path, "%s/feedback.yaml", test->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(families, file);
    fputs(permits, file);
    fclose(file);
}

/** An insertion device whose gap moves the orbit as sx2 does; its table takes that away. */
static void write_table(struct test const *test) {
    char path[128];
    snprintf(path, sizeof path, "%s/table.csv", test->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(",ps/sx2\n0,0\n10,-0.5\n", file);
    fclose(file);
}

static void make_stream(struct rm_stream *stream) {
    memset(stream, 0, sizeof *stream);
    for (uint32_t at = 0; at < 8; ++at) {
        struct rm_lane_info *lane = &stream->lane[at];
        memcpy(lane->name, lane_name[at], sizeof lane_name[at]);
        snprintf(lane->unit, sizeof lane->unit, "%s", at % 4 < 2 ? "nm" : "");
        lane->type = RM_LANE_I32;
    }
}

static void make_extra(struct rm_stream *stream, uint32_t input) {
    memset(stream, 0, sizeof *stream);
    for (uint32_t at = 0; at < RM_LANES; ++at) {
        snprintf(stream->lane[at].name, sizeof stream->lane[at].name, "l%u", at);
        stream->lane[at].type = at == 0 || (input != TIMING && at == 1) ? RM_LANE_I32 : RM_LANE_F32;
    }
}

static int set_up(void **state) {
    struct test *test = calloc(1, sizeof *test);
    *state = test;
    if (test == NULL)
        return -1;
    snprintf(test->folder, sizeof test->folder, "/tmp/ringmaster-feedback-XXXXXX");
    if (mkdtemp(test->folder) == NULL)
        return -1;
    make_machine(&test->machine);
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        test->machine.pole[c] = exp(-2.0 * M_PI * 1000.0 * PERIOD / TURN_RATE);
        snprintf(test->actuator_name[c], sizeof test->actuator_name[c], "ps/%c%c%u", is_fast(c) ? 'f' : 's',
                 plane_of_corrector(c) == X ? 'x' : 'y', c % 6);
        test->actuator[c] = (struct rm_host_actuator){
            .name = test->actuator_name[c], .unit = "A", .low = -LIMIT, .high = LIMIT, .slew_per_s = 1e5};
    }
    for (uint32_t i = 0; i < ALL; ++i) {
        snprintf(test->input_name[i], sizeof test->input_name[i], i < INPUTS ? "bpm%02u/raw" : "extra%02u/raw", i + 1);
        test->input[i] = test->input_name[i];
        if (i < INPUTS)
            make_stream(&test->stream[i]);
        else
            make_extra(&test->stream[i], i);
    }
    return 0;
}

static int tear_down(void **state) {
    struct test *test = *state;
    char path[128];
    rm_host_program_close(test->program);
    snprintf(path, sizeof path, "%s/response.csv", test->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/table.csv", test->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/feedback.yaml", test->folder);
    unlink(path);
    rmdir(test->folder);
    free(test);
    return 0;
}

static void open_feedback(struct test *test, char const *families) {
    static char path[128];
    struct rm_error error;
    write_matrix(test);
    write_configuration(test, families);
    write_table(test);
    snprintf(path, sizeof path, "%s/feedback.yaml", test->folder);
    test->setup = (struct rm_host_setup){.name = "feedback",
                                         .code = module_path,
                                         .turn_rate_hz = TURN_RATE,
                                         .period_turns = PERIOD,
                                         .input_count = ALL,
                                         .input = test->input,
                                         .actuator_count = CORRECTORS,
                                         .actuator = test->actuator,
                                         .configuration = path};
    if (rm_host_program_open(&test->setup, &test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < ALL; ++i)
        test->program->input[i] = &test->stream[i];
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        test->program->sent[c] = test->machine.sent[c];
    if (rm_host_program_init(test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
}

/** A disturbance that the correctors can take away: an orbit of some ten µm. */
static void disturb(struct test *test, double size) {
    for (uint32_t row = 0; row < ROWS; ++row) {
        test->machine.wrongs.disturbance[row] = 0.0;
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            test->machine.wrongs.disturbance[row] +=
                size * (is_fast(c) ? 0.4 - 0.2 * (c % 3) : 0.0) * test->machine.response[row][c];
    }
}

/** On, solved, past its soft start. */
static void close_loop(struct test *test) {
    cycles(test, 20);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    cycles(test, 2000);
    if (state_of(test) != FEEDBACK_ON)
        fail_msg("state %d, permits %g, cause %g", state_of(test), reading(test, FEEDBACK_PERMITS, 0),
                 reading(test, FEEDBACK_CAUSE, 0));
}

/** Largest change of any setpoint from one cycle to the next, over `count` cycles. */
static double largest_step(struct test *test, uint32_t count) {
    double largest = 0.0, last[CORRECTORS];
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(last, test->setpoint, sizeof last);
        cycle(test);
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            largest = fmax(largest, fabs(test->setpoint[c] - last[c]));
    }
    return largest;
}

/* What it must do */

static void test_states_and_closing(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    cycles(test, 10);
    assert_int_equal(state_of(test), FEEDBACK_OFF);
    assert_int_equal((int)reading(test, FEEDBACK_PERMITS, 0), FEEDBACK_NO_MATRIX);
    solve(test);
    assert_int_equal(state_of(test), FEEDBACK_READY);
    assert_true(reading(test, FEEDBACK_GENERATION, 0) == 1.0);
    double const before = rms_nm(test, X);
    assert_true(before > 1000.0);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        assert_true(test->setpoint[c] == 0.0);
    set(test, FEEDBACK_LOOP, 1);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    for (uint32_t c = 0; c < CORRECTORS; ++c) /* it begins where they stand */
        assert_true(test->setpoint[c] == 0.0);
    cycles(test, 3000);
    assert_true(rms_nm(test, X) < 0.02 * before);
    assert_true(rms_nm(test, Y) < 100.0);
    set(test, FEEDBACK_LOOP, 2);
    double held[CORRECTORS];
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    memcpy(held, test->setpoint, sizeof held);
    cycles(test, 50);
    assert_memory_equal(held, test->setpoint, sizeof held);
    set(test, FEEDBACK_LOOP, 1);
    assert_true(largest_step(test, 300) < 0.01);
    set(test, FEEDBACK_LOOP, 0);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_READY);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), 0);
}

static void test_line_is_taken_out(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    test->machine.wrongs.sine_nm = 20000.0;
    test->machine.wrongs.sine_hz = 50.0;
    set(test, FEEDBACK_RESONATORS, 0);
    close_loop(test);
    double without = 0.0, with = 0.0;
    for (uint32_t i = 0; i < 400; ++i, cycle(test))
        without = fmax(without, rms_nm(test, X));
    set(test, FEEDBACK_RESONATORS, 1);
    cycle(test);
    solve(test);
    cycles(test, 20000);
    for (uint32_t i = 0; i < 400; ++i, cycle(test))
        with = fmax(with, rms_nm(test, X));
    assert_true(without > 5000.0);
    assert_true(with < 0.03 * without);
}

/** The row's state, and that the loop goes on as if nothing had been. */
static void expect_out(struct test *test, uint32_t input, uint32_t fault) {
    for (uint32_t k = 0; k < 4; ++k)
        assert_int_equal((int)reading(test, FEEDBACK_ROW_STATE, 4 * input + k) & fault, fault);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void expect_calm(struct test *test, double generation) {
    double const noise = 0.02;
    assert_true(largest_step(test, 20) < noise);
    solve(test);
    assert_true(reading(test, FEEDBACK_GENERATION, 0) > generation);
    assert_true(largest_step(test, 500) < noise);
    assert_true(rms_nm(test, X) < 300.0 && rms_nm(test, Y) < 300.0);
}

static void test_bad_bpms_are_out(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
    double generation = reading(test, FEEDBACK_GENERATION, 0);

    test->machine.wrongs.leap_nm[2] = 1e6; /* within that very cycle */
    assert_true(largest_step(test, 1) < 0.02);
    expect_out(test, 2, FEEDBACK_ROW_JUMPED);
    expect_calm(test, generation);

    generation = reading(test, FEEDBACK_GENERATION, 0);
    test->machine.wrongs.invalid[4] = true;
    assert_true(largest_step(test, 1) < 0.02);
    expect_out(test, 4, FEEDBACK_ROW_INVALID);
    expect_calm(test, generation);

    generation = reading(test, FEEDBACK_GENERATION, 0);
    test->machine.wrongs.silent[6] = true;
    cycle(test);
    expect_out(test, 6, FEEDBACK_ROW_MISSING); /* substituted */
    assert_false((int)reading(test, FEEDBACK_ROW_STATE, 24) & FEEDBACK_ROW_SILENT);
    cycles(test, 4);
    expect_out(test, 6, FEEDBACK_ROW_SILENT);
    expect_calm(test, generation);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS - 12);

    generation = reading(test, FEEDBACK_GENERATION, 0);
    test->machine.wrongs.frozen[8] = true;
    cycles(test, 6);
    expect_out(test, 8, FEEDBACK_ROW_FROZEN);
    expect_calm(test, generation);

    double const beam = test->machine.wrongs.beam; /* all come back */
    test->machine.wrongs = (struct wrongs){.beam = beam};
    disturb(test, 0.5);
    cycles(test, 700);
    solve(test);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
    assert_true(reading(test, FEEDBACK_SUBSTITUTED, 0) > 0.0);
}

static void test_too_few_bpms_is_a_fault(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    close_loop(test);
    for (uint32_t i = 0; i < 6; ++i)
        test->machine.wrongs.invalid[i] = true;
    cycles(test, 2);
    assert_int_equal(state_of(test), FEEDBACK_FAULT);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_FEW_BPMS);
    assert_true(reading(test, FEEDBACK_CAUSE_NUMBER, 0) >= 0.0);
    assert_true(reading(test, FEEDBACK_CAUSE_TURN, 0) > 0.0);
    for (uint32_t i = 0; i < 6; ++i)
        test->machine.wrongs.invalid[i] = false;
    cycles(test, 700);
    assert_int_equal(state_of(test), FEEDBACK_FAULT); /* until somebody has looked */
    set(test, FEEDBACK_RESET, 1);
    solve(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_lost_beam_holds_within_its_cycle(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    double held[CORRECTORS];
    memcpy(held, test->setpoint, sizeof held);
    test->machine.wrongs.beam = 0.3;
    for (uint32_t row = 0; row < ROWS; ++row) /* and readings are anything */
        test->machine.wrongs.disturbance[row] += 1e5 * (row % 3);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    assert_memory_equal(held, test->setpoint, sizeof held);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_NO_BEAM);
    cycles(test, 100);
    assert_memory_equal(held, test->setpoint, sizeof held);
    disturb(test, 0.5);
    test->machine.wrongs.beam = 1.0;
    assert_true(largest_step(test, 1500) < 0.02);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_order_leaves_no_trace(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    static double first[600][CORRECTORS];
    struct machine const begin = test->machine;
    for (uint32_t run = 0; run < 2; ++run) {
        test->machine = begin;
        test->machine.wrongs.backwards = run == 1;
        struct rm_error error;
        rm_host_program_close(test->program);
        open_feedback(test, one_family);
        assert_int_equal(rm_host_program_init(test->program, &error), RM_OK);
        cycles(test, 20);
        solve(test);
        set(test, FEEDBACK_LOOP, 1);
        for (uint32_t i = 0; i < 600; ++i) {
            test->machine.wrongs.leap_nm[3] = i > 300 && i < 310 ? 1e6 : 0.0;
            cycle(test);
            if (run == 0)
                memcpy(first[i], test->setpoint, sizeof first[i]);
            else
                assert_memory_equal(first[i], test->setpoint, sizeof first[i]);
        }
    }
    assert_true(first[599][0] != 0.0);
}

static void test_masks_do_not_bump(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    double const out[4] = {0, 0, 0, 0}, in[4] = {1, 1, 1, 1};
    put(test, FEEDBACK_BPM_MASK, 8, out, 4);
    expect_calm(test, reading(test, FEEDBACK_GENERATION, 0));
    double const stays = test->setpoint[3];
    put(test, FEEDBACK_ACTUATOR_MASK, 3, out, 1);
    cycle(test);
    solve(test);
    double const kept = test->setpoint[3];
    assert_true(fabs(kept - stays) < 0.02);
    expect_calm(test, 0.0);
    assert_true(test->setpoint[3] == kept);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 3), FEEDBACK_ACTUATOR_MASKED);
    put(test, FEEDBACK_BPM_MASK, 8, in, 4);
    put(test, FEEDBACK_ACTUATOR_MASK, 3, in, 1);
    expect_calm(test, reading(test, FEEDBACK_GENERATION, 0));
    set(test, FEEDBACK_MODES, 4);
    cycle(test);
    solve(test);
    assert_true(largest_step(test, 300) < 0.02);
    set(test, FEEDBACK_TIKHONOV, 0.1);
    cycle(test);
    solve(test);
    assert_true(largest_step(test, 300) < 0.02);
}

static void test_tripped_corrector_leaves(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    double const generation = reading(test, FEEDBACK_GENERATION, 0);
    double const kept = test->setpoint[2];
    test->machine.wrongs.lost[2] = true;
    cycles(test, 3);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 2), FEEDBACK_ACTUATOR_LOST);
    expect_calm(test, generation);
    assert_true(fabs(test->setpoint[2] - kept) < 0.02);
    test->machine.wrongs.lost[2] = false;
    cycles(test, 700);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 2), 0);
    solve(test);
    assert_true(largest_step(test, 500) < 0.02);
}

static void test_saturated_corrector_leaves(void **state) {
    struct test *test = *state;
    test->actuator[0].high = 0.05; /* of what the disturbance asks for: 0.2 */
    open_feedback(test, one_family);
    disturb(test, -0.5);
    cycles(test, 20);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    set(test, FEEDBACK_MODES, 6);
    for (uint32_t c = 2; c < 6; ++c) { /* only the two fast ones of this plane: nobody else can take its part */
        double const out = 0;
        put(test, FEEDBACK_ACTUATOR_MASK, c, &out, 1);
    }
    cycles(test, 100);
    solve(test);
    cycles(test, 2000);
    assert_true(test->setpoint[0] <= 0.05);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 0), FEEDBACK_ACTUATOR_SATURATED);
    solve(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    assert_true(reading(test, FEEDBACK_SATURATED, 0) == 1.0);
    cycles(test, 1000);
    assert_true(test->setpoint[0] == 0.05);
    assert_true(largest_step(test, 200) < 0.02);
}

static void test_golden_bump(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    close_loop(test);
    double golden[ROWS]; /* an orbit that correctors can make */
    for (uint32_t row = 0; row < ROWS; ++row)
        golden[row] = 2.0 * test->machine.response[row][3] + test->machine.response[row][9];
    put(test, FEEDBACK_GOLDEN, 0, golden, ROWS);
    cycles(test, 40);
    assert_true(fabs(test->machine.orbit[0]) < 0.9 * fabs(golden[0])); /* on its way */
    cycles(test, 2000);
    for (uint32_t row = 0; row < ROWS; ++row)
        assert_true(fabs(test->machine.orbit[row] - golden[row]) < 200.0);
}

static void test_shadow_sends_nothing(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    set(test, FEEDBACK_SHADOW, 1);
    cycles(test, 20);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    for (uint32_t i = 0; i < 500; ++i) {
        cycle(test);
        assert_int_equal(test->result, RM_STEP_QUIET);
    }
    assert_int_equal(state_of(test), FEEDBACK_ON);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        assert_true(test->machine.sent[c] == 0.0);
    assert_true(test->program->stream[FEEDBACK_ORBIT][4] > 0.0F); /* but it is told */
    set(test, FEEDBACK_SHADOW, 0);
    assert_true(largest_step(test, 1000) < 0.02);
    assert_int_equal(test->result, RM_STEP_SEND);
    assert_true(rms_nm(test, X) < 500.0);
}

/** S at one frequency, from what the stream tells. */
static double measured(struct test *test, double hz, uint32_t at) {
    double sums[4] = {0};
    set(test, FEEDBACK_EXCITE_AT, at);
    set(test, FEEDBACK_EXCITE_NUMBER, at == 0 ? 1 : 2);
    set(test, FEEDBACK_EXCITE_LOW, hz);
    set(test, FEEDBACK_EXCITE_AMPLITUDE, at == 0 ? 5000.0 : 0.05);
    set(test, FEEDBACK_EXCITE, FEEDBACK_SINE);
    cycles(test, 3000);
    uint32_t const length = (uint32_t)lrint(20.0 / hz * TURN_RATE / PERIOD);
    for (uint32_t i = 0; i < length; ++i) {
        cycle(test);
        double const phase = 2.0 * M_PI * hz * i * PERIOD / TURN_RATE;
        float const *orbit = test->program->stream[FEEDBACK_ORBIT];
        sums[0] += cos(phase) * orbit[9];
        sums[1] += sin(phase) * orbit[9];
        sums[2] += cos(phase) * orbit[10];
        sums[3] += sin(phase) * orbit[10];
    }
    set(test, FEEDBACK_EXCITE, FEEDBACK_QUIET);
    return hypot(sums[2], sums[3]) / hypot(sums[0], sums[1]);
}

/** S of the law for the machine as it is: with P(z) = (1 − a) z⁻² / (1 − a z⁻¹), and Smith's predictor around K. */
static double predicted(double hz) {
    double const rate = TURN_RATE / PERIOD, a = exp(-2.0 * M_PI * 1000.0 / rate), k = 2.0 * M_PI * 80.0 / rate;
    double complex const z = cexp(-2.0 * I * M_PI * hz / rate); /* z⁻¹ */
    double complex const undelayed = (1.0 - a) * z / (1.0 - a * z), plant = undelayed * z;
    double complex const c = k / (1.0 - z);
    double complex const controller = c / (1.0 + c * (undelayed - plant));
    return cabs(1.0 / (1.0 + controller * plant));
}

static void test_excitation_measures_sensitivity(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    set(test, FEEDBACK_RESONATORS, 0);
    close_loop(test);
    static double const hz[] = {20.0, 60.0, 150.0, 400.0, 1500.0, 3000.0};
    for (size_t i = 0; i < sizeof hz / sizeof hz[0]; ++i) {
        double const is = measured(test, hz[i], 0), should = predicted(hz[i]);
        if (fabs(is - should) > 0.02)
            fail_msg("at %g Hz S is %g, not %g", hz[i], is, should);
    }
    double const out[CORRECTORS] = {0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1}; /* alone, an actuator is a channel */
    put(test, FEEDBACK_ACTUATOR_MASK, 0, out, CORRECTORS);
    cycle(test);
    solve(test);
    double const is = measured(test, 60.0, 1), should = predicted(60.0);
    if (fabs(is - should) > 0.03)
        fail_msg("at an actuator S is %g, not %g", is, should);
}

static void test_excitation_while_off(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    cycles(test, 10);
    solve(test);
    set(test, FEEDBACK_EXCITE_AT, 1);
    set(test, FEEDBACK_EXCITE_NUMBER, 5);
    set(test, FEEDBACK_EXCITE_AMPLITUDE, 0.25);
    set(test, FEEDBACK_EXCITE, FEEDBACK_CONSTANT);
    cycles(test, 100);
    assert_true(test->setpoint[5] == 0.25);
    assert_true(test->setpoint[4] == 0.0);
    set(test, FEEDBACK_EXCITE, FEEDBACK_QUIET);
    cycles(test, 5);
    assert_true(test->setpoint[5] == 0.0);
}

static void test_unloading(void **state) {
    struct test *test = *state;
    span_fast_by_slow(&test->machine);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        if (!is_fast(c))
            test->machine.pole[c] = exp(-2.0 * M_PI * 100.0 * PERIOD / TURN_RATE);
    open_feedback(test, two_families);
    set(test, FEEDBACK_UNLOAD, 0);
    disturb(test, 2.0);
    close_loop(test);
    double const loaded = fabs(test->setpoint[0]);
    assert_true(loaded > 0.5);
    set(test, FEEDBACK_UNLOAD, 1);
    double transient = 0.0;
    for (uint32_t i = 0; i < 20000; ++i) {
        cycle(test);
        for (uint32_t row = 0; row < ROWS; ++row)
            transient = fmax(transient, fabs(test->machine.orbit[row]));
    }
    if (!(transient < 1000.0))
        fail_msg("the orbit moved by %g nm", transient);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        if (is_fast(c))
            assert_true(fabs(test->setpoint[c]) < 0.02);
    assert_true(fabs(test->setpoint[2]) + fabs(test->setpoint[3]) > 0.1);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_gate_is_ridden_out(void **state) {
    struct test *test = *state;
    open_feedback(test, all_kinds);
    close_loop(test);
    test->machine.flags = 1 << 3;
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_GATED);
    cycles(test, 29);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    test->machine.flags = 0;
    cycle(test);
    set(test, FEEDBACK_GATE, 0);
    test->machine.flags = 1 << 3;
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

/** Largest orbit, x, while the gap goes from 0 to 10 in some 25 ms. */
static double close_gap(struct test *test) {
    double largest = 0.0;
    for (uint32_t i = 0; i <= 250; ++i) {
        test->machine.gap = (float)(i / 25.0);
        for (uint32_t row = 0; row < ROWS; ++row)
            test->machine.wrongs.disturbance[row] = 0.05 * (double)test->machine.gap * test->machine.response[row][2];
        cycle(test);
        largest = fmax(largest, rms_nm(test, X));
    }
    return largest;
}

static void test_feed_forward(void **state) {
    struct test *test = *state;
    struct machine const begin = test->machine;
    open_feedback(test, one_family);
    close_loop(test);
    double const without = close_gap(test);
    rm_host_program_close(test->program);
    test->machine = begin;
    open_feedback(test, all_kinds);
    close_loop(test);
    double const with = close_gap(test);
    if (!(with < 0.3 * without))
        fail_msg("%g nm with a table, %g without", with, without);
    cycles(test, 200);
    assert_true(fabs(test->setpoint[2] + 0.5) < 0.02);
}

static void test_rf_takes_the_dispersion(void **state) {
    struct test *test = *state;
    open_feedback(test, all_kinds);
    set(test, FEEDBACK_RF, 1);
    close_loop(test);
    for (uint32_t row = 0; row < ROWS; ++row) /* an energy that is off */
        test->machine.wrongs.disturbance[row] = -0.5 * test->machine.response[row][5];
    cycles(test, 200);
    double const soon = test->setpoint[5];
    assert_true(soon < 0.4); /* at most ten times a second */
    cycles(test, 15000);
    assert_true(fabs(test->setpoint[5] - 0.5) < 0.02);
    assert_true(fabs(reading(test, FEEDBACK_RF_OFFSET, 0) - test->setpoint[5]) < 1e-9);
    for (uint32_t c = 0; c < 5; ++c)
        assert_true(fabs(test->setpoint[c]) < 0.05);
    assert_true(rms_nm(test, X) < 300.0);
}

static void test_shadow_of_another_system(void **state) {
    struct test *test = *state;
    open_feedback(test, all_kinds);
    set(test, FEEDBACK_SHADOW, 1);
    test->machine.ruled = true;
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        test->machine.other[c] = 0.1 * c;
    for (uint32_t row = 0; row < ROWS; ++row) { /* which the other system has taken away already, all but a little */
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            test->machine.wrongs.disturbance[row] -= 0.1 * c * test->machine.response[row][c];
        test->machine.wrongs.disturbance[row] += 0.01 * test->machine.response[row][1];
    }
    cycles(test, 100);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    cycles(test, 20000);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    assert_int_equal(test->result, RM_STEP_QUIET);
    assert_true(reading(test, FEEDBACK_SHADOW_RMS, 0) > 0.0);
    assert_true(reading(test, FEEDBACK_SHADOW_RMS, 0) < 0.02); /* states do not drift */
    test->machine.ruled = false;
    set(test, FEEDBACK_SHADOW, 0);
    cycle(test);
    for (uint32_t c = 0; c < CORRECTORS; ++c) /* takes over where that left it */
        assert_true(test->setpoint[c] == test->machine.other[c]);
    assert_true(largest_step(test, 2000) < 0.02);
    assert_int_equal(test->result, RM_STEP_SEND);
    assert_true(rms_nm(test, X) < 300.0);
}

/** The mains are off by 0.1 %: resonators that do not follow leave more than those that do. */
static void test_mains_are_followed(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    test->machine.wrongs.sine_nm = 20000.0;
    test->machine.wrongs.sine_hz = 50.05;
    close_loop(test);
    set(test, FEEDBACK_TRACK, 1);
    cycles(test, 100000);
    double const hz = reading(test, FEEDBACK_MAINS_HZ, 0);
    if (!(fabs(hz - 50.05) < 0.01))
        fail_msg("the mains are at 50.05 Hz, not at %g Hz", hz);
}

static void test_missing_row_is_an_error(void **state) {
    struct test *test = *state;
    struct rm_error error = {0};
    open_feedback(test, one_family);
    snprintf(test->stream[4].lane[1].name, sizeof test->stream[4].lane[1].name, "zz");
    assert_int_equal(rm_host_program_init(test->program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "bpm05/y1"));
    snprintf(test->stream[4].lane[1].name, sizeof test->stream[4].lane[1].name, "y1");
    snprintf(test->stream[4].lane[1].unit, sizeof test->stream[4].lane[1].unit, "furlong");
    assert_int_equal(rm_host_program_init(test->program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "furlong"));
}

/* What a machine does to it that has other things to do as well */

/** The feedback does not run for so many cycles; the supplies stay where they are. Returns the largest orbit. */
static double leave_out(struct test *test, uint32_t count) {
    double largest = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        move(&test->machine);
        largest = fmax(largest, rms_nm(test, X));
    }
    return largest;
}

static double largest_orbit(struct test *test, uint32_t count) {
    double largest = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        cycle(test);
        largest = fmax(largest, rms_nm(test, X));
    }
    return largest;
}

static double mean_orbit(struct test *test, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        cycle(test);
        sum += rms_nm(test, X) / count;
    }
    return sum;
}

/** Ten times a second 30 cycles are left out. What the lines do in that time nobody can help. */
static void test_goes_on_after_a_gap(void **state) {
    struct test *test = *state;
    open_feedback(test, all_lines);
    test->machine.wrongs.mains_nm = 5000.0;
    close_loop(test);
    cycles(test, 100000);
    double const before = mean_orbit(test, 1000);
    double unseen = 0.0, after = 0.0, later = 0.0;
    for (uint32_t gap = 0; gap < 20; ++gap) {
        unseen = fmax(unseen, leave_out(test, 30));
        after = fmax(after, largest_orbit(test, 100));
        later += mean_orbit(test, 834) / 20;
        assert_int_equal(state_of(test), FEEDBACK_ON);
    }
    if (!(after <= unseen && later < 0.2 * unseen && before < 0.05 * unseen))
        fail_msg("before %g nm, in gaps %g nm, then %g nm, later %g nm", before, unseen, after, later);
}

/** Hardly any input comes: whose fault that is, it is not the BPMs'. */
static void test_missing_burst_costs_its_cycles(void **state) {
    struct test *test = *state;
    double held[CORRECTORS];
    open_feedback(test, all_lines);
    test->machine.wrongs.mains_nm = 5000.0;
    close_loop(test);
    cycles(test, 100000);
    double const generation = reading(test, FEEDBACK_GENERATION, 0);
    double unseen = 0.0, after = 0.0, later = 0.0;
    for (uint32_t burst = 0; burst < 20; ++burst) {
        memcpy(held, test->setpoint, sizeof held);
        for (uint32_t i = 0; i < INPUTS; ++i)
            test->machine.wrongs.silent[i] = i >= burst % 5;
        for (uint32_t i = 0; i < 1 + 3 * burst; ++i) {
            cycle(test);
            unseen = fmax(unseen, rms_nm(test, X));
            assert_int_equal(state_of(test), FEEDBACK_HOLD);
            assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_LATE);
            assert_memory_equal(held, test->setpoint, sizeof held);
        }
        memset(test->machine.wrongs.silent, 0, sizeof test->machine.wrongs.silent);
        after = fmax(after, largest_orbit(test, 100));
        later = fmax(later, mean_orbit(test, 800));
        assert_int_equal(state_of(test), FEEDBACK_ON);
        for (uint32_t row = 0; row < ROWS; ++row)
            assert_int_equal((int)reading(test, FEEDBACK_ROW_STATE, row), 0);
    }
    if (!(after <= unseen && later < 0.2 * unseen))
        fail_msg("in bursts %g nm, then %g nm, later %g nm", unseen, after, later);
    assert_true(reading(test, FEEDBACK_GENERATION, 0) == generation);
    assert_true(reading(test, FEEDBACK_SUBSTITUTED, 0) == 0.0);
}

/** When they do not come back they are out, and it begins anew once they are. */
static void test_missing_for_long_begins_anew(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    for (uint32_t i = 0; i < INPUTS; ++i)
        test->machine.wrongs.silent[i] = true;
    cycles(test, 600);
    for (uint32_t row = 0; row < ROWS; ++row)
        assert_true((int)reading(test, FEEDBACK_ROW_STATE, row) & FEEDBACK_ROW_SILENT);
    memset(test->machine.wrongs.silent, 0, sizeof test->machine.wrongs.silent);
    assert_true(largest_step(test, 520) < 0.02);
    solve(test);
    assert_true(largest_step(test, 520) < 0.02);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    assert_true(rms_nm(test, X) < 500.0);
}

/** Nobody saw what happened in between: it is no leap of those who see it. */
static void test_orbit_may_be_elsewhere_afterwards(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    cycles(test, 10);
    for (uint32_t again = 1; again <= 2; ++again) {
        for (uint32_t i = 0; i < INPUTS; ++i)
            test->machine.wrongs.silent[i] = again == 1;
        if (again == 1)
            cycles(test, 600);
        else
            leave_out(test, 600);
        memset(test->machine.wrongs.silent, 0, sizeof test->machine.wrongs.silent);
        for (uint32_t row = 8; row < 12; ++row)
            test->machine.wrongs.disturbance[row] = 4e5 * again;
        cycles(test, 600);
        assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
    }
}

/** Some rows see it in one cycle, some in the next, and so on: it was the beam all the same. */
static void test_beam_may_move_row_by_row(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    cycles(test, 10);
    for (uint32_t i = 0; i < 6; ++i) {
        test->machine.wrongs.leap_nm[i] = 8e5;
        cycle(test);
    }
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS - 12); /* those who see it later are believed */
    cycles(test, 600);
    assert_true(reading(test, FEEDBACK_USED, 0) == ROWS);
}

static void lose(struct test *test, uint32_t count, bool is_lost) {
    for (uint32_t c = 0; c < count; ++c)
        test->machine.wrongs.lost[c] = is_lost;
}

/** Chains are lost, and join again. */
static void test_lost_chains_come_back(void **state) {
    struct test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    for (uint32_t away = 1; away <= 300; away *= 6) {
        lose(test, 10, true);
        for (uint32_t i = 0; i < away; ++i, cycle(test))
            rm_host_program_work(test->program);
        lose(test, 10, false);
        cycles(test, 2);
        assert_int_equal(state_of(test), FEEDBACK_HOLD);
        cycles(test, 10 * away + 5);
        double largest = 0.0;
        for (uint32_t i = 0; i < 4; ++i) {
            rm_host_program_work(test->program);
            largest = fmax(largest, largest_step(test, 100));
        }
        assert_true(largest < 0.02);
        assert_int_equal(state_of(test), FEEDBACK_ON);
        cycles(test, 1000);
        assert_true(rms_nm(test, X) < 300.0 && rms_nm(test, Y) < 300.0);
    }
    lose(test, 10, true);
    cycles(test, 22000);
    assert_int_equal(state_of(test), FEEDBACK_FAULT);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_FEW_ACTUATORS);
}

/** What has gone to its limits is brought back by the loop, once a person has looked. */
static void test_gets_out_of_saturation(void **state) {
    struct test *test = *state;
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        test->actuator[c].low = -0.3;
        test->actuator[c].high = 0.3;
    }
    for (uint32_t again = 0; again < 2; ++again) {
        struct rm_error error;
        if (again == 0)
            open_feedback(test, one_family);
        else
            assert_int_equal(rm_host_program_init(test->program, &error), RM_OK);
        disturb(test, 0.5);
        set(test, FEEDBACK_LOOP, 0);
        close_loop(test);
        for (uint32_t row = 0; row < ROWS; ++row)
            for (uint32_t c = 0; c < CORRECTORS; ++c)
                test->machine.wrongs.disturbance[row] += (c % 2 ? 2.0 : -2.0) * test->machine.response[row][c];
        cycles(test, 3000);
        assert_int_equal(state_of(test), FEEDBACK_FAULT);
        assert_true((int)reading(test, FEEDBACK_CAUSE, 0) & (FEEDBACK_SATURATION | FEEDBACK_FEW_ACTUATORS));
        disturb(test, 0.5);
        if (again == 0) {
            set(test, FEEDBACK_LOOP, 0);
            cycles(test, 20);
            solve(test);
            cycles(test, 20);
            assert_int_equal(state_of(test), FEEDBACK_READY);
            set(test, FEEDBACK_LOOP, 1);
        } else {
            solve(test);
            cycles(test, 20);
            set(test, FEEDBACK_RESET, 1);
        }
        cycles(test, 3000);
        assert_int_equal(state_of(test), FEEDBACK_ON);
        assert_true(rms_nm(test, X) < 500.0 && rms_nm(test, Y) < 500.0);
    }
}

int main(int count, char **argument) {
    if (count != 2)
        return 2;
    module_path = argument[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_states_and_closing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_line_is_taken_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_bpms_are_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_few_bpms_is_a_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_beam_holds_within_its_cycle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_leaves_no_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_masks_do_not_bump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tripped_corrector_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_saturated_corrector_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_golden_bump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shadow_sends_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_excitation_measures_sensitivity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_excitation_while_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unloading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gate_is_ridden_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_feed_forward, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rf_takes_the_dispersion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shadow_of_another_system, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mains_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_on_after_a_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_burst_costs_its_cycles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_for_long_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_orbit_may_be_elsewhere_afterwards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beam_may_move_row_by_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_chains_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gets_out_of_saturation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_row_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
