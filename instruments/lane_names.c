// SPDX-License-Identifier: Apache-2.0
#include "lane_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "config/kind_lanes.h"

static bool lane_name_means(char const *name, char const *lane) {
    size_t const length = strlen(name);
    return strncmp(name, lane, length) == 0 && (lane[length] == '\0' || strcmp(lane + length, "1") == 0);
}

uint32_t rm_virtual_lane_find(unsigned kind, char const *name) {
    uint32_t count;
    struct rm_kind_lane const *lanes = rm_kind_lanes(kind, &count);
    for (uint32_t l = 0; l < count; ++l)
        if (lane_name_means(name, lanes[l].name))
            return l;
    return RM_KIND_LANE_NONE;
}

static struct {
    char const *prefix;
    double factor;
} const prefixes[] = {{"n", 1e-9}, {"µ", 1e-6}, {"u", 1e-6}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}};

/** The factor of `unit` in terms of `base`; 0 when it is another unit. */
static double factor_of(char const *unit, char const *base) {
    if (strcmp(unit, base) == 0)
        return 1;
    for (size_t p = 0; p < sizeof prefixes / sizeof prefixes[0]; ++p) {
        size_t const length = strlen(prefixes[p].prefix);
        if (strncmp(unit, prefixes[p].prefix, length) == 0 && strcmp(unit + length, base) == 0)
            return prefixes[p].factor;
    }
    return 0;
}

double rm_unit_ratio(char const *from, char const *to) {
    static char const *const bases[] = {"m", "A", "V", "Hz", "rad"};
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; ++b) {
        double const numerator = factor_of(from, bases[b]), denominator = factor_of(to, bases[b]);
        if (numerator > 0 && denominator > 0)
            return numerator / denominator;
    }
    return 1;
}
