// SPDX-License-Identifier: Apache-2.0
/** Copies of elements, and what is freed with them. */
#include <stdlib.h>
#include <string.h>

#include "lattice_parts.h"

static void *copy_of(void const *from, size_t bytes, bool *failed) {
    if (from == NULL)
        return NULL;
    void *const made = malloc(bytes);
    if (made == NULL)
        *failed = true;
    else
        memcpy(made, from, bytes);
    return made;
}

static double *copy_numbers(double const *from, uint32_t count, bool *failed) {
    return copy_of(from, count * sizeof *from, failed);
}

static struct rm_wiggler *copy_wiggler(struct rm_wiggler const *from, bool *failed) {
    struct rm_wiggler *const made = copy_of(from, sizeof *from, failed);
    if (made == NULL)
        return NULL;
    made->by = copy_of(from->by_count != 0 ? from->by : NULL, from->by_count * sizeof *from->by, failed);
    made->bx = copy_of(from->bx_count != 0 ? from->bx : NULL, from->bx_count * sizeof *from->bx, failed);
    return made;
}

bool rm_element_copy(struct rm_element const *from, struct rm_element *to) {
    bool failed = false;
    *to = *from;
    to->polynom_a = copy_numbers(from->polynom_a, from->max_order + 1, &failed);
    to->polynom_b = copy_numbers(from->polynom_b, from->max_order + 1, &failed);
    to->fringe_integrals = copy_numbers(from->fringe_integrals, 10, &failed);
    to->t1 = copy_numbers(from->t1, 6, &failed);
    to->t2 = copy_numbers(from->t2, 6, &failed);
    to->r1 = copy_numbers(from->r1, 36, &failed);
    to->r2 = copy_numbers(from->r2, 36, &failed);
    to->rectangle_aperture = copy_numbers(from->rectangle_aperture, 4, &failed);
    to->elliptic_aperture = copy_numbers(from->elliptic_aperture, 2, &failed);
    to->matrix = copy_numbers(from->matrix, 36, &failed);
    to->wiggler = copy_wiggler(from->wiggler, &failed);
    if (failed)
        rm_element_clear(to);
    return !failed;
}

void rm_element_clear(struct rm_element *element) {
    double *const parts[] = {element->polynom_a,
                             element->polynom_b,
                             element->fringe_integrals,
                             element->t1,
                             element->t2,
                             element->r1,
                             element->r2,
                             element->matrix,
                             element->rectangle_aperture,
                             element->elliptic_aperture};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        free(parts[i]);
    if (element->wiggler != NULL) {
        free((void *)(uintptr_t)element->wiggler->by);
        free((void *)(uintptr_t)element->wiggler->bx);
        free(element->wiggler);
    }
    memset(element, 0, sizeof *element);
}

struct rm_element *rm_elements_copy(struct rm_element const *elements, uint32_t count) {
    struct rm_element *const made = calloc(count != 0 ? count : 1, sizeof *made);
    for (uint32_t i = 0; made != NULL && i < count; ++i)
        if (!rm_element_copy(&elements[i], &made[i])) {
            rm_elements_free(made, i);
            return NULL;
        }
    return made;
}

void rm_elements_free(struct rm_element *elements, uint32_t count) {
    for (uint32_t i = 0; elements != NULL && i < count; ++i)
        rm_element_clear(&elements[i]);
    free(elements);
}
