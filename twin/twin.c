// SPDX-License-Identifier: Apache-2.0
#include "twin_parts.h"

#include <stdlib.h>

#include "base/fail.h"
#include "lattice_parts.h"

static enum rm_code make_twin(struct rm_lattice const *lattice, struct rm_element const *elements,
                              struct rm_twin **twin, struct rm_error *error) {
    struct rm_twin *const made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->lattice = lattice;
        made->count = lattice->count;
        made->elements = rm_elements_copy(elements, lattice->count);
    }
    if (made == NULL || made->elements == NULL) {
        free(made);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a twin of %u elements; free some memory", lattice->count);
    }
    *twin = made;
    return RM_OK;
}

enum rm_code rm_twin_make(struct rm_lattice const *lattice, struct rm_twin **twin, struct rm_error *error) {
    return make_twin(lattice, lattice->elements, twin, error);
}

enum rm_code rm_twin_copy(struct rm_twin const *twin, struct rm_twin **copy, struct rm_error *error) {
    enum rm_code const code = make_twin(twin->lattice, twin->elements, copy, error);
    if (code == RM_OK)
        (*copy)->seed = twin->seed;
    return code;
}

void rm_twin_free(struct rm_twin *twin) {
    if (twin == NULL)
        return;
    rm_elements_free(twin->elements, twin->count);
    free(twin);
}

struct rm_lattice const *rm_twin_lattice(struct rm_twin const *twin) {
    return twin->lattice;
}

struct rm_element const *rm_twin_element(struct rm_twin const *twin, uint32_t index) {
    return &twin->elements[index];
}

uint64_t rm_twin_turn(struct rm_twin const *twin) { return twin->turn; }

void rm_twin_set_turn(struct rm_twin *twin, uint64_t turn) { twin->turn = turn; }

void rm_twin_seed(struct rm_twin *twin, uint64_t seed) { twin->seed = seed; }
