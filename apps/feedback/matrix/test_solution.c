// SPDX-License-Identifier: Apache-2.0
/** A solution whole: what the product makes of an orbit is what bases and laws say, whatever is masked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "../files/test_file.h"
#include "solution.h"

enum { BPMS = 12, ROWS = 2 * BPMS, FAST = 10, SLOW = 14, COLUMNS = 2 * FAST + 2 * SLOW + 1, RF = COLUMNS - 1 };

static double const RATE_HZ = 10000;

/** A ring of BPMS, each x1 and y1, in whose two planes are fast and slow correctors, and an RF frequency. */
struct ring {
    struct feedback_configuration configuration;
    struct feedback_layout layout;
    bool row_in[ROWS], column_in[COLUMNS];
    struct feedback_requests requests;
};

static double response(int row, int column) {
    int const bpm = row / 2;
    double const phase = column * 2.399 + bpm * 0.7;
    bool const row_is_y = row % 2 == 1;
    if (column == RF)
        return row_is_y ? 3 * cos(row) : 800 + 300 * sin(row * 0.9);
    bool const column_is_y = (column < 2 * FAST ? column : column - 2 * FAST) % 2 == 1;
    return (row_is_y == column_is_y ? 1000 : 40) * cos(fabs(phase - 3 * column_is_y)) * (1 + 0.3 * sin(column * row));
}

static void column_name(int column, char name[16]) {
    if (column == RF)
        strcpy(name, "rf");
    else if (column < 2 * FAST)
        snprintf(name, 16, "f%02d%c", column / 2, column % 2 == 0 ? 'x' : 'y');
    else
        snprintf(name, 16, "s%02d%c", (column - 2 * FAST) / 2, column % 2 == 0 ? 'x' : 'y');
}

static void write_matrix(void) {
    char path[TEST_PATH_BYTES];
    FILE *file = fopen(test_path("m.csv", path), "we");
    assert_non_null(file);
    for (int c = 0; c < COLUMNS; ++c) {
        char name[16];
        column_name(c, name);
        fprintf(file, ",%s", name);
    }
    for (int r = 0; r < ROWS; ++r) {
        fprintf(file, "\nbpm%02d/%c1", r / 2, r % 2 == 0 ? 'x' : 'y');
        for (int c = 0; c < COLUMNS; ++c)
            fprintf(file, ",%.17g", response(r, c));
    }
    assert_int_equal(fclose(file), 0);
}

static void make_ring(struct ring *ring, char const *more) {
    char path[TEST_PATH_BYTES];
    char text[1024];
    struct rm_error error = {.text = ""};
    snprintf(text, sizeof text,
             "matrix: m.csv\n%s\nfamilies:\n"
             "  - {name: fast, actuators: [\"f*\"], plant: {bandwidth_hz: 2000, delay_us: 150}, integral_hz: 100,\n"
             "     proportional: 0.1, resonators: [50], unload_to: slow, crossover_hz: 1}\n"
             "  - {name: slow, actuators: [\"s*\"], plant: {bandwidth_hz: 300, delay_us: 150}}\n"
             "resonators: [{hz: 50}]\nrf: {actuator: rf, slew: 1}\n",
             more);
    write_matrix();
    test_write("f.yaml", text);
    if (feedback_configuration_load(test_path("f.yaml", path), &ring->configuration, &error) != RM_OK ||
        feedback_layout_make(&ring->configuration, &ring->layout, &error) != RM_OK)
        fail_msg("%s", error.text);
    for (int r = 0; r < ROWS; ++r)
        ring->row_in[r] = true;
    for (int c = 0; c < COLUMNS; ++c)
        ring->column_in[c] = true;
    ring->requests = (struct feedback_requests){
        .number = 5, .row_in = ring->row_in, .column_in = ring->column_in, .tikhonov = 0.02, .resonates = true};
}

static void free_ring(struct ring *ring) {
    feedback_layout_free(&ring->layout);
    feedback_configuration_free(&ring->configuration);
}

static struct feedback_solution *solve(struct ring const *ring, struct feedback_solution const *before) {
    struct feedback_solution *solution;
    struct rm_error error = {.text = ""};
    if (feedback_solution_make(&ring->configuration, &ring->layout, RATE_HZ, &ring->requests, before, &solution,
                               &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(solution->number, ring->requests.number);
    assert_true(solution->seconds > 0);
    return solution;
}

/* Setpoints that the product makes of an orbit: [output]. */
static void run_product(struct feedback_solution const *solution, int32_t const *orbit, double *setpoint) {
    uint32_t const outputs = solution->product.outputs;
    int64_t *sum = aligned_alloc(64, outputs * sizeof *sum);
    double *limits = calloc(3 * (size_t)outputs, sizeof *limits); /* none ahead, low, high */
    if (sum == NULL || limits == NULL)
        abort();
    double *low = limits + outputs;
    double *high = low + outputs;
    for (uint32_t o = 0; o < outputs; ++o) {
        low[o] = -1e9;
        high[o] = 1e9;
    }
    feedback_product_begin(&solution->product, sum);
    for (uint32_t r = 0; r < ROWS; ++r)
        feedback_product_add(&solution->product, sum, r, orbit[r]);
    feedback_product_end(&solution->product, sum, 1, limits, low, high, setpoint, NULL);
    free(sum);
    free(limits);
}

/* The same by bases and laws, as solution.h has it. */
static void by_hand(struct ring const *ring, struct feedback_solution const *solution, int32_t const *orbit,
                    double *setpoint) {
    memset(setpoint, 0, ring->layout.outputs * sizeof *setpoint);
    for (uint32_t p = 0; p < ring->layout.part_count; ++p) {
        struct feedback_part const *part = &ring->layout.part[p];
        struct feedback_basis const *basis = &solution->basis[p];
        for (uint32_t k = 0; k < basis->channels; ++k) {
            double z = 0;
            for (uint32_t r = 0; r < ROWS; ++r)
                z += basis->errors[k * ROWS + r] * orbit[r];
            for (uint32_t c = 0; c < part->columns; ++c) {
                double const output =
                    basis->outputs == NULL ? (double)(c == k) : basis->outputs[c * basis->channels + k];
                setpoint[part->first + c] += output * solution->law[p].direct * basis->gain[k] * z;
            }
        }
    }
}

static void make_orbit(int32_t orbit[ROWS]) {
    for (int r = 0; r < ROWS; ++r)
        orbit[r] = (int32_t)(100000 * sin(r * r + 1.0));
}

static void the_product_is_bases_and_laws(void **state) {
    (void)state;
    static char const *const ways[] = {"per: mode", "per: corrector", "coupled: true", "coupled: true\nper: corrector"};
    for (int w = 0; w < 4; ++w)
        for (int rf = 0; rf < 2; ++rf) {
            struct ring ring;
            int32_t orbit[ROWS];
            double made[FEEDBACK_OUTPUTS_MAX];
            double expected[FEEDBACK_OUTPUTS_MAX];
            double largest = 0;
            make_ring(&ring, ways[w]);
            ring.requests.rf = rf == 1;
            struct feedback_solution *solution = solve(&ring, NULL);
            make_orbit(orbit);
            run_product(solution, orbit, made);
            by_hand(&ring, solution, orbit, expected);
            for (uint32_t o = 0; o < ring.layout.outputs; ++o)
                largest = fmax(largest, fabs(expected[o]));
            assert_true(largest > 1);
            for (uint32_t o = 0; o < ring.layout.outputs; ++o)
                assert_true(fabs(made[o] - expected[o]) < 1e-6 * largest);
            feedback_solution_free(solution);
            free_ring(&ring);
        }
}

static void planes_are_apart_unless_coupled(void **state) {
    (void)state;
    for (int coupled = 0; coupled < 2; ++coupled) {
        struct ring ring;
        int32_t orbit[ROWS] = {0};
        double made[FEEDBACK_OUTPUTS_MAX];
        double of_y = 0;
        make_ring(&ring, coupled == 1 ? "coupled: true" : "");
        struct feedback_solution *solution = solve(&ring, NULL);
        orbit[4] = 100000; /* horizontal */
        run_product(solution, orbit, made);
        for (int c = 1; c < 2 * FAST; c += 2)
            of_y = fmax(of_y, fabs(made[ring.layout.output_of[c]]));
        assert_true(coupled == 1 ? of_y > 1e-3 : of_y == 0);
        for (int c = 2 * FAST; c < RF; ++c) /* the slow ones have no law */
            assert_true(made[ring.layout.output_of[c]] == 0);
        feedback_solution_free(solution);
        free_ring(&ring);
    }
}

static void masked_rows_and_actuators_have_no_weight(void **state) {
    (void)state;
    struct ring ring;
    int32_t orbit[ROWS] = {0};
    double made[FEEDBACK_OUTPUTS_MAX];
    make_ring(&ring, "");
    ring.row_in[6] = false;
    ring.column_in[8] = false;
    struct feedback_solution *solution = solve(&ring, NULL);
    orbit[6] = 1000000;
    run_product(solution, orbit, made);
    for (uint32_t o = 0; o < ring.layout.outputs; ++o)
        assert_true(made[o] == 0);
    orbit[8] = 1000000;
    run_product(solution, orbit, made);
    assert_true(made[ring.layout.output_of[8]] == 0 && made[ring.layout.output_of[10]] != 0);
    assert_true(solution->handover[0][0] != 0 && solution->handover[0][4] == 0); /* f04x is column 8 */
    feedback_solution_free(solution);
    free_ring(&ring);
}

static void a_part_that_is_masked_whole_rests(void **state) {
    (void)state;
    struct ring ring;
    make_ring(&ring, "");
    struct feedback_solution *before = solve(&ring, NULL);
    for (int c = 1; c < 2 * FAST; c += 2)
        ring.column_in[c] = false;
    for (int c = 2 * FAST; c < RF; c += 2)
        ring.column_in[c] = false;
    struct feedback_solution *solution = solve(&ring, before);
    assert_true(solution->basis[0].channels > 0 && solution->basis[2].channels == 0); /* fast x, fast y */
    for (uint32_t i = 0; i < ring.layout.part[0].outputs * ring.layout.part[1].outputs; ++i)
        assert_true(solution->handover[0][i] == 0); /* slow x is out */
    feedback_solution_free(solution);
    feedback_solution_free(before);
    free_ring(&ring);
}

/* The dispersion does not move the horizontal loop, and the RF's row finds how much of it there is. */
static void the_rf_has_the_dispersion(void **state) {
    (void)state;
    struct ring ring;
    int32_t orbit[ROWS];
    double made[FEEDBACK_OUTPUTS_MAX];
    double found = 0;
    double most[2] = {0, 0};
    make_ring(&ring, "");
    for (int r = 0; r < ROWS; ++r)
        orbit[r] = r % 2 == 0 ? (int32_t)lrint(100 * response(r, RF)) : 0;
    for (int rf = 0; rf < 2; ++rf) {
        ring.requests.rf = rf == 1;
        struct feedback_solution *solution = solve(&ring, NULL);
        run_product(solution, orbit, made);
        for (uint32_t o = 0; o < ring.layout.outputs; ++o)
            most[rf] = fmax(most[rf], fabs(made[o]));
        assert_true((solution->dispersion != NULL) == (rf == 1));
        for (int r = 0; r < ROWS && rf == 1; ++r)
            found += solution->dispersion[r] * orbit[r];
        for (int r = 1; r < ROWS && rf == 1; r += 2)
            assert_true(solution->dispersion[r] == 0);
        feedback_solution_free(solution);
    }
    assert_true(most[0] > 1 && most[1] < 1e-3 * most[0]); /* orbits are whole nm */
    assert_true(fabs(found - 100) < 0.01);
    free_ring(&ring);
}

static void another_solution_takes_over(void **state) {
    (void)state;
    struct ring ring;
    make_ring(&ring, "");
    struct feedback_solution *before = solve(&ring, NULL);
    assert_null(before->map[0]);
    ring.row_in[2] = false;
    ring.requests.modes = 7;
    struct feedback_solution *solution = solve(&ring, before);
    struct feedback_basis const *from = &before->basis[0];
    struct feedback_basis const *to = &solution->basis[0];
    assert_true(from->channels == FAST && to->channels == 7);
    double *map = calloc((size_t)to->channels * from->channels, sizeof *map);
    assert_non_null(map);
    assert_int_equal(feedback_basis_map(to, from, ring.layout.part[0].columns, map, NULL), RM_OK);
    assert_memory_equal(map, solution->map[0], (size_t)to->channels * from->channels * sizeof *map);
    free(map);
    feedback_solution_free(solution);
    feedback_solution_free(before);
    free_ring(&ring);
}

/* Orbit of the handed-over setpoints, less that of the fast ones: what is left is far less than what was moved. */
static void handing_over_keeps_the_orbit(void **state) {
    (void)state;
    struct ring ring;
    double moved = 0;
    double left = 0;
    make_ring(&ring, "");
    ring.requests.tikhonov = 0.3; /* of the loop alone, as are these: */
    ring.requests.modes = 3;
    struct feedback_solution *solution = solve(&ring, NULL);
    struct feedback_part const *fast = &ring.layout.part[0];
    struct feedback_part const *slow = &ring.layout.part[1];
    assert_null(solution->handover[1]);
    for (int r = 0; r < ROWS; r += 2) {
        double of_fast = response(r, 6);
        double of_slow = 0;
        for (uint32_t c = 0; c < slow->columns; ++c)
            of_slow += response(r, (int)ring.layout.column_of[slow->first + c]) *
                       solution->handover[0][c * fast->outputs + ring.layout.output_of[6]];
        moved += of_fast * of_fast;
        left += (of_fast - of_slow) * (of_fast - of_slow);
    }
    assert_true(left < 1e-4 * moved);
    feedback_solution_free(solution);
    free_ring(&ring);
}

static void a_resonator_needs_a_rate(void **state) {
    (void)state;
    struct ring ring;
    struct feedback_solution *solution;
    struct rm_error error;
    make_ring(&ring, "");
    assert_int_equal(
        feedback_solution_make(&ring.configuration, &ring.layout, 90, &ring.requests, NULL, &solution, &error),
        RM_E_CONFIG);
    assert_non_null(strstr(error.text, "resonator at 50 Hz"));
    assert_null(solution);
    free_ring(&ring);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_product_is_bases_and_laws),
        cmocka_unit_test(planes_are_apart_unless_coupled),
        cmocka_unit_test(masked_rows_and_actuators_have_no_weight),
        cmocka_unit_test(a_part_that_is_masked_whole_rests),
        cmocka_unit_test(the_rf_has_the_dispersion),
        cmocka_unit_test(another_solution_takes_over),
        cmocka_unit_test(handing_over_keeps_the_orbit),
        cmocka_unit_test(a_resonator_needs_a_rate),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
