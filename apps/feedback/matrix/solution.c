// SPDX-License-Identifier: Apache-2.0
#include "solution.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cblas.h>

#include <ringmaster/errors.h>

/** Handing over inverts all of the slow family's matrix, whatever the loop's own regularisation: setpoints have no
 * noise that a weak mode would raise, and what is lost on the way is orbit, for which the fast family must act again.
 * Of an Elettra-2.0-like ring 0.3 to 0.7 % are lost with this floor, 2 % with 0.01, and no slow corrector moves by more
 * than half of a fast one's unit. */
static double const HANDOVER_TIKHONOV = 1e-3;

/** What goes into a solution. */
struct solution_making {
    struct feedback_configuration const *configuration;
    struct feedback_layout const *layout;
    struct feedback_requests const *requests;
    struct feedback_solution const *before;
    struct feedback_solution *solution;
    double rate_hz;
    double *dispersion; /**< [row] of the matrix, 0 in rows of a plane that it is not projected out of; NULL: none */
    double *weight;     /**< [row · outputs + output] of the product */
    struct rm_error *error;
};

/** The problem of one part, cut out of the whole matrix. */
struct part_problem {
    struct feedback_problem problem;
    double *response, *row_weight, *column_weight;
};

static enum rm_code no_memory(struct solution_making const *making) {
    return rm_fail(making->error, RM_E_NO_SPACE, "%s: no memory for a solution", making->configuration->path);
}

static double *allocate_solution_numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static bool row_is_in_plane(struct solution_making const *making, uint32_t row, char plane) {
    return plane == 'b' || feedback_row_plane(making->configuration->matrix.row_name[row]) == plane;
}

static double row_weight(struct solution_making const *making, uint32_t row, char plane) {
    bool const in = making->requests->row_in[row] && row_is_in_plane(making, row, plane);
    return in ? making->configuration->row_weight[row] : 0;
}

static uint32_t column_of(struct solution_making const *making, struct feedback_part const *part, uint32_t column) {
    return making->layout->column_of[part->first + column];
}

static double column_weight(struct solution_making const *making, uint32_t column) {
    return making->requests->column_in[column] ? making->configuration->column_weight[column] : 0;
}

static void free_piece(struct part_problem *piece) {
    free(piece->response);
    free(piece->row_weight);
    free(piece->column_weight);
}

/* To be freed whether it succeeds or not. */
static bool cut_piece(struct solution_making const *making, struct feedback_part const *part,
                      struct part_problem *piece) {
    struct rm_table const *matrix = &making->configuration->matrix;
    piece->response = allocate_solution_numbers((size_t)matrix->rows * part->columns);
    piece->row_weight = allocate_solution_numbers(matrix->rows);
    piece->column_weight = allocate_solution_numbers(part->columns);
    if (piece->response == NULL || piece->row_weight == NULL || piece->column_weight == NULL)
        return false;
    for (uint32_t r = 0; r < matrix->rows; ++r) {
        piece->row_weight[r] = row_weight(making, r, part->plane);
        for (uint32_t c = 0; c < part->columns; ++c)
            piece->response[(size_t)r * part->columns + c] =
                matrix->value[(size_t)r * matrix->columns + column_of(making, part, c)];
    }
    for (uint32_t c = 0; c < part->columns; ++c)
        piece->column_weight[c] = column_weight(making, column_of(making, part, c));
    piece->problem = (struct feedback_problem){
        .rows = matrix->rows,
        .columns = part->columns,
        .response = piece->response,
        .row_weight = piece->row_weight,
        .column_weight = piece->column_weight,
        .dispersion = part->plane == 'y' ? NULL : making->dispersion,
        .modes = making->requests->modes,
        .tikhonov = making->requests->tikhonov,
        .per_corrector = making->configuration->per == FEEDBACK_PER_CORRECTOR,
    };
    return true;
}

static bool any_weight(double const *weight, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (weight[i] > 0)
            return true;
    return false;
}

/* A part of which everything is masked has nothing to solve: it rests, and others go on. */
static bool piece_rests(struct part_problem const *piece) {
    return !any_weight(piece->row_weight, piece->problem.rows) ||
           !any_weight(piece->column_weight, piece->problem.columns);
}

/* η⁺ over the rows in use, of the horizontal plane alone unless both are one matrix. */
static enum rm_code make_dispersion(struct solution_making *making) {
    struct feedback_configuration const *configuration = making->configuration;
    struct rm_table const *matrix = &configuration->matrix;
    int32_t const column = configuration->rf.column;
    char const plane = configuration->coupled ? 'b' : 'x';
    double squares = 0;
    if (column < 0 || !making->requests->rf || !making->requests->column_in[column])
        return RM_OK;
    making->dispersion = allocate_solution_numbers(matrix->rows);
    making->solution->dispersion = allocate_solution_numbers(matrix->rows);
    if (making->dispersion == NULL || making->solution->dispersion == NULL)
        return no_memory(making);
    for (uint32_t r = 0; r < matrix->rows; ++r) {
        double const weight = row_weight(making, r, plane);
        double const eta = matrix->value[(size_t)r * matrix->columns + (uint32_t)column];
        making->dispersion[r] = row_is_in_plane(making, r, plane) ? eta : 0;
        making->solution->dispersion[r] = weight * weight * eta;
        squares += weight * weight * eta * eta;
    }
    if (squares > 0)
        cblas_dscal((int)matrix->rows, 1 / squares, making->solution->dispersion, 1);
    return RM_OK;
}

static enum rm_code make_map(struct solution_making const *making, uint32_t p) {
    struct feedback_solution *solution = making->solution;
    if (making->before == NULL)
        return RM_OK;
    struct feedback_basis const *from = &making->before->basis[p];
    struct feedback_basis const *to = &solution->basis[p];
    solution->map[p] = allocate_solution_numbers((size_t)to->channels * from->channels);
    if (solution->map[p] == NULL)
        return no_memory(making);
    return feedback_basis_map(to, from, making->layout->part[p].columns, solution->map[p], making->error);
}

static void make_law(struct solution_making const *making, uint32_t p) {
    struct feedback_family const *family = &making->configuration->family[making->layout->part[p].family];
    struct feedback_plant const plant = {
        .rate_hz = making->rate_hz,
        .bandwidth_hz = family->plant.bandwidth_hz,
        .second_hz = family->plant.second_hz,
        .delay_s = family->plant.delay_s,
    };
    feedback_law_make(&making->solution->law[p], &plant, &family->tuning, making->requests->resonates);
}

/* Errors of channels, with what the law does with them at once: channels × rows. */
static double *make_gained(struct feedback_basis const *basis, double direct) {
    double *gained = allocate_solution_numbers((size_t)basis->channels * basis->rows);
    if (gained == NULL)
        return NULL;
    memcpy(gained, basis->errors, (size_t)basis->channels * basis->rows * sizeof *gained);
    for (uint32_t k = 0; k < basis->channels; ++k)
        cblas_dscal((int)basis->rows, direct * basis->gain[k], gained + (size_t)k * basis->rows, 1);
    return gained;
}

/* The product has outputs in its rows' rows: the part's block is (outputs · gained)ᵀ. */
static enum rm_code make_weights(struct solution_making const *making, uint32_t p) {
    struct feedback_part const *part = &making->layout->part[p];
    struct feedback_basis const *basis = &making->solution->basis[p];
    uint32_t const stride = making->layout->outputs;
    double *to = making->weight + part->first;
    if (basis->channels == 0)
        return RM_OK;
    double *gained = make_gained(basis, making->solution->law[p].direct);
    if (gained == NULL)
        return no_memory(making);
    if (basis->outputs != NULL)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasTrans, (int)basis->rows, (int)part->columns, (int)basis->channels,
                    1, gained, (int)basis->rows, basis->outputs, (int)basis->channels, 0, to, (int)stride);
    else
        for (uint32_t c = 0; c < part->columns; ++c)
            cblas_dcopy((int)basis->rows, gained + (size_t)c * basis->rows, 1, to + c, (int)stride);
    free(gained);
    return RM_OK;
}

static enum rm_code solve_part(struct solution_making const *making, uint32_t p) {
    struct feedback_part const *part = &making->layout->part[p];
    struct part_problem piece;
    enum rm_code code = RM_OK;
    making->solution->basis[p].rows = making->layout->rows;
    if (!making->configuration->family[part->family].acts)
        return RM_OK;
    make_law(making, p);
    if (!cut_piece(making, part, &piece))
        code = no_memory(making);
    else if (!piece_rests(&piece))
        code = feedback_solve(&piece.problem, &making->solution->basis[p], making->error);
    free_piece(&piece);
    if (code == RM_OK)
        code = make_map(making, p);
    return code == RM_OK ? make_weights(making, p) : code;
}

/* An actuator that is out hands nothing over, as it may not be moved. */
static void drop_masked(struct solution_making const *making, struct feedback_part const *part, double *response) {
    for (uint32_t c = 0; c < part->columns; ++c)
        if (!(column_weight(making, column_of(making, part, c)) > 0))
            for (uint32_t r = 0; r < making->layout->rows; ++r)
                response[(size_t)r * part->columns + c] = 0;
}

static enum rm_code place_handover(struct solution_making const *making, struct feedback_part const *part,
                                   struct feedback_part const *taker, double const *dense, double **handover) {
    *handover = allocate_solution_numbers((size_t)taker->outputs * part->outputs);
    if (*handover == NULL)
        return no_memory(making);
    for (uint32_t c = 0; c < taker->columns; ++c)
        memcpy(*handover + (size_t)c * part->outputs, dense + (size_t)c * part->columns, part->columns * sizeof *dense);
    return RM_OK;
}

static enum rm_code hand_over_pieces(struct solution_making const *making, uint32_t p, uint32_t to,
                                     struct part_problem *fast, struct part_problem *slow) {
    struct feedback_part const *part = &making->layout->part[p];
    struct feedback_part const *taker = &making->layout->part[to];
    double *dense = allocate_solution_numbers((size_t)taker->columns * part->columns);
    if (dense == NULL)
        return no_memory(making);
    drop_masked(making, part, fast->response);
    slow->problem.dispersion = NULL;
    slow->problem.modes = 0;
    slow->problem.tikhonov = HANDOVER_TIKHONOV;
    enum rm_code code = RM_OK;
    if (!piece_rests(slow))
        code = feedback_handover(&slow->problem, fast->response, part->columns, dense, making->error);
    if (code == RM_OK)
        code = place_handover(making, part, taker, dense, &making->solution->handover[p]);
    free(dense);
    return code;
}

static enum rm_code make_handover(struct solution_making const *making, uint32_t p) {
    int32_t const to = feedback_layout_taker(making->configuration, making->layout, p);
    struct part_problem fast = {.response = NULL};
    struct part_problem slow = {.response = NULL};
    if (to < 0)
        return RM_OK;
    bool const cut =
        cut_piece(making, &making->layout->part[p], &fast) && cut_piece(making, &making->layout->part[to], &slow);
    enum rm_code const code = cut ? hand_over_pieces(making, p, (uint32_t)to, &fast, &slow) : no_memory(making);
    free_piece(&fast);
    free_piece(&slow);
    return code;
}

/* Outputs that a row touches: those of its plane, which lie together; all of them when both are one matrix. */
static struct feedback_range range_of(struct solution_making const *making, uint32_t row) {
    struct feedback_range range = {0, 0};
    for (uint32_t p = 0; p < making->layout->part_count; ++p) {
        struct feedback_part const *part = &making->layout->part[p];
        if (!row_is_in_plane(making, row, part->plane))
            continue;
        if (range.count == 0)
            range.first = part->first;
        range.count += part->outputs;
    }
    return range;
}

static enum rm_code make_product(struct solution_making const *making) {
    struct feedback_layout const *layout = making->layout;
    struct feedback_range *range = calloc(layout->rows, sizeof *range);
    bool made = range != NULL;
    for (uint32_t r = 0; made && r < layout->rows; ++r)
        range[r] = range_of(making, r);
    made =
        made && feedback_product_make(&making->solution->product, layout->rows, layout->outputs, range, RM_SIMD_BEST);
    free(range);
    if (!made)
        return no_memory(making);
    feedback_product_set(&making->solution->product, making->weight, layout->outputs);
    return RM_OK;
}

/* The file does not know how often the loop runs. */
static enum rm_code check_rate(struct solution_making const *making) {
    struct feedback_configuration const *configuration = making->configuration;
    for (uint32_t f = 0; f < configuration->family_count; ++f)
        for (uint32_t r = 0; r < configuration->family[f].tuning.resonator_count; ++r)
            if (!(configuration->family[f].tuning.resonator[r].hz < making->rate_hz / 2))
                return rm_fail(making->error, RM_E_CONFIG,
                               "%s: the family \"%s\" has a resonator at %g Hz, expected less than half of the "
                               "%g Hz at which the loop runs",
                               configuration->path, configuration->family[f].name,
                               configuration->family[f].tuning.resonator[r].hz, making->rate_hz);
    return RM_OK;
}

static enum rm_code make_all(struct solution_making *making) {
    making->weight = allocate_solution_numbers((size_t)making->layout->rows * making->layout->outputs);
    enum rm_code code = making->weight == NULL ? no_memory(making) : check_rate(making);
    if (code == RM_OK)
        code = make_dispersion(making);
    for (uint32_t p = 0; p < making->layout->part_count && code == RM_OK; ++p)
        code = solve_part(making, p);
    for (uint32_t p = 0; p < making->layout->part_count && code == RM_OK; ++p)
        code = make_handover(making, p);
    return code == RM_OK ? make_product(making) : code;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum rm_code feedback_solution_make(struct feedback_configuration const *configuration,
                                    struct feedback_layout const *layout, double rate_hz,
                                    struct feedback_requests const *requests, struct feedback_solution const *before,
                                    struct feedback_solution **solution, struct rm_error *error) {
    double const began = seconds_now();
    struct solution_making making = {.configuration = configuration,
                                     .layout = layout,
                                     .requests = requests,
                                     .before = before,
                                     .solution = calloc(1, sizeof **solution),
                                     .rate_hz = rate_hz,
                                     .error = error};
    *solution = NULL;
    if (making.solution == NULL)
        return no_memory(&making);
    making.solution->number = requests->number;
    enum rm_code const code = make_all(&making);
    free(making.dispersion);
    free(making.weight);
    making.solution->seconds = seconds_now() - began;
    if (code == RM_OK)
        *solution = making.solution;
    else
        feedback_solution_free(making.solution);
    return code;
}

void feedback_solution_free(struct feedback_solution *solution) {
    if (solution == NULL)
        return;
    for (uint32_t p = 0; p < FEEDBACK_PARTS_MAX; ++p) {
        feedback_basis_free(&solution->basis[p]);
        free(solution->map[p]);
        free(solution->handover[p]);
    }
    feedback_product_free(&solution->product);
    free(solution->dispersion);
    free(solution);
}
