// SPDX-License-Identifier: Apache-2.0
/** How long does the thread beside the loop take to solve a response matrix again, when a BPM or a corrector goes out?
 *
 *     feedback_solve_cost [ROUNDS]      default 5
 *
 * Medians, in ms: a whole solution of a ring of 168 BPMs and 264 correctors per plane, all of one family: two planes of
 * 168 × 264, or both coupled, 336 × 528. Each after a BPM went out, with the product's weights and the map from the
 * solution before.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/feedback/matrix/solution.h"
#include "bench/rounds.h"

enum { BPMS = 168, PER_PLANE = 264, ROWS = 2 * BPMS, COLUMNS = 2 * PER_PLANE, ROUNDS_MOST = 1000 };

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

static struct feedback_solution *feedback_solve_cost_solve(struct feedback_configuration const *configuration,
                                                           struct feedback_layout const *layout,
                                                           struct feedback_requests const *requests,
                                                           struct feedback_solution const *before) {
    struct feedback_solution *solution = NULL;
    struct rm_error error;
    bench_must(feedback_solution_make(configuration, layout, RATE_HZ, requests, before, &solution, &error), &error);
    return solution;
}

static void feedback_solve_cost_measure(char const *what, bool coupled, bool per_corrector, uint32_t rounds) {
    struct feedback_configuration configuration;
    struct feedback_layout layout;
    double seconds[ROUNDS_MOST];
    bool row_in[ROWS];
    bool column_in[COLUMNS];
    memset(row_in, true, sizeof row_in);
    memset(column_in, true, sizeof column_in);
    struct feedback_requests const requests = {.row_in = row_in, .column_in = column_in, .tikhonov = 0.01};
    make_configuration(&configuration, coupled);
    configuration.per = per_corrector ? FEEDBACK_PER_CORRECTOR : FEEDBACK_PER_MODE;
    if (feedback_layout_make(&configuration, &layout, NULL) != RM_OK)
        abort();
    struct feedback_solution *before = feedback_solve_cost_solve(&configuration, &layout, &requests, NULL);
    for (uint32_t round = 0; round < rounds; ++round) {
        row_in[2 * round % ROWS] = !row_in[2 * round % ROWS]; /* a BPM goes out */
        struct feedback_solution *solution = feedback_solve_cost_solve(&configuration, &layout, &requests, before);
        seconds[round] = solution->seconds;
        feedback_solution_free(before);
        before = solution;
    }
    printf("%-44s %7.1f ms\n", what, 1e3 * bench_figure_of(seconds, rounds, 0).median);
    feedback_solution_free(before);
    feedback_layout_free(&layout);
    feedback_configuration_free(&configuration);
}

int main(int count, char **arguments) {
    long const rounds = count > 1 ? strtol(arguments[1], NULL, 10) : 5;
    if (count > 2 || rounds < 1 || rounds > ROUNDS_MOST) {
        fprintf(stderr, "usage: feedback_solve_cost [ROUNDS]   1 to %d\n", ROUNDS_MOST);
        return 2;
    }
    feedback_solve_cost_measure("two planes of 168 × 264, per mode", false, false, (uint32_t)rounds);
    feedback_solve_cost_measure("two planes of 168 × 264, per corrector", false, true, (uint32_t)rounds);
    feedback_solve_cost_measure("coupled, 336 × 528, per mode", true, false, (uint32_t)rounds);
    feedback_solve_cost_measure("coupled, 336 × 528, per corrector", true, true, (uint32_t)rounds);
    return 0;
}
