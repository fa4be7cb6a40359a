// SPDX-License-Identifier: Apache-2.0
#include "fields.h"

/** The harmonics of By or Bx: 6 × n, a column each. A column of zeros is no harmonic: MATLAB's way to say none. */
static bool read_harmonics(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                           uint32_t *count, struct rm_wiggler_harmonic const **made) {
    struct rm_value const *const value = rm_value_find(fields, name);
    if (value == NULL || value->count == 0)
        return true;
    bool const flat = value->rows == 1 && value->columns == 6;
    if (value->kind != RM_VALUE_NUMBERS || (value->rows != 6 && !flat))
        return rm_reading_fail(reading,
                               "%s is not 6 x n; expected for each harmonic a column of number, amplitude, kx, "
                               "ky, kz, phase",
                               name);
    uint32_t const columns = flat ? 1 : value->columns;
    struct rm_wiggler_harmonic *const list = rm_reading_take(reading, columns, sizeof *list);
    if (list == NULL)
        return false;
    *count = 0;
    for (uint32_t c = 0; c < columns; ++c) {
        double const *const at = value->numbers + c;
        uint32_t const step = columns;
        if (at[0] == 0 && at[step] == 0 && at[4 * step] == 0)
            continue;
        list[(*count)++] = (struct rm_wiggler_harmonic){.number = at[0],
                                                        .amplitude = at[step],
                                                        .kx = at[2 * step],
                                                        .ky = at[3 * step],
                                                        .kz = at[4 * step],
                                                        .phase_rad = at[5 * step]};
    }
    *made = list;
    return true;
}

bool rm_take_wiggler(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element) {
    static struct rm_wiggler_harmonic const plain = {.number = 1, .amplitude = 1, .ky = 1, .kz = 1};
    if (element->kind != RM_ELEMENT_WIGGLER && element->pass != RM_PASS_GWIG)
        return true;
    struct rm_wiggler *const wiggler = rm_reading_take(reading, 1, sizeof *wiggler);
    if (wiggler == NULL)
        return false;
    *wiggler = (struct rm_wiggler){.steps_per_period = 5, .method = 4};
    if (rm_value_find(fields, "By") == NULL) {
        wiggler->by = &plain;
        wiggler->by_count = 1;
    }
    element->wiggler = wiggler;
    return rm_take_number(reading, fields, "Lw", &wiggler->period_m) &&
           rm_take_number(reading, fields, "Bmax", &wiggler->peak_field_t) &&
           rm_take_whole(reading, fields, "Nstep", 1, 100000, &wiggler->steps_per_period) &&
           rm_take_whole(reading, fields, "Nmeth", 2, 4, &wiggler->method) &&
           read_harmonics(reading, fields, "By", &wiggler->by_count, &wiggler->by) &&
           read_harmonics(reading, fields, "Bx", &wiggler->bx_count, &wiggler->bx);
}
