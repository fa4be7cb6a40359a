// SPDX-License-Identifier: Apache-2.0
#include "lattice_parts.h"

#include <stdlib.h>

#include <ringmaster/pattern.h>

#include "base/fail.h"

static enum rm_code no_memory(uint32_t count, struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "no memory for a lattice of %u elements; free some memory", count);
}

static enum rm_code check_lattice(struct rm_lattice_facts const *info, struct rm_element const *elements,
                                  uint32_t count, struct rm_error *error) {
    if (count == 0)
        return rm_fail(error, RM_E_CONFIG, "lattice \"%s\" has no elements; expected at least one", info->name);
    enum rm_code code = rm_lattice_info_check(info, error);
    for (uint32_t i = 0; i < count && code == RM_OK; ++i)
        code = rm_element_check(&elements[i], i, error);
    return code;
}

enum rm_code rm_lattice_make(struct rm_lattice_facts const *info, struct rm_element const *elements, uint32_t count,
                             struct rm_lattice **lattice, struct rm_error *error) {
    enum rm_code const code = check_lattice(info, elements, count, error);
    if (code != RM_OK)
        return code;
    struct rm_lattice *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return no_memory(count, error);
    made->info = *info;
    made->count = count;
    made->elements = rm_elements_copy(elements, count);
    made->s_m = calloc(count + 1, sizeof *made->s_m);
    if (made->elements == NULL || made->s_m == NULL) {
        rm_lattice_free(made);
        return no_memory(count, error);
    }
    for (uint32_t i = 0; i < count; ++i)
        made->s_m[i + 1] = made->s_m[i] + elements[i].length_m;
    *lattice = made;
    return RM_OK;
}

void rm_lattice_free(struct rm_lattice *lattice) {
    if (lattice == NULL)
        return;
    rm_elements_free(lattice->elements, lattice->count);
    free(lattice->s_m);
    free(lattice);
}

struct rm_lattice_facts const *rm_lattice_info(struct rm_lattice const *lattice) {
    return &lattice->info;
}

uint32_t rm_lattice_count(struct rm_lattice const *lattice) { return lattice->count; }

struct rm_element const *rm_lattice_element(struct rm_lattice const *lattice, uint32_t index) {
    return &lattice->elements[index];
}

double rm_lattice_length_m(struct rm_lattice const *lattice) { return lattice->s_m[lattice->count]; }

double rm_lattice_s_m(struct rm_lattice const *lattice, uint32_t index) { return lattice->s_m[index]; }

uint32_t rm_lattice_find(struct rm_lattice const *lattice, char const *pattern, enum rm_element_kind kind,
                         uint32_t *indices, uint32_t most) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < lattice->count; ++i) {
        struct rm_element const *const element = &lattice->elements[i];
        if ((kind != RM_ELEMENT_KINDS && element->kind != kind) ||
            (pattern != NULL && !rm_pattern_matches(pattern, element->name)))
            continue;
        if (found < most)
            indices[found] = i;
        ++found;
    }
    return found;
}
