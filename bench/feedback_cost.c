// SPDX-License-Identifier: Apache-2.0
/** What does the orbit feedback's arithmetic take: from the last BPM's record in hand to all setpoints in their row?
 *
 *     ringmaster-feedback-cost CYCLES CPU      prints a JSON object, times in nanoseconds
 *
 * Each cycle is a whole one, as the application has it: rows of the orbit in another order, the last of them timed with
 * the end of the product, its row published; then, between cycles, errors of all channels, the controllers with
 * thirteen resonators in each, and what it says of the next row. So the caches hold what they hold in life: matrices
 * that do not fit the first one, and much else that came in between.
 *
 * Beside it, by turns in the same run: OpenBLAS sgemv of the same size; our product whole, at once; and a loop that
 * only looks at the clock for as long as the last answer took. By how much that one is ever late is the machine's
 * doing.
 */
#include <cblas.h>
#include <emmintrin.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/feedback/law/controllers.h"
#include "apps/feedback/law/product.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "bench/rounds.h"

enum {
    ROWS_OF_RING = 64, /**< of setpoints, as a grant has them */
    ORDERS = 61,       /**< orders of arrival, by turns */
    LINES = 13,
};

static double const lines_hz[LINES] = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900};

/** A size that is measured. */
struct size {
    char const *name;
    uint32_t planes, rows, outputs; /**< rows and outputs of a plane */
    bool coupled;
    uint32_t last_rows; /**< that the last record brings */
};

static struct size const sizes[] = {
    {.name = "264x168", .planes = 1, .rows = 168, .outputs = 264, .last_rows = 1},
    {.name = "528x336", .planes = 2, .rows = 168, .outputs = 264, .last_rows = 4},
    {.name = "528x336_coupled", .planes = 2, .rows = 168, .outputs = 264, .coupled = true, .last_rows = 4},
};

enum what { ANSWER, FLOOR, SGEMV, WHOLE, ERRORS, CONTROLLERS, AHEAD, WHATS };

static char const *const what_name[WHATS] = {"answer_ns", "stall_floor_ns", "sgemv_ns", "whole_product_ns",
                                             "errors_ns", "controllers_ns", "ahead_ns"};

struct bench {
    struct size size;
    uint32_t rows, outputs, per_plane; /**< outputs padded */
    uint32_t matrix_rows, matrix_columns, matrices;
    struct feedback_product product;
    struct feedback_controllers controllers;
    double *weight; /**< [row · outputs + output] */
    float *single, *single_error, *single_setpoint;
    double *errors_of, *outputs_of; /**< basis: channels by rows, outputs by channels */
    double *error_double, *channel_error, *channel_command, *channel_ahead;
    double *ahead, *low, *high, *ring, *cut;
    int64_t *sum;
    int32_t *error;
    uint32_t *order; /**< [ORDERS · rows] */
    _Atomic uint64_t published;
    struct bench_times times[WHATS];
};

static double *feedback_cost_draw_numbers(size_t count, double scale) {
    double *const number = bench_allocate(count * sizeof *number);
    for (size_t i = 0; i < count; ++i)
        number[i] = scale * bench_draw();
    return number;
}

static uint32_t pad_outputs(uint32_t outputs) {
    return (outputs + FEEDBACK_OUTPUT_BLOCK - 1) / FEEDBACK_OUTPUT_BLOCK * FEEDBACK_OUTPUT_BLOCK;
}

static uint32_t plane_of(struct bench const *bench, uint32_t row) { return row / bench->size.rows; }

static void make_product(struct bench *bench) {
    struct feedback_range *const range = bench_allocate(bench->rows * sizeof *range);
    bench->weight = bench_allocate((size_t)bench->rows * bench->outputs * sizeof(double));
    for (uint32_t row = 0; row < bench->rows; ++row) {
        range[row] = bench->size.coupled
                         ? (struct feedback_range){0, bench->outputs}
                         : (struct feedback_range){plane_of(bench, row) * bench->per_plane, bench->per_plane};
        for (uint32_t i = 0; i < range[row].count; ++i)
            if ((range[row].first + i) % bench->per_plane < bench->size.outputs)
                bench->weight[(size_t)row * bench->outputs + range[row].first + i] = 1e-6 * bench_draw();
    }
    if (!feedback_product_make(&bench->product, bench->rows, bench->outputs, range, RM_SIMD_BEST))
        exit(1);
    feedback_product_set(&bench->product, bench->weight, bench->outputs);
    free(range);
}

static void make_controllers(struct bench *bench) {
    struct feedback_plant const plant = {.rate_hz = 9642, .bandwidth_hz = 5000, .delay_s = 150e-6};
    struct feedback_tuning tuning;
    struct feedback_law law;
    feedback_tuning_choose(&plant, lines_hz, LINES, &tuning);
    feedback_law_make(&law, &plant, &tuning, true);
    if (!feedback_controllers_make(&bench->controllers, bench->outputs, &law))
        exit(1);
}

/** Rows by turns in other orders. The last ones belong together: those of one record, of both planes. */
static void make_orders(struct bench *bench) {
    bench->order = bench_allocate((size_t)ORDERS * bench->rows * sizeof *bench->order);
    for (uint32_t i = 0; i < ORDERS; ++i) {
        uint32_t *const order = bench->order + (size_t)i * bench->rows;
        for (uint32_t row = 0; row < bench->rows; ++row) {
            uint32_t const place = (uint32_t)(fabs(bench_draw()) * (row + 1)) % (row + 1);
            order[row] = order[place];
            order[place] = row;
        }
        uint32_t const first = (uint32_t)(fabs(bench_draw()) * (bench->size.rows - 2)) / 2 * 2;
        for (uint32_t j = 0; j < bench->size.last_rows; ++j) {
            uint32_t const wanted = first + j % 2 + j / 2 * bench->size.rows, end = bench->rows - 1 - j;
            for (uint32_t row = 0; row < bench->rows; ++row)
                if (order[row] == wanted) {
                    order[row] = order[end];
                    order[end] = wanted;
                }
        }
    }
}

static void feedback_cost_make(struct bench *bench, struct size const *size) {
    *bench = (struct bench){.size = *size};
    bench->per_plane = pad_outputs(size->outputs);
    bench->rows = size->planes * size->rows;
    bench->outputs = size->planes * bench->per_plane;
    bench->matrices = size->coupled ? 1 : size->planes;
    bench->matrix_rows = bench->rows / bench->matrices;
    bench->matrix_columns = size->planes * size->outputs / bench->matrices;
    make_product(bench);
    make_controllers(bench);
    make_orders(bench);
    size_t const matrix = (size_t)bench->matrices * bench->matrix_rows * bench->matrix_columns;
    bench->single = bench_allocate(matrix * sizeof(float));
    for (size_t i = 0; i < matrix; ++i)
        bench->single[i] = (float)(1e-6 * bench_draw());
    bench->single_error = bench_allocate(bench->rows * sizeof(float));
    bench->single_setpoint = bench_allocate(bench->outputs * sizeof(float));
    bench->errors_of = feedback_cost_draw_numbers(matrix, 1e-6);
    bench->outputs_of =
        feedback_cost_draw_numbers((size_t)bench->matrices * bench->matrix_rows * bench->matrix_columns, 0.1);
    bench->error_double = feedback_cost_draw_numbers(bench->rows, 1e5);
    bench->channel_error = feedback_cost_draw_numbers(bench->outputs, 0);
    bench->channel_command = feedback_cost_draw_numbers(bench->outputs, 0);
    bench->channel_ahead = feedback_cost_draw_numbers(bench->outputs, 0);
    bench->ahead = feedback_cost_draw_numbers(bench->outputs, 0);
    bench->low = feedback_cost_draw_numbers(bench->outputs, 0);
    bench->high = feedback_cost_draw_numbers(bench->outputs, 0);
    bench->cut = feedback_cost_draw_numbers(bench->outputs, 0);
    bench->ring = feedback_cost_draw_numbers((size_t)ROWS_OF_RING * bench->outputs, 0);
    bench->sum = bench_allocate(bench->outputs * sizeof *bench->sum);
    bench->error = bench_allocate(bench->rows * sizeof *bench->error);
    for (uint32_t i = 0; i < bench->outputs; ++i) {
        bench->low[i] = -10;
        bench->high[i] = 10;
    }
    for (int i = 0; i < WHATS; ++i)
        bench_times_clear(&bench->times[i]);
}

static void feedback_cost_drop(struct bench *bench) {
    void *const memory[] = {bench->weight,
                            bench->single,
                            bench->single_error,
                            bench->single_setpoint,
                            bench->errors_of,
                            bench->outputs_of,
                            bench->error_double,
                            bench->channel_error,
                            bench->channel_command,
                            bench->channel_ahead,
                            bench->ahead,
                            bench->low,
                            bench->high,
                            bench->cut,
                            bench->ring,
                            bench->sum,
                            bench->error,
                            bench->order};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; ++i)
        free(memory[i]);
    for (int i = 0; i < WHATS; ++i)
        free(bench->times[i].count);
    feedback_product_free(&bench->product);
    feedback_controllers_free(&bench->controllers);
}

/** The clock, with all that was asked for before done and nothing begun that comes after. */
static uint64_t feedback_cost_ticks_now(void) {
    _mm_lfence();
    uint64_t const ticks = rm_tsc();
    _mm_lfence();
    return ticks;
}

static double *bench_row_of(struct bench *bench, uint64_t cycle) {
    return bench->ring + cycle % ROWS_OF_RING * bench->outputs;
}

static void end_bench_cycle(struct bench *bench, uint64_t cycle) {
    feedback_product_end(&bench->product, bench->sum, 1, bench->ahead, bench->low, bench->high,
                         bench_row_of(bench, cycle), NULL);
    atomic_store_explicit(&bench->published, cycle + 1, memory_order_release);
}

/** The cycle's rows, of which the last are timed. Errors change from cycle to cycle. */
static uint64_t answer_bench_cycle(struct bench *bench, uint64_t cycle) {
    uint32_t const *const order = bench->order + cycle % ORDERS * bench->rows;
    uint32_t const before = bench->rows - bench->size.last_rows;
    uint64_t const bits = bench_draw_bits();
    for (uint32_t row = 0; row < bench->rows; ++row)
        bench->error[row] = (int32_t)(bits >> (row % 40) & 0xffff) - 0x8000;
    feedback_product_begin(&bench->product, bench->sum);
    for (uint32_t i = 0; i < before; ++i)
        feedback_product_add(&bench->product, bench->sum, order[i], bench->error[order[i]]);
    for (uint32_t i = before; i < bench->rows; ++i)
        feedback_product_near(&bench->product, order[i]);
    uint64_t const begin = feedback_cost_ticks_now();
    for (uint32_t i = before; i < bench->rows; ++i)
        feedback_product_add(&bench->product, bench->sum, order[i], bench->error[order[i]]);
    end_bench_cycle(bench, cycle);
    uint64_t const ticks = feedback_cost_ticks_now() - begin;
    bench_times_take(&bench->times[ANSWER], ticks);
    return ticks;
}

/** Looks at the clock until so many ticks are over; late by what the machine took. */
static void stand_for_ticks(struct bench *bench, uint64_t ticks) {
    uint64_t const begin = feedback_cost_ticks_now();
    uint64_t passed;
    do
        passed = feedback_cost_ticks_now() - begin;
    while (passed < ticks);
    bench_times_take(&bench->times[FLOOR], passed - ticks);
}

static void run_whole_cycle(struct bench *bench, uint64_t cycle) {
    uint64_t const begin = feedback_cost_ticks_now();
    feedback_product_begin(&bench->product, bench->sum);
    for (uint32_t row = 0; row < bench->rows; ++row)
        feedback_product_add(&bench->product, bench->sum, row, bench->error[row]);
    end_bench_cycle(bench, cycle);
    bench_times_take(&bench->times[WHOLE], feedback_cost_ticks_now() - begin);
}

static void multiply_by_sgemv(struct bench *bench) {
    uint32_t const rows = bench->matrix_rows, columns = bench->matrix_columns;
    for (uint32_t row = 0; row < bench->rows; ++row)
        bench->single_error[row] = (float)bench->error[row];
    uint64_t const begin = feedback_cost_ticks_now();
    for (uint32_t i = 0; i < bench->matrices; ++i)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)columns, (int)rows, 1, bench->single + (size_t)i * rows * columns,
                    (int)rows, bench->single_error + (size_t)i * rows, 1, 0,
                    bench->single_setpoint + (size_t)i * columns, 1);
    bench_times_take(&bench->times[SGEMV], feedback_cost_ticks_now() - begin);
}

/** As many modes as rows, or as outputs where there are fewer of those. */
static uint32_t mode_count_of(struct bench const *bench) {
    return bench->matrix_rows < bench->matrix_columns ? bench->matrix_rows : bench->matrix_columns;
}

/** Per mode: errors in the modes' space, the controllers, and its part of the next row in the outputs'. */
static void work_between_cycles(struct bench *bench) {
    uint32_t const rows = bench->matrix_rows, columns = bench->matrix_columns, channels = mode_count_of(bench);
    uint64_t const begin = feedback_cost_ticks_now();
    for (uint32_t row = 0; row < bench->rows; ++row)
        bench->error_double[row] = bench->error[row];
    for (uint32_t i = 0; i < bench->matrices; ++i)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)channels, (int)rows, 1,
                    bench->errors_of + (size_t)i * rows * columns, (int)rows, bench->error_double + (size_t)i * rows, 1,
                    0, bench->channel_error + (size_t)i * channels, 1);
    uint64_t const errors = feedback_cost_ticks_now();
    for (uint32_t i = 0; i < bench->outputs; ++i)
        bench->channel_command[i] =
            bench->controllers.law.direct * bench->channel_error[i] + bench->controllers.ahead[i];
    feedback_controllers_update(&bench->controllers, bench->channel_error, bench->channel_command,
                                bench->channel_command);
    uint64_t const controllers = feedback_cost_ticks_now();
    for (uint32_t i = 0; i < bench->matrices; ++i)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)columns, (int)channels, 1,
                    bench->outputs_of + (size_t)i * rows * columns, (int)channels,
                    bench->controllers.ahead + (size_t)i * channels, 1, 0, bench->channel_ahead + (size_t)i * columns,
                    1);
    uint64_t const ahead = feedback_cost_ticks_now();
    bench_times_take(&bench->times[ERRORS], errors - begin);
    bench_times_take(&bench->times[CONTROLLERS], controllers - errors);
    bench_times_take(&bench->times[AHEAD], ahead - controllers);
}

static void run_cycles(struct bench *bench, uint64_t cycles) {
    uint64_t const warm = 1000;
    for (uint64_t cycle = 0; cycle < cycles + warm; ++cycle) {
        uint64_t const ticks = answer_bench_cycle(bench, cycle);
        stand_for_ticks(bench, ticks);
        work_between_cycles(bench);
        if (cycle % 2 == 0)
            multiply_by_sgemv(bench);
        else
            run_whole_cycle(bench, cycle);
        if (cycle + 1 == warm)
            for (int i = 0; i < WHATS; ++i)
                bench_times_clear(&bench->times[i]);
    }
}

static void feedback_cost_print(struct bench const *bench, double ns_per_tick, bool first) {
    printf("%s\"%s\": {", first ? "" : ", ", bench->size.name);
    for (int i = 0; i < WHATS; ++i)
        bench_times_json(what_name[i], &bench->times[i], ns_per_tick, i + 1 < WHATS ? ", " : "}");
}

int main(int argc, char **argv) {
    uint64_t cycles = 0, cpu = 0;
    struct rm_option options[] = {
        {"CYCLES", &cycles, 1, 1e12, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
    };
    rm_options_or_exit(argc, argv, "Usage: ringmaster-feedback-cost CYCLES CPU\n", options,
                       sizeof options / sizeof *options);
    bench_pin((uint32_t)cpu);
    double const ns_per_tick = 1e9 / rm_tsc_hz_measure();
    printf("{\"simd\": \"%s\", \"sizes\": {", rm_simd_name(RM_SIMD_BEST));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        static struct bench bench;
        feedback_cost_make(&bench, &sizes[i]);
        run_cycles(&bench, cycles);
        feedback_cost_print(&bench, ns_per_tick, i == 0);
        feedback_cost_drop(&bench);
    }
    puts("}}");
    return 0;
}
