// SPDX-License-Identifier: Apache-2.0
/** A response matrix as a file of text, which people, spreadsheets and `ringmaster feedback matrix` read and write:
 *
 *     # nm per unit; lines that begin with # are comments
 *     ,sr/ps/cf_x_01,sr/ps/cf_x_02,…
 *     bpm01/x1,12345.6,-789.1,…
 *
 * The first line names the columns (actuators), each further one a row (INSTRUMENT/LANE) and its numbers. Fields may
 * stand in quotes, as spreadsheets like it: csv.h.
 */
#ifndef FEEDBACK_MATRIX_H
#define FEEDBACK_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

struct feedback_matrix {
    uint32_t rows, columns;
    char **row_name, **column_name;
    /** [row · columns + column] nm per unit. */
    double *value;
};

/** RM_E_CONFIG names file, line and column: not a number, not finite, a name twice, too few or too many fields. Whether
 * rows are BPM readings is not asked here: tables of feed-forward are read by it too. */
enum rm_code feedback_matrix_load(char const *path, struct feedback_matrix *matrix, struct rm_error *error);

/** The same with a text that is there; `path` is for errors. */
enum rm_code feedback_matrix_parse(char const *path, char const *text, size_t bytes, struct feedback_matrix *matrix,
                                   struct rm_error *error);
void feedback_matrix_free(struct feedback_matrix *matrix);

/** Plane of a row by its lane: 'x', 'y', or 0 for a lane that is no position. */
char feedback_row_plane(char const *name);
char feedback_column_plane(struct feedback_matrix const *matrix, uint32_t column);

#endif
