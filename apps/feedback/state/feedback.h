// SPDX-License-Identifier: Apache-2.0
/** All that the feedback is made of; feedback.c explains how. It lies in the application's `memory`, whose size
 * depends on the configuration. `solver` is shared with the solver's thread; all else is the stepping thread's. */
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

/** Most questions that are left and not answered: one in the solver's mailbox, and one that it solves or has solved. */
enum { FEEDBACK_LEFT = 2 };

/** A run of actuators and outputs that follow each other in both orders, so that they are copied together. */
struct feedback_run {
    uint32_t actuator, output, count;
};

struct feedback {
    struct feedback_configuration configuration;
    struct feedback_layout layout;
    struct feedback_solver solver;
    double rate_hz;

    /* Connections. */

    /** [input] what its lanes are. */
    struct feedback_input *input;

    struct feedback_run *run;
    uint32_t runs;
    /** Index of the RF's actuator, or −1. */
    int32_t rf_actuator;
    /** [output] its actuator, UINT32_MAX: none. */
    uint32_t *actuator_of;
    /** [actuator] its matrix column. */
    uint32_t *actuator_column;

    /* Time. */

    /** Number of the cycle that is collected, or was last; UINT64_MAX: none yet. */
    uint64_t at;
    /** Cycles since the one before: 1, if none was left out. */
    uint32_t passed;
    /** Consecutive cycles that were partial. */
    uint32_t partial_for;
    /** Consecutive cycles in HOLD. */
    uint32_t held;
    /** A HOLD or a gap of at most so many cycles is continued as if it had not been. */
    uint32_t keep_cycles;
    /** The cycle has begun: its gap has been looked for. */
    bool has_begun;
    /** Too many of its inputs are missing. */
    bool is_partial;
    /** Cycles since one was partial, up to FEEDBACK_STABLE_CYCLES. */
    uint32_t whole_for;
    /** The loop begins anew, and does not continue after a HOLD. */
    bool begins_anew;

    /* What is still to come: its weights are brought near while there is time. */

    /** [input] its record has come in this cycle. */
    bool *has_come;
    /** Inputs whose record has come. */
    uint32_t arrived;

    /* Every cycle's. */
    struct feedback_watch_limits watch_limits;
    /** [row] what is watched of it. */
    struct feedback_watched *watched;
    /** [row] it is not masked, and has no fault. */
    bool *row_used;

    struct feedback_cycle cycle;
    struct feedback_cumulated cumulated;
    struct feedback_orbit orbit;
    struct feedback_beam beam;
    struct feedback_gate gate;
    struct feedback_delivery delivery;
    /** The vectors were sent on, as of the last cycle. */
    bool is_sent;

    struct feedback_states states;
    /** Enable conditions that were missing at the end of the last cycle. */
    uint32_t slow_conditions;
    /** Enable conditions that are missing now. */
    uint32_t missing;

    double cause_turn;
    /** Number of the row or actuator whose fault came last, or −1. */
    int32_t cause_number, worst_row, worst_column;
    /** Rows that were substituted so far. */
    double substituted;

    /* Between two cycles. */
    struct feedback_golden golden;
    struct feedback_loop loop;
    struct feedback_actuator_limits actuator_limits;
    /** [column] what is watched of it. */
    struct feedback_actuator *actuator;

    uint32_t used_rows, used_columns, family_columns, saturated, saturated_for;
    /** Output that is excited while the loop is off, UINT32_MAX: none. */
    uint32_t injected;
    /** What is added to that output. */
    double injection;

    struct feedback_excite excite;
    struct feedback_forward table[FEEDBACK_TABLES_MAX];
    double table_value[FEEDBACK_TABLES_MAX];
    struct feedback_rf rf;
    double rf_setpoint;
    struct feedback_mains mains;
    /** [actuator] another system's setpoints. */
    double *other;
    /** [output] another system's setpoints. */
    double *of_other;
    /** [output] where it stands while the loop is off. */
    double *standing;

    double shadow_rms;
    /** What was asked for last. */
    struct feedback_requests requests;
    /** Questions that the solver's thread was left, and answers that were taken, since `open`. */
    struct rm_exchange exchange;
    /** [number of the question, from 0 on, modulo FEEDBACK_LEFT] those that were left last, as they were. */
    struct feedback_requests left[FEEDBACK_LEFT];

    bool has_request, was_shadow;
    /** State of the last cycle. */
    enum feedback_state before;
    /** Number of the question that could not be solved; 0: none. */
    uint64_t failed;

    double generation;
};

#endif
