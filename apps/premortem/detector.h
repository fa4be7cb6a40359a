// SPDX-License-Identifier: Apache-2.0
/** One detector of whatever kind: from the values of its signals to a level, and from the level to an alarm.
 *
 * A record in which too few of its signals are good is bad: it is counted, the level stays, and it neither makes nor ends
 * an alarm. After BRIDGE_STEPS of them in a row the detector is blind. It begins anew, and learns anew, with the next
 * good record: what it remembers says nothing of a time that it did not see.
 */
#ifndef PREMORTEM_DETECTOR_H
#define PREMORTEM_DETECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

#include "file.h"
#include "law/drift.h"
#include "law/excursion.h"
#include "law/growth.h"
#include "law/latch.h"
#include "law/rise.h"
#include "law/runaway.h"

enum {
    /** Bad records in a row that a detector stands. */
    PREMORTEM_BRIDGE_STEPS = 8,
};

/** What people are told of a detector. Its severity follows: from WARNS on minor, ALARM major. */
enum premortem_state {
    PREMORTEM_WATCHES = 0,
    /** It has no level yet. */
    PREMORTEM_LEARNS = 1,
    PREMORTEM_MASKED = 2,
    PREMORTEM_WARNS = 3,
    PREMORTEM_BLIND = 4,
    /** Until a person resets it. */
    PREMORTEM_ALARM = 5,
};

struct premortem_detector {
    struct premortem_plan const *plan;
    union {
        struct premortem_rise rise;
        struct premortem_runaway runaway;
        struct premortem_excursion excursion;
        struct premortem_growth growth;
        struct premortem_drift drift;
    } law;
    struct premortem_latch latch;
    /** Signals, and where the first of them is among those of all detectors. */
    uint32_t first_signal, signals;
    /** Bad records, all and in a row. */
    uint64_t bad;
    uint32_t bad_run;
    /** NaN while there is none. */
    double level;
    enum premortem_state state;
    /** Its alarm acts, or has acted; until the reset. */
    bool acts;
};

/** The values of one record, of the detector's signals; and the orbit of those that need one. */
struct premortem_values {
    double const *value;
    bool const *is_good;
    uint32_t good;

    double *first;
    uint32_t *seen;
};

/** What people have set for it. */
struct premortem_wishes {
    double threshold;
    bool is_masked;
};

/** Begins anew. Alarms and counts stay. `has_golden`: the orbit of its signals is there already. */
void premortem_detector_begin(struct premortem_detector *detector, double steps_per_second, bool has_golden);

/** One step. True: here is a new alarm. After a gap that made it blind it asks to begin anew: `*anew`. */
bool premortem_detector_step(struct premortem_detector *detector, struct premortem_values const *values,
                             struct premortem_wishes const *wishes, rm_turn turn, bool *anew);

/** Delay of its own filter, its confirmation included, in steps; of a rate of growth, from a flat envelope on. */
double premortem_detector_delay_steps(struct premortem_plan const *plan, double steps_per_second);

#endif
