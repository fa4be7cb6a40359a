// SPDX-License-Identifier: Apache-2.0
/** What a lattice is inside this room. */
#ifndef RM_TWIN_LATTICE_PARTS_H
#define RM_TWIN_LATTICE_PARTS_H

#include <stddef.h>

#include <ringmaster/lattice.h>

struct rm_lattice {
    struct rm_lattice_facts info;
    uint32_t count;
    struct rm_element *elements;
    /** [element, and one more]: position along the ring. */
    double *s_m;
};

/** Makes a deep copy of an element, with memory of its own for each part. False when memory is full, and then nothing
 * is left. */
bool rm_element_copy(struct rm_element const *from, struct rm_element *to);
void rm_element_clear(struct rm_element *element);

/** Checks an element: RM_E_CONFIG names one that its pass could not track. And checks what is said of the ring. */
enum rm_code rm_element_check(struct rm_element const *element, uint32_t index, struct rm_error *error);
enum rm_code rm_lattice_info_check(struct rm_lattice_facts const *info, struct rm_error *error);

/** Copies all elements; NULL when memory is full. rm_elements_free undoes it. */
struct rm_element *rm_elements_copy(struct rm_element const *elements, uint32_t count);
void rm_elements_free(struct rm_element *elements, uint32_t count);

#endif
