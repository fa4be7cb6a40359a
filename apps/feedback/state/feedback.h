// SPDX-License-Identifier: Apache-2.0
/** All that the feedback is made of; feedback.c has the story. It lies in the application's `memory`: so big as the
 * configuration makes it. `solver` is shared with the thread beside, all else is the stepping thread's. */
#ifndef FEEDBACK_FEEDBACK_H
#define FEEDBACK_FEEDBACK_H

#include "../files/configuration.h"
#include "../loop/forward.h"
#include "../loop/golden.h"
#include "../loop/loop.h"
#include "../loop/mains.h"
#include "../loop/rf.h"
#include "../matrix/solver.h"
#include "actuators.h"
#include "cycle.h"
#include "delivery.h"
#include "enable_conditions.h"
#include "excite.h"
#include "inputs.h"
#include "names.h"
#include "states.h"
#include "watch.h"

/** Actuators and outputs that follow each other in both orders are copied together. */
struct feedback_run {
    uint32_t actuator, output, count;
};

struct feedback {
    struct feedback_configuration configuration;
    struct feedback_layout layout;
    struct feedback_solver solver;
    double rate_hz;

    /* Connections. */

    /** [input] */
    struct feedback_input *input;

    struct feedback_run *run;
    uint32_t runs;
    /** Index of the RF's actuator, or −1. */
    int32_t rf_actuator;
    /** [output], UINT32_MAX: none. */
    uint32_t *actuator_of;
    /** [actuator] matrix column. */
    uint32_t *actuator_column;

    /* Time. */

    /** Number of the cycle that is collected, or was last; UINT64_MAX: none yet. */
    uint64_t at;
    /** Cycles since the one before: 1, if none was left out. */
    uint32_t passed;
    /** Cycles that were partial, one after the other. */
    uint32_t partial_for;
    /** Cycles in HOLD, one after the other. */
    uint32_t held;
    /** A HOLD or a gap of at most so many cycles is continued as if it had not been. */
    uint32_t keep_cycles;
    /** Whether that cycle has begun: its gap was looked for. */
    bool has_begun;
    /** Too many of its inputs are missing. */
    bool is_partial;
    /** Cycles since that was so, up to FEEDBACK_STABLE_CYCLES. */
    uint32_t whole_for;
    /** Whether the loop begins anew, and does not continue after a HOLD. */
    bool begins_anew;

    /* What is still to come: its weights are brought near while there is time. */

    /** [input] in this cycle. */
    bool *has_come;
    /** Inputs that have. */
    uint32_t arrived;

    /* Every cycle's. */
    struct feedback_watch_limits watch_limits;
    /** [row] */
    struct feedback_watched *watched;
    /** [row] not masked, without a fault. */
    bool *row_used;

    struct feedback_cycle cycle;
    struct feedback_cumulated cumulated;
    struct feedback_orbit orbit;
    struct feedback_beam beam;
    struct feedback_gate gate;
    struct feedback_delivery delivery;
    /** As of the last cycle. */
    bool is_sent;

    struct feedback_states states;
    /** Missing, as of the end of the last cycle. */
    uint32_t slow_conditions;
    /** Enable conditions that are missing now. */
    uint32_t missing;

    double cause_turn;
    /** Whose fault came last, or −1. */
    int32_t cause_number, worst_row, worst_column;
    /** Rows, so far. */
    double substituted;

    /* Between two cycles. */
    struct feedback_golden golden;
    struct feedback_loop loop;
    struct feedback_actuator_limits actuator_limits;
    /** [column] */
    struct feedback_actuator *actuator;

    uint32_t used_rows, used_columns, family_columns, saturated, saturated_for;
    /** Output that is excited while the loop is not on, UINT32_MAX: none. */
    uint32_t injected;
    /** By so much. */
    double injection;

    struct feedback_excite excite;
    struct feedback_forward table[FEEDBACK_TABLES_MAX];
    double table_value[FEEDBACK_TABLES_MAX];
    struct feedback_rf rf;
    double rf_setpoint;
    struct feedback_mains mains;
    /** [actuator] another system's setpoints. */
    double *other;
    /** [output] the same. */
    double *of_other;
    /** [output] */
    double *standing;

    double shadow_rms;
    /** Asked for last. */
    struct feedback_requests requests;

    bool has_request, was_shadow;
    /** Of the last cycle. */
    enum feedback_state before;
    /** Number of the question that could not be solved; 0: none. */
    uint64_t failed;

    double generation;
};

#endif
