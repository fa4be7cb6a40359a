// SPDX-License-Identifier: Apache-2.0
#include "quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    char const *word;
    enum rm_quantity_kind kind;
    double factor;
} const UNITS[] = {
    {"ms", RM_QUANTITY_SECONDS, 1e-3},      {"s", RM_QUANTITY_SECONDS, 1},
    {"min", RM_QUANTITY_SECONDS, 60},       {"h", RM_QUANTITY_SECONDS, 3600},
    {"d", RM_QUANTITY_SECONDS, 86400},      {"y", RM_QUANTITY_SECONDS, 365.25 * 86400},
    {"kB", RM_QUANTITY_BYTES, 1e3},         {"MB", RM_QUANTITY_BYTES, 1e6},
    {"GB", RM_QUANTITY_BYTES, 1e9},         {"TB", RM_QUANTITY_BYTES, 1e12},
    {"KiB", RM_QUANTITY_BYTES, 1024},       {"MiB", RM_QUANTITY_BYTES, 1048576},
    {"GiB", RM_QUANTITY_BYTES, 1073741824}, {"TiB", RM_QUANTITY_BYTES, 1099511627776},
    {"turns", RM_QUANTITY_TURNS, 1},
};

bool rm_quantity_parse(char const *text, unsigned kinds, enum rm_quantity_kind *kind, double *value) {
    char *end;
    double const number = strtod(text, &end);
    if (end == text || !isfinite(number) || number <= 0)
        return false;
    end += strspn(end, " ");
    for (unsigned u = 0; u < sizeof UNITS / sizeof UNITS[0]; ++u)
        if (strcmp(end, UNITS[u].word) == 0 && (kinds >> UNITS[u].kind & 1) != 0) {
            *kind = UNITS[u].kind;
            *value = number * UNITS[u].factor;
            return *kind != RM_QUANTITY_TURNS || *value == floor(*value);
        }
    return false;
}
