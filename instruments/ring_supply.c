// SPDX-License-Identifier: Apache-2.0
/** The physics of a ring's supplies. Each can do what the configuration lets it be set to; an entry of the overlay says
 * otherwise of those that it means, and a later entry says it over an earlier one, key by key. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "ring_resolve.h"

static double const REGULATION_LEAST_HZ = 1;

/** One number of a supply. */
struct supply_key {
    char const *key;
    /** Offset of a double * in struct rm_ring_file_supply. */
    size_t from;
    /** Offset of a double in struct rm_supply_config. */
    size_t to;
    /** From the key's unit. */
    double scale;
};

#define SUPPLY_KEY(name, to, scale)                                                                                    \
    { #name, offsetof(struct rm_ring_file_supply, name), offsetof(struct rm_supply_config, to), scale }

static struct supply_key const keys[] = {
    SUPPLY_KEY(resolution, resolution, 1),
    SUPPLY_KEY(delay_us, delay_s, 1e-6),
    SUPPLY_KEY(regulation_hz, regulation_hz, 1),
    SUPPLY_KEY(drift_ppm, drift_ppm, 1),
    SUPPLY_KEY(bandwidth_hz, bandwidth_hz, 1),
    SUPPLY_KEY(slew, slew, 1),
    SUPPLY_KEY(noise, noise, 1),
    SUPPLY_KEY(initial, initial, 1),
    SUPPLY_KEY(safe, safe, 1),
    SUPPLY_KEY(safe_slew, safe_slew, 1),
};

/** An ideal supply of the configuration: off is 0, so its range reaches there. */
static struct rm_supply_config derive_supply(struct rm_config_supply const *from) {
    struct rm_supply_config to = {
        .low = fmin(from->low, 0),
        .high = fmax(from->high, 0),
        .slew = INFINITY,
        .safe = from->safe,
        .safe_slew = from->safe_slew_per_s,
    };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k)
        if (rm_yaml_key_at(&rm_ring_supply_schema, keys[k].key)->fallback != NULL)
            *(double *)(void *)((char *)&to + keys[k].to) =
                rm_yaml_default(&rm_ring_supply_schema, keys[k].key) * keys[k].scale;
    return to;
}

/** What a server may send, whatever the supply can. */
static void derive_limits(struct rm_resolve const *resolve, struct rm_ring_supplies *supplies) {
    struct rm_config const *const machine = resolve->machine;
    supplies->period_turns = machine->setpoints.period_turns;
    supplies->cycle_s = (double)machine->setpoints.period_turns / machine->turn_rate_hz;
    for (uint32_t s = 0; s < supplies->supply_count; ++s) {
        struct rm_config_supply const *const from = &machine->supply[supplies->described[s]];
        supplies->limits[s] = (struct rm_chain_judge_limits){
            .low = from->low, .high = from->high, .slew = from->slew_per_s * supplies->cycle_s};
    }
}

static enum rm_code fail_ring_supply(struct rm_resolve *resolve, uint32_t entry, char const *key, double value,
                                     double low, double high) {
    return rm_resolve_fail(resolve, "supplies", entry, key, "found %g, expected %g to %g", value, low, high);
}

static enum rm_code check_entry(struct rm_resolve *resolve, uint32_t entry) {
    struct rm_ring_file_supply const *from = &resolve->file->supplies[entry];
    double const *regulation_hz = from->regulation_hz;
    enum rm_code code = RM_OK;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k) {
        double const *given = *(double *const *)(void const *)((char const *)from + keys[k].from);
        struct rm_yaml_key const *key = rm_yaml_key_at(&rm_ring_supply_schema, keys[k].key);
        if (given != NULL && !rm_yaml_in_range(key, *given))
            code = fail_ring_supply(resolve, entry, keys[k].key, *given, key->min, key->max);
    }
    if (regulation_hz != NULL && *regulation_hz > 0 && *regulation_hz < REGULATION_LEAST_HZ)
        code = fail_ring_supply(resolve, entry, "regulation_hz", *regulation_hz, REGULATION_LEAST_HZ, 1e7);
    for (uint32_t r = 0; r < from->ripple_count; ++r)
        if (!(from->ripple[r].hz >= 0 && from->ripple[r].hz <= 1e7 && from->ripple[r].amplitude >= 0 &&
              from->ripple[r].amplitude <= 1e9))
            code = rm_resolve_fail(resolve, "supplies", entry, "ripple",
                                   "found %g Hz of %g, expected 0 to 1e7 Hz of 0 to 1e9", from->ripple[r].hz,
                                   from->ripple[r].amplitude);
    return code;
}

static void take_entry(struct rm_ring_file_supply const *from, struct rm_supply_config *to) {
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k) {
        double const *given = *(double *const *)(void const *)((char const *)from + keys[k].from);
        if (given != NULL)
            *(double *)(void *)((char *)to + keys[k].to) = *given * keys[k].scale;
    }
    if (from->range != NULL) {
        to->low = from->range[0];
        to->high = from->range[1];
    }
    if (from->ripple_count != 0)
        to->ripple_count = from->ripple_count;
    for (uint32_t r = 0; r < from->ripple_count; ++r) {
        to->ripple[r].hz = from->ripple[r].hz;
        to->ripple[r].amplitude = from->ripple[r].amplitude;
    }
}

/** What an entry has made of a supply is possible. */
static enum rm_code check_supply(struct rm_resolve *resolve, uint32_t entry, struct rm_supply_config const *to) {
    if (!(to->low <= 0 && to->high >= 0 && to->low < to->high && isfinite(to->low) && isfinite(to->high)))
        return rm_resolve_fail(resolve, "supplies", entry, "range",
                               "found [%g, %g], expected a lower and an upper end around 0, where it is when it is off",
                               to->low, to->high);
    if (!(to->initial >= to->low && to->initial <= to->high))
        return fail_ring_supply(resolve, entry, "initial", to->initial, to->low, to->high);
    if (!(to->safe >= to->low && to->safe <= to->high))
        return fail_ring_supply(resolve, entry, "safe", to->safe, to->low, to->high);
    return RM_OK;
}

static enum rm_code take_supply_overlay(struct rm_resolve *resolve, uint32_t entry, uint32_t *chosen) {
    struct rm_ring_file_supply const *from = &resolve->file->supplies[entry];
    struct rm_supply_config *supplies = resolve->config->supplies.supplies;
    enum rm_code code = check_entry(resolve, entry);
    uint32_t const count = rm_ring_choose_supplies(resolve->config, from->supplies, chosen);
    if (count == 0)
        return rm_resolve_fail(resolve, "supplies", entry, "supplies",
                               "found \"%s\", which means none of the %u supplies, expected the names of chains, such "
                               "as \"c*\", some of each, such as \"c*/1-4\", or names of supplies, such as "
                               "\"sr/ps/ch_*\"",
                               from->supplies, resolve->config->supplies.supply_count);
    for (uint32_t c = 0; code == RM_OK && c < count; ++c) {
        struct rm_supply_config made = supplies[chosen[c]];
        take_entry(from, &made);
        code = check_supply(resolve, entry, &made);
        if (code == RM_OK) /* a wrong one would be told of later entries, too */
            supplies[chosen[c]] = made;
    }
    return code;
}

enum rm_code rm_resolve_supplies(struct rm_resolve *resolve) {
    struct rm_ring_supplies *supplies = &resolve->config->supplies;
    uint32_t *chosen = calloc(supplies->supply_count + 1, sizeof *chosen);
    if (chosen == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the supplies", resolve->path);
    for (uint32_t s = 0; s < supplies->supply_count; ++s)
        supplies->supplies[s] = derive_supply(&resolve->machine->supply[supplies->described[s]]);
    derive_limits(resolve, supplies);
    enum rm_code code = RM_OK;
    for (uint32_t e = 0; e < resolve->file->supplies_count; ++e)
        code = rm_code_first(code, take_supply_overlay(resolve, e, chosen));
    free(chosen);
    return code;
}
