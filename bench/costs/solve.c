// SPDX-License-Identifier: Apache-2.0
/** The thread beside the loop solves a response matrix again, when a BPM or a corrector goes out: a whole solution of a
 * ring of 168 BPMs and 264 correctors per plane, all of one family: two planes of 168 × 264, or both coupled, 336 × 528.
 * Each after a BPM went out or came back, with the product's weights and the map from the solution before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/feedback/matrix/solution.h"
#include "cost.h"

enum { BPMS = 168, PER_PLANE = 264, ROWS = 2 * BPMS, COLUMNS = 2 * PER_PLANE };

static double const RATE_HZ = 9642;
static double const TUNE[2] = {33.25, 9.2};

/* Closed orbit of a ring of smooth optics: what it takes here is only that all modes are there. */
static double drawn_response(uint32_t row, uint32_t column) {
    uint32_t const plane = row % 2;
    uint32_t const bpm = row / 2;
    uint32_t const corrector = column / 2;
    double const place = (bpm + 0.37 * sin(row)) / BPMS;
    double const source = (corrector + 0.41 * cos(3 * column)) / PER_PLANE;
    double const orbit = cos(TUNE[plane] * (2 * M_PI * fabs(place - source) - M_PI));
    return (plane == column % 2 ? 1000 : 10) * (1 + 0.3 * sin(row) * cos(column)) * orbit;
}

static void make_names(char **names, uint32_t count, char const *format) {
    for (uint32_t n = 0; n < count; ++n)
        if (asprintf(&names[n], format, n / 2, n % 2 == 0 ? 'x' : 'y') < 0)
            abort();
}

static void make_configuration(struct feedback_configuration *configuration, bool coupled) {
    struct rm_table *matrix = &configuration->matrix;
    *configuration = (struct feedback_configuration){.path = strdup("bench"), .rf = {.column = -1}, .family_count = 1};
    *matrix = (struct rm_table){.rows = ROWS, .columns = COLUMNS};
    matrix->row_name = bench_allocate(ROWS * sizeof(char *));
    matrix->column_name = bench_allocate(COLUMNS * sizeof(char *));
    matrix->value = bench_allocate((size_t)ROWS * COLUMNS * sizeof(double));
    make_names(matrix->row_name, ROWS, "bpm%03u/%c1");
    make_names(matrix->column_name, COLUMNS, "c%03u%c");
    configuration->golden_nm = bench_allocate(ROWS * sizeof(double));
    configuration->row_weight = bench_allocate(ROWS * sizeof(double));
    configuration->column_weight = bench_allocate(COLUMNS * sizeof(double));
    for (uint32_t r = 0; r < ROWS; ++r) {
        configuration->row_weight[r] = 1;
        for (uint32_t c = 0; c < COLUMNS; ++c)
            matrix->value[(size_t)r * COLUMNS + c] = drawn_response(r, c);
    }
    for (uint32_t c = 0; c < COLUMNS; ++c)
        configuration->column_weight[c] = 1;
    struct feedback_family *family = bench_allocate(sizeof *family);
    *family = (struct feedback_family){.name = strdup("fast"), .pattern_count = 1, .acts = true, .unload_to = -1};
    family->patterns = bench_allocate(sizeof(char *));
    family->patterns[0] = strdup("*");
    configuration->family = family;
    family->plant.bandwidth_hz = 5000;
    family->plant.delay_s = 150e-6;
    family->tuning.integral_hz = 150;
    configuration->coupled = coupled;
}

/** One way to solve it, and the last solution. */
struct subject {
    struct feedback_configuration configuration;
    struct feedback_layout layout;
    bool row_in[ROWS], column_in[COLUMNS];
    uint32_t next_row;
    struct feedback_solution *before;
};

static void solve_once(struct subject *subject) {
    struct feedback_requests const requests = {
        .row_in = subject->row_in, .column_in = subject->column_in, .tikhonov = 0.01};
    struct feedback_solution *solution = NULL;
    struct rm_error error;
    bench_must(feedback_solution_make(&subject->configuration, &subject->layout, RATE_HZ, &requests, subject->before,
                                      &solution, &error),
               &error);
    feedback_solution_free(subject->before);
    subject->before = solution;
}

static uint64_t solve_again(void *argument) {
    struct subject *const subject = argument;
    bool *const in = &subject->row_in[subject->next_row];
    *in = !*in; /* a BPM goes out */
    subject->next_row = (subject->next_row + 2) % ROWS;
    solve_once(subject);
    return 1;
}

static size_t solve_prepare(struct bench_case *cases) {
    static char const *const names[] = {"two planes of 168 × 264, per mode", "two planes of 168 × 264, per corrector",
                                        "coupled, 336 × 528, per mode", "coupled, 336 × 528, per corrector"};
    enum { COUNT = sizeof names / sizeof *names };
    static struct subject subjects[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        struct subject *const subject = &subjects[i];
        memset(subject->row_in, true, sizeof subject->row_in);
        memset(subject->column_in, true, sizeof subject->column_in);
        make_configuration(&subject->configuration, i >= 2);
        subject->configuration.per = i % 2 == 0 ? FEEDBACK_PER_MODE : FEEDBACK_PER_CORRECTOR;
        if (feedback_layout_make(&subject->configuration, &subject->layout, NULL) != RM_OK)
            bench_fail("no layout can be made");
        solve_once(subject);
        cases[i] = (struct bench_case){names[i], solve_again, subject, NULL, NULL};
    }
    return COUNT;
}

struct bench_cost const solve_cost = {.name = "solve",
                                      .about = "to solve the response matrix again when a BPM goes out",
                                      .rounds = 5,
                                      .unit = "ms",
                                      .unit_ns = 1e6,
                                      .prepare = solve_prepare};
