// SPDX-License-Identifier: Apache-2.0
/** What a caller in another language compares with the structs that it was told of. */
#include <string.h>

#include <ringmaster/twin.h>

#define SIZE_OF(name)                                                                                                  \
    { #name, sizeof(struct name) }

size_t rm_twin_size_of(char const *name) {
    static struct {
        char const *name;
        size_t size;
    } const structs[] = {
        SIZE_OF(rm_error),           SIZE_OF(rm_wiggler_harmonic), SIZE_OF(rm_wiggler),
        SIZE_OF(rm_element),         SIZE_OF(rm_lattice_facts),    SIZE_OF(rm_lattice_source),
        SIZE_OF(rm_tracking),        SIZE_OF(rm_orbit_options),    SIZE_OF(rm_optics),
        SIZE_OF(rm_optics_summary),  SIZE_OF(rm_optics_options),   SIZE_OF(rm_optics4),
        SIZE_OF(rm_ring_parameters), SIZE_OF(rm_envelope),         SIZE_OF(rm_envelope_summary),
        SIZE_OF(rm_steerer),         SIZE_OF(rm_response_options), SIZE_OF(rm_strength),
        SIZE_OF(rm_ring_state),
    };
    for (size_t i = 0; i < sizeof structs / sizeof structs[0]; ++i)
        if (strcmp(structs[i].name, name) == 0)
            return structs[i].size;
    return 0;
}
