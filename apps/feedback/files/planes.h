// SPDX-License-Identifier: Apache-2.0
/** Which plane a row or a column of the response matrix belongs to. The matrix is a table (ringmaster/table.h): its
 * columns are actuators, its rows BPM readings, INSTRUMENT/LANE, and its numbers are in nm per unit. */
#ifndef FEEDBACK_PLANES_H
#define FEEDBACK_PLANES_H

#include <ringmaster/table.h>

/** Plane of a row by its lane: 'x', 'y', or 0 for a lane that is no position. */
char feedback_row_plane(char const *name);

/** Plane in which the column's responses are larger. */
char feedback_column_plane(struct rm_table const *matrix, uint32_t column);

#endif
