// SPDX-License-Identifier: Apache-2.0
/** The decision record: what a step of an application depended on beside its code, and what came of it.
 *
 * A step depends on its inputs, and on much else that the computer decides: which inputs came in time, which turns were
 * skipped, what had been sent, when settings were taken over, when a result of `work` was ready. So the host writes for
 * each step, in the application's own segment, under the step's turn and with the application's period:
 *
 *     NAME/decision           always       i32   enum rm_decision_lane
 *     NAME/missing0, 1, …     where inputs were missing: a bit per input
 *                                          i32   bit b of lane l of stream s: input 384 s + 32 l + b was missing
 *     NAME/unfinished0, 1, …  where inputs were missing, of an application that takes runs
 *                                          i32   records at the end of the run of input 12 s + l that had not come
 *     NAME/sent0, 1, …        where one of its twelve values is another than in the record before
 *                                          f32   what had been sent to actuators 12 s, 12 s + 1, …, as the step saw it
 *     NAME/settings_adopted   until all that were adopted are told
 *                                          i32   enum rm_adopted_lane: three values of settings
 *
 * `decision` is put last: a reader that sees it finds the other records of its turn. The other streams speak only then,
 * which their filter "on-change" says. One that has no record of a turn said nothing; RM_DECISION_MISSING and
 * RM_DECISION_SENT say how many records there must be, so that what a recording has lost is told from what was never
 * there. With the input streams these are all that a replay needs
 * (docs/simulation.md).
 *
 * ## Settings
 * The settings' generation grows by one where a step has others than the one before, and at each init, which tells all
 * of them. Values are told in order, those of one generation behind those of the one before, three in a record, so that
 * a large array takes many steps: a reader that replays looks ahead. Element i is the i-th of all settings one after
 * the other (`setting` of struct rm_step).
 *
 * ## Runs
 * A step of an application that takes runs has all records since the step before: their number is in the flags
 * (RM_DECISION_RUN_SHIFT), as steps. A record in the midst of a run that came after the step did is on no record: a
 * replay that has it says that inputs differ.
 *
 * ## Checksums
 * Of 32 bits; equal numbers have equal ones. RM_DECISION_INPUTS is of the records that were not missing, of runs of all
 * of them and of the places of those that were not there: their instruments' status and their lanes, and not the time at which they came, so that two servers that hear the same
 * instruments have the same; and of what had been sent. RM_DECISION_SETPOINTS is of the vector, and of whether it was
 * committed. RM_DECISION_VISIBLE is of readings that are one number, of streams, and of rows in the steps that give
 * some; of readings that are arrays it has one per step, in turns. Readings that tell of the computer (rm_reading.is_of_computer) are left out.
 */
#ifndef RINGMASTER_DECISION_H
#define RINGMASTER_DECISION_H

/** Lanes of NAME/decision. Counts and numbers are their low 32 bits. The tag of the record has the TSC at which the
 * step was over. */
enum rm_decision_lane {
    /** Steps since init: 0 is the first one. */
    RM_DECISION_STEP = 0,
    /** Grant number. */
    RM_DECISION_GRANT = 1,
    /** Bits: enum rm_decision_flag; from RM_DECISION_RUN_SHIFT on how many steps the runs span, 0 without runs. */
    RM_DECISION_FLAGS = 2,
    /** Number of inputs that were missing. */
    RM_DECISION_MISSING = 3,
    /** Steps that were left out since the last one. */
    RM_DECISION_SKIPPED = 4,
    /** Generation of the settings. */
    RM_DECISION_SETTINGS = 5,
    /** struct rm_exchange, as it was after the step's `prepare`. */
    RM_DECISION_ASKED = 6,
    RM_DECISION_ADOPTED = 7,
    /** Number of streams `sent` that have a record of this turn. */
    RM_DECISION_SENT = 8,
    /** Checksum of the inputs. */
    RM_DECISION_INPUTS = 9,
    /** Checksum of the setpoints. */
    RM_DECISION_SETPOINTS = 10,
    /** Checksum of readings and streams. */
    RM_DECISION_VISIBLE = 11,
};

enum rm_decision_flag {
    /** The setpoints were committed. */
    RM_DECISION_COMMITTED = 1,
    /** The deadline had passed. */
    RM_DECISION_LATE = 2,
    /** It is the first step of a process: `open` was called before it. */
    RM_DECISION_OPENED = 4,
};

/** Lanes of NAME/settings_adopted. */
enum rm_adopted_lane {
    /** Generation of the values. */
    RM_ADOPTED_GENERATION = 0,
    /** Number of values of this generation that later records have. 0: the generation is complete. */
    RM_ADOPTED_LEFT = 1,
    /** Checksum of all settings, as they are in this generation. */
    RM_ADOPTED_CHECKSUM = 2,
    /** The first value: its element, −1 where there is none, then the low and the high half of an f64. The next value
     * is RM_ADOPTED_VALUE_LANES lanes behind. */
    RM_ADOPTED_FIRST = 3,
};

enum {
    /** Place of the number of steps in the flags. */
    RM_DECISION_RUN_SHIFT = 16,
    /** Inputs of one stream `missing`. */
    RM_DECISION_MASK_INPUTS = 384,
    /** Values of one record of `settings_adopted`. */
    RM_ADOPTED_VALUES = 3,
    /** Lanes of one of them. */
    RM_ADOPTED_VALUE_LANES = 3,
};

#endif
