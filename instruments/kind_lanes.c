// SPDX-License-Identifier: Apache-2.0
#include "kind_lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <ringmaster/stream.h>

static struct rm_virtual_lane const bpm[] = {
    {"x1", "nm"}, {"y1", "nm"}, {"sum1", "counts"}, {"q1", "nm"},
    {"x2", "nm"}, {"y2", "nm"}, {"sum2", "counts"}, {"q2", "nm"},
};

static struct rm_virtual_lane const blm[] = {
    {"loss1", "counts"}, {"loss2", "counts"}, {"loss3", "counts"}, {"loss4", "counts"}, {"loss5", "counts"},
    {"loss6", "counts"}, {"loss7", "counts"}, {"loss8", "counts"}, {"loss9", "counts"}, {"loss10", "counts"},
};

static struct rm_virtual_lane const llrf[] = {
    {"cavity_phase", "µrad"},    {"cavity_amp", "V"},    {"forward_phase", "µrad"}, {"forward_amp", "V"},
    {"reflected_phase", "µrad"}, {"reflected_amp", "V"}, {"detuning", "Hz"},        {"beam_phase", "µrad"},
};

static struct rm_virtual_lane const photon_bpm[] = {{"x", "nm"}, {"y", "nm"}, {"sum", "counts"}};

static struct rm_virtual_lane const interlock[] = {{"flags", "bits"}, {"permits", "bits"}};

static struct rm_virtual_lane const power_supply[] = {{"setpoint", "µA"}, {"readback", "µA"}, {"status", "bits"}};

static struct {
    struct rm_virtual_lane const *lanes;
    uint32_t count;
} const kinds[] = {
    [RM_KIND_BPM] = {bpm, sizeof bpm / sizeof bpm[0]},
    [RM_KIND_BLM] = {blm, sizeof blm / sizeof blm[0]},
    [RM_KIND_LLRF] = {llrf, sizeof llrf / sizeof llrf[0]},
    [RM_KIND_PHOTON_BPM] = {photon_bpm, sizeof photon_bpm / sizeof photon_bpm[0]},
    [RM_KIND_INTERLOCK] = {interlock, sizeof interlock / sizeof interlock[0]},
    [RM_KIND_POWER_SUPPLY] = {power_supply, sizeof power_supply / sizeof power_supply[0]},
};

struct rm_virtual_lane const *rm_virtual_lanes(unsigned kind, uint32_t *count) {
    bool const known = kind < sizeof kinds / sizeof kinds[0];
    *count = known ? kinds[kind].count : 0;
    return known ? kinds[kind].lanes : NULL;
}

static bool means(char const *name, char const *lane) {
    size_t const length = strlen(name);
    return strncmp(name, lane, length) == 0 && (lane[length] == '\0' || strcmp(lane + length, "1") == 0);
}

uint32_t rm_virtual_lane_find(unsigned kind, char const *name) {
    uint32_t count;
    struct rm_virtual_lane const *lanes = rm_virtual_lanes(kind, &count);
    for (uint32_t l = 0; l < count; ++l)
        if (means(name, lanes[l].name))
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
