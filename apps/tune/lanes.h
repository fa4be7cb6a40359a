// SPDX-License-Identifier: Apache-2.0
/** Where the file's INSTRUMENT/LANE are among the inputs, and their values in a run of turns. */
#ifndef TUNE_LANES_H
#define TUNE_LANES_H

#include <stdint.h>

#include <ringmaster/application.h>

struct tune_lane {
    uint32_t input, lane;
};

/** Finds a lane among the inputs. RM_E_CONFIG where no input has it, where that input does not come every turn, or where
 * its ring is no longer than a step. `key` is that of the file, for the error. */
enum rm_code tune_lane_find(struct rm_application_setup const *setup, char const *key, char const *name,
                            struct tune_lane *lane, struct rm_error *error);

/** RM_E_CONFIG where the lane has another unit. */
enum rm_code tune_lane_check_unit(struct rm_application_setup const *setup, char const *key, struct tune_lane lane,
                                  char const *unit, struct rm_error *error);

/** Its values at `count` turns of the step's run, from the run's turn `first` on, into value[0], value[stride], …; NaN
 * where a turn is not there. */
void tune_lane_read(struct rm_application_setup const *setup, struct rm_step const *given, struct tune_lane lane,
                    uint64_t first, uint64_t count, float *value, uint32_t stride);

/** Its last value in a step; NaN where none of its turns is there. */
double tune_lane_last(struct rm_application_setup const *setup, struct rm_step const *given, struct tune_lane lane);

#endif
