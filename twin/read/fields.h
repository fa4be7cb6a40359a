// SPDX-License-Identifier: Apache-2.0
/** Takes fields of an element out of what the file says. A field that is absent or empty leaves the target as it was;
 * one that is there and of the wrong shape is a failure that names it. */
#ifndef RM_TWIN_READ_FIELDS_H
#define RM_TWIN_READ_FIELDS_H

#include "reading.h"

/** Takes one number. */
bool rm_take_number(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                    double *number);

/** Takes one whole number from `least` to `most`. */
bool rm_take_whole(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name, uint32_t least,
                   uint32_t most, uint32_t *number);

/** Takes `count` numbers, a row or a column, into the caller's array. */
bool rm_take_numbers(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                     uint32_t count, double *numbers);

/** The same into scratch: `numbers` becomes NULL when there is no such field. */
bool rm_take_vector(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name, uint32_t count,
                    double **numbers);

/** Takes a 6 × 6 matrix, row by row, into scratch. */
bool rm_take_matrix(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                    double **numbers);

/** Takes a name; one that is too long is a failure. */
bool rm_take_name(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                  char text[RM_ELEMENT_NAME_BYTES]);

/** Takes polynom_a, polynom_b and max_order, and completes them as pyAT's classes do (element_polynoms.c). */
bool rm_take_polynoms(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element);

/** Takes a wiggler's fields (element_wiggler.c). */
bool rm_take_wiggler(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element);

/** Refuses an element of a class of which rm_kind_is_untracked: as a marker it would leave the ring with the wrong
 * energy loss, damping and tunes in 6D. `class` and `name` may be NULL. */
bool rm_refuse_untracked(struct rm_lattice_reading *reading, char const *class, char const *name);

#endif
