// SPDX-License-Identifier: Apache-2.0
/** The BPMs of a tune from a table, where they are too many for a list of mappings: `optics` of the file names it.
 *
 *     # m and rad; a line for each instrument
 *     ,beta_x_m,beta_y_m,phase_x_rad,phase_y_rad,noise
 *     bpm01,8.213,3.172,0.412,0.230,1
 *
 * Columns come in any order, `noise` may be left out. Values keep the ranges of the same keys of `bpms`.
 */
#ifndef TUNE_OPTICS_H
#define TUNE_OPTICS_H

#include "file.h"

/** Fills file->bpm from the table beside the file at `path`: lanes are INSTRUMENT/`lane_x` and INSTRUMENT/`lane_y`. Adds
 * what is wrong to `errors`, and returns the code of the first. */
enum rm_code tune_optics_load(char const *path, struct tune_file *file, struct rm_errors *errors);

#endif
