// SPDX-License-Identifier: Apache-2.0
/* The supplies of a chain: one entry of its list is one of them, or `count` that differ in name. */
#include "config/resolve.h"

#include <ringmaster/supply.h>

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SETTLE_CYCLES_MAX = 1000000 };

static double const DEFAULT_TOLERANCE = 0.01; /* of the range */

static char const CHAIN_MARK[] = "{chain}";
#define SUPPLY_NAME_RULE                                                                                               \
    "expected lower-case letters, digits, _ and -, with single / between parts, and {chain} for the chain's number"

/* One entry of a chain's list while it is resolved. */
struct resolving_supply {
    struct rm_config_resolving_chain const *chain;
    struct rm_file_supply const *written;
    uint32_t index; /* of `written` */
};

__attribute__((format(printf, 3, 4))) static enum rm_code fail_supply(struct resolving_supply const *resolving,
                                                                      char const *member, char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    char key[64];
    snprintf(key, sizeof key, "supplies[%u]%s%s", resolving->index, member == NULL ? "" : ".",
             member == NULL ? "" : member);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_config_fail_entry(resolving->chain->config, resolving->chain->error, "chains", resolving->chain->index,
                                key, "%s", text);
}

static uint32_t supply_count_of(struct rm_file_supply const *written) {
    return written->count == NULL ? 1 : *written->count;
}

static bool name_is_good(char const *name) {
    size_t const bytes = strlen(name);
    return bytes > 0 && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-/")] == '\0' && name[0] != '/' &&
           name[bytes - 1] != '/' && strstr(name, "//") == NULL;
}

/* Appends to a name of `size` bytes; false where it does not fit. */
static bool append_to_supply_name(char *name, size_t size, char const *text, size_t bytes) {
    size_t const used = strlen(name);
    if (used + bytes >= size)
        return false;
    memcpy(name + used, text, bytes);
    name[used + bytes] = '\0';
    return true;
}

/* Writes the name with the chain's number for every mark, and its own number behind. */
static bool expand_supply_name(struct resolving_supply const *resolving, uint32_t number,
                               char name[RM_CONFIG_SUPPLY_NAME_BYTES]) {
    struct rm_file_chain const *const chain = resolving->chain->written;
    char text[16];
    char const *rest = resolving->written->name;
    bool fits = true;
    name[0] = '\0';
    snprintf(text, sizeof text, "%0*u", chain->count == NULL ? 1 : rm_config_count_digits(*chain->count),
             resolving->chain->number);
    for (char const *mark; (mark = strstr(rest, CHAIN_MARK)) != NULL; rest = mark + strlen(CHAIN_MARK)) {
        fits = fits && append_to_supply_name(name, RM_CONFIG_SUPPLY_NAME_BYTES, rest, (size_t)(mark - rest));
        fits = fits && append_to_supply_name(name, RM_CONFIG_SUPPLY_NAME_BYTES, text, strlen(text));
    }
    fits = fits && append_to_supply_name(name, RM_CONFIG_SUPPLY_NAME_BYTES, rest, strlen(rest));
    if (resolving->written->count == NULL)
        return fits;
    snprintf(text, sizeof text, "%0*u", rm_config_count_digits(*resolving->written->count), number);
    return fits && append_to_supply_name(name, RM_CONFIG_SUPPLY_NAME_BYTES, text, strlen(text));
}

static enum rm_code check_free(struct resolving_supply const *resolving, char const *name) {
    struct rm_config const *const config = resolving->chain->config;
    bool const numbered =
        resolving->chain->written->count == NULL || strstr(resolving->written->name, CHAIN_MARK) != NULL;
    for (uint32_t i = 0; i < config->supply_count; i++) {
        if (strcmp(config->supply[i].name, name) != 0)
            continue;
        return fail_supply(resolving, "name",
                           "\"%s\" is already the name of a supply of chain \"%s\", expected one of its "
                           "own%s",
                           name, config->chain[config->supply[i].chain].name,
                           numbered ? "" : ": {chain} in it stands for the chain's number");
    }
    return RM_OK;
}

static enum rm_code make_supply_name(struct resolving_supply const *resolving, uint32_t number,
                                     struct rm_config_supply *supply) {
    char const *const written = resolving->written->name;
    if (strstr(written, CHAIN_MARK) != NULL && resolving->chain->written->count == NULL)
        return fail_supply(resolving, "name",
                           "found \"%s\", but this chain has no number, for it has no \"count\"; expected "
                           "the name without {chain}",
                           written);
    if (!expand_supply_name(resolving, number, supply->name))
        return fail_supply(resolving, "name",
                           "\"%s\" with its numbers is longer than %d characters, expected a shorter name", written,
                           RM_CONFIG_SUPPLY_NAME_BYTES - 1);
    if (!name_is_good(supply->name))
        return fail_supply(resolving, "name", "found \"%s\", " SUPPLY_NAME_RULE, written);
    return check_free(resolving, supply->name);
}

/* Setpoints are sent as f32: there must be one within the limits. */
static bool holds_f32(double low, double high) {
    float value = (float)low;
    if (value < low)
        value = nextafterf(value, INFINITY);
    return value <= high;
}

static enum rm_code resolve_limits(struct resolving_supply const *resolving, struct rm_config_supply *supply) {
    struct rm_file_supply const *const written = resolving->written;
    supply->low = written->limits[0];
    supply->high = written->limits[1];
    if (supply->low >= supply->high)
        return fail_supply(resolving, "limits", "found [%g, %g], expected the lower one first, and another above it",
                           supply->low, supply->high);
    if (supply->low < -FLT_MAX || supply->high > FLT_MAX || !holds_f32(supply->low, supply->high))
        return fail_supply(
            resolving, "limits",
            "found [%.17g, %.17g], expected limits with 32-bit floating point numbers between them: setpoints "
            "are sent as such",
            supply->low, supply->high);
    supply->safe = written->safe == NULL ? 0 : *written->safe;
    bool const within = supply->safe >= supply->low && supply->safe <= supply->high;
    if (!within && written->safe == NULL)
        return fail_supply(resolving, NULL,
                           "0 is not within the limits [%g, %g], expected the key \"safe\" with the value to "
                           "go to when no setpoint arrives",
                           supply->low, supply->high);
    if (!within)
        return fail_supply(resolving, "safe", "found %g, expected a value within the limits, %g to %g", supply->safe,
                           supply->low, supply->high);
    return RM_OK;
}

static enum rm_code resolve_slew(struct resolving_supply const *resolving, struct rm_config_supply *supply) {
    struct rm_file_supply const *const written = resolving->written;
    supply->slew_per_s = written->slew;
    supply->safe_slew_per_s = written->safe_slew == NULL ? written->slew : *written->safe_slew;
    if (supply->slew_per_s <= 0)
        return fail_supply(resolving, "slew", "found %g, expected more than 0 %s per second", supply->slew_per_s,
                           written->unit);
    if (supply->safe_slew_per_s <= 0 || supply->safe_slew_per_s > supply->slew_per_s)
        return fail_supply(resolving, "safe_slew", "found %g, expected more than 0, up to the slew of %g %s per second",
                           supply->safe_slew_per_s, supply->slew_per_s, written->unit);
    return RM_OK;
}

static enum rm_code resolve_tolerance(struct resolving_supply const *resolving, struct rm_config_supply *supply) {
    struct rm_file_supply const *const written = resolving->written;
    supply->tolerance =
        written->tolerance == NULL ? DEFAULT_TOLERANCE * (supply->high - supply->low) : *written->tolerance;
    supply->settle_cycles = *written->settle_cycles;
    if (supply->tolerance <= 0)
        return fail_supply(resolving, "tolerance", "found %g, expected more than 0 %s", supply->tolerance,
                           written->unit);
    if (supply->settle_cycles > SETTLE_CYCLES_MAX)
        return fail_supply(resolving, "settle_cycles", "found %u, expected 0 to %d", supply->settle_cycles,
                           SETTLE_CYCLES_MAX);
    return RM_OK;
}

static enum rm_code resolve_conversion(struct resolving_supply const *resolving, struct rm_config_supply *supply) {
    struct rm_file_conversion const *const written = resolving->written->convert;
    struct rm_limits const limits = {.control_low = supply->low, .control_high = supply->high};
    supply->conversion = (struct rm_conversion){0};
    if (written == NULL)
        return RM_OK;
    strcpy(supply->conversion.unit, written->unit);
    for (uint32_t i = 0; i < written->polynomial_count; i++)
        supply->conversion.c[i] = written->polynomial[i];
    if (rm_conversion_is_good(&supply->conversion, &limits))
        return RM_OK;
    return fail_supply(
        resolving, "convert.polynomial",
        "it does not rise or fall all the way from %g to %g %s, so there is no way back; expected coefficients "
        "c0, c1, … of c0 + c1·x + …, monotone within the limits",
        supply->low, supply->high, resolving->written->unit);
}

/* Everything but the name. */
static enum rm_code resolve_common(struct resolving_supply const *resolving, struct rm_config_supply *supply) {
    *supply = (struct rm_config_supply){.chain = resolving->chain->config->chain_count};
    strcpy(supply->unit, resolving->written->unit);
    enum rm_code code = resolve_limits(resolving, supply);
    code = rm_code_first(code, resolve_slew(resolving, supply));
    if (code == RM_OK)
        code = resolve_tolerance(resolving, supply);
    return code == RM_OK ? resolve_conversion(resolving, supply) : code;
}

static enum rm_code check_supply_count(struct resolving_supply const *resolving) {
    struct rm_config const *const config = resolving->chain->config;
    uint32_t const count = supply_count_of(resolving->written);
    uint32_t const in_chain = config->chain[config->chain_count].supply_count;
    if (count == 0)
        return fail_supply(resolving, "count", "found 0, expected 1 to %u", RM_CHAIN_SUPPLIES_MAX - in_chain);
    if (count > RM_CHAIN_SUPPLIES_MAX - in_chain)
        return fail_supply(resolving, resolving->written->count == NULL ? NULL : "count",
                           "the chain would have %u supplies, expected at most %d: put the others into another chain",
                           in_chain + count, RM_CHAIN_SUPPLIES_MAX);
    if (count > RM_CONFIG_SUPPLIES_MAX - config->supply_count)
        return fail_supply(resolving, NULL,
                           "with those of chain \"%s\" there are more than %d supplies, expected fewer",
                           config->chain[config->chain_count].name, RM_CONFIG_SUPPLIES_MAX);
    return RM_OK;
}

static enum rm_code resolve_supply_entry(struct resolving_supply const *resolving) {
    struct rm_config *const config = resolving->chain->config;
    struct rm_config_supply common;
    enum rm_code code = check_supply_count(resolving);
    if (code == RM_OK)
        code = resolve_common(resolving, &common);
    uint32_t const count = supply_count_of(resolving->written);
    for (uint32_t number = 1; code == RM_OK && number <= count; number++) {
        struct rm_config_supply *const supply = &config->supply[config->supply_count];
        *supply = common;
        code = make_supply_name(resolving, number, supply);
        config->supply_count += code == RM_OK;
        config->chain[config->chain_count].supply_count += code == RM_OK;
    }
    return code;
}

enum rm_code rm_config_resolve_supplies(struct rm_config_resolving_chain const *resolving) {
    struct rm_config *const config = resolving->config;
    struct rm_config_chain *const chain = &config->chain[config->chain_count];
    chain->first_supply = config->supply_count;
    chain->supply_count = 0;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < resolving->written->supplies_count; i++)
        code = rm_code_first(
            code, resolve_supply_entry(&(struct resolving_supply){resolving, &resolving->written->supplies[i], i}));
    return code;
}
