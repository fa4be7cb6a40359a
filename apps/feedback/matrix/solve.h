// SPDX-License-Identifier: Apache-2.0
/** From a response matrix to a controller's basis: singular values, regularised. Off the hot path.
 *
 *     W_r (R − η η⁺ R) W_c = U S Vᵀ
 *
 * W_r weighs rows (0: out), W_c columns (0: out), and the dispersion η, where the RF frequency has it, is projected out
 * of the rows: η⁺ = ηᵀW_r² / (ηᵀW_r²η). Of the modes the first `modes` are kept, with gain s² / (s² + (tikhonov
 * s_max)²) (A. N. Tikhonov; as light sources use it: e.g. J. Rowland et al., ICALEPCS 2007, and every lecture since).
 */
#ifndef FEEDBACK_SOLVE_H
#define FEEDBACK_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

struct feedback_problem {
    uint32_t rows, columns;
    /** [row · columns + column] nm per unit. */
    double const *response;
    /** [row] weight, 0 or more; 0: the row is out. */
    double const *row_weight;
    /** [column] weight, 0 or more; 0: the column is out. */
    double const *column_weight;
    /** [row] nm per unit of the RF actuator; NULL: not projected out. */
    double const *dispersion;
    /** How many modes are kept; 0: all that the matrix has. */
    uint32_t modes;
    /** Regularisation, relative to the largest singular value. */
    double tikhonov;
    /** True: channels are columns. False: channels are modes. */
    bool per_corrector;
};

/** The basis: channel errors z = errors · e, and setpoints u = outputs · w. */
struct feedback_basis {
    uint32_t channels;
    /** Rows of the problem. */
    uint32_t rows;
    /** [channel] nm per unit, of the weighted matrix; of channels that are columns 0. */
    double *singular;
    /** [channel] what regularisation leaves of it. 1 for channels that are columns, where `errors` contains it. */
    double *gain;
    /** [channel · rows + row] unit per nm. Per mode: S⁻¹UᵀW_r with the projection; per column W_c V diag(gain) S⁻¹
     * UᵀW_r. */
    double *errors;
    /** [column · channels + channel]; NULL: the identity (channels are columns). */
    double *outputs;
    /** How many modes were kept. */
    uint32_t modes;
    /** [mode] singular values, all of them, largest first. */
    double *spectrum;

    uint32_t spectrum_count;
};

/** RM_E_CONFIG when nothing is left to solve, RM_E_NO_SPACE. Rows and columns of weight 0 have zeros in `errors` and
 * `outputs`, and all else is what the smaller matrix without them gives. Modes whose singular value is below 1e-9 of
 * the largest are none. */
enum rm_code feedback_solve(struct feedback_problem const *problem, struct feedback_basis *basis,
                            struct rm_error *error);
void feedback_basis_free(struct feedback_basis *basis);

/** map[to.channels × from.channels]: what `from`'s channels were to become `to`'s, so that outputs change least:
 * outputs_to⁺ · outputs_from. For channels that are columns the identity, with rows of 0 for those that are out.
 *
 * What `to` cannot say is left over: outputs_from w − outputs_to map w. To avoid a bump, add it to the offsets of the
 * setpoints; of a column that is out this is all it had, so that it stays where it was. */
enum rm_code feedback_basis_map(struct feedback_basis const *to, struct feedback_basis const *from, uint32_t columns,
                                double *map, struct rm_error *error);

/** R_slow⁺ R_fast [slow · fasts + fast]: by how much the slow family moves to do what a unit of a fast actuator does.
 * Weights, truncation and regularisation as in `slow`, where the dispersion should be NULL: else the dispersive part of
 * what the fast ones did would be lost on the way. */
enum rm_code feedback_handover(struct feedback_problem const *slow, double const *fast_response, uint32_t fasts,
                               double *handover, struct rm_error *error);

#endif
