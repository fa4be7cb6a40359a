// SPDX-License-Identifier: Apache-2.0
#include "fuzz_lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

static void require(bool held) {
    if (!held)
        abort();
}

static void check(struct rm_lattice const *lattice) {
    uint32_t const count = rm_lattice_count(lattice);
    require(count > 0 && count <= RM_MOST_ELEMENTS && rm_lattice_info(lattice)->energy_ev > 0);
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_element const *const element = rm_lattice_element(lattice, i);
        require(strlen(element->name) < RM_ELEMENT_NAME_BYTES && isfinite(element->length_m));
        require(rm_pass_name(element->pass, element->radiation) != NULL);
        for (uint32_t n = 0; element->polynom_b != NULL && n <= element->max_order; ++n)
            require(isfinite(element->polynom_b[n]));
    }
}

int rm_fuzz_lattice(char const *name, uint8_t const *data, size_t size) {
    struct rm_lattice *lattice = NULL;
    struct rm_error error = {0};
    char *const text = malloc(size + 1); /* with a zero behind it, as a file is loaded */
    if (text == NULL)
        return 0;
    if (size != 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (rm_lattice_parse(name, text, size, NULL, &lattice, &error) == RM_OK) {
        check(lattice);
        rm_lattice_free(lattice);
    } else {
        require(error.code != RM_OK && error.text[0] != '\0');
    }
    free(text);
    return 0;
}
