// SPDX-License-Identifier: Apache-2.0
/** The signals of all detectors: found by their names among the inputs, and read in each step. */
#ifndef PREMORTEM_SIGNALS_H
#define PREMORTEM_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/table.h>

#include "detector.h"
#include "law/one_signal.h"

enum {
    /** Most signals of all detectors together. */
    PREMORTEM_SIGNALS_MAX = 2048,
};

/** The signals of each detector stand in a row, those of one detector behind those of the one before. */
struct premortem_signals {
    struct premortem_signal signal[PREMORTEM_SIGNALS_MAX];
    uint32_t count;

    /* Of the present record. */

    double value[PREMORTEM_SIGNALS_MAX];
    bool is_good[PREMORTEM_SIGNALS_MAX];

    /* Of runaway: the orbit that it compares with, and how many values each is the mean of. */

    double first[PREMORTEM_SIGNALS_MAX];
    uint32_t seen[PREMORTEM_SIGNALS_MAX];
};

/** Finds the signals of a detector, and sets its `first_signal` and `signals`. `golden` is its orbit, a table with a
 * row INSTRUMENT/LANE for each and one column, or NULL. RM_E_CONFIG names what is not there. */
enum rm_code premortem_signals_find(struct premortem_signals *signals, struct rm_application_setup const *setup,
                                    struct premortem_detector *detector, struct rm_table const *golden,
                                    struct rm_error *error);

/** Reads the signals of a detector, and judges each. */
struct premortem_values premortem_signals_read(struct premortem_signals *signals,
                                               struct rm_application_setup const *setup, struct rm_step const *given,
                                               struct premortem_detector const *detector);

/** Forgets the orbit of a detector: it is made anew. */
void premortem_signals_forget(struct premortem_signals *signals, struct premortem_detector const *detector);

/** Delay of the slowest input of a detector, in turns. */
double premortem_signals_delay_turns(struct premortem_signals const *signals, struct rm_application_setup const *setup,
                                     struct premortem_detector const *detector);

#endif
