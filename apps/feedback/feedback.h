// SPDX-License-Identifier: Apache-2.0
/** All that the feedback is made of; feedback.c has the story. It lies in the application's `memory`: so big as the
 * configuration makes it. `solver` is shared with the thread beside, all else is the stepping thread's. */
#ifndef FEEDBACK_FEEDBACK_H
#define FEEDBACK_FEEDBACK_H

#include "actuators.h"
#include "configuration.h"
#include "cycle.h"
#include "delivery.h"
#include "excite.h"
#include "forward.h"
#include "golden.h"
#include "inputs.h"
#include "loop.h"
#include "mains.h"
#include "names.h"
#include "permits.h"
#include "rf.h"
#include "solver.h"
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
    struct feedback_input *input; /**< [input] */
    struct feedback_run *run;
    uint32_t runs;
    int32_t rf_actuator;       /**< or −1 */
    uint32_t *actuator_of;     /**< [output], UINT32_MAX: none */
    uint32_t *actuator_column; /**< [actuator] matrix column */

    /* Time. */
    uint64_t at;          /**< number of the cycle that is collected, or was last; UINT64_MAX: none yet */
    uint32_t passed;      /**< cycles since the one before: 1, if none was left out */
    uint32_t partial_for; /**< cycles that were partial, one after the other */
    uint32_t held;        /**< cycles in HOLD, one after the other */
    uint32_t keep_cycles; /**< so long a HOLD, or a gap, is gone on from as if nothing had been */
    bool has_begun;       /**< that cycle has: its gap was looked for */
    bool is_partial;      /**< too many of its inputs are missing */
    uint32_t whole_for;   /**< cycles since that was so, up to FEEDBACK_CALM_CYCLES */
    bool begins_anew;     /**< it is no HOLD that is gone on from */

    /* What is still to come: its weights are brought near while there is time. */
    bool *has_come;   /**< [input] in this cycle */
    uint32_t arrived; /**< inputs that have */

    /* Every cycle's. */
    struct feedback_watch_limits watch_limits;
    struct feedback_watched *watched; /**< [row] */
    bool *row_used;                   /**< [row] not masked, without a fault */
    struct feedback_cycle cycle;
    struct feedback_cumulated cumulated;
    struct feedback_orbit orbit;
    struct feedback_beam beam;
    struct feedback_gate gate;
    struct feedback_delivery delivery;
    bool is_sent; /**< as of the last cycle */
    struct feedback_states states;
    uint32_t slow_permits; /**< missing, as of the end of the last cycle */
    uint32_t missing;      /**< permits that are missing now */
    double cause_turn;
    int32_t cause_number, worst_row, worst_column; /**< whose fault came last, or −1 */
    double substituted;                            /**< rows, so far */

    /* Between two cycles. */
    struct feedback_golden golden;
    struct feedback_loop loop;
    struct feedback_actuator_limits actuator_limits;
    struct feedback_actuator *actuator; /**< [column] */
    uint32_t used_rows, used_columns, family_columns, saturated, saturated_for;
    uint32_t poked; /**< output that is excited while the loop is not on, UINT32_MAX: none */
    double poke;    /**< by so much */
    struct feedback_excite excite;
    struct feedback_forward table[FEEDBACK_TABLES_MAX];
    double table_value[FEEDBACK_TABLES_MAX];
    struct feedback_rf rf;
    double rf_setpoint;
    struct feedback_mains mains;
    double *other;    /**< [actuator] another system's setpoints */
    double *of_other; /**< [output] the same */
    double *standing; /**< [output] */
    double shadow_rms;
    struct feedback_wishes wishes; /**< asked for last */
    bool has_asked, was_shadow;
    enum feedback_state before; /**< of the last cycle */
    uint64_t failed;            /**< number of the question that could not be solved; 0: none */
    double generation;
};

#endif
