// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "ring_resolve.h"

static double const RANGE = 10;
static double const REGULATION_LEAST_HZ = 1;

/** One number of a supply. */
struct supply_key {
    char const *key;
    size_t from; /**< offset of a double * in struct rm_ring_file_supply */
    size_t to;   /**< offset of a double in struct rm_supply_config */
    double otherwise, low, high;
    double scale; /**< from the key's unit */
};

#define SUPPLY_KEY(name, to, otherwise, low, high, scale)                                                              \
    {                                                                                                                  \
#name, offsetof(struct rm_ring_file_supply, name), offsetof(struct rm_supply_config, to), otherwise, low,      \
            high, scale                                                                                                \
    }

static struct supply_key const keys[] = {
    SUPPLY_KEY(resolution, resolution, 0, 0, 1e9, 1),
    SUPPLY_KEY(delay_us, delay_s, 0, 0, 1e6, 1e-6),
    SUPPLY_KEY(regulation_hz, regulation_hz, 0, 0, 1e7, 1),
    SUPPLY_KEY(drift_ppm, drift_ppm, 0, 0, 1000, 1),
    SUPPLY_KEY(bandwidth_hz, bandwidth_hz, 0, 0, 1e9, 1),
    SUPPLY_KEY(slew, slew, INFINITY, 1e-9, INFINITY, 1),
    SUPPLY_KEY(noise, noise, 0, 0, 1e9, 1),
};

/** An error at a key of an entry of a chain's supplies. */
struct place {
    struct rm_resolve const *resolve;
    uint32_t chain, entry;
};

static void name_key(struct place const *place, char const *key, char full[80]) {
    snprintf(full, 80, "supplies.chains[%u].supplies[%u].%s", place->chain, place->entry, key);
}

static enum rm_code check_within(struct place const *place, char const *key, double value, double low, double high) {
    char full[80];
    if (value >= low && value <= high)
        return RM_OK;
    name_key(place, key, full);
    return rm_yaml_fail(place->resolve->error, place->resolve->path, full, "found %g, expected %g to %g", value, low,
                        high);
}

static enum rm_code resolve_numbers(struct place const *place, struct rm_ring_file_supply const *from,
                                    struct rm_supply_config *to) {
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k) {
        double const *given = *(double *const *)(void const *)((char const *)from + keys[k].from);
        double const value = given == NULL ? keys[k].otherwise : *given;
        enum rm_code const code = check_within(place, keys[k].key, value, keys[k].low, keys[k].high);
        if (code != RM_OK)
            return code;
        *(double *)(void *)((char *)to + keys[k].to) = value * keys[k].scale;
    }
    if (to->regulation_hz != 0)
        return check_within(place, "regulation_hz", to->regulation_hz, REGULATION_LEAST_HZ, 1e7);
    return RM_OK;
}

static enum rm_code resolve_range(struct place const *place, struct rm_ring_file_supply const *from,
                                  struct rm_supply_config *to) {
    char full[80];
    to->low = from->range == NULL ? -RANGE : from->range[0];
    to->high = from->range == NULL ? RANGE : from->range[1];
    if (to->low <= 0 && to->high >= 0 && to->low < to->high && isfinite(to->low) && isfinite(to->high))
        return RM_OK;
    name_key(place, "range", full);
    return rm_yaml_fail(place->resolve->error, place->resolve->path, full,
                        "found [%g, %g], expected a lower and an upper end around 0, where it is when it is off",
                        to->low, to->high);
}

static enum rm_code resolve_ripple(struct place const *place, struct rm_ring_file_supply const *from,
                                   struct rm_supply_config *to) {
    to->ripple_count = from->ripple_count;
    for (uint32_t r = 0; r < from->ripple_count; ++r) {
        enum rm_code code = check_within(place, "ripple", from->ripple[r].hz, 0, 1e7);
        if (code == RM_OK)
            code = check_within(place, "ripple", from->ripple[r].amplitude, 0, 1e9);
        if (code != RM_OK)
            return code;
        to->ripple[r].hz = from->ripple[r].hz;
        to->ripple[r].amplitude = from->ripple[r].amplitude;
    }
    return RM_OK;
}

static double or_else(double const *given, double otherwise) { return given == NULL ? otherwise : *given; }

enum rm_code rm_resolve_supply(struct rm_resolve const *resolve, uint32_t chain, uint32_t entry,
                               struct rm_supply_config *to) {
    struct place const place = {resolve, chain, entry};
    struct rm_ring_file_supply const *from = &resolve->file->supplies->chains[chain].supplies[entry];
    enum rm_code code = resolve_numbers(&place, from, to);
    if (code == RM_OK)
        code = resolve_range(&place, from, to);
    if (code == RM_OK)
        code = resolve_ripple(&place, from, to);
    to->initial = or_else(from->initial, 0);
    to->safe = or_else(from->safe, 0);
    to->safe_slew = or_else(from->safe_slew, to->slew);
    if (code == RM_OK)
        code = check_within(&place, "initial", to->initial, to->low, to->high);
    if (code == RM_OK)
        code = check_within(&place, "safe", to->safe, to->low, to->high);
    return code == RM_OK ? check_within(&place, "safe_slew", to->safe_slew, 1e-9, INFINITY) : code;
}
