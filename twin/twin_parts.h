// SPDX-License-Identifier: Apache-2.0
/** What a twin is inside this room. */
#ifndef RM_TWIN_TWIN_PARTS_H
#define RM_TWIN_TWIN_PARTS_H

#include <ringmaster/twin.h>

struct rm_twin {
    struct rm_lattice const *lattice;
    uint32_t count;
    /** Copies of the lattice's elements, with this twin's strengths and errors. */
    struct rm_element *elements;

    uint64_t turn;
    uint64_t seed;
};

#endif
