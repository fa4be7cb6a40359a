// SPDX-License-Identifier: Apache-2.0
#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <lapacke.h>

#include <ringmaster/errors.h>

/** A singular value below this share of the largest is one of rounding: the mode is none. */
static double const RANK = 1e-9;

/** The rows and columns that are in, and what is made of them. Matrices here lie column by column, as LAPACK has them.
 */
struct solve_work {
    struct feedback_problem const *problem;
    uint32_t *row, *column;       /**< of the problem */
    uint32_t rows, columns, rank; /**< rank: the smaller of both */
    double *matrix;               /**< [column · rows + row] weighted; destroyed by the decomposition */
    double *direction;            /**< [row] of the dispersion, weighted, of length 1; NULL: none */
    double *u;                    /**< [mode · rows + row] */
    double *s;                    /**< [mode] */
    double *vt;                   /**< [column · rank + mode] */
};

static double *allocate_solve_numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static void free_work(struct solve_work *work) {
    free(work->row);
    free(work->column);
    free(work->matrix);
    free(work->direction);
    free(work->u);
    free(work->s);
    free(work->vt);
}

static uint32_t gather_weighted(double const *weight, uint32_t count, uint32_t *in) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (weight[i] > 0)
            in[found++] = i;
    return found;
}

static bool allocate_solve_work(struct solve_work *work) {
    struct feedback_problem const *problem = work->problem;
    work->row = calloc((size_t)problem->rows + 1, sizeof *work->row);
    work->column = calloc((size_t)problem->columns + 1, sizeof *work->column);
    if (work->row == NULL || work->column == NULL)
        return false;
    work->rows = gather_weighted(problem->row_weight, problem->rows, work->row);
    work->columns = gather_weighted(problem->column_weight, problem->columns, work->column);
    work->rank = work->rows < work->columns ? work->rows : work->columns;
    work->matrix = allocate_solve_numbers((size_t)work->rows * work->columns);
    work->u = allocate_solve_numbers((size_t)work->rows * work->rank);
    work->s = allocate_solve_numbers(work->rank);
    work->vt = allocate_solve_numbers((size_t)work->rank * work->columns);
    work->direction = allocate_solve_numbers(work->rows);
    return work->matrix != NULL && work->u != NULL && work->s != NULL && work->vt != NULL && work->direction != NULL;
}

static void weigh_matrix(struct solve_work *work) {
    struct feedback_problem const *problem = work->problem;
    for (uint32_t c = 0; c < work->columns; ++c)
        for (uint32_t r = 0; r < work->rows; ++r) {
            double const value = problem->response[(size_t)work->row[r] * problem->columns + work->column[c]];
            work->matrix[(size_t)c * work->rows + r] =
                problem->row_weight[work->row[r]] * value * problem->column_weight[work->column[c]];
        }
}

/* Without a dispersion in the rows that are in there is nothing to project out. */
static void aim_at_constraints(struct solve_work *work) {
    struct feedback_problem const *problem = work->problem;
    double squares = 0;
    for (uint32_t r = 0; r < work->rows && problem->dispersion != NULL; ++r) {
        work->direction[r] = problem->row_weight[work->row[r]] * problem->dispersion[work->row[r]];
        squares += work->direction[r] * work->direction[r];
    }
    if (squares > 0) {
        cblas_dscal((int)work->rows, 1 / sqrt(squares), work->direction, 1);
        return;
    }
    free(work->direction);
    work->direction = NULL;
}

static void project_vector(struct solve_work const *work, double *vector) {
    if (work->direction == NULL)
        return;
    double const part = cblas_ddot((int)work->rows, work->direction, 1, vector, 1);
    cblas_daxpy((int)work->rows, -part, work->direction, 1, vector, 1);
}

static enum rm_code decompose_matrix(struct solve_work *work, struct rm_error *error) {
    if (work->rank == 0)
        return rm_fail(error, RM_E_CONFIG,
                       "%u rows and %u columns of the response matrix have a weight: nothing is left to solve",
                       work->rows, work->columns);
    weigh_matrix(work);
    aim_at_constraints(work);
    for (uint32_t c = 0; c < work->columns; ++c)
        project_vector(work, work->matrix + (size_t)c * work->rows);
    lapack_int const info =
        LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', (int)work->rows, (int)work->columns, work->matrix, (int)work->rows,
                       work->s, work->u, (int)work->rows, work->vt, (int)work->rank);
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u singular values", work->rank);
    if (info != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "the response matrix has no singular values (LAPACK says %d): are all numbers finite?",
                       (int)info);
    if (!(work->s[0] > 0))
        return rm_fail(error, RM_E_CONFIG, "the response matrix is 0 where it has weights: nothing to solve");
    return RM_OK;
}

static double gain_of(struct solve_work const *work, uint32_t mode) {
    double const s = work->s[mode];
    double const floor = work->problem->tikhonov * work->s[0];
    return s * s / (s * s + floor * floor);
}

static uint32_t count_modes(struct solve_work const *work) {
    uint32_t const wanted = work->problem->modes == 0 ? work->rank : work->problem->modes;
    uint32_t modes = 0;
    while (modes < work->rank && modes < wanted && work->s[modes] > RANK * work->s[0])
        ++modes;
    return modes;
}

/* Errors of modes: S⁻¹UᵀW_r. What is projected out of the matrix is in no mode but for rounding, which 1/s would raise.
 */
static void make_mode_errors(struct solve_work const *work, uint32_t modes, double *errors) {
    for (uint32_t m = 0; m < modes; ++m) {
        double *u = work->u + (size_t)m * work->rows;
        project_vector(work, u);
        for (uint32_t r = 0; r < work->rows; ++r)
            errors[(size_t)m * work->problem->rows + work->row[r]] =
                u[r] / work->s[m] * work->problem->row_weight[work->row[r]];
    }
}

static void make_mode_outputs(struct solve_work const *work, uint32_t modes, double *outputs) {
    for (uint32_t c = 0; c < work->columns; ++c)
        for (uint32_t m = 0; m < modes; ++m)
            outputs[(size_t)work->column[c] * modes + m] =
                work->problem->column_weight[work->column[c]] * work->vt[(size_t)c * work->rank + m];
}

static bool make_spectrum(struct solve_work const *work, struct feedback_basis *basis) {
    basis->spectrum_count = work->rank;
    basis->spectrum = allocate_solve_numbers(work->rank);
    if (basis->spectrum != NULL)
        memcpy(basis->spectrum, work->s, work->rank * sizeof(double));
    return basis->spectrum != NULL;
}

static bool make_modes(struct solve_work const *work, struct feedback_basis *basis) {
    uint32_t const modes = basis->modes;
    basis->channels = modes;
    basis->singular = allocate_solve_numbers(modes);
    basis->gain = allocate_solve_numbers(modes);
    basis->errors = allocate_solve_numbers((size_t)modes * work->problem->rows);
    basis->outputs = allocate_solve_numbers((size_t)work->problem->columns * modes);
    if (basis->singular == NULL || basis->gain == NULL || basis->errors == NULL || basis->outputs == NULL)
        return false;
    for (uint32_t m = 0; m < modes; ++m) {
        basis->singular[m] = work->s[m];
        basis->gain[m] = gain_of(work, m);
    }
    make_mode_errors(work, modes, basis->errors);
    make_mode_outputs(work, modes, basis->outputs);
    return true;
}

/* The product of outputs, gains and errors of modes: the regularised pseudo-inverse. */
static bool make_inverse(struct solve_work const *work, uint32_t modes, double *inverse) {
    uint32_t const rows = work->problem->rows;
    uint32_t const columns = work->problem->columns;
    double *errors = allocate_solve_numbers((size_t)modes * rows);
    double *outputs = allocate_solve_numbers((size_t)columns * modes);
    bool const made = errors != NULL && outputs != NULL;
    if (made) {
        make_mode_errors(work, modes, errors);
        make_mode_outputs(work, modes, outputs);
        for (uint32_t m = 0; m < modes; ++m)
            cblas_dscal((int)rows, gain_of(work, m), errors + (size_t)m * rows, 1);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)columns, (int)rows, (int)modes, 1, outputs,
                    (int)modes, errors, (int)rows, 0, inverse, (int)rows);
    }
    free(errors);
    free(outputs);
    return made;
}

static bool make_correctors(struct solve_work const *work, struct feedback_basis *basis) {
    basis->channels = work->problem->columns;
    basis->singular = allocate_solve_numbers(basis->channels);
    basis->gain = allocate_solve_numbers(basis->channels);
    basis->errors = allocate_solve_numbers((size_t)basis->channels * work->problem->rows);
    if (basis->singular == NULL || basis->gain == NULL || basis->errors == NULL)
        return false;
    for (uint32_t c = 0; c < basis->channels; ++c)
        basis->gain[c] = 1;
    return make_inverse(work, basis->modes, basis->errors);
}

enum rm_code feedback_solve(struct feedback_problem const *problem, struct feedback_basis *basis,
                            struct rm_error *error) {
    struct solve_work work = {.problem = problem};
    *basis = (struct feedback_basis){.rows = problem->rows};
    enum rm_code code = RM_OK;
    bool made = allocate_solve_work(&work);
    if (made)
        code = decompose_matrix(&work, error);
    if (made && code == RM_OK) {
        basis->modes = count_modes(&work);
        made = make_spectrum(&work, basis) &&
               (problem->per_corrector ? make_correctors(&work, basis) : make_modes(&work, basis));
    }
    free_work(&work);
    if (!made)
        code = rm_fail(error, RM_E_NO_SPACE, "no memory to solve a matrix of %u × %u", problem->rows, problem->columns);
    if (code != RM_OK)
        feedback_basis_free(basis);
    return code;
}

void feedback_basis_free(struct feedback_basis *basis) {
    free(basis->singular);
    free(basis->gain);
    free(basis->errors);
    free(basis->outputs);
    free(basis->spectrum);
    *basis = (struct feedback_basis){.channels = 0};
}

/* Outputs of a basis: those of channels that are columns are the identity. */
static void copy_outputs(struct feedback_basis const *basis, uint32_t columns, double *to) {
    if (basis->outputs != NULL) {
        memcpy(to, basis->outputs, (size_t)columns * basis->channels * sizeof *to);
        return;
    }
    for (uint32_t c = 0; c < columns; ++c)
        to[(size_t)c * basis->channels + c] = 1;
}

/* Errors tell which columns are out: nothing comes to them. */
static void map_to_columns(struct feedback_basis const *to, uint32_t from_channels, double *map) {
    for (uint32_t c = 0; c < to->channels; ++c) {
        bool in = false;
        for (uint32_t r = 0; r < to->rows && !in; ++r)
            in = to->errors[(size_t)c * to->rows + r] != 0;
        if (!in)
            memset(map + (size_t)c * from_channels, 0, from_channels * sizeof *map);
    }
}

/* Least squares, of which LAPACK leaves the solution in the first rows of the right hand side. */
static enum rm_code map_to_modes(struct feedback_basis const *to, uint32_t columns, uint32_t from_channels,
                                 double *outputs, double *map, struct rm_error *error) {
    double *matrix = allocate_solve_numbers((size_t)columns * to->channels);
    lapack_int info = LAPACK_WORK_MEMORY_ERROR;
    if (matrix != NULL) {
        copy_outputs(to, columns, matrix);
        info = LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', (int)columns, (int)to->channels, (int)from_channels, matrix,
                             (int)to->channels, outputs, (int)from_channels);
    }
    free(matrix);
    if (info == 0)
        memcpy(map, outputs, (size_t)to->channels * from_channels * sizeof *map);
    else if (info < 0)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to map %u channels to %u", from_channels, to->channels);
    else
        return rm_fail(error, RM_E_CONFIG, "the outputs of %u modes depend on each other", to->channels);
    return RM_OK;
}

enum rm_code feedback_basis_map(struct feedback_basis const *to, struct feedback_basis const *from, uint32_t columns,
                                double *map, struct rm_error *error) {
    if (to->channels == 0 || from->channels == 0)
        return RM_OK;
    double *outputs = allocate_solve_numbers((size_t)columns * from->channels);
    enum rm_code code = RM_OK;
    if (outputs == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to map %u channels to %u", from->channels, to->channels);
    copy_outputs(from, columns, outputs);
    if (to->outputs != NULL) {
        code = map_to_modes(to, columns, from->channels, outputs, map, error);
    } else {
        memcpy(map, outputs, (size_t)columns * from->channels * sizeof *map);
        map_to_columns(to, from->channels, map);
    }
    free(outputs);
    return code;
}

enum rm_code feedback_handover(struct feedback_problem const *slow, double const *fast_response, uint32_t fasts,
                               double *handover, struct rm_error *error) {
    struct feedback_problem problem = *slow;
    struct feedback_basis basis;
    problem.per_corrector = true;
    enum rm_code const code = feedback_solve(&problem, &basis, error);
    if (code != RM_OK)
        return code;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)slow->columns, (int)fasts, (int)slow->rows, 1,
                basis.errors, (int)slow->rows, fast_response, (int)fasts, 0, handover, (int)fasts);
    feedback_basis_free(&basis);
    return RM_OK;
}
