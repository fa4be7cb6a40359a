// SPDX-License-Identifier: Apache-2.0
/** What a pseudo-inverse must be, whatever the matrix; and what regularising, projecting and masking make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "solve.h"

enum { ROWS = 14, COLUMNS = 9, FASTS = 5 };

static double const CLOSE = 1e-9;

/** A problem with arrays of its own, random but for what a test sets. */
struct example {
    double response[ROWS * COLUMNS], row_weight[ROWS], column_weight[COLUMNS], dispersion[ROWS];
    struct feedback_problem problem;
};

static double random_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53) * 2 - 1;
}

static void make_example(struct example *example, uint64_t seed) {
    for (int i = 0; i < ROWS * COLUMNS; ++i)
        example->response[i] = 1000 * random_number(&seed);
    for (int r = 0; r < ROWS; ++r) {
        example->row_weight[r] = 1;
        example->dispersion[r] = 1 + random_number(&seed);
    }
    for (int c = 0; c < COLUMNS; ++c)
        example->column_weight[c] = 1;
    example->problem = (struct feedback_problem){.rows = ROWS,
                                                 .columns = COLUMNS,
                                                 .response = example->response,
                                                 .row_weight = example->row_weight,
                                                 .column_weight = example->column_weight};
}

static struct feedback_basis solve(struct feedback_problem const *problem) {
    struct feedback_basis basis;
    struct rm_error error = {.text = ""};
    if (feedback_solve(problem, &basis, &error) != RM_OK)
        fail_msg("%s", error.text);
    return basis;
}

/* inverse[column · rows + row] = outputs · gain · errors */
static double *inverse_of(struct feedback_problem const *problem, struct feedback_basis const *basis) {
    double *inverse = calloc((size_t)problem->rows * problem->columns, sizeof *inverse);
    assert_non_null(inverse);
    for (uint32_t c = 0; c < problem->columns; ++c)
        for (uint32_t r = 0; r < problem->rows; ++r)
            for (uint32_t k = 0; k < basis->channels; ++k) {
                double const output =
                    basis->outputs == NULL ? (double)(k == c) : basis->outputs[c * basis->channels + k];
                inverse[c * problem->rows + r] += output * basis->gain[k] * basis->errors[k * problem->rows + r];
            }
    return inverse;
}

/* product[m × n] = a[m × k] b[k × n] */
static void multiply(double const *a, double const *b, uint32_t m, uint32_t k, uint32_t n, double *product) {
    for (uint32_t i = 0; i < m; ++i)
        for (uint32_t j = 0; j < n; ++j) {
            product[i * n + j] = 0;
            for (uint32_t l = 0; l < k; ++l)
                product[i * n + j] += a[i * k + l] * b[l * n + j];
        }
}

static void assert_near(double const *a, double const *b, uint32_t count, double within) {
    for (uint32_t i = 0; i < count; ++i)
        if (!(fabs(a[i] - b[i]) <= within))
            fail_msg("[%u] is %.12g, not %.12g", i, a[i], b[i]);
}

static void finds_known_singular_values(void **state) {
    (void)state;
    /* [[3, 0], [4, 5]] has 3√5 and √5. */
    double const response[] = {3, 0, 4, 5};
    double const ones[] = {1, 1};
    struct feedback_problem const problem = {
        .rows = 2, .columns = 2, .response = response, .row_weight = ones, .column_weight = ones};
    struct feedback_basis basis = solve(&problem);
    assert_int_equal(basis.channels, 2);
    assert_int_equal(basis.modes, 2);
    assert_int_equal(basis.spectrum_count, 2);
    assert_near(basis.singular, (double[]){3 * sqrt(5), sqrt(5)}, 2, 1e-12);
    assert_near(basis.spectrum, basis.singular, 2, 0);
    double *inverse = inverse_of(&problem, &basis);
    assert_near(inverse, (double[]){1.0 / 3, 0, -4.0 / 15, 0.2}, 4, 1e-12);
    free(inverse);
    feedback_basis_free(&basis);
}

/* R R⁺ R = R, R⁺ R R⁺ = R⁺, and R⁺R, RR⁺ are symmetric: Penrose. */
static void check_penrose(struct feedback_problem const *problem) {
    uint32_t const rows = problem->rows;
    uint32_t const columns = problem->columns;
    double rr[ROWS * ROWS];
    double back[ROWS * COLUMNS];
    double cc[COLUMNS * COLUMNS];
    struct feedback_basis basis = solve(problem);
    double *inverse = inverse_of(problem, &basis);
    multiply(problem->response, inverse, rows, columns, rows, rr);
    multiply(rr, problem->response, rows, rows, columns, back);
    assert_near(back, problem->response, rows * columns, 1e-8);
    multiply(inverse, problem->response, columns, rows, columns, cc);
    multiply(cc, inverse, columns, columns, rows, back);
    assert_near(back, inverse, rows * columns, CLOSE);
    for (uint32_t i = 0; i < rows; ++i)
        for (uint32_t j = 0; j < i; ++j)
            assert_near(&rr[i * rows + j], &rr[j * rows + i], 1, CLOSE);
    for (uint32_t i = 0; i < columns; ++i)
        for (uint32_t j = 0; j < i; ++j)
            assert_near(&cc[i * columns + j], &cc[j * columns + i], 1, CLOSE);
    free(inverse);
    feedback_basis_free(&basis);
}

static void is_a_pseudo_inverse(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; ++seed)
        for (int per_corrector = 0; per_corrector < 2; ++per_corrector) {
            struct example example;
            make_example(&example, seed);
            example.problem.per_corrector = per_corrector == 1;
            check_penrose(&example.problem);
            example.problem.rows = 6; /* more columns than rows */
            check_penrose(&example.problem);
            for (int r = 0; r < 6; ++r) /* a column that is another one's double: of lesser rank */
                example.response[r * COLUMNS + 3] = 2 * example.response[r * COLUMNS + 5];
            example.problem.columns = COLUMNS;
            check_penrose(&example.problem);
        }
}

static void a_dependent_column_is_no_mode(void **state) {
    (void)state;
    struct example example;
    make_example(&example, 7);
    for (int r = 0; r < ROWS; ++r)
        example.response[r * COLUMNS + 3] = 2 * example.response[r * COLUMNS + 5];
    struct feedback_basis basis = solve(&example.problem);
    assert_int_equal(basis.modes, COLUMNS - 1);
    assert_int_equal(basis.spectrum_count, COLUMNS);
    feedback_basis_free(&basis);
}

static void keeps_so_many_modes_as_asked(void **state) {
    (void)state;
    struct example example;
    make_example(&example, 3);
    struct feedback_basis all = solve(&example.problem);
    example.problem.modes = 4;
    struct feedback_basis some = solve(&example.problem);
    assert_int_equal(all.channels, COLUMNS);
    assert_int_equal(some.channels, 4);
    assert_int_equal(some.modes, 4);
    assert_near(some.singular, all.singular, 4, CLOSE);
    assert_near(some.spectrum, all.spectrum, COLUMNS, CLOSE);
    assert_near(some.errors, all.errors, 4 * ROWS, CLOSE);
    example.problem.per_corrector = true;
    struct feedback_basis correctors = solve(&example.problem);
    assert_int_equal(correctors.channels, COLUMNS);
    assert_int_equal(correctors.modes, 4);
    assert_null(correctors.outputs);
    double *inverse = inverse_of(&example.problem, &some);
    assert_near(correctors.errors, inverse, COLUMNS * ROWS, CLOSE);
    free(inverse);
    feedback_basis_free(&correctors);
    feedback_basis_free(&some);
    feedback_basis_free(&all);
}

static void tikhonov_weakens_what_is_weak(void **state) {
    (void)state;
    struct example example;
    make_example(&example, 4);
    example.problem.tikhonov = 0.3;
    struct feedback_basis basis = solve(&example.problem);
    for (uint32_t k = 0; k < basis.channels; ++k) {
        double const ratio = basis.singular[k] / basis.singular[0];
        double const expected = ratio * ratio / (ratio * ratio + 0.09);
        assert_near(&basis.gain[k], &expected, 1, 1e-12);
    }
    assert_true(basis.gain[0] > 0.9 && basis.gain[basis.channels - 1] < 0.7);
    double *inverse = inverse_of(&example.problem, &basis);
    example.problem.per_corrector = true;
    struct feedback_basis correctors = solve(&example.problem);
    assert_near(correctors.errors, inverse, COLUMNS * ROWS, CLOSE);
    for (uint32_t k = 0; k < COLUMNS; ++k)
        assert_true(correctors.gain[k] == 1 && correctors.singular[k] == 0);
    free(inverse);
    feedback_basis_free(&correctors);
    feedback_basis_free(&basis);
}

/* Tikhonov's is also the solution of the normal equations: (RᵀR + λ² s₀²) R⁺ = Rᵀ, by any method. */
static void tikhonov_solves_its_normal_equations(void **state) {
    (void)state;
    struct example example;
    make_example(&example, 5);
    example.problem.tikhonov = 0.2;
    struct feedback_basis basis = solve(&example.problem);
    double *inverse = inverse_of(&example.problem, &basis);
    double const floor = 0.2 * basis.spectrum[0];
    for (uint32_t c = 0; c < COLUMNS; ++c)
        for (uint32_t r = 0; r < ROWS; ++r) {
            double left = floor * floor * inverse[c * ROWS + r];
            for (uint32_t d = 0; d < COLUMNS; ++d)
                for (uint32_t s = 0; s < ROWS; ++s)
                    left +=
                        example.response[s * COLUMNS + c] * example.response[s * COLUMNS + d] * inverse[d * ROWS + r];
            assert_near(&left, &example.response[r * COLUMNS + c], 1, 1e-8);
        }
    free(inverse);
    feedback_basis_free(&basis);
}

/* Weights: the errors of the weighted least squares are orthogonal to the columns, W_r² between. */
static void weights_are_those_of_least_squares(void **state) {
    (void)state;
    struct example example;
    uint64_t seed = 6;
    make_example(&example, 6);
    for (int r = 0; r < ROWS; ++r)
        example.row_weight[r] = 1.5 + random_number(&seed);
    for (int c = 0; c < COLUMNS; ++c)
        example.column_weight[c] = 1.5 + random_number(&seed);
    struct feedback_basis basis = solve(&example.problem);
    double *inverse = inverse_of(&example.problem, &basis);
    double rr[ROWS * ROWS];
    multiply(example.response, inverse, ROWS, COLUMNS, ROWS, rr);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        for (uint32_t e = 0; e < ROWS; ++e) {
            double sum = 0;
            for (uint32_t r = 0; r < ROWS; ++r)
                sum += example.response[r * COLUMNS + c] * example.row_weight[r] * example.row_weight[r] *
                       ((r == e) - rr[r * ROWS + e]);
            assert_true(fabs(sum) < 1e-7);
        }
    free(inverse);
    feedback_basis_free(&basis);
}

static void the_dispersion_is_nobodys(void **state) {
    (void)state;
    for (int per_corrector = 0; per_corrector < 2; ++per_corrector)
        for (uint32_t rows = 6; rows <= ROWS; rows += ROWS - 6) { /* fewer rows than columns, and more */
            struct example example;
            uint64_t seed = 8;
            make_example(&example, 8);
            for (int r = 0; r < ROWS; ++r)
                example.row_weight[r] = 1.5 + random_number(&seed);
            example.problem.rows = rows;
            example.problem.per_corrector = per_corrector == 1;
            struct feedback_basis without = solve(&example.problem);
            example.problem.dispersion = example.dispersion;
            struct feedback_basis basis = solve(&example.problem);
            double largest_before = 0;
            for (uint32_t k = 0; k < basis.channels; ++k) {
                double z = 0;
                double before = 0;
                for (uint32_t r = 0; r < rows; ++r) {
                    z += basis.errors[k * rows + r] * example.dispersion[r];
                    before += without.errors[k * rows + r] * example.dispersion[r];
                }
                assert_true(fabs(z) < 1e-12);
                largest_before = fmax(largest_before, fabs(before));
            }
            assert_true(largest_before > 1e-4); /* or the test could not fail */
            assert_int_equal(basis.modes, rows < COLUMNS ? rows - 1 : COLUMNS);
            feedback_basis_free(&without);
            feedback_basis_free(&basis);
        }
}

/* Row 3 and 13, column 0 and 4 are out. */
static bool is_row_out(int row) { return row == 3 || row == 13; }
static bool is_column_out(int column) { return column == 0 || column == 4; }

static struct feedback_problem without_masked(struct example const *example, struct example *smaller) {
    uint32_t rows = 0;
    for (int r = 0; r < ROWS; ++r) {
        uint32_t columns = 0;
        if (is_row_out(r))
            continue;
        for (int c = 0; c < COLUMNS; ++c)
            if (!is_column_out(c))
                smaller->response[rows * (COLUMNS - 2) + columns++] = example->response[r * COLUMNS + c];
        smaller->dispersion[rows++] = example->dispersion[r];
    }
    smaller->problem.rows = ROWS - 2;
    smaller->problem.columns = COLUMNS - 2;
    return smaller->problem;
}

static void masks_make_the_smaller_problem(void **state) {
    (void)state;
    struct example example;
    struct example smaller;
    make_example(&example, 9);
    make_example(&smaller, 9);
    struct feedback_problem problem = without_masked(&example, &smaller);
    for (int r = 0; r < ROWS; ++r)
        example.row_weight[r] = is_row_out(r) ? 0 : 1;
    for (int c = 0; c < COLUMNS; ++c)
        example.column_weight[c] = is_column_out(c) ? 0 : 1;
    example.problem.tikhonov = problem.tikhonov = 0.05;
    example.problem.dispersion = example.dispersion;
    problem.dispersion = smaller.dispersion;
    struct feedback_basis masked = solve(&example.problem);
    struct feedback_basis small = solve(&problem);
    double *inverse = inverse_of(&example.problem, &masked);
    double *expected = inverse_of(&problem, &small);
    assert_int_equal(masked.channels, small.channels);
    uint32_t at = 0;
    for (int c = 0; c < COLUMNS; ++c)
        for (int r = 0; r < ROWS; ++r) {
            bool const out = is_row_out(r) || is_column_out(c);
            double const value = out ? 0 : expected[at++];
            assert_near(&inverse[c * ROWS + r], &value, 1, out ? 0 : CLOSE);
        }
    assert_int_equal(at, problem.rows * problem.columns);
    free(inverse);
    free(expected);
    feedback_basis_free(&small);
    feedback_basis_free(&masked);
}

static void nothing_left_is_an_error(void **state) {
    (void)state;
    struct example example;
    struct feedback_basis basis;
    struct rm_error error;
    make_example(&example, 1);
    memset(example.row_weight, 0, sizeof example.row_weight);
    assert_int_equal(feedback_solve(&example.problem, &basis, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "0 rows and 9 columns"));
    make_example(&example, 1);
    memset(example.response, 0, sizeof example.response);
    assert_int_equal(feedback_solve(&example.problem, &basis, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "is 0 where it has weights"));
    make_example(&example, 1);
    example.response[5] = NAN;
    assert_int_equal(feedback_solve(&example.problem, &basis, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "finite"));
}

static void outputs(struct feedback_basis const *basis, double const *w, double *u) {
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        u[c] = basis->outputs == NULL ? w[c] : 0;
        for (uint32_t k = 0; k < basis->channels && basis->outputs != NULL; ++k)
            u[c] += basis->outputs[c * basis->channels + k] * w[k];
    }
}

/* Outputs of states that are mapped, for each pair of ways; the largest change comes back. */
static double change_by_map(struct feedback_basis const *from, struct feedback_basis const *to) {
    double map[COLUMNS * COLUMNS];
    double w[COLUMNS];
    double mapped[COLUMNS];
    double before[COLUMNS];
    double after[COLUMNS];
    double most = 0;
    uint64_t seed = 11;
    for (int k = 0; k < COLUMNS; ++k)
        w[k] = random_number(&seed);
    assert_int_equal(feedback_basis_map(to, from, COLUMNS, map, NULL), RM_OK);
    multiply(map, w, to->channels, from->channels, 1, mapped);
    outputs(from, w, before);
    outputs(to, mapped, after);
    for (int c = 0; c < COLUMNS; ++c)
        most = fmax(most, fabs(before[c] - after[c]));
    return most;
}

static void maps_keep_outputs(void **state) {
    (void)state;
    struct example example;
    make_example(&example, 12);
    struct feedback_basis full = solve(&example.problem);
    example.row_weight[2] = 0; /* other modes, of the same span: still all columns */
    example.column_weight[1] = 0.5;
    struct feedback_basis other = solve(&example.problem);
    example.problem.modes = 5;
    struct feedback_basis part = solve(&example.problem);
    example.problem.per_corrector = true;
    struct feedback_basis correctors = solve(&example.problem);
    assert_true(change_by_map(&full, &other) < CLOSE);
    assert_true(change_by_map(&other, &full) < CLOSE);
    assert_true(change_by_map(&part, &other) < CLOSE);
    assert_true(change_by_map(&full, &correctors) < CLOSE);
    assert_true(change_by_map(&correctors, &full) < CLOSE);
    assert_true(change_by_map(&correctors, &correctors) == 0);
    assert_true(change_by_map(&other, &part) > 1e-2); /* they cannot say all */
    feedback_basis_free(&correctors);
    feedback_basis_free(&part);
    feedback_basis_free(&other);
    feedback_basis_free(&full);
}

static void maps_drop_columns_that_are_out(void **state) {
    (void)state;
    struct example example;
    double map[COLUMNS * COLUMNS];
    make_example(&example, 13);
    example.problem.per_corrector = true;
    struct feedback_basis from = solve(&example.problem);
    example.column_weight[4] = 0;
    struct feedback_basis to = solve(&example.problem);
    assert_int_equal(feedback_basis_map(&to, &from, COLUMNS, map, NULL), RM_OK);
    for (int c = 0; c < COLUMNS; ++c)
        for (int d = 0; d < COLUMNS; ++d)
            assert_true(map[c * COLUMNS + d] == (c == d && c != 4));
    feedback_basis_free(&to);
    feedback_basis_free(&from);
}

/* R_slow H u is as near to R_fast u as it can be: what is left is orthogonal to R_slow. And where the slow ones can do
 * all that the fast ones do, nothing is left. */
static void handing_over_moves_the_orbit_least(void **state) {
    (void)state;
    struct example slow;
    double fast[ROWS * FASTS];
    double handover[COLUMNS * FASTS];
    double made[ROWS * FASTS];
    uint64_t seed = 15;
    make_example(&slow, 14);
    for (int i = 0; i < ROWS * FASTS; ++i)
        fast[i] = 300 * random_number(&seed);
    assert_int_equal(feedback_handover(&slow.problem, fast, FASTS, handover, NULL), RM_OK);
    multiply(slow.response, handover, ROWS, COLUMNS, FASTS, made);
    double left = 0;
    for (int f = 0; f < FASTS; ++f)
        for (int c = 0; c < COLUMNS; ++c) {
            double sum = 0;
            for (int r = 0; r < ROWS; ++r) {
                double const rest = fast[r * FASTS + f] - made[r * FASTS + f];
                sum += slow.response[r * COLUMNS + c] * rest;
                left = fmax(left, fabs(rest));
            }
            assert_true(fabs(sum) < 1e-6);
        }
    assert_true(left > 1);
    double mix[COLUMNS * FASTS];
    for (int i = 0; i < COLUMNS * FASTS; ++i)
        mix[i] = random_number(&seed);
    multiply(slow.response, mix, ROWS, COLUMNS, FASTS, fast);
    assert_int_equal(feedback_handover(&slow.problem, fast, FASTS, handover, NULL), RM_OK);
    assert_near(handover, mix, COLUMNS * FASTS, CLOSE);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(finds_known_singular_values),
        cmocka_unit_test(is_a_pseudo_inverse),
        cmocka_unit_test(a_dependent_column_is_no_mode),
        cmocka_unit_test(keeps_so_many_modes_as_asked),
        cmocka_unit_test(tikhonov_weakens_what_is_weak),
        cmocka_unit_test(tikhonov_solves_its_normal_equations),
        cmocka_unit_test(weights_are_those_of_least_squares),
        cmocka_unit_test(the_dispersion_is_nobodys),
        cmocka_unit_test(masks_make_the_smaller_problem),
        cmocka_unit_test(nothing_left_is_an_error),
        cmocka_unit_test(maps_keep_outputs),
        cmocka_unit_test(maps_drop_columns_that_are_out),
        cmocka_unit_test(handing_over_moves_the_orbit_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
