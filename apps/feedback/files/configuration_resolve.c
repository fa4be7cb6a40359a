// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Of a line's frequency, and of the width: law.h says why. */
static double const WIDTH_SHARE = 0.0125;
static double const LEAK_SHARE = 0.004;

struct resolve {
    char const *path;
    struct feedback_configuration *to;
    struct rm_errors *errors;
    /** Of the first error. */
    enum rm_code code;
};

/** Adds an error at a key of the file, and goes on. */
#define REFUSE(resolve, key, ...)                                                                                      \
    ((resolve)->code = rm_code_first((resolve)->code,                                                                  \
                                     rm_configuration_refuse((resolve)->errors, (resolve)->path, key, __VA_ARGS__)))

/** A key of a family, for errors. */
struct family_key {
    char text[64];
};

static struct family_key family_key_of(uint32_t family, char const *key) {
    struct family_key made;
    snprintf(made.text, sizeof made.text, "families[%u].%s", family, key);
    return made;
}

/** The first of that frequency. */
static struct feedback_resonator const *find_resonator(struct feedback_configuration const *in, double hz) {
    for (uint32_t r = 0; r < in->resonator_count; ++r)
        if (fabs(in->resonator[r].hz - hz) <= 1e-6 * fabs(hz))
            return &in->resonator[r];
    return NULL;
}

static void resolve_resonators(struct resolve *resolve) {
    for (uint32_t r = 0; r < resolve->to->resonator_count; ++r) {
        struct feedback_resonator *of = &resolve->to->resonator[r];
        char key[64];
        snprintf(key, sizeof key, "resonators[%u].hz", r);
        if (find_resonator(resolve->to, of->hz) != of)
            REFUSE(resolve, key, "%g Hz is there twice, expected it once", of->hz);
        if (isnan(of->width_hz))
            of->width_hz = WIDTH_SHARE * of->hz;
        if (isnan(of->leak_hz))
            of->leak_hz = LEAK_SHARE * of->width_hz;
    }
}

static bool is_named_before(struct resolve const *resolve, struct feedback_family const *family, uint32_t index) {
    for (uint32_t other = 0; other < index; ++other)
        if (find_resonator(resolve->to, family->resonators_hz[other]) ==
            find_resonator(resolve->to, family->resonators_hz[index]))
            return true;
    return false;
}

static void take_resonators(struct resolve *resolve, uint32_t index) {
    struct feedback_family *family = &resolve->to->family[index];
    struct feedback_tuning *to = &family->tuning;
    for (uint32_t r = 0; r < family->resonators_named; ++r) {
        char key[64];
        snprintf(key, sizeof key, "families[%u].resonators[%u]", index, r);
        struct feedback_resonator const *of = find_resonator(resolve->to, family->resonators_hz[r]);
        if (of == NULL) {
            REFUSE(resolve, key, "found %g, expected the hz of one of the file's `resonators`",
                   family->resonators_hz[r]);
            continue;
        }
        if (is_named_before(resolve, family, r))
            REFUSE(resolve, key, "%g Hz is there twice", of->hz);
        to->resonator[to->resonator_count].hz = of->hz;
        to->resonator[to->resonator_count].width_hz = of->width_hz;
        to->resonator[to->resonator_count++].leak_hz = of->leak_hz;
    }
}

static double number_or_zero(double number) { return isnan(number) ? 0 : number; }

static void resolve_law(struct resolve *resolve, uint32_t index) {
    struct feedback_family *family = &resolve->to->family[index];
    family->acts = !isnan(family->tuning.proportional) || !isnan(family->tuning.integral_hz);
    family->tuning.proportional = number_or_zero(family->tuning.proportional);
    family->tuning.integral_hz = number_or_zero(family->tuning.integral_hz);
    take_resonators(resolve, index);
    if (!family->acts && family->tuning.resonator_count > 0)
        REFUSE(resolve, family_key_of(index, "resonators").text,
               "the family has no law, expected `proportional` or `integral_hz` beside");
}

/** The first of that name, or their number. */
static uint32_t find_family(struct feedback_configuration const *in, char const *name) {
    uint32_t family = 0;
    while (family < in->family_count && strcmp(in->family[family].name, name) != 0)
        ++family;
    return family;
}

static void resolve_unloading(struct resolve *resolve, uint32_t index) {
    struct feedback_family *family = &resolve->to->family[index];
    struct family_key const key = family_key_of(index, "unload_to");
    bool const has_crossover = !isnan(family->crossover_hz);
    family->unload_to = -1;
    family->crossover_hz = number_or_zero(family->crossover_hz);
    if (family->taker == NULL)
        return;
    uint32_t const taker = find_family(resolve->to, family->taker);
    if (taker < resolve->to->family_count && taker != index)
        family->unload_to = (int32_t)taker;
    else
        REFUSE(resolve, key.text, "found \"%s\", expected the name of another family", family->taker);
    if (!has_crossover)
        REFUSE(resolve, key.text, "expected `crossover_hz` beside it");
}

/* What is handed over must come to rest somewhere. */
static bool unloads_in_a_circle(struct feedback_configuration const *to, uint32_t family) {
    uint32_t steps = 0;
    for (int32_t at = to->family[family].unload_to; at >= 0; at = to->family[at].unload_to)
        if (++steps >= to->family_count)
            return true;
    return false;
}

/* A family without a law must be given something. */
static void check_use(struct resolve *resolve, uint32_t family) {
    struct feedback_configuration const *to = resolve->to;
    bool takes = false;
    for (uint32_t other = 0; other < to->family_count; ++other)
        takes = takes || to->family[other].unload_to == (int32_t)family;
    if (!to->family[family].acts && !takes)
        REFUSE(resolve, family_key_of(family, "name").text,
               "the family \"%s\" has nothing to do, expected `integral_hz` or `proportional`, or another family that "
               "unloads to it",
               to->family[family].name);
}

/* Where one unloads to a family that is not there, another may lack it. */
static bool all_takers_are_known(struct resolve const *resolve) {
    for (uint32_t f = 0; f < resolve->to->family_count; ++f)
        if (resolve->to->family[f].taker != NULL && resolve->to->family[f].unload_to < 0)
            return false;
    return true;
}

static void check_unloading(struct resolve *resolve) {
    uint32_t const count = resolve->to->family_count;
    uint32_t f = 0;
    while (f < count && !unloads_in_a_circle(resolve->to, f))
        ++f;
    if (f < count)
        REFUSE(resolve, family_key_of(f, "unload_to").text, "families unload to each other in a circle");
    if (all_takers_are_known(resolve))
        for (f = 0; f < count; ++f)
            check_use(resolve, f);
}

static void resolve_families(struct resolve *resolve) {
    uint32_t const count = resolve->to->family_count;
    for (uint32_t f = 0; f < count; ++f) {
        uint32_t const other = find_family(resolve->to, resolve->to->family[f].name);
        if (other < f)
            REFUSE(resolve, family_key_of(f, "name").text, "families[%u] has that name already", other);
        resolve_law(resolve, f);
    }
    for (uint32_t f = 0; f < count; ++f)
        resolve_unloading(resolve, f);
    check_unloading(resolve);
}

static void resolve_mains(struct resolve *resolve) {
    struct feedback_configuration *to = resolve->to;
    if (isnan(to->mains_hz))
        to->mains_hz = to->resonator_count == 0 ? 50 : to->resonator[0].hz;
    if (to->resonator_count > 0 && find_resonator(to, to->mains_hz) == NULL)
        REFUSE(resolve, "mains_hz", "found %g, expected the hz of one of the file's `resonators`", to->mains_hz);
}

static void resolve_tables(struct resolve *resolve) {
    for (uint32_t t = 0; t < resolve->to->table_count; ++t) {
        struct feedback_table *table = &resolve->to->table[t];
        char *const path = rm_configuration_beside(resolve->path, table->path);
        if (path == NULL) {
            struct rm_error error;
            resolve->code =
                rm_code_first(resolve->code, rm_fail(&error, RM_E_NO_SPACE, "%s: no memory", resolve->path));
            rm_errors_add(resolve->errors, &error);
            return;
        }
        free(table->path);
        table->path = path;
    }
}

enum rm_code feedback_configuration_resolve(char const *path, struct feedback_configuration *configuration,
                                            struct rm_errors *errors) {
    struct resolve resolve = {path, configuration, errors, RM_OK};
    configuration->rf.column = -1; /* until there is a matrix */
    resolve_resonators(&resolve);
    resolve_families(&resolve);
    resolve_mains(&resolve);
    resolve_tables(&resolve);
    return resolve.code;
}
