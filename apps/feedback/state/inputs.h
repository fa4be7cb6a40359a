// SPDX-License-Identifier: Apache-2.0
/** Which lane of which input is which row of the matrix, a sum, the gate, a table's value, another system's setpoint:
 * settled once, so that a record that comes is gone through without a look at any name.
 *
 * The input "bpm01/raw" is the instrument "bpm01", whose lane "x1" is the row "bpm01/x1".
 */
#ifndef FEEDBACK_INPUTS_H
#define FEEDBACK_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>

#include "../files/configuration.h"

/** A lane, and what it is for. */
struct feedback_lane {
    /** Index of the lane in the record. */
    uint32_t at;
    /** The lane is f32; else it is i32. */
    bool is_float;
    /** For a row: nm per unit of the lane; else 1. */
    double to_unit;
    /** Number of the row, of the table, or of another system's actuator; unused for sums. */
    uint32_t what;
};

struct feedback_input {
    struct feedback_lane row[RM_LANES], sum[RM_LANES], table[RM_LANES], other[RM_LANES];
    uint32_t rows, sums, tables, others;
    /** Lane of the gate's input, or −1. */
    int32_t gate_lane;
};

/** The lane's value. */
static inline double feedback_lane_value(struct feedback_lane const *lane, struct rm_record const *record) {
    union rm_lane const value = record->lane[lane->at];
    return lane->is_float ? (double)value.f : (double)value.i;
}

/** Finds all rows among the setup's inputs. RM_E_CONFIG names the row, table or gate that no input has, a row that two
 * have, and a lane whose unit is no length. */
enum rm_code feedback_inputs_find(struct feedback_configuration const *configuration,
                                  struct rm_application_setup const *setup, struct feedback_input *inputs,
                                  struct rm_error *error);

#endif
