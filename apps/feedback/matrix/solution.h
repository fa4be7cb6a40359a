// SPDX-License-Identifier: Apache-2.0
/** What the thread beside makes of matrix, masks and laws, and the stepping thread takes over whole, between two
 * cycles: the product's weights, and for each part (a family in a plane) its basis.
 *
 * Outputs are in the order of the product: horizontal actuators family by family, then vertical ones, each part padded
 * to a multiple of FEEDBACK_OUTPUT_BLOCK; coupled: family by family. `output_of` says where an actuator is.
 *
 * A family without a law has its outputs too, so that one feedback_product_end makes all setpoints; its weights are 0,
 * and its basis has no channels. So it is with a part of which all rows or all actuators are masked.
 *
 * A row or actuator that is masked has weight 0. What a masked actuator had before is not in the solution: the
 * stepping thread keeps its last setpoint, by `ahead` and by limits that meet there.
 */
#ifndef FEEDBACK_SOLUTION_H
#define FEEDBACK_SOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "../files/configuration.h"
#include "../law/law.h"
#include "../law/product.h"
#include "solve.h"

enum { FEEDBACK_PARTS_MAX = 2 * FEEDBACK_FAMILIES_MAX };

/** Where everything lies in the arrays; the same for all solutions of a configuration. */
struct feedback_layout {
    /** Rows and columns of the matrix: a column is an actuator. */
    uint32_t rows, actuators;
    /** Outputs of all parts, padded. */
    uint32_t outputs;
    /** [matrix column] output, UINT32_MAX for the RF and for what no family has. */
    uint32_t *output_of;
    /** [output] matrix column, UINT32_MAX: padding. */
    uint32_t *column_of;

    uint32_t part_count;
    struct feedback_part {
        uint32_t family;
        /** 'x', 'y', or 'b' for both. */
        char plane;
        /** Outputs of the part: the first one's index, and how many, padded. */
        uint32_t first, outputs;
        /** How many of these are real. */
        uint32_t columns;
        /** Most channels; 0 for a family without a law. */
        uint32_t channels_most;
        /** Number of its first channel among all parts', as reading `singular` has them. */
        uint32_t channel;
    } part[FEEDBACK_PARTS_MAX];
    /** Most channels of all parts together. */
    uint32_t channels;
};

/** What a solution is to be made of. */
struct feedback_requests {
    /** Number of the question. */
    uint64_t number;
    /** Masks: [row] and [matrix column]. */
    bool *row_in, *column_in;

    uint32_t modes;
    double tikhonov;
    bool resonates;
    /** The dispersion is projected out. */
    bool rf;
};

struct feedback_solution {
    /** Number of the question that it answers. */
    uint64_t number;
    /** How long it took to make. */
    double seconds;
    /** Setpoints from errors, with `direct` folded in. */
    struct feedback_product product;

    struct feedback_basis basis[FEEDBACK_PARTS_MAX];
    struct feedback_law law[FEEDBACK_PARTS_MAX];
    /** [part] map from the channels of the solution before. NULL: this is the first one, or the family has no law. */
    double *map[FEEDBACK_PARTS_MAX];
    /** Of a part that unloads: [output of the taking part · own outputs + own output], both counted within their parts,
     * padding 0; or NULL. */
    double *handover[FEEDBACK_PARTS_MAX];
    /** [row] η⁺: the RF's part of the errors, RF unit per nm; NULL without. Uncoupled: of horizontal rows alone. */
    double *dispersion;
};

enum rm_code feedback_layout_make(struct feedback_configuration const *configuration, struct feedback_layout *layout,
                                  struct rm_error *error);
void feedback_layout_free(struct feedback_layout *layout);

/** The part that `part` unloads to, or −1. */
int32_t feedback_layout_taker(struct feedback_configuration const *configuration, struct feedback_layout const *layout,
                              uint32_t part);

/** Makes a solution. It takes some 10 to 100 ms. `before` may be NULL. */
enum rm_code feedback_solution_make(struct feedback_configuration const *configuration,
                                    struct feedback_layout const *layout, double rate_hz,
                                    struct feedback_requests const *requests, struct feedback_solution const *before,
                                    struct feedback_solution **solution, struct rm_error *error);
void feedback_solution_free(struct feedback_solution *solution);

#endif
