// SPDX-License-Identifier: Apache-2.0
/** What a lattice is inside this room. */
#ifndef RM_TWIN_LATTICE_PARTS_H
#define RM_TWIN_LATTICE_PARTS_H

#include <stddef.h>

#include <ringmaster/lattice.h>

struct rm_lattice {
    struct rm_lattice_info info;
    uint32_t count;
    struct rm_element *elements;
    double *s_m; /**< count + 1 */
};

/** A deep copy of an element in memory of its own for each part; false when memory is full, and then nothing is left. */
bool rm_element_copy(struct rm_element const *from, struct rm_element *to);
void rm_element_clear(struct rm_element *element);

/** Copies of all; NULL when memory is full. rm_elements_free undoes it. */
struct rm_element *rm_elements_copy(struct rm_element const *elements, uint32_t count);
void rm_elements_free(struct rm_element *elements, uint32_t count);

#endif
