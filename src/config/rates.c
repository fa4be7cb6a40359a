// SPDX-License-Identifier: Apache-2.0
/* The tree of rates: those of the file, or the default ones. */
#include "base/nearest.h"
#include "config/resolve.h"

#include <inttypes.h>
#include <string.h>

static uint64_t const SMALLEST_RING = 1ull << 10, LARGEST_RING = 1ull << 32; /* 64 KiB, 256 GiB */
static uint64_t const LONGEST_PERIOD = 1ull << 26; /* turns, a minute; so that counts under all taps fit 31 bits */

/* Where a rate has no `records`: those of up to 100 turns take buffers.fast_records, those of up to 10 000 half of
 * that, slower ones so many. Fewer records each time, over a longer time. */
static uint64_t const FAST_TURNS = 100, MIDDLE_TURNS = 10000, SLOW_RECORDS = 4096;

/* One rate as it is asked for. */
struct wanted_rate {
    char const *name;
    char const *from;
    char const *filter;
    uint32_t decimation;
    uint64_t const *records; /* NULL: by the period */
};

static struct wanted_rate const default_rates[] = {
    {"low_latency", "turn", "low_latency", 12, NULL},
    {"fast", "turn", "sharp", 12, NULL},
    {"loop_low_latency", "low_latency", "low_latency", 10, NULL},
    {"loop", "fast", "sharp", 10, NULL},
    {"slow_low_latency", "loop_low_latency", "low_latency", 1000, NULL},
    {"slow", "loop", "sharp", 1000, NULL},
};

static bool is_own_rate(char const *name) { return strcmp(name, "turn") == 0 || strcmp(name, "raw") == 0; }

static uint32_t find_rate(struct rm_config const *config, char const *name) {
    uint32_t i = 0;
    while (i < config->rate_count && strcmp(config->rate[i].name, name) != 0)
        i++;
    return i;
}

/* " (did you mean "fast"?)" or "". */
static char const *suggest_rate_name(struct rm_nearest const *nearest, char *text, size_t size) {
    if (nearest->name == NULL)
        return "";
    snprintf(text, size, " (did you mean \"%s\"?)", nearest->name);
    return text;
}

static enum rm_code resolve_rate_name(struct rm_config *config, struct rm_error *error, uint32_t index,
                                      char const *name) {
    if (!rm_config_name_is_good(name))
        return rm_config_fail_entry(config, error, "rates", index, "name", "found \"%s\", " RM_CONFIG_NAME_RULE, name);
    if (is_own_rate(name))
        return rm_config_fail_entry(config, error, "rates", index, "name",
                                    "\"%s\" is what records are called that came so, expected another name", name);
    uint32_t const other = find_rate(config, name);
    if (other != config->rate_count)
        return rm_config_fail_entry(config, error, "rates", index, "name",
                                    "\"%s\" is already the name of rates[%u], expected one of its own", name, other);
    strcpy(config->rate[index].name, name);
    return RM_OK;
}

static enum rm_code resolve_from(struct rm_config *config, struct rm_error *error, uint32_t index, char const *from) {
    config->rate[index].from = RM_CONFIG_FROM_TURN;
    if (strcmp(from, "turn") == 0)
        return RM_OK;
    config->rate[index].from = find_rate(config, from);
    if (config->rate[index].from != config->rate_count)
        return RM_OK;
    struct rm_nearest nearest = {.wanted = from};
    char text[64];
    rm_nearest_offer(&nearest, "turn");
    for (uint32_t i = 0; i < config->rate_count; i++)
        rm_nearest_offer(&nearest, config->rate[i].name);
    return rm_config_fail_entry(config, error, "rates", index, "from",
                                "found \"%s\", expected \"turn\" or the name of a rate before this one%s", from,
                                suggest_rate_name(&nearest, text, sizeof text));
}

static enum rm_code check_filter(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                 char const *filter) {
    struct rm_nearest nearest = {.wanted = filter};
    char text[64];
    if (rm_fir_find(filter, RM_DECIMATION_MAX) != NULL)
        return RM_OK;
    rm_nearest_offer(&nearest, "low_latency");
    rm_nearest_offer(&nearest, "sharp");
    return rm_config_fail_entry(config, error, "rates", index, "filter",
                                "found \"%s\", expected one of: low_latency, sharp%s", filter,
                                suggest_rate_name(&nearest, text, sizeof text));
}

/* "2, 3, 4, …": the decimations that a filter is designed for. */
static void list_factors(char const *filter, char *text, size_t size) {
    size_t used = 0;
    for (uint32_t i = 0; i < RM_FIR_DESIGNS && used < size; i++)
        if (strcmp(rm_fir_designs[i].name, filter) == 0)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%u", used == 0 ? "" : ", ", rm_fir_designs[i].decimation);
}

static enum rm_code fail_decimation(struct rm_config const *config, struct rm_error *error, uint32_t index,
                                    struct wanted_rate const *wanted) {
    struct rm_fir_design const *stage[RM_CONFIG_STAGES_MAX];
    char factors[64] = "", next[32] = "";
    uint32_t largest = 1, below, above;
    for (int i = 0; i < RM_CONFIG_STAGES_MAX; i++)
        largest *= RM_DECIMATION_MAX;
    below = wanted->decimation < largest ? wanted->decimation : largest;
    while (below > 2 && rm_fir_split(wanted->filter, below, RM_CONFIG_STAGES_MAX, stage) == 0)
        below--;
    above = wanted->decimation;
    while (above < largest && rm_fir_split(wanted->filter, above, RM_CONFIG_STAGES_MAX, stage) == 0)
        above++;
    below = below < 2 ? 2 : below;
    if (above > below && above <= largest)
        snprintf(next, sizeof next, " or %u", above);
    list_factors(wanted->filter, factors, sizeof factors);
    return rm_config_fail_entry(config, error, "rates", index, "decimation",
                                "found %u, expected a product of at most %d of %s; next to it %u%s", wanted->decimation,
                                RM_CONFIG_STAGES_MAX, factors, below, next);
}

static enum rm_code resolve_decimation(struct rm_config *config, struct rm_error *error, uint32_t index,
                                       struct wanted_rate const *wanted) {
    struct rm_config_rate *const rate = &config->rate[index];
    uint64_t const source = rate->from == RM_CONFIG_FROM_TURN ? 1 : config->rate[rate->from].period;
    rate->decimation = wanted->decimation;
    rate->stage_count = rm_fir_split(wanted->filter, wanted->decimation, RM_CONFIG_STAGES_MAX, rate->stage);
    if (rate->stage_count == 0)
        return fail_decimation(config, error, index, wanted);
    if (source * wanted->decimation > LONGEST_PERIOD)
        return rm_config_fail_entry(config, error, "rates", index, "decimation",
                                    "gives one record per %" PRIu64 " turns, expected at most %" PRIu64,
                                    source * wanted->decimation, LONGEST_PERIOD);
    rate->period = (uint32_t)source * wanted->decimation;
    return RM_OK;
}

static uint64_t default_records(struct rm_config const *config, uint32_t period) {
    uint64_t const half = config->buffers.fast_records / 2;
    if (period <= FAST_TURNS)
        return config->buffers.fast_records;
    if (period <= MIDDLE_TURNS)
        return half > SMALLEST_RING ? half : SMALLEST_RING;
    return SLOW_RECORDS;
}

static enum rm_code resolve_records(struct rm_config *config, struct rm_error *error, uint32_t index,
                                    uint64_t const *records) {
    uint64_t *const value = &config->rate[index].records;
    *value = records != NULL ? *records : default_records(config, config->rate[index].period);
    if (*value >= SMALLEST_RING && *value <= LARGEST_RING && (*value & (*value - 1)) == 0)
        return RM_OK;
    return rm_config_fail_entry(config, error, "rates", index, "records",
                                "found %" PRIu64 ", expected a power of two from %" PRIu64 " to %" PRIu64 " records",
                                *value, SMALLEST_RING, LARGEST_RING);
}

static enum rm_code resolve_rate(struct rm_config *config, struct rm_error *error, uint32_t index,
                                 struct wanted_rate const *wanted) {
    enum rm_code code = resolve_rate_name(config, error, index, wanted->name);
    if (code == RM_OK)
        code = resolve_from(config, error, index, wanted->from);
    if (code == RM_OK)
        code = check_filter(config, error, index, wanted->filter);
    if (code == RM_OK)
        code = resolve_decimation(config, error, index, wanted);
    if (code == RM_OK)
        code = resolve_records(config, error, index, wanted->records);
    return code;
}

enum rm_code rm_config_resolve_rates(struct rm_config_file const *file, struct rm_config *config,
                                     struct rm_error *error) {
    bool const given = file->rates != NULL;
    uint32_t const count = given ? file->rates_count : sizeof default_rates / sizeof default_rates[0];
    enum rm_code code = RM_OK;
    for (config->rate_count = 0; config->rate_count < count; config->rate_count++) {
        uint32_t const i = config->rate_count;
        struct rm_file_rate const *const rate = given ? &file->rates[i] : NULL;
        struct wanted_rate const wanted =
            given ? (struct wanted_rate){rate->name, rate->from, rate->filter, rate->decimation, rate->records}
                  : default_rates[i];
        code = rm_code_first(code, resolve_rate(config, error, i, &wanted));
    }
    return code;
}
